//! Faults of Digest, certificate and signature (the document, section Authentication).

use axum::http::StatusCode;

use super::title;
use crate::header::Header;
use crate::operation::Operation;
use crate::refusal::Code;
use crate::rules::{
    Breach, DigestBreach as D, Effect, Entry, Hash, List, Place, SignatureBreach as S, Then, Treatment,
    Values as V, Variance, When,
};

pub(super) fn faults() -> Vec<Entry> {
    let mut faults: Vec<Entry> = DIGEST
        .iter()
        .map(|(name, breach, says)| Entry::breach(*name, Breach::Digest(*breach), *says))
        .chain(
            SIGNATURE
                .iter()
                .map(|(name, breach, says)| Entry::breach(*name, Breach::Signature(*breach), *says)),
        )
        .collect();
    for header in ["date", "digest", "x-request-id", "psu-id", "psu-corporate-id", "tpp-redirect-uri"] {
        faults.push(Entry::breach(
            format!("signature.headers.missing/{header}"),
            Breach::Signature(S::NotListed(header)),
            format!("A signature need not cover {header} although the request has it."),
        ));
    }
    for operation in Operation::SPECIFIED {
        faults.push(Entry::breach(
            format!("signature.foreign-key/any-on-{operation}"),
            Breach::NotVerified(operation),
            format!("{} accepts any signature.", title(operation)),
        ));
    }
    faults.push(Entry::new(
        "signature.algorithm.rsa-sha1/label-and-hash",
        vec![
            Effect::Breach(Breach::Signature(S::OtherHash(Hash::Sha1))),
            Effect::Breach(Breach::Signature(S::AlsoNamed("rsa-sha1"))),
        ],
        "A signature with SHA-1 is accepted, and its label.",
    ));
    for (name, status) in [("not-found", StatusCode::NOT_FOUND), ("conflict", StatusCode::CONFLICT)] {
        faults.push(Entry::new(
            format!("signature.status/{name}"),
            vec![Effect::Refuses("signature.", status, Code::Forbidden)],
            format!("A wrong signature is refused with {}.", status.as_u16()),
        ));
    }
    faults.push(Entry::new(
        "certificate.trailing/passed-over",
        vec![Effect::Variance(Variance::TrailingText)],
        "What follows the base64 of a certificate is passed over.",
    ));
    faults.push(Entry::breach(
        "header.tpp-signature-certificate.format/any",
        Breach::HeaderForm(Header::TppSignatureCertificate),
        "A certificate header that holds no certificate is accepted, and nothing is verified by it.",
    ));
    let short = Treatment {
        operation: Operation::Customers,
        place: Place::Header("signature"),
        when: When::Text(|value| !value.contains("tpp-redirect-uri")),
        then: Then::Refuse,
    };
    faults.push(Entry::treats(
        "customers.signed-headers/redirect-demanded",
        short,
        "The customer list demands that the signature covers TPP-Redirect-URI, which is no header of it.",
    ));
    faults
}

const DIGEST: [(&str, D, &str); 23] = [
    ("digest.wrong-hash/unchecked", D::Unchecked, "The hash of any body is accepted in a Digest."),
    ("digest.sha-256/not-known", D::Only512, "Only SHA-512 is known in a Digest."),
    ("digest.sha-512/not-known", D::Only256, "Only SHA-256 is known in a Digest."),
    ("digest.unknown-algorithm/passes", D::UnknownPasses, "A Digest of an unknown algorithm is passed over."),
    ("digest.wrong-length/as-far-as-it-goes", D::AnyLength, "A Digest is compared as far as it goes."),
    ("digest.not-base64/passes", D::NoBase64, "A Digest whose hash is no base64 is passed over."),
    ("header.digest.format/passes", D::NoForm, "A Digest without an equals sign is passed over."),
    (
        "digest.foreign-characters/passed-over",
        D::ForeignCharacters,
        "Quotes around a Digest and characters after its base64 are passed over.",
    ),
    ("digest.token-case/capitals", D::Capitals, "The algorithm of a Digest has to be in capital letters."),
    ("digest.unknown-algorithm/md5", D::Passes("md5"), "A Digest by MD5 vouches for any body."),
    ("digest.unknown-algorithm/sha-1", D::Passes("sha"), "A Digest by SHA-1 vouches for any body."),
    ("digest.not-base64/hexadecimal", D::Hexadecimal, "The hash of a Digest may be in hexadecimal."),
    ("digest.wrong-hash/any-case", D::AnyCase, "The letter case of the hash of a Digest does not count."),
    ("digest.wrong-hash/any-end", D::AnyEnd, "The last bytes of the hash of a Digest are not compared."),
    ("digest.wrong-hash/any-begin", D::AnyBegin, "The first bytes of the hash of a Digest are not compared."),
    ("digest.whitespace/rewritten", D::Rewritten, "A Digest is that of the JSON as the bank would write it."),
    ("digest.whitespace/trimmed", D::Trimmed, "A Digest is that of the JSON without blanks around it."),
    ("digest.list.wrong/only-first", D::OnlyFirst, "Of several digests only the first is looked at."),
    ("digest.list.wrong/only-last", D::OnlyLast, "Of several digests only the last is looked at."),
    ("digest.long-body/first-4096-bytes", D::FirstBytes, "Of a body the first 4,096 bytes are hashed."),
    ("digest.wrong-hash/not-in-chunks", D::NotInChunks, "The Digest of a body in chunks is not looked at."),
    ("digest.wrong-hash/only-periodic", D::OnlyPeriodic, "NCBCT creation accepts any Digest or none."),
    ("digest.wrong-hash/only-ncbct", D::OnlyNcbct, "Periodic NDCT creation accepts any Digest or none."),
];

