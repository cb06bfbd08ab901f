//! What the document leaves open in certificates, digests and signatures.

use crate::declaration::Declaration;
use crate::rules::{Effect, Entry, Variance as V};

#[rustfmt::skip]
const VARIATIONS: [(&str, V, &str); 17] = [
    ("certificate.form/only-der", V::OnlyDer, "A certificate is base64 of DER, never of PEM."),
    ("digest.basket/not-read", V::NoBasketDigest, "A Digest on the basket is not looked at."),
    ("digest.padding/unpadded", V::UnpaddedDigest, "Digests need no padding."),
    ("digest.list.wrong/one-of-them", V::OneOfDigests, "Of several digests one has to be right."),
    ("digest.list/only-one", V::OneDigest, "There may be only one digest."),
    ("signature.parameters.algorithm/demanded", V::AlgorithmDemanded, "Signatures must name their algorithm."),
    ("signature.headers.date-absent/demanded", V::DateDemanded, "Date has to be there, and to be signed."),
    ("signature.headers.date-stale/five-minutes", V::DateFresh, "Date has to be within five minutes of the bank's clock."),
    ("signature.headers.extra/refused", V::ListFixed, "Only the headers of rule 2 may be signed."),
    ("signature.headers.order/fixed", V::OrderFixed, "The signed headers have to come in the order of rule 2."),
    ("signature.headers.case/small", V::SmallLetters, "The names of signed headers have to be in small letters."),
    ("signature.replay/refused", V::NoReplay, "A signature that was seen before is refused."),
    ("header.x-request-id.reuse/refused", V::RequestIdOnce, "A request id that was seen before is refused."),
    ("signature.key-id.serial/as-shown", V::SerialAsShown, "The serial number in keyId has capital letters and no leading zeros."),
    ("certificate.trailing/passed-over", V::TrailingText, "What follows the base64 of a certificate is passed over."),
    ("signature.wrap.unknown/any-charset", V::AnyCharset, "Every charset of an encoded word is taken for UTF-8."),
    ("signature.key-id.issuer/as-shown", V::IssuerAsShown, "The issuer in keyId is written as the certificate shows it."),
];

pub(super) fn variations() -> Vec<Entry> {
    let mut all: Vec<Entry> = VARIATIONS
        .into_iter()
        .map(|(name, variance, says)| Entry::new(name, vec![Effect::Variance(variance)], says))
        .collect();
    all.push(Entry {
        declares: &[Declaration::Choice("key-id.serial", "any")],
        ..Entry::new(
            "signature.key-id.serial/any-declared",
            vec![],
            "The serial number in keyId is compared as a number, as the profile says.",
        )
    });
    let only: [(&str, &[Declaration], V, &str); 5] = [
        (
            "signature.wrap.extent/signature",
            &[],
            V::WrappedSignature,
            "A signature that is wrapped by itself is read as well.",
        ),
        (
            "signature.wrap.extent/signature-declared",
            &[Declaration::Choice("signature.wrap-extent", "signature")],
            V::WrappedSignature,
            "A signature that is wrapped by itself is read as well, as the profile says.",
        ),
        (
            "signature.key-id.serial/small-declared",
            &[Declaration::Choice("key-id.serial", "lower")],
            V::SerialSmall,
            "The serial number in keyId has small letters alone, as the profile says.",
        ),
        (
            "signature.key-id.issuer/forward-declared",
            &[Declaration::Choice("key-id.issuer", "forward")],
            V::IssuerForward,
            "The issuer in keyId ends with its common name, as the profile says.",
        ),
        (
            "certificate.form/only-pem-declared",
            &[Declaration::Choice("certificate.form", "base64 of PEM")],
            V::OnlyPem,
            "A certificate is base64 of PEM, never of DER, as the profile says.",
        ),
    ];
    all.extend(only.map(|(name, declares, variance, says)| Entry {
        declares,
        ..Entry::new(name, vec![Effect::Variance(variance)], says)
    }));
    all.push(Entry {
        declares: &[Declaration::Choice("certificate.form", "base64 of PEM")],
        ..Entry::new(
            "certificate.form/pem-declared",
            vec![],
            "A certificate may be base64 of PEM, as the profile says.",
        )
    });
    all
}
