//! A cache of filled and signed requests, shared by sessions with several targets.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::wire_request::WireRequest;

/// Requests and signatures by case and step.
#[derive(Debug, Default)]
pub struct RequestCache(Mutex<HashMap<String, HashMap<String, Known>>>);

/// The cached bytes of a step.
#[derive(Debug, Default)]
struct Known {
    /// The whole request, with its URL relative to the base URL.
    request: Option<WireRequest>,
    /// The signature, and the headers that it covers. These rarely contain values of earlier responses, so
    /// most requests with such values can reuse it.
    signature: Option<(Headers, String)>,
}

/// Headers: name and value.
type Headers = Vec<(String, String)>;

impl RequestCache {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, HashMap<String, Known>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get<T>(&self, (case, step): (&str, &str), get: impl FnOnce(&Known) -> Option<T>) -> Option<T> {
        get(self.lock().get(case)?.get(step)?)
    }

    fn keep(&self, (case, step): (&str, &str), keep: impl FnOnce(&mut Known)) {
        keep(self.lock().entry(case.to_owned()).or_default().entry(step.to_owned()).or_default());
    }

    /// Returns the request of a case and step for the target at this base URL, from the cache or from `fill`.
    pub(crate) fn get_or_fill<E>(
        &self,
        of: (&str, &str),
        base_url: &str,
        fill: impl FnOnce() -> Result<WireRequest, E>,
    ) -> Result<WireRequest, E> {
        if let Some(mut filled) = self.get(of, |known| known.request.clone()) {
            filled.url.insert_str(0, base_url);
            return Ok(filled);
        }
        let filled = fill()?;
        if let Some(path) = filled.url.strip_prefix(base_url) {
            let kept = WireRequest { url: path.to_owned(), ..filled.clone() };
            self.keep(of, |known| known.request = Some(kept));
        }
        Ok(filled)
    }

    /// Returns the signature of a case and step over these headers, from the cache or from `sign`.
    pub(crate) fn get_or_sign<E>(
        &self,
        of: (&str, &str),
        headers: &Headers,
        sign: impl FnOnce() -> Result<String, E>,
    ) -> Result<String, E> {
        let of_headers =
            |(signed, signature): &(Headers, String)| (signed == headers).then(|| signature.clone());
        if let Some(signature) = self.get(of, |known| known.signature.as_ref().and_then(of_headers)) {
            return Ok(signature);
        }
        let signature = sign()?;
        self.keep(of, |known| known.signature = Some((headers.clone(), signature.clone())));
        Ok(signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_made_again_where_other_headers_are_signed() {
        let cache = RequestCache::default();
        let signed = |step: &str, date: &str, made: &str| {
            let headers = vec![("date".to_owned(), date.to_owned())];
            cache.get_or_sign(("a/b", step), &headers, || Ok::<_, ()>(made.to_owned())).unwrap()
        };
        assert_eq!(signed("request", "today", "first"), "first");
        assert_eq!(signed("request", "today", "second"), "first");
        assert_eq!(signed("request", "tomorrow", "third"), "third");
        assert_eq!(signed("before", "today", "fourth"), "fourth");
    }
}
