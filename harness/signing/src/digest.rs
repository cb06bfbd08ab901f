//! The value of the `Digest` header: a hash of the body (RFC 3230, section 4.3.2).

use aws_lc_rs::digest;
use base64::{Engine, prelude::BASE64_STANDARD};

/// A hash for `Digest` (RFC 5843).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Algorithm {
    /// SHA-256 (RFC 5843, section 2.2).
    #[default]
    Sha256,
    /// SHA-512 (RFC 5843, section 2.2).
    Sha512,
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: [Self; 2] = [Self::Sha256, Self::Sha512];

    /// Returns the registered digest-algorithm token. Receivers compare it case-insensitively (RFC 3230,
    /// section 4.1.1).
    pub const fn token(self) -> &'static str {
        match self {
            Self::Sha256 => "SHA-256",
            Self::Sha512 => "SHA-512",
        }
    }

    /// Returns the hash of `body`.
    pub fn hash(self, body: &[u8]) -> Vec<u8> {
        digest::digest(self.function(), body).as_ref().to_vec()
    }

    /// Returns the hash of `body` in padded base64, the encoding that RFC 5843, section 2.2, defines for both
    /// algorithms.
    pub fn base64(self, body: &[u8]) -> String {
        BASE64_STANDARD.encode(self.hash(body))
    }

    /// Returns the value of `Digest` for the bytes of a body as sent: `SHA-256=<base64>`.
    pub fn header_value(self, body: &[u8]) -> String {
        format!("{}={}", self.token(), self.base64(body))
    }

    fn function(self) -> &'static digest::Algorithm {
        match self {
            Self::Sha256 => &digest::SHA256,
            Self::Sha512 => &digest::SHA512,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_of_the_published_body() {
        // SHA-256: draft-cavage-http-signatures-10, appendix C. Both: RFC 9530, appendix D, in its own
        // framing.
        let body = br#"{"hello": "world"}"#;
        assert_eq!(
            Algorithm::Sha256.header_value(body),
            "SHA-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE="
        );
        assert_eq!(
            Algorithm::Sha512.header_value(body),
            "SHA-512=WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew=="
        );
    }

    #[test]
    fn every_byte_of_the_body_counts() {
        // A hash of re-serialized JSON would not cover the line end (readings, row 75).
        for algorithm in Algorithm::ALL {
            assert_ne!(
                algorithm.base64(b"{\"hello\": \"world\"}\n"),
                algorithm.base64(b"{\"hello\": \"world\"}")
            );
        }
    }
}
