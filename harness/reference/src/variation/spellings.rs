//! Spellings that common decoders read and verify, repetitions and lengths that a careful receiver rejects,
//! and a request that contradicts itself: what a conforming bank may do about them.

use super::requests::{PAYMENTS, on};
use crate::date;
use crate::header::Header;
use crate::operation::Operation;
use crate::rules::{
    Breach, DigestBreach, Effect, Entry, FieldNames, Place, SignatureBreach as S, StateBreach, Then,
    Variance, When,
};

const B: Operation = Operation::Basket;
const N: Operation = Operation::Ncbct;
const P: Operation = Operation::Periodic;
const T: Operation = Operation::Transaction;

pub(super) fn variations() -> Vec<Entry> {
    let mut all: Vec<Entry> =
        BREACHES.into_iter().map(|(name, breach, says)| Entry::breach(name, breach, says)).collect();
    all.extend(
        VARIANCES
            .into_iter()
            .map(|(name, variance, says)| Entry::new(name, vec![Effect::Variance(variance)], says)),
    );
    for (name, operations, place, when, then, says) in VALUES {
        all.extend(on(name, operations, *place, *when, *then, says));
    }
    all
}

const BREACHES: [(&str, Breach, &str); 9] = [
    (
        "signature.parameters.duplicate/refused",
        Breach::Signature(S::NoDuplicate),
        "A Signature header in which a parameter occurs twice is rejected.",
    ),
    (
        "signature.parameters.unknown/refused",
        Breach::Signature(S::NoUnknown),
        "A Signature header with a parameter that the draft does not know is rejected.",
    ),
    (
        "signature.value.url-safe/read",
        Breach::Signature(S::UrlSafe),
        "A signature is decoded from both alphabets of base64.",
    ),
    (
        "signature.value.foreign-characters/passed-over",
        Breach::Signature(S::ForeignCharacters),
        "A signature is decoded as MIME does, without the characters that base64 does not have.",
    ),
    (
        "digest.foreign-characters/passed-over",
        Breach::Digest(DigestBreach::ForeignCharacters),
        "A Digest is read without quotes around it and without what follows its base64.",
    ),
    (
        "header.psu-id.notation/any",
        Breach::UuidNotation(Header::PsuId),
        "A PSU-ID may be written in every notation of a UUID.",
    ),
    (
        "header.psu-device-id.notation/any",
        Breach::UuidNotation(Header::PsuDeviceId),
        "A PSU-Device-ID may be written in every notation of a UUID.",
    ),
    (
        "header.underscores/hyphens",
        Breach::FieldNames(FieldNames::Underscores),
        "Headers are read as CGI passes them on, with no difference between underscores and hyphens.",
    ),
    (
        "limit.without-psu-ip.attended/of-the-machine-itself",
        Breach::State(StateBreach::LoopbackCounts),
        "A loopback address is no PSU-IP-Address.",
    ),
];

const VARIANCES: [(&str, Variance, &str); 3] = [
    (
        "json.names/loose",
        Variance::LooseNames,
        "The names of fields may begin with an uppercase letter, and have underscores between their words.",
    ),
    (
        "value.spaces/dropped",
        Variance::SpacesDropped,
        "Spaces and line breaks around codes, amounts and days are dropped.",
    ),
    (
        "transaction.corporate-only.contradicted/by-agreement",
        Variance::AgreementDecides,
        "A request with PSU-Corporate-ID is answered in corporate context, whatever PSU-Context says.",
    ),
];

/// Name, operations, place, values, what is done with them, and a sentence.
type Values = (&'static str, &'static [Operation], Place, When, Then, &'static str);

#[rustfmt::skip]
const VALUES: &[Values] = &[
    ("header.psu-device-id.version/of-rfc-4122", &[B, N, P, T], Place::Header("psu-device-id"), When::Text(|id| matches!(id.as_bytes().get(14), Some(b'6'..=b'8'))), Then::Refuse, "PSU-Device-ID has to be a UUID of a version of RFC 4122."),
    ("header.long/agents", &[B, N, P, T], Place::Header("psu-user-agent"), When::Longer(255), Then::Refuse, "PSU-User-Agent has at most 255 characters."),
    ("header.long/brands", &[N], Place::Header("tpp-brand-logging-information"), When::Longer(255), Then::Refuse, "TPP-Brand-Logging-Information has at most 255 characters."),
    ("date.form/one-digit", &[P], Place::Body("/startDate"), When::Text(lacks_zeros), Then::TakeFor("\"2099-12-01\""), "The month and the day of a date may have one digit."),
    ("text.characters/no-four-bytes", PAYMENTS, Place::Body("/remittanceInformationUnstructured"), When::Text(|text| text.chars().any(|character| character.len_utf8() == 4)), Then::Refuse, "A remittance text has no character of four bytes."),
];

/// Returns true for a date whose month or day is written without its zero.
fn lacks_zeros(text: &str) -> bool {
    let padded: Vec<String> = text.split('-').map(|part| format!("{part:0>2}")).collect();
    padded.join("-") != text && date::parse(&padded.join("-")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_without_their_zeros_are_told_apart() {
        assert!(lacks_zeros("2031-2-05") && lacks_zeros("2031-02-5") && lacks_zeros("2031-2-5"));
        assert!(!lacks_zeros("2031-02-05") && !lacks_zeros("2031-2-30") && !lacks_zeros("2031"));
    }
}