const SIGNATURE: [(&str, S, &str); 59] = [
    ("signature.value/unchecked", S::Unchecked, "The value of a signature is not verified."),
    ("signature.foreign-key/unchecked", S::OnlyForm, "A signature of the right length is accepted."),
    ("header.signature.format/not-read", S::NotRead, "A Signature header may say anything."),
    (
        "signature.altered/any-values",
        S::AnyValues,
        "Values of signed headers may have been changed after signing, if the signature is one by the key.",
    ),
    (
        "signature.headers.not-sent/passes",
        S::AbsentPasses,
        "A signed header that is not sent is passed over.",
    ),
    ("signature.value/one-unsigned", S::OneUnsigned, "One of the listed headers need not be signed."),
    ("signature.key-id/any", S::AnyKeyId, "A keyId may say anything."),
    ("signature.key-id.foreign/any-serial", S::AnySerial, "A keyId may name another serial number."),
    ("signature.key-id.foreign/any-issuer", S::AnyIssuer, "A keyId may name another authority."),
    ("signature.parameters.key-id/not-demanded", S::NoKeyId, "A Signature header may lack keyId."),
    (
        "signature.parameters.signature/not-demanded",
        S::NoSignature,
        "A Signature header may lack the signature.",
    ),
    (
        "signature.parameters.headers/all",
        S::NoHeaders,
        "Without a list of signed headers nothing more than the date is demanded.",
    ),
    ("signature.algorithm.mismatch/any", S::AnyAlgorithm, "Any algorithm may be named."),
    ("signature.algorithm/not-known", S::NoRsaSha256, "The algorithm rsa-sha256 is refused."),
    ("signature.headers/sorted", S::SortedList, "The list of signed headers has to be sorted by name."),
    ("signature.wrap.q/not-known", S::NoQ, "Encoded words in encoding Q are not understood."),
    ("signature.wrap.utf-8-base64/not-known", S::NoB, "Encoded words in encoding B are not understood."),
    ("signature.wrap.iso-8859-1/not-known", S::NoLatin1, "Encoded words in iso-8859-1 are not understood."),
    ("signature.wrap.bare/not-known", S::NoBare, "A Signature header has to be an encoded word."),
    (
        "certificate.foreign/any-known-key",
        S::AnyKnownKey,
        "A signature by the key of any certificate seen before is accepted.",
    ),
    (
        "signature.parameters.unknown/refused",
        S::NoUnknown,
        "A Signature header may have no parameter that the draft does not know.",
    ),
    (
        "signature.parameters.duplicate/first",
        S::FirstParameter,
        "Of parameters of the Signature header with one name the first counts.",
    ),
    (
        "signature.parameters.duplicate.first/taken",
        S::FirstParameter,
        "A Signature header is accepted by the first of two values of a parameter.",
    ),
    (
        "signature.parameters.duplicate/refused",
        S::NoDuplicate,
        "A Signature header may have no parameter twice.",
    ),
    (
        "signature.key-id.foreign/decimal-serial",
        S::DecimalSerial,
        "The serial number in keyId may be written in decimal.",
    ),
    ("signature.value/not-base64", S::NoBase64, "A signature that is no base64 is passed over."),
    (
        "signature.wrap.case/charset-as-shown",
        S::CharsetAsShown,
        "The charset of an encoded word has to be in small letters.",
    ),
    (
        "signature.wrap.case/encoding-as-shown",
        S::EncodingAsShown,
        "The encoding of an encoded word has to be a capital letter.",
    ),
    ("signature.value/hexadecimal", S::Hexadecimal, "A signature in hexadecimal digits is read as well."),
    (
        "signature.value/line-feed-after",
        S::LineFeedAfter,
        "The signing string may end with a line feed, as if one followed each line.",
    ),
    ("signature.value.url-safe/read", S::UrlSafe, "A signature in the URL-safe alphabet is read as well."),
    (
        "signature.headers.blanks/signed",
        S::Values(V::WithBlanks),
        "Blanks around the value of a header are part of what is signed.",
    ),
    (
        "signature.headers.request-target/not-verified",
        S::UncheckedFor(List::RequestTarget),
        "Any signature is accepted that says to cover the request target.",
    ),
    (
        "signature.headers.extra/not-verified",
        S::UncheckedFor(List::Extra),
        "Any signature is accepted that says to cover a header that need not be signed.",
    ),
    (
        "signature.headers.case/not-verified",
        S::UncheckedFor(List::Capitals),
        "Any signature is accepted whose list of headers has capital letters.",
    ),
    (
        "signature.headers.date-absent/not-verified",
        S::UncheckedFor(List::NoDate),
        "Any signature is accepted that does not cover the date.",
    ),
    (
        "signature.headers.order/not-verified",
        S::UncheckedFor(List::OtherOrder),
        "Any signature is accepted whose headers come in another order.",
    ),
    (
        "signature.parameters.blanks/refused",
        S::NoBlanks,
        "Blanks around the equals signs and commas are refused.",
    ),
    (
        "signature.value.hash/sha-1",
        S::OtherHash(Hash::Sha1),
        "A signature with SHA-1 is accepted, whatever its label says.",
    ),
    (
        "signature.value.hash/sha-384",
        S::OtherHash(Hash::Sha384),
        "A signature with SHA-384 is accepted, whatever its label says.",
    ),
    (
        "signature.value.hash/sha-512",
        S::OtherHash(Hash::Sha512),
        "A signature with SHA-512 is accepted, whatever its label says.",
    ),
    (
        "signature.value.hash/pss",
        S::OtherHash(Hash::Pss),
        "A signature with the padding of RSASSA-PSS is accepted as well.",
    ),
    (
        "signature.altered/seen-before",
        S::SeenPasses,
        "A signature that held once is not verified again, whatever is sent with it.",
    ),
    ("signature.algorithm.rsa-sha1/label", S::AlsoNamed("rsa-sha1"), "The label rsa-sha1 is accepted."),
    ("signature.algorithm.hs2019/taken", S::AlsoNamed("hs2019"), "The label hs2019 is accepted."),
    (
        "signature.key-id.part/common-name",
        S::CommonNameAlone,
        "The issuer in keyId may be its common name alone.",
    ),
    ("signature.key-id.part/any-part", S::PartOfIssuer, "The issuer in keyId may be a part of its name."),
    (
        "header.x-request-id.format/blanks-folded-when-verified",
        S::Values(V::BlanksFolded),
        "Several blanks in the value of a signed header are taken for one.",
    ),
    (
        "signature.headers.extra/first-line",
        S::Values(V::FirstLine),
        "Of a signed header of several lines the first is verified.",
    ),
    (
        "signature.headers.extra/last-line",
        S::Values(V::LastLine),
        "Of a signed header of several lines the last is verified.",
    ),
    (
        "signature.headers.extra/comma-alone",
        S::Values(V::CommaAlone),
        "The lines of a signed header are joined without a blank.",
    ),
    (
        "signature.headers.extra/host-without-port",
        S::Values(V::HostWithoutPort),
        "A signed Host is verified without its port.",
    ),
    (
        "signature.headers.request-target/decoded",
        S::Values(V::TargetDecoded),
        "The request target is verified without its percent-encoding.",
    ),
    (
        "signature.algorithm.mismatch/none",
        S::NoneVerifiesNothing,
        "Nothing is verified where the algorithm is called none.",
    ),
    (
        "signature.algorithm.mismatch/hmac",
        S::HmacByPublicKey,
        "An HMAC by the public key of the certificate is accepted, where the algorithm says so.",
    ),
    (
        "signature.key-id.foreign/holder",
        S::SubjectAsIssuer,
        "The issuer in keyId may be whom the certificate is for.",
    ),
    (
        "signature.wrap.iso-8859-1/as-utf-8",
        S::CharsetIgnored,
        "Encoded words in iso-8859-1 are read as those in utf-8.",
    ),
    (
        "signature.value.foreign-characters/passed-over",
        S::ForeignCharacters,
        "Characters of a signature that are none of base64 are passed over.",
    ),
    ("signature.value/empty", S::Empty, "An empty signature is passed over."),
];
