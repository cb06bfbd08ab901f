//! Spellings of the Signature header. The document leaves them open, and a bank may reject some of them.

use super::{RSA_SHA256, SIGNED_WHEN_PRESENT, refuse};
use crate::policy::signature::Spelling;
use crate::refusal::Refusal;
use crate::signature::{Parameters, REQUEST_TARGET, has_duplicates, knows_all};

/// A Signature header in its original spelling.
pub(super) struct Written<'a> {
    /// The value of the header.
    pub(super) header: &'a [u8],
    /// The value after its encoded-words are decoded.
    pub(super) text: &'a str,
    pub(super) parameters: &'a Parameters,
}

impl Written<'_> {
    /// Rejects a header that has one of these spellings.
    pub(super) fn check(&self, refused: &[Spelling]) -> Result<(), Refusal> {
        match refused.iter().find(|spelling| self.has(**spelling)) {
            Some(spelling) => Err(refuse(spelling.rule(), "expected an accepted spelling, found another")),
            None => Ok(()),
        }
    }

    /// Returns true if the header has this spelling.
    pub(super) fn has(&self, spelling: Spelling) -> bool {
        let Parameters { algorithm, list, headers, signature, .. } = self.parameters;
        let list = list.as_deref().unwrap_or_default();
        let place = |name: &String| SIGNED_WHEN_PRESENT.iter().position(|known| known == name);
        let word = self.word();
        let is_in = |encoding| word.as_ref().is_some_and(|(_, own)| own.eq_ignore_ascii_case(encoding));
        match spelling {
            Spelling::Bare => word.is_none(),
            Spelling::B => is_in("B"),
            Spelling::Q => is_in("Q"),
            Spelling::Latin1 => word.is_some_and(|(charset, _)| charset.eq_ignore_ascii_case("iso-8859-1")),
            Spelling::UppercaseCharset => word.is_some_and(|(charset, _)| has_uppercase(&charset)),
            Spelling::LowercaseEncoding => word.is_some_and(|(_, encoding)| !has_uppercase(&encoding)),
            // The parts outside quotation marks.
            Spelling::Blanks => self.text.split('"').step_by(2).any(|part| part.contains([' ', '\t'])),
            Spelling::UnknownParameter => !knows_all(self.text),
            Spelling::DuplicateParameter => has_duplicates(self.text),
            Spelling::NoAlgorithm => algorithm.is_none(),
            Spelling::RsaSha256 => algorithm.as_deref() == Some(RSA_SHA256),
            Spelling::NoDate => !headers.iter().any(|name| name == "date"),
            Spelling::RequestTarget => headers.iter().any(|name| name == REQUEST_TARGET),
            Spelling::Extra => headers.iter().any(|name| place(name).is_none() && name != REQUEST_TARGET),
            Spelling::Uppercase => has_uppercase(list),
            Spelling::OtherOrder => !headers.iter().filter_map(place).is_sorted(),
            Spelling::Unsorted => !list.split(' ').is_sorted(),
            Spelling::EmptySignature => signature.is_empty(),
        }
    }

    /// Returns charset and encoding of the first encoded-word, or None if the header does not start with one.
    fn word(&self) -> Option<(String, String)> {
        let text = String::from_utf8_lossy(self.header);
        let mut parts = text.strip_prefix("=?")?.split('?');
        Some((parts.next()?.to_owned(), parts.next()?.to_owned()))
    }
}

impl Spelling {
    /// Returns the rule that rejects this spelling.
    fn rule(self) -> &'static str {
        match self {
            Self::Bare
            | Self::B
            | Self::Q
            | Self::Latin1
            | Self::UppercaseCharset
            | Self::LowercaseEncoding => "signature.encoded-word",
            Self::Blanks => "signature.parameters.blanks",
            Self::UnknownParameter | Self::DuplicateParameter => "signature.parameters",
            Self::NoAlgorithm => "signature.parameters.algorithm",
            Self::RsaSha256 => "signature.algorithm",
            Self::NoDate => "signature.headers.date-absent",
            Self::RequestTarget | Self::Extra => "signature.headers.extra",
            Self::Uppercase => "signature.headers.case",
            Self::OtherOrder | Self::Unsorted => "signature.headers.order",
            Self::EmptySignature => "signature.value",
        }
    }
}

fn has_uppercase(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_uppercase())
}
