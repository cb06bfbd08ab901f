//! The Signature header and its signing string (draft-cavage-http-signatures-10, sections 2 and 4).

use crate::encoding;
use crate::header::Fields;
use crate::policy::signature::{Signature as Policy, Values};
use crate::refusal::excerpt;

/// The name of method and path in the list of signed headers (section 2.3).
pub(crate) const REQUEST_TARGET: &str = "(request-target)";

/// The parameters of a Signature header (section 2.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parameters {
    pub(crate) key_id: String,
    /// Optional in the draft. The key determines the algorithm.
    pub(crate) algorithm: Option<String>,
    /// The list of signed headers as written.
    pub(crate) list: Option<String>,
    /// The signed headers in their order, in lowercase.
    pub(crate) headers: Vec<String>,
    pub(crate) signature: Vec<u8>,
}

impl Parameters {
    /// Parses `name="value"` pairs separated by commas. The last of duplicate parameters counts. Unknown and
    /// malformed ones are ignored (section 2.2). Without `headers`, only the date is signed (section 2.1).
    pub(crate) fn parse(text: &str, policy: &Policy) -> Result<Self, SignatureError> {
        let pairs: Vec<_> = pairs(text).collect();
        let value = |name| {
            let mut values = pairs.iter().filter(|(known, _)| *known == name).map(|(_, value)| *value);
            if policy.first_counts { values.next() } else { values.next_back() }
        };
        let list = value("headers");
        let headers = list.unwrap_or("date").split_ascii_whitespace();
        let key_id = value("keyId").ok_or(SignatureError::Missing("keyId"))?;
        let signature = value("signature").ok_or(SignatureError::Missing("signature"))?;
        Ok(Self {
            key_id: key_id.to_owned(),
            algorithm: value("algorithm").map(str::to_owned),
            list: list.map(str::to_owned),
            headers: headers.map(str::to_ascii_lowercase).collect(),
            signature: encoding::decode(signature, &policy.also_reads).ok_or(SignatureError::Encoding)?,
        })
    }
}

/// Returns true if the draft defines all parameters.
pub(crate) fn knows_all(text: &str) -> bool {
    pairs(text).all(|(name, _)| matches!(name, "keyId" | "algorithm" | "headers" | "signature"))
}

/// Returns true if a parameter is duplicate.
pub(crate) fn has_duplicates(text: &str) -> bool {
    let names: Vec<&str> = pairs(text).map(|(name, _)| name).collect();
    names.iter().enumerate().any(|(at, name)| names[..at].contains(name))
}

/// Returns the signing string (section 2.3): a line `name: value` for each listed header, without a newline
/// at the end. For `(request-target)` the method is in lowercase, and `target` is path and query as received.
pub(crate) fn signing_string(
    headers: &[String],
    method: &str,
    target: &str,
    fields: Fields<'_>,
    values: Values,
) -> Result<Vec<u8>, SignatureError> {
    let line = |name: &String| {
        let value = if name == REQUEST_TARGET {
            let target = if values == Values::TargetDecoded { decoded(target) } else { target.into() };
            [method.to_ascii_lowercase().as_bytes(), b" ", &target].concat()
        } else {
            value(name, fields, values).ok_or_else(|| SignatureError::Absent(excerpt(name)))?
        };
        Ok([name.as_bytes(), b": ", &value].concat())
    };
    Ok(headers.iter().map(line).collect::<Result<Vec<_>, _>>()?.join(&b'\n'))
}

/// Returns the value of a header in the signing string.
fn value(name: &str, fields: Fields<'_>, values: Values) -> Option<Vec<u8>> {
    let joined = fields.bytes(name)?;
    let mut lines = fields.lines(name).map(<[u8]>::trim_ascii);
    match values {
        Values::WithBlanks => fields.as_it_came(name),
        Values::BlanksFolded => {
            let words = joined.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            Some(words.collect::<Vec<_>>().join(&b' '))
        }
        Values::FirstLine => lines.next().map(<[u8]>::to_vec),
        Values::LastLine => lines.next_back().map(<[u8]>::to_vec),
        Values::CommaAlone => Some(lines.collect::<Vec<_>>().join(&b',')),
        Values::HostWithoutPort if name == "host" => {
            joined.split(|byte| *byte == b':').next().map(<[u8]>::to_vec)
        }
        Values::Joined | Values::HostWithoutPort | Values::TargetDecoded => Some(joined),
    }
}

