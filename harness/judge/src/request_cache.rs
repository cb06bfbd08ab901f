//! What was filled and signed before, shared by sessions of several targets.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    fill::{FillError, WireRequest},
    signature_cache::SignatureCache,
};

/// Requests by case and by step.
type Known = HashMap<String, HashMap<String, WireRequest>>;

/// Requests and signatures by case and step.
#[derive(Debug, Default)]
pub struct RequestCache {
    /// Whole requests, with their URLs below the base URL.
    requests: Mutex<Known>,
    pub(crate) signatures: SignatureCache,
}

impl RequestCache {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The request of a case and step for the target at this base URL: the one that was filled before, or the
    /// one that `fill` makes.
    pub(crate) fn get_or_fill(
        &self,
        (case, step): (&str, &str),
        base_url: &str,
        fill: impl FnOnce() -> Result<WireRequest, FillError>,
    ) -> Result<WireRequest, FillError> {
        let known = self.known().get(case).and_then(|steps| steps.get(step)).cloned();
        if let Some(mut filled) = known {
            filled.url.insert_str(0, base_url);
            return Ok(filled);
        }
        let filled = fill()?;
        if let Some(path) = filled.url.strip_prefix(base_url) {
            let kept = WireRequest { url: path.to_owned(), ..filled.clone() };
            self.known().entry(case.to_owned()).or_default().insert(step.to_owned(), kept);
        }
        Ok(filled)
    }
}
