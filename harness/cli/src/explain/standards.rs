//! The sentences of the standards that derived clauses cite.

/// Each cited section with its deciding sentence. The texts of ISO are not public.
const SENTENCES: [(&str, &str); 19] = [
    ("RFC 2047 section 2", "Both 'encoding' and 'charset' names are case-independent."),
    (
        "RFC 2047 section 3",
        "The 'charset' portion of an 'encoded-word' specifies the character set associated with the \
         unencoded text.",
    ),
    (
        "RFC 2047 section 4.2",
        "The \"Q\" encoding is similar to the \"Quoted-Printable\" content-transfer-encoding defined in RFC 2045.",
    ),
    ("RFC 3230 section 4.1.1", "All digest-algorithm values are case-insensitive."),
    (
        "RFC 3230 section 4.3.2",
        "The Digest message header field provides a message digest of the instance described by the message.",
    ),
    ("RFC 8259 section 1", "An object is an unordered collection of zero or more name/value pairs."),
    (
        "RFC 8259 section 2",
        "Insignificant whitespace is allowed before or after any of the six structural characters.",
    ),
    ("RFC 8259 section 7", "Any character may be escaped."),
    (
        "RFC 9110 section 5.1",
        "Field names are case-insensitive and ought to be registered within the \"Hypertext Transfer Protocol \
         (HTTP) Field Name Registry\".",
    ),
    (
        "RFC 9110 section 15.5",
        "The 4xx (Client Error) class of status code indicates that the client seems to have erred.",
    ),
    (
        "RFC 9110 section 15.6",
        "The 5xx (Server Error) class of status code indicates that the server is aware that it has erred or \
         is incapable of performing the requested method.",
    ),
    (
        "RFC 9110 sections 4.2.3 and 7.2",
        "The scheme and host are case-insensitive and normally provided in lowercase; all other components \
         are compared in a case-sensitive manner.",
    ),
    (
        "draft-cavage-http-signatures-10 section 2.1.1",
        "REQUIRED. The `keyId` field is an opaque string that the server can use to look up the component they \
         need to validate the signature.",
    ),
    (
        "draft-cavage-http-signatures-10 section 2.1.2",
        "REQUIRED. The `signature` parameter is a base 64 encoded digital signature, as described in RFC 4648, \
         Section 4.",
    ),
    (
        "draft-cavage-http-signatures-10 section 2.1.3",
        "The `algorithm` parameter is used to specify the digital signature algorithm to use when generating \
         the signature.",
    ),
    (
        "draft-cavage-http-signatures-10 section 2.2",
        "If any of the parameters listed above are erroneously duplicated in the associated header field, then \
         the last parameter defined MUST be used.",
    ),
    (
        "draft-cavage-http-signatures-10 section 2.3",
        "In order to generate the string that is signed with a key, the client MUST use the values of each HTTP \
         header field in the `headers` Signature parameter, in the order they appear in the `headers` \
         Signature parameter.",
    ),
    (
        "draft-cavage-http-signatures-10 section 2.5",
        "The `algorithm`, `keyId`, and base 64 decoded `signature` listed in the signature parameters are then \
         used to verify the authenticity of the digital signature.",
    ),
    (
        "draft-cavage-http-signatures-10 section 4.1",
        "The sender is expected to transmit a header (as defined in RFC 7230, Section 3.2) where the \
         `field-name` is \"Signature\", and the `field-value` contains one or more `auth-param`s.",
    ),
];

/// Returns the sentence of a cited section, if it is known.
pub(super) fn sentence(cited: &str) -> Option<&'static str> {
    let cited = cited.replace(',', "");
    SENTENCES.into_iter().find(|(section, _)| *section == cited).map(|(_, sentence)| sentence)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use xs2aspec_suite::{Strength, Suite, Tree};

    use super::*;

    #[test]
    fn every_public_standard_that_a_clause_cites_has_its_sentence_and_no_other_has() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let cited: BTreeSet<String> = suite
            .clauses()
            .values()
            .filter_map(|clause| match &clause.strength {
                Strength::Derived(standard) => Some(standard.replace(',', "")),
                _ => None,
            })
            .collect();
        let is_public = |standard: &&String| standard.starts_with("RFC ") || standard.starts_with("draft-");
        let public: BTreeSet<&str> = cited.iter().filter(is_public).map(String::as_str).collect();
        assert!(!public.is_empty());
        assert_eq!(public, SENTENCES.into_iter().map(|(section, _)| section).collect());
    }
}
