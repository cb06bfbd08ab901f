//! Finds paths that almost match an operation, as a client with a mistake sends them.

use strsim::levenshtein;

use super::{
    message::Sent,
    routes::{Route, Routes, Segment},
};

/// Maximum number of differing characters in a segment.
const MOST_OTHERS: usize = 3;

impl Routes {
    /// Returns the first route that a request almost matches and that `is_meant` accepts.
    pub(crate) fn near(&self, request: &Sent, is_meant: impl Fn(&Route) -> bool) -> Option<&Route> {
        let (path, _) = request.target();
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        self.routes.iter().find(|route| is_near(route, &request.method, &parts) && is_meant(route))
    }

    /// Returns the route that shares the most consecutive segments with the path of a request, at least two.
    /// Routes with the same method take precedence.
    pub(crate) fn closest(&self, request: &Sent) -> Option<&Route> {
        let parts = request.parts();
        let same = |route: &Route| {
            let from =
                |at: usize| route.segments.iter().zip(&parts[at..]).take_while(|(own, part)| own.fits(part));
            (0..parts.len()).map(|at| from(at).count()).max().unwrap_or_default()
        };
        let near = self.routes.iter().filter(|route| same(route) >= 2);
        near.max_by_key(|route| (route.method == request.method, same(route)))
    }
}

/// Returns true if a request almost matches a route: another method or case, one missing segment, or one
/// misspelled segment.
fn is_near(route: &Route, method: &str, parts: &[&str]) -> bool {
    let segments = &route.segments;
    let whole: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    if whole.len() < parts.len()
        && let Some(skipped) = whole.len().checked_sub(segments.len())
        && method == route.method
        && segments.iter().zip(&whole[skipped..]).all(|(segment, part)| segment.fits(part))
    {
        return true;
    }
    let behind = |count: usize| Some(&parts[parts.len().checked_sub(count)?..]);
    if let Some(own) = behind(segments.len()) {
        let others: Vec<_> = segments.iter().zip(own).filter(|(segment, part)| !segment.fits(part)).collect();
        match others[..] {
            // The exact path matches no route.
            [] => return true,
            [(segment, part)] if segment.is_nearly(part) => return method == route.method,
            _ => {}
        }
    }
    let is_id = |at: usize| matches!(segments.get(at), Some(Segment::Placeholder(_)));
    // A segment next to an id may belong to an operation that the document does not show.
    let may_miss = |at: usize| {
        if is_id(at) { at + 1 < segments.len() } else { !is_id(at + 1) && (at == 0 || !is_id(at - 1)) }
    };
    let without = |at: usize| {
        let Some(own) = behind(segments.len() - 1) else { return false };
        let mut rest = segments.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, one)| one);
        let texts = rest.clone().filter(|segment| matches!(segment, Segment::Text(_))).count();
        let is_left = if at == 0 { texts > 0 } else { texts > 1 };
        is_left && rest.by_ref().zip(own).all(|(segment, part)| segment.fits(part))
    };
    method == route.method && (0..segments.len()).any(|at| may_miss(at) && without(at))
}

impl Segment {
    fn fits(&self, part: &str) -> bool {
        match self {
            Self::Text(text) => text.eq_ignore_ascii_case(part),
            Self::Placeholder(_) => !part.is_empty(),
        }
    }

    /// Returns true if a string is a likely mistake for this segment.
    fn is_nearly(&self, part: &str) -> bool {
        let Self::Text(text) = self else { return part.is_empty() };
        // `{payment-product}` and `:product` are placeholders that the client did not fill in.
        if part.starts_with(['{', ':', '<']) || part.to_ascii_lowercase().starts_with("%7b") {
            return true;
        }
        let others = levenshtein(&text.to_lowercase(), &part.to_lowercase());
        let is_version = |text: &str| text.starts_with(['v', 'V']) && text.len() == 2;
        let is_part = part.len() * 2 > text.len() && text.contains(part);
        is_part || others <= MOST_OTHERS.min(text.len() / 3) || (is_version(text) && is_version(part))
    }
}

#[cfg(test)]
mod tests {
    use xs2aspec_suite::{ProfileSpec, Suite, Tree};

    use crate::{
        Profile,
        traffic::{
            message::{Payload, Sent},
            routes::Routes,
        },
    };

    #[test]
    fn what_was_meant_for_an_operation_is_told_from_other_operations() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let profile = Profile::of_url("http://127.0.0.1", ProfileSpec::embedded()).unwrap();
        let routes = Routes::new(&suite, &profile);
        for (method, path, expected) in [
            ("POST", "/payments/norwegian-cross-border-credit-transfers", Some("ncbct")),
            ("POST", "/xs2a/V1/payments/norwegian-cross-border-credit-transfers", Some("ncbct")),
            ("POST", "/v2/payments/norwegian-cross-border-credit-transfers", Some("ncbct")),
            ("POST", "/v1/payment/norwegian-cross-border-credit-transfers", Some("ncbct")),
            ("POST", "/v1/payments/norwegian-cross-border-credit-transfer", Some("ncbct")),
            ("POST", "/v1/payments/NORWEGIAN-cross-border-credit-transfers", Some("ncbct")),
            ("POST", "/v1/payments/cross-border-credit-transfers", Some("ncbct")),
            ("POST", "/v1/payments/{payment-product}", Some("ncbct")),
            ("POST", "/v1/periodic-payments/%7Bpayment-product%7D", Some("periodic")),
            ("GET", "/v1/Sandbox/Customers", Some("customers")),
            ("PUT", "/v1/payments/norwegian-cross-border-credit-transfers", Some("ncbct")),
            ("GET", "/v1/customers", Some("customers")),
            ("GET", "/v1/payments/norwegian-cross-border-credit-transfers//status", Some("payment-status")),
            ("GET", "/v1/payments/norwegian-cross-border-credit-transfers/status", Some("payment-status")),
            ("POST", "/v1/accounts/a/transactions/t", Some("transaction")),
            ("GET", "/v1/accounts/a/transactions/", Some("transaction")),
            ("POST", "/v1//payments/norwegian-cross-border-credit-transfers", Some("ncbct")),
            ("POST", "/v1/payments/norwegian-cross-border-credit-transfers/", Some("ncbct")),
            ("GET", "/v1/accounts//", None),
            ("GET", "/v1/accounts/a/transaction/t", Some("transaction")),
            ("GET", "/v1/accounts/a/transactions", None),
            ("GET", "/v1/accounts/a/balances", None),
            ("GET", "/v1/accounts", None),
            ("POST", "/v1/consents", None),
            ("POST", "/v1/payments/sepa-credit-transfers", None),
            ("POST", "/v1/payments/norwegian-domestic-credit-transfers", None),
            ("GET", "/favicon.ico", None),
            ("POST", "/oauth/token", None),
        ] {
            let url = format!("http://127.0.0.1{path}");
            let (method, headers) = (method.to_owned(), Vec::new());
            let sent = Sent { method, url, headers, body: Payload::NONE, changed: None };
            assert!(routes.find(&sent).is_none() || sent.has_gap(), "{path}");
            let found =
                routes.near(&sent, |route| route.method != "DELETE").map(|route| route.operation.as_str());
            assert_eq!(found, expected, "{} {path}", sent.method);
        }
    }
}
