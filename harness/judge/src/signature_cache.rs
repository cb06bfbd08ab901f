//! Signatures that were made before, shared by sessions of several targets.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

/// Header fields: name and value.
type Headers = Vec<(String, String)>;

/// Signatures by case and step, each with the headers that it signs. What an earlier answer gave stands in
/// few of these, so that a request which holds it need not be signed again.
#[derive(Debug, Default)]
pub struct SignatureCache(Mutex<HashMap<(String, String), (Headers, String)>>);

impl SignatureCache {
    /// The signature of a case and step over these headers: the one that was made before, or the one that
    /// `sign` makes.
    pub(crate) fn get_or_sign<E>(
        &self,
        (case, step): (&str, &str),
        headers: &Headers,
        sign: impl FnOnce() -> Result<String, E>,
    ) -> Result<String, E> {
        let key = (case.to_owned(), step.to_owned());
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((signed, signature)) = known().get(&key)
            && signed == headers
        {
            return Ok(signature.clone());
        }
        let signature = sign()?;
        known().insert(key, (headers.clone(), signature.clone()));
        Ok(signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_made_again_where_other_headers_are_signed() {
        let cache = SignatureCache::default();
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
