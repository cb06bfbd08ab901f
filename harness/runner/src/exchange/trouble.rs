//! Explains why there is no response, with the part of the profile to change. The messages are the program's
//! own, because those of libraries change.

use std::error::Error;

use rustls::{
    AlertDescription, CertificateError, Error as TlsError, crypto::aws_lc_rs::DEFAULT_CIPHER_SUITES,
};
use xs2aspec_judge::answer::{Cause, Trouble};

/// Returns the innermost cause of an error, which says what happened. The outer errors only repeat the URL.
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

/// Returns true if a response is not an HTTP/1.1 message.
pub(super) fn is_malformed(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref().is_some_and(hyper::Error::is_parse) || error.source().is_some_and(is_malformed)
}

/// Returns the TLS error that this error is or wraps.
fn tls<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a TlsError> {
    // `source` of an I/O error skips the error that it wraps.
    let wrapped = || tls(error.downcast_ref::<std::io::Error>()?.get_ref()?);
    error.downcast_ref::<TlsError>().or_else(wrapped)
}

/// Returns the explanation of a TLS error (RFC 8446 section 6.2 names the alerts).
pub(super) fn of_tls(error: &TlsError) -> Trouble {
    use AlertDescription as Alert;
    let untrusted = |why: &str| Trouble {
        cause: Cause::Untrusted,
        says: format!("the target's certificate is not trusted: {why}"),
    };
    match error {
        TlsError::InvalidMessage(_) | TlsError::InappropriateMessage { .. } => {
            Trouble { cause: Cause::NoTls, says: "the target does not use TLS at this address".to_owned() }
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
                "the target requires a client certificate, or a different one (TLS alert {})",
                alert_number(*alert)
            ),
        },
        // A target that requires a client certificate may also send the first alert (RFC 5246 section 7.4.6).
        TlsError::AlertReceived(Alert::ProtocolVersion) => Trouble {
            cause: Cause::NothingInCommon,
            says: "no common protocol version (TLS alert 70); xs2aspec offers TLS 1.2 and 1.3".to_owned(),
        },
        TlsError::AlertReceived(alert @ (Alert::HandshakeFailure | Alert::InsufficientSecurity)) => {
            Trouble { cause: Cause::NothingInCommon, says: nothing_in_common(*alert) }
        }
        TlsError::AlertReceived(alert) => {
            format!("the target aborted the TLS handshake (TLS alert {})", alert_number(*alert)).into()
        }
        TlsError::InvalidCertificate(why) => untrusted(distrust(why)),
        TlsError::NoCertificatesPresented => untrusted("it sends none"),
        TlsError::InconsistentKeys(_) => "the private key does not match the certificate".into(),
        TlsError::PeerIncompatible(_) => {
            "the target offers no TLS version or cipher that xs2aspec supports".into()
        }
        _ => "the TLS handshake failed".into(),
    }
}

/// Returns the message for a target that accepts none of the offered parameters.
fn nothing_in_common(alert: AlertDescription) -> String {
    let suites: Vec<&str> = DEFAULT_CIPHER_SUITES.iter().filter_map(|suite| suite.suite().as_str()).collect();
    format!(
        "no common cipher suite or protocol version, or a client certificate is required (TLS alert {}); xs2aspec offers TLS 1.2 and 1.3 with \
         {}",
        alert_number(alert),
        suites.join(", ")
    )
}

fn alert_number(alert: AlertDescription) -> u8 {
    u8::from(alert)
}

/// Returns the reason why a certificate is not trusted (RFC 5280 section 6).
fn distrust(error: &CertificateError) -> &'static str {
    match error {
        CertificateError::UnknownIssuer => "it is from an unknown authority",
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => "it is not valid yet",
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it is not for the host name of the URL"
        }
        CertificateError::Revoked => "it is revoked",
        CertificateError::BadSignature => "its signature is invalid",
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "it is not for use by a server"
        }
        // The verifier has no variant for the certificate of an authority that is used by a server.
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            "it is the certificate of an authority, not of a server"
        }
        _ => "it cannot be verified",
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
                "not trusted: it is from an unknown authority",
            ),
            (
                TlsError::InvalidCertificate(CertificateError::Expired),
                Cause::Untrusted,
                "not trusted: it has expired",
            ),
            (
                TlsError::AlertReceived(AlertDescription::CertificateRequired),
                Cause::ClientCertificate,
                "requires a client certificate",
            ),
            (
                TlsError::AlertReceived(AlertDescription::InternalError),
                Cause::Other,
                "aborted the TLS handshake (TLS alert 80)",
            ),
            (
                TlsError::AlertReceived(AlertDescription::HandshakeFailure),
                Cause::NothingInCommon,
                "(TLS alert 40); xs2aspec offers TLS 1.2 and 1.3 with TLS13_",
            ),
            (
                TlsError::AlertReceived(AlertDescription::ProtocolVersion),
                Cause::NothingInCommon,
                "no common protocol version (TLS alert 70); xs2aspec offers TLS 1.2 and 1.3",
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
