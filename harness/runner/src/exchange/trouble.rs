//! Why there is no answer: what a profile can change, and words of this program, since those of a library
//! change with it.

use std::error::Error;

use rustls::{
    AlertDescription, CertificateError, Error as TlsError, crypto::aws_lc_rs::DEFAULT_CIPHER_SUITES,
};
use xs2aspec_judge::answer::{Cause, Trouble};

/// The innermost cause of an error, which says what happened; the outer ones only repeat the URL.
pub(super) fn trouble(error: &(dyn Error + 'static)) -> Trouble {
    let mut next = Some(error);
    let mut innermost = Trouble::from("");
    while let Some(error) = next {
        if let Some(tls) = tls(error) {
            return of_tls(tls);
        }
        let is_no_http = |error: &hyper::Error| error.is_parse() || error.is_incomplete_message();
        if error.downcast_ref().is_some_and(is_no_http) {
            innermost.cause = Cause::NoHttp;
        }
        innermost.says = error.to_string();
        next = error.source();
    }
    innermost
}

/// Returns true if a response is no message of HTTP/1.1.
pub(super) fn is_malformed(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref().is_some_and(hyper::Error::is_parse) || error.source().is_some_and(is_malformed)
}

/// The error of the TLS library that this one is, or that it wraps.
fn tls<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a TlsError> {
    // An I/O error that wraps another one passes it over as its source.
    let wrapped = || tls(error.downcast_ref::<std::io::Error>()?.get_ref()?);
    error.downcast_ref::<TlsError>().or_else(wrapped)
}

/// What an error of TLS comes from (RFC 8446 section 6.2 names the alerts).
pub(super) fn of_tls(error: &TlsError) -> Trouble {
    use AlertDescription as Alert;
    let untrusted = |why: &str| Trouble {
        cause: Cause::Untrusted,
        says: format!("the target's certificate is not trusted: {why}"),
    };
    match error {
        TlsError::InvalidMessage(_) | TlsError::InappropriateMessage { .. } => {
            Trouble { cause: Cause::NoTls, says: "the target does not speak TLS there".to_owned() }
        }
        TlsError::AlertReceived(
            alert @ (Alert::CertificateRequired
            | Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::AccessDenied
            | Alert::DecryptError),
        ) => Trouble {
            cause: Cause::ClientCertificate,
            says: format!(
                "the target wants a client certificate, or another one (TLS alert {})",
                alert_number(*alert)
            ),
        },
        // The first may also be of a target that wants a client certificate (RFC 5246 section 7.4.6).
        TlsError::AlertReceived(Alert::ProtocolVersion) => Trouble {
            cause: Cause::NothingInCommon,
            says: "no common protocol version (TLS alert 70); offered were TLS 1.2 and 1.3".to_owned(),
        },
        TlsError::AlertReceived(alert @ (Alert::HandshakeFailure | Alert::InsufficientSecurity)) => {
            Trouble { cause: Cause::NothingInCommon, says: nothing_in_common(*alert) }
        }
        TlsError::AlertReceived(alert) => {
            format!("the target broke the TLS handshake off (TLS alert {})", alert_number(*alert)).into()
        }
        TlsError::InvalidCertificate(why) => untrusted(distrust(why)),
        TlsError::NoCertificatesPresented => untrusted("it shows none"),
        TlsError::InconsistentKeys(_) => "the private key does not belong to the certificate".into(),
        TlsError::PeerIncompatible(_) => {
            "the target offers no version or cipher of TLS that this program has".into()
        }
        _ => "the TLS handshake failed".into(),
    }
}

/// What a target says that agrees to nothing which this program offers.
fn nothing_in_common(alert: AlertDescription) -> String {
    let suites: Vec<&str> = DEFAULT_CIPHER_SUITES.iter().filter_map(|suite| suite.suite().as_str()).collect();
    format!(
        "no common cipher suite or protocol version, or a client certificate is wanted (TLS alert {}); offered were TLS 1.2 and 1.3 with \
         {}",
        alert_number(alert),
        suites.join(", ")
    )
}

fn alert_number(alert: AlertDescription) -> u8 {
    u8::from(alert)
}

/// Why a certificate is not trusted (RFC 5280 section 6).
fn distrust(error: &CertificateError) -> &'static str {
    match error {
        CertificateError::UnknownIssuer => "it is of an unknown authority",
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => "it is not valid yet",
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it is for another name than that of the URL"
        }
        CertificateError::Revoked => "it is revoked",
        CertificateError::BadSignature => "its signature does not hold",
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "it is not meant for a server"
        }
        // The checker of paths has no variant for it: an authority's own certificate that a server shows.
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            "it is the certificate of an authority, shown as that of a server"
        }
        _ => "it cannot be checked",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_trouble_has_words_of_its_own_however_it_is_wrapped() {
        let table = [
            (
                TlsError::InvalidCertificate(CertificateError::UnknownIssuer),
                Cause::Untrusted,
                "not trusted: it is of an unknown authority",
            ),
            (
                TlsError::InvalidCertificate(CertificateError::Expired),
                Cause::Untrusted,
                "not trusted: it has expired",
            ),
            (
                TlsError::AlertReceived(AlertDescription::CertificateRequired),
                Cause::ClientCertificate,
                "wants a client certificate",
            ),
            (
                TlsError::AlertReceived(AlertDescription::InternalError),
                Cause::Other,
                "broke the TLS handshake off (TLS alert 80)",
            ),
            (
                TlsError::AlertReceived(AlertDescription::HandshakeFailure),
                Cause::NothingInCommon,
                "(TLS alert 40); offered were TLS 1.2 and 1.3 with TLS13_",
            ),
            (
                TlsError::AlertReceived(AlertDescription::ProtocolVersion),
                Cause::NothingInCommon,
                "no common protocol version (TLS alert 70); offered were TLS 1.2 and 1.3",
            ),
            (TlsError::General("HandshakeThing".to_owned()), Cause::Other, "the TLS handshake failed"),
        ];
        for (error, cause, expected) in table {
            let found = trouble(&std::io::Error::other(std::io::Error::other(error.clone())));
            assert!(found.says.contains(expected), "{found}");
            assert_eq!(found.cause, cause);
            assert_eq!(found, trouble(&error));
        }
        assert_eq!(trouble(&std::io::Error::other("refused")), Trouble::from("refused"));
    }
}
