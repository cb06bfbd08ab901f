//! Formats of header values (the document, section Endpoints > Common request headers).

use std::net::IpAddr;

use super::table::Header;
use crate::operation::Operation;
use crate::refusal::excerpt;

/// Checks the value of a header that is part of the operation. Returns the sentence of a rejection as the
/// error.
pub(crate) fn check(header: Header, value: &str, operation: Operation) -> Result<(), String> {
    match header {
        Header::XAcceptFix => accept_fix(value, operation),
        Header::TppRedirectUri => redirect_uri(value),
        Header::TppRedirectPreferred => one_of(value, &PREFERENCES),
        Header::PsuContext => one_of(value, &CONTEXTS),
        Header::PsuHttpMethod => one_of(value, &METHODS),
        Header::PsuId | Header::PsuDeviceId => uuid(value),
        Header::PsuIpAddress => ip_address(value),
        // A national identity number or D-number has 11 digits. A rejection does not repeat it.
        Header::XPsuIdentity if value.len() == 11 && value.bytes().all(|b| b.is_ascii_digit()) => Ok(()),
        Header::XPsuIdentity => Err("expected 11 digits".to_owned()),
        // Free strings, or values with a module of their own.
        Header::XRequestId
        | Header::TppSessionId
        | Header::PsuCorporateId
        | Header::Digest
        | Header::TppSignatureCertificate
        | Header::Signature => Ok(()),
    }
}

/// Returns the allowed values of a header with a closed list, or an empty list for any other header.
pub fn listed(header: Header) -> &'static [&'static str] {
    match header {
        Header::XAcceptFix => &FIXES,
        Header::TppRedirectPreferred => &PREFERENCES,
        Header::PsuContext => &CONTEXTS,
        Header::PsuHttpMethod => &METHODS,
        _ => &[],
    }
}

const PREFERENCES: [&str; 2] = ["true", "false"];
const CONTEXTS: [&str; 2] = ["PRIVATE", "CORPORATE"];
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// Names of breaking changes that the document lists (section Versioning).
const FIXES: [&str; 4] = [
    "amount-as-string",
    "longer-name",
    "cash-account-type-iso",
    "cardaccount-switch-originalamount-and-transactionamount",
];

/// Checks `x-accept-fix`: listed names separated by commas. On the basket `amount-as-string` must be among
/// them.
fn accept_fix(value: &str, operation: Operation) -> Result<(), String> {
    let mut names = value.split(',').map(str::trim);
    if let Some(unknown) = names.clone().find(|name| !FIXES.contains(name)) {
        return Err(format!("expected known names separated by commas, found {}", excerpt(unknown)));
    }
    if operation == Operation::Basket && !names.any(|name| name == FIXES[0]) {
        return Err(format!("expected {} among the names, found {}", FIXES[0], excerpt(value)));
    }
    Ok(())
}

/// Checks `TPP-Redirect-URI`: a URI with a scheme (RFC 3986 section 3), of a web page with a host or of an
/// app.
fn redirect_uri(value: &str) -> Result<(), String> {
    let (scheme, rest) = value.split_once(':').unwrap_or_default();
    let is_scheme = scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let is_of_uris = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    let is_page = matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https");
    let has_host =
        rest.strip_prefix("//").is_some_and(|host| !host.is_empty() && !host.starts_with(['/', '?', '#']));
    if is_scheme && !rest.is_empty() && rest.bytes().all(is_of_uris) && (has_host || !is_page) {
        return Ok(());
    }
    Err(format!("expected an absolute URI, found {}", excerpt(value)))
}

fn one_of(value: &str, list: &[&str]) -> Result<(), String> {
    if list.contains(&value) {
        return Ok(());
    }
    Err(format!("expected one of {}, found {}", list.join(" "), excerpt(value)))
}

/// Checks the text form of a UUID (RFC 9562 section 4), of any version and in either case.
fn uuid(value: &str) -> Result<(), String> {
    let is_uuid = value.len() == 36
        && value.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    if is_uuid { Ok(()) } else { Err("expected a UUID".to_owned()) }
}

fn ip_address(value: &str) -> Result<(), String> {
    if value.parse::<IpAddr>().is_ok() {
        return Ok(());
    }
    Err(format!("expected an IP address, found {}", excerpt(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(header: Header, operation: Operation, accepted: &[&str], refused: &[&str]) {
        for value in accepted {
            assert_eq!(check(header, value, operation), Ok(()), "{header:?} {value:?}");
        }
        for value in refused {
            assert!(check(header, value, operation).is_err(), "{header:?} {value:?}");
        }
    }

    #[test]
    fn accept_fix() {
        let both = ["amount-as-string", "longer-name, amount-as-string", "amount-as-string,longer-name"];
        let neither =
            ["amount-as-strings", "amount-as-string,", "Amount-As-String", "amount-as-string;longer-name"];
        table(Header::XAcceptFix, Operation::Basket, &both, &neither);
        table(Header::XAcceptFix, Operation::Ncbct, &both, &neither);
        table(Header::XAcceptFix, Operation::Basket, &[], &["longer-name"]);
        table(Header::XAcceptFix, Operation::Transaction, &["longer-name", "cash-account-type-iso"], &[]);
    }

    #[test]
    fn identities() {
        let accepted = ["0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f", "0C5D9F0E-3A4B-4C7D-8E1F-2A3B4C5D6E7F"];
        let refused = [
            "0c5d9f0e3a4b4c7d8e1f2a3b4c5d6e7f",
            "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7",
            "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7g",
            "{0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f}",
            "",
        ];
        table(Header::PsuId, Operation::Ncbct, &accepted, &refused);
        table(Header::PsuDeviceId, Operation::Basket, &accepted, &refused);
        let refused = ["0181900039", "018190003911", "0181900039x", "018190 00391"];
        table(Header::XPsuIdentity, Operation::Ncbct, &["01819000391"], &refused);
    }

    #[test]
    fn addresses() {
        let refused = ["192.0.2", "192.0.2.256", "host", "192.0.2.1:80", ""];
        table(Header::PsuIpAddress, Operation::Ncbct, &["192.0.2.1", "2001:db8::1"], &refused);
        let accepted = [
            "https://tpp.example/back?state=1#done",
            "http://localhost:8080",
            "HTTPS://TPP.EXAMPLE",
            "tpp.app:/back",
            "tpp-app://back?state=1",
        ];
        let refused = [
            "/back",
            "tpp.example/back",
            "tpp.example",
            "1tpp://back",
            "tpp:",
            "https://",
            "https:///x",
            "a b",
        ];
        table(Header::TppRedirectUri, Operation::Ncbct, &accepted, &refused);
    }

    #[test]
    fn closed_lists() {
        table(Header::PsuContext, Operation::Ncbct, &["PRIVATE", "CORPORATE"], &["private", "BOTH", ""]);
        table(Header::PsuHttpMethod, Operation::Basket, &["GET", "PATCH"], &["HEAD", "get"]);
        table(Header::TppRedirectPreferred, Operation::Ncbct, &["true", "false"], &["TRUE", "1", ""]);
    }

    #[test]
    fn free_strings() {
        table(Header::XRequestId, Operation::Ncbct, &["anything at all"], &[]);
    }
}
