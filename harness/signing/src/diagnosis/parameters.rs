//! The parameters of a Signature header.

/// The scheme of the Authorization header, which is often written before the parameters by mistake (draft,
/// section 3.1).
const SCHEME: &str = "Signature ";

/// The parameters of a Signature header as written (draft-cavage-http-signatures-10, section 2.1). Of
/// duplicates, the last one counts (section 2.2).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parameters {
    /// `keyId`.
    pub key_id: Option<String>,
    /// `algorithm`.
    pub algorithm: Option<String>,
    /// `headers`.
    pub headers: Option<String>,
    /// `signature`.
    pub signature: Option<String>,
}

impl Parameters {
    /// Reads a header that is not an encoded word. Parts between commas that are not `name="value"` are
    /// ignored, such as `created=1402170695` from a later draft.
    pub fn read(text: &str) -> Self {
        let mut read = Self::default();
        for part in parts(text) {
            let Some((name, value)) = part.split_once('=') else { continue };
            let value = value.trim().strip_prefix('"').and_then(|value| value.strip_suffix('"'));
            let Some(value) = value.filter(|value| !value.contains('"')) else { continue };
            let slot = match name.trim() {
                "keyId" => &mut read.key_id,
                "algorithm" => &mut read.algorithm,
                "headers" => &mut read.headers,
                "signature" => &mut read.signature,
                _ => continue,
            };
            *slot = Some(value.to_owned());
        }
        read
    }

    /// Returns true if all parameters that the draft or the document requires are missing.
    pub fn is_empty(&self) -> bool {
        self.key_id.is_none() && self.headers.is_none() && self.signature.is_none()
    }

    /// Returns true if a required parameter is missing.
    pub fn is_incomplete(&self) -> bool {
        self.key_id.is_none() || self.headers.is_none() || self.signature.is_none()
    }
}

/// Splits a header at the commas outside quotation marks.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    text.split(move |letter| {
        is_quoted ^= letter == '"';
        letter == ',' && !is_quoted
    })
}

/// Returns the syntax error that explains missing parameters, if there is one.
pub fn oddity(text: &str) -> Option<&'static str> {
    let begins = |start: &str| text.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    match () {
        () if begins(SCHEME) => Some(
            "has the word Signature before its parameters, which belongs in the Authorization header (draft, section 3.1)",
        ),
        () if begins("Signature:") => Some("has its own name in its value"),
        () if text.contains("=\\\"") => Some("has backslashes before its quotation marks"),
        () if has_stray_quotation_mark(text) => Some(
            "has a quotation mark inside a parameter, which ends there, because the draft has no escape for it; in keyId write \
             \\22 (RFC 4514, section 2.4)",
        ),
        () if text.starts_with('{') => Some("is JSON, not a list of parameters"),
        () if text.contains("sig1=") || text.contains("=:") => {
            Some("follows RFC 9421, not the draft that the document names")
        }
        () if text.contains("='") => Some("has single quotation marks"),
        () => None,
    }
}

/// Returns the parameters from later drafts. Banks that follow draft 10 ignore them (section 2.2).
pub(super) fn of_later_drafts(text: &str) -> Vec<&'static str> {
    let has = |name: &&str| {
        parts(text).any(|part| part.split_once('=').is_some_and(|(known, _)| known.trim() == *name))
    };
    ["created", "expires"].into_iter().filter(has).collect()
}

/// Returns true if a parameter continues after its closing quotation mark.
pub fn has_stray_quotation_mark(text: &str) -> bool {
    text.split('"').skip(2).step_by(2).any(|behind| {
        let behind = behind.trim_start_matches([' ', '\t']);
        !behind.is_empty() && !behind.starts_with([',', ';'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_a_name_and_a_value_in_quotation_marks_between_commas() {
        for (text, is_read) in [
            (r#"keyId="a",headers="b",signature="c""#, true),
            (r#"keyId = "a" , headers="b",signature="c","#, true),
            (r#"keyId="x",keyId="a",headers="b",signature="c""#, true),
            (r#"created=1402170695,123,keyId="a",headers="b",expires=1.5,signature="c""#, true),
            (r#"created="1",other,keyId="a",headers="b",signature="c",o="p""#, true),
            (r#"keyId="a"headers="b"signature="c""#, false),
            (r#"keyId="a";headers="b";signature="c""#, false),
            (r"keyId=a,headers=b,signature=c", false),
            (r#"Signature keyId="a",headers="b",signature="c""#, false),
            (r#"KEYID="a",headers="b",signature="c""#, false),
            (r#"keyId="a"x,headers="b",signature="c""#, false),
        ] {
            let some = |text: &str| Some(text.to_owned());
            let whole =
                Parameters { key_id: some("a"), headers: some("b"), signature: some("c"), algorithm: None };
            assert_eq!(Parameters::read(text) == whole, is_read, "{text}");
        }
    }

    #[test]
    fn what_is_odd_is_named() {
        for (text, says) in [
            (r#"signature keyId="a""#, "word Signature"),
            (r#"keyId="a" algorithm="b""#, "quotation mark inside"),
            (r"keyId='a'", "single"),
            (r#"keyId=\"a\""#, "backslashes"),
            (r#"keyId="a"b"c",x="y""#, "quotation mark inside"),
            (r"sig1=:AAAA:", "RFC 9421"),
        ] {
            assert!(oddity(text).is_some_and(|found| found.contains(says)), "{text}: {:?}", oddity(text));
        }
        assert_eq!(oddity(r#"keyId="a",created=1,headers="b=",signature="c==""#), None);
        assert_eq!(of_later_drafts(r#"keyId="a",created=1.5, expires="2""#), ["created", "expires"]);
    }
}