/// Percent-decodes a string (RFC 3986 section 2.1).
fn decoded(text: &str) -> Vec<u8> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.get(..2).map(|digits| u8::from_str_radix(digits, 16)) {
            Some(Ok(byte)) => {
                bytes.push(byte);
                bytes.extend_from_slice(&part.as_bytes()[2..]);
            }
            _ => bytes.extend_from_slice(format!("%{part}").as_bytes()),
        }
    }
    bytes
}

/// The reason why a signature cannot be verified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SignatureError {
    /// A required parameter is missing, or its value is not in quotation marks.
    #[error("expected the parameter {0} as name=\"value\", found none")]
    Missing(&'static str),
    /// The signature is not base64 (RFC 4648 section 4).
    #[error("expected a base64 signature, found other characters or padding")]
    Encoding,
    /// A listed header is not in the request.
    #[error("expected the signed header {0} in the request, found none")]
    Absent(String),
}

impl SignatureError {
    /// Returns the word for this error in a policy.
    pub(crate) fn flaw(&self) -> &'static str {
        match self {
            Self::Missing(name) => name,
            Self::Encoding => "base64",
            Self::Absent(_) => "absent",
        }
    }
}

/// Returns the well-formed `name="value"` pairs. The draft has no escapes, so a value ends at the next
/// quotation mark.
fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let part = take_parameter(&mut rest);
            if let Some((name, value)) = part.split_once('=')
                && let Some(value) = value.trim().strip_prefix('"').and_then(|value| value.strip_suffix('"'))
                && !value.contains('"')
            {
                return Some((name.trim(), value));
            }
        }
        None
    })
}

