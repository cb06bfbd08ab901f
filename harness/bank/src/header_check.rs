//! Checks of the request headers (the document, section Endpoints > Common request headers).

use http::StatusCode;

use crate::header::{Fields, Header, Presence, column, format};
use crate::operation::Operation;
use crate::policy::Headers;
use crate::refusal::{Code, Refusal};

/// Checks presence first, then formats, both in the order of the document's table.
pub(crate) fn check(fields: Fields<'_>, operation: Operation, policy: &Headers) -> Result<(), Refusal> {
    for (header, presence) in column(operation) {
        if presence == Presence::Required && !policy.may_lack(header, operation) {
            require(fields, header, operation, policy)?;
        }
    }
    for (header, presence) in column(operation) {
        if presence == Presence::NotPartOf || policy.takes_any(header) {
            continue;
        }
        if let Some(value) = policy.value(fields, header) {
            format::check(header, &value, operation).map_err(|says| {
                Refusal::format(format!("header.{}.format", header.name()), says).at(header.name())
            })?;
        }
    }
    Ok(())
}

fn require(
    fields: Fields<'_>,
    header: Header,
    operation: Operation,
    policy: &Headers,
) -> Result<(), Refusal> {
    // X-PSU-IDENTITY is an alternative on payment creation (section Authentication, rule 5).
    let is_replaced =
        header == Header::PsuId && operation.creates_payment() && fields.has(Header::XPsuIdentity);
    let is_empty = fields.bytes(header.name()).is_some_and(|value| value.is_empty());
    if is_replaced || fields.has(header) || is_empty && policy.may_be_empty(header) {
        return Ok(());
    }
    let status = match header {
        Header::Signature => StatusCode::UNAUTHORIZED,
        _ => StatusCode::BAD_REQUEST,
    };
    let found = if is_empty { "an empty one" } else { "none" };
    let rule = format!("header.{}.{operation}", header.name());
    let says = format!("expected the header {}, found {found}", header.name());
    Err(Refusal::new(status, Code::HttpHeaderRequired, rule, says).at(header.name()))
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use serde_json::json;

    use super::*;
    use crate::policy::Policy;

    fn complete() -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("x-accept-fix", "amount-as-string"),
            ("x-request-id", "one"),
            ("tpp-session-id", "two"),
            ("tpp-redirect-uri", "https://tpp.example/back"),
            ("digest", "SHA-256=x"),
            ("tpp-signature-certificate", "x"),
            ("signature", "x"),
            ("psu-id", "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f"),
            ("psu-ip-address", "192.0.2.1"),
        ] {
            headers.insert(name, value.parse().unwrap());
        }
        headers
    }

    fn rule(headers: &HeaderMap, operation: Operation, policy: &'static Policy) -> Option<String> {
        check(Fields(headers), operation, &policy.headers).err().map(|refusal| refusal.rule)
    }

    #[test]
    fn each_required_header_of_each_operation_is_missed() {
        for operation in Operation::SPECIFIED {
            assert_eq!(rule(&complete(), operation, Policy::document()), None, "{operation}");
            let mut required = 0;
            for (header, presence) in column(operation) {
                let mut without = complete();
                without.remove(header.name());
                let mut empty = complete();
                empty.insert(header.name(), "".parse().unwrap());
                let expected = Some(format!("header.{}.{operation}", header.name()));
                if presence == Presence::Required {
                    required += 1;
                    assert_eq!(rule(&without, operation, Policy::document()), expected);
                    assert_eq!(rule(&empty, operation, Policy::document()), expected);
                } else {
                    assert_eq!(rule(&without, operation, Policy::document()), None, "{operation} {header:?}");
                }
            }
            let counted = match operation {
                Operation::Ncbct | Operation::Periodic => 9,
                Operation::Basket => 8,
                Operation::Transaction => 6,
                _ => 3,
            };
            assert_eq!(required, counted, "{operation}");
        }
    }

    #[test]
    fn a_missing_signature_is_401_and_another_missing_header_400() {
        let mut headers = complete();
        headers.remove("signature");
        let refusal = check(Fields(&headers), Operation::Ncbct, &Headers::default()).unwrap_err();
        assert_eq!((refusal.status, refusal.code), (StatusCode::UNAUTHORIZED, Code::HttpHeaderRequired));
        headers.remove("x-request-id");
        let refusal = check(Fields(&headers), Operation::Ncbct, &Headers::default()).unwrap_err();
        assert_eq!((refusal.status, refusal.code), (StatusCode::BAD_REQUEST, Code::HttpHeaderRequired));
    }

    #[test]
    fn the_national_identity_replaces_the_psu_id_on_payments_only() {
        let mut headers = complete();
        headers.remove("psu-id");
        headers.insert("x-psu-identity", "01819000391".parse().unwrap());
        assert_eq!(rule(&headers, Operation::Ncbct, Policy::document()), None);
        assert_eq!(rule(&headers, Operation::Periodic, Policy::document()), None);
        assert_eq!(
            rule(&headers, Operation::Basket, Policy::document()).as_deref(),
            Some("header.psu-id.basket")
        );
        headers.insert("x-psu-identity", "".parse().unwrap());
        assert_eq!(
            rule(&headers, Operation::Ncbct, Policy::document()).as_deref(),
            Some("header.psu-id.ncbct")
        );
    }

    #[test]
    fn the_fault_drops_one_requirement() {
        let broken = Policy::set(&json!({
            "headers": { "not-required": [{ "header": "x-request-id", "operation": "ncbct" }] }
        }));
        let mut headers = complete();
        headers.remove("x-request-id");
        assert_eq!(rule(&headers, Operation::Ncbct, broken), None);
        assert!(rule(&headers, Operation::Periodic, broken).is_some());
        headers.remove("tpp-session-id");
        assert_eq!(rule(&headers, Operation::Ncbct, broken).as_deref(), Some("header.tpp-session-id.ncbct"));
    }

    #[test]
    fn notations_of_uuids() {
        let mut headers = complete();
        headers.insert("psu-device-id", "8f14e45fceea467fa9c30c6b1a2d3e4f".parse().unwrap());
        let loose = Policy::set(&json!({ "headers": { "any-notation": ["psu-device-id"] } }));
        assert!(rule(&headers, Operation::Ncbct, Policy::document()).is_some());
        assert_eq!(rule(&headers, Operation::Ncbct, loose), None);
    }

    #[test]
    fn empty_headers_where_the_bank_takes_them() {
        let mut headers = complete();
        headers.insert("tpp-redirect-uri", "".parse().unwrap());
        let loose = Policy::set(&json!({ "headers": { "may-be-empty": ["tpp-redirect-uri"] } }));
        assert!(rule(&headers, Operation::Ncbct, Policy::document()).is_some());
        assert_eq!(rule(&headers, Operation::Ncbct, loose), None);
        headers.remove("tpp-redirect-uri");
        assert!(rule(&headers, Operation::Ncbct, loose).is_some());
    }

    #[test]
    fn headers_that_are_not_part_of_an_operation_are_not_read() {
        let mut headers = complete();
        headers.insert("psu-context", "NEITHER".parse().unwrap());
        assert_eq!(rule(&headers, Operation::Basket, Policy::document()), None);
        assert_eq!(
            rule(&headers, Operation::Ncbct, Policy::document()).as_deref(),
            Some("header.psu-context.format")
        );
    }
}
