//! Why a TLS connection failed, in words of this program: those of the TLS library change with it, and name its types.

use std::error::Error;

use rustls::{AlertDescription, CertificateError, Error as TlsError};

/// The target speaks no TLS at this address.
pub const NO_TLS: &str = "the target does not speak TLS there";
/// The target wants a client certificate, or another one.
pub const CLIENT_CERTIFICATE: &str = "the target wants a client certificate, or another one";
/// The certificate of the target cannot be trusted.
pub const UNTRUSTED: &str = "the target's certificate is not trusted";

/// The innermost cause of an error, which says what happened; the outer ones only repeat the URL.
pub(super) fn cause(error: &(dyn Error + 'static)) -> String {
    let mut next = Some(error);
    let mut innermost = String::new();
    while let Some(error) = next {
        if let Some(tls) = tls(error) {
            return words(tls);
        }
        innermost = error.to_string();
        next = error.source();
    }
    innermost
}

/// The error of the TLS library that this one is, or that it wraps.
fn tls<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a TlsError> {
    // An I/O error that wraps another one passes it over as its source.
    let wrapped = || tls(error.downcast_ref::<std::io::Error>()?.get_ref()?);
    error.downcast_ref::<TlsError>().or_else(wrapped)
}

/// The error in words (RFC 8446 section 6.2 names the alerts).
pub(super) fn words(error: &TlsError) -> String {
    use AlertDescription as Alert;
    match error {
        TlsError::InvalidMessage(_) | TlsError::InappropriateMessage { .. } => NO_TLS.to_owned(),
        TlsError::AlertReceived(
            alert @ (Alert::CertificateRequired
            | Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::AccessDenied
            | Alert::DecryptError
            | Alert::HandshakeFailure),
        ) => format!("{CLIENT_CERTIFICATE} (TLS alert {})", alert_number(*alert)),
        TlsError::AlertReceived(alert) => {
            format!("the target broke the TLS handshake off (TLS alert {})", alert_number(*alert))
        }
        TlsError::InvalidCertificate(why) => format!("{UNTRUSTED}: {}", distrust(why)),
        TlsError::NoCertificatesPresented => format!("{UNTRUSTED}: it shows none"),
        TlsError::InconsistentKeys(_) => "the private key does not belong to the certificate".to_owned(),
        TlsError::PeerIncompatible(_) => {
            "the target offers no version or cipher of TLS that this program has".to_owned()
        }
        _ => "the TLS handshake failed".to_owned(),
    }
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
                "not trusted: it is of an unknown authority",
            ),
            (TlsError::InvalidCertificate(CertificateError::Expired), "not trusted: it has expired"),
            (TlsError::AlertReceived(AlertDescription::CertificateRequired), "wants a client certificate"),
            (
                TlsError::AlertReceived(AlertDescription::InternalError),
                "broke the TLS handshake off (TLS alert 80)",
            ),
            (TlsError::General("HandshakeThing".to_owned()), "the TLS handshake failed"),
        ];
        for (error, expected) in table {
            let said = cause(&std::io::Error::other(std::io::Error::other(error.clone())));
            assert!(said.contains(expected), "{said}");
            assert_eq!(said, cause(&error));
        }
        assert_eq!(cause(&std::io::Error::other("refused")), "refused");
    }
}