/// Removes and returns the part before the next comma outside quotation marks.
fn take_parameter<'a>(rest: &mut &'a str) -> &'a str {
    let mut quoted = false;
    let end = rest.find(|letter| {
        quoted ^= letter == '"';
        letter == ',' && !quoted
    });
    let (part, after) = match end {
        Some(end) => (&rest[..end], &rest[end + 1..]),
        None => (*rest, ""),
    };
    *rest = after;
    part
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use http::{HeaderMap, HeaderName};
    use rsa::RsaPublicKey;
    use rsa::pkcs1v15::{Signature, VerifyingKey};
    use rsa::pkcs8::DecodePublicKey as _;
    use rsa::signature::Verifier as _;
    use serde_json::Value;
    use sha2::Sha256;

    use super::*;

    #[test]
    fn parameters() {
        let text = r#"keyId="SN=1F,CA=CN=a, O=b",algorithm="rsa-sha256", headers="date X-Request-ID",signature="YQ==""#;
        let parameters = Parameters::parse(text, &Policy::default()).unwrap();
        assert_eq!(parameters.key_id, "SN=1F,CA=CN=a, O=b");
        assert_eq!(parameters.algorithm.as_deref(), Some("rsa-sha256"));
        assert_eq!(parameters.headers, ["date", "x-request-id"]);
        assert_eq!(parameters.signature, b"a");
    }

    #[test]
    fn the_last_of_two_counts_and_the_unknown_is_ignored() {
        let text = r#"keyId="a",keyId = "b" ,created=1,x="y",keyId=c,,signature="YQ==""#;
        let parameters = Parameters::parse(text, &Policy::default()).unwrap();
        assert_eq!(parameters.key_id, "b");
        assert_eq!(parameters.algorithm, None);
        assert_eq!(parameters.headers, ["date"], "the default of the draft");
        let first = Policy { first_counts: true, ..Policy::default() };
        assert_eq!(Parameters::parse(text, &first).unwrap().key_id, "a");
    }

    #[test]
    fn what_is_missing_or_broken() {
        for (text, error) in [
            ("", SignatureError::Missing("keyId")),
            (r#"signature="YQ==""#, SignatureError::Missing("keyId")),
            (r#"keyid="a",signature="YQ==""#, SignatureError::Missing("keyId")),
            (r#"keyId="a""#, SignatureError::Missing("signature")),
            (r#"keyId="a",signature=YQ=="#, SignatureError::Missing("signature")),
            (r#"keyId="a,signature="YQ==""#, SignatureError::Missing("keyId")),
            (r#"keyId="a",signature="Y Q""#, SignatureError::Encoding),
        ] {
            assert_eq!(Parameters::parse(text, &Policy::default()), Err(error), "{text}");
        }
    }

    #[test]
    fn values_are_trimmed_and_joined() {
        let mut headers = HeaderMap::new();
        headers.append("cache-control", " max-age=60 ".parse().unwrap());
        headers.append("cache-control", "must-revalidate".parse().unwrap());
        headers.append("x-empty", "".parse().unwrap());
        let names = ["(request-target)", "cache-control", "x-empty"].map(str::to_owned);
        let string = signing_string(&names, "GET", "/Foo?a=%20B", Fields(&headers), Values::Joined).unwrap();
        let expected =
            "(request-target): get /Foo?a=%20B\ncache-control: max-age=60, must-revalidate\nx-empty: ";
        assert_eq!(String::from_utf8(string).unwrap(), expected);
        let absent = signing_string(&["date".to_owned()], "GET", "/", Fields(&headers), Values::Joined);
        assert_eq!(absent, Err(SignatureError::Absent("\"date\"".to_owned())));
    }

    #[test]
    fn other_ideas_of_values() {
        let mut headers = HeaderMap::new();
        for line in [" a  b ", "c"] {
            headers.append("x", line.parse().unwrap());
        }
        headers.append("host", "bank.example:81".parse().unwrap());
        let names = ["(request-target)", "x", "host"].map(str::to_owned);
        for (how, expected) in [
            (Values::Joined, "(request-target): get /%74?%\nx: a  b, c\nhost: bank.example:81"),
            (Values::WithBlanks, "(request-target): get /%74?%\nx:  a  b \nhost: bank.example:81"),
            (Values::BlanksFolded, "(request-target): get /%74?%\nx: a b, c\nhost: bank.example:81"),
            (Values::FirstLine, "(request-target): get /%74?%\nx: a  b\nhost: bank.example:81"),
            (Values::LastLine, "(request-target): get /%74?%\nx: c\nhost: bank.example:81"),
            (Values::CommaAlone, "(request-target): get /%74?%\nx: a  b,c\nhost: bank.example:81"),
            (Values::HostWithoutPort, "(request-target): get /%74?%\nx: a  b, c\nhost: bank.example"),
            (Values::TargetDecoded, "(request-target): get /t?%\nx: a  b, c\nhost: bank.example:81"),
        ] {
            let string = signing_string(&names, "GET", "/%74?%", Fields(&headers), how).unwrap();
            assert_eq!(String::from_utf8(string).unwrap(), expected, "{how:?}");
        }
    }

    #[test]
    fn the_vectors_of_the_draft() {
        let vectors = include_str!("../../../fixtures/vectors/cavage10.json");
        let vectors: Value = serde_json::from_str(vectors).unwrap();
        let key = vectors["public_key_pem"].as_str().unwrap();
        let key = VerifyingKey::<Sha256>::new(RsaPublicKey::from_public_key_pem(key).unwrap());
        let request = &vectors["request"];
        let mut fields = HeaderMap::new();
        for field in request["headers"].as_array().unwrap() {
            let name = HeaderName::from_bytes(field[0].as_str().unwrap().as_bytes()).unwrap();
            fields.append(name, field[1].as_str().unwrap().parse().unwrap());
        }
        let cases = vectors["cases"].as_array().unwrap();
        assert_eq!(cases.len(), 3);
        for case in cases {
            let mut header =
                format!(r#"keyId="Test",algorithm="rsa-sha256",signature={}"#, case["signature"]);
            if let Some(list) = case["headers_param"].as_str() {
                write!(header, r#",headers="{list}""#).unwrap();
            }
            let parameters = Parameters::parse(&header, &Policy::default()).unwrap();
            let (method, path) = (request["method"].as_str().unwrap(), request["path"].as_str().unwrap());
            let string =
                signing_string(&parameters.headers, method, path, Fields(&fields), Values::Joined).unwrap();
            assert_eq!(str::from_utf8(&string).unwrap(), case["signing_string"].as_str().unwrap());
            let signature = Signature::try_from(parameters.signature.as_slice()).unwrap();
            key.verify(&string, &signature).unwrap();
            assert!(key.verify(&string[1..], &signature).is_err(), "another string");
        }
    }
}
