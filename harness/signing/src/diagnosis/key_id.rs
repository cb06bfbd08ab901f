//! Checks if a keyId names a certificate, in any spelling (readings, rows 61 and 62). Serial numbers are
//! compared as numbers, and names by their content. Unusual spellings are reported too, because a bank may
//! compare strings.

use num_bigint::{BigInt, Sign};

use super::{
    Held,
    base64_text::{self, percent_decoded},
};
use crate::{
    certificate::{Certificate, KeyIdForm, NameForm, SerialForm},
    name::{
        Attribute, Name,
        kind::key_word,
        written::{Written, WrittenAttribute},
    },
};

/// Returns the severity and the findings: it names the certificate, or the parts that differ.
pub(crate) fn compare(found: &str, certificate: &Certificate) -> (Held, Vec<String>) {
    let usual = certificate.key_id(&KeyIdForm::default());
    let forms = SerialForm::ALL
        .into_iter()
        .flat_map(|serial| NameForm::ALL.map(|issuer| KeyIdForm { serial: serial.clone(), issuer }));
    if let Some(form) = forms.into_iter().find(|form| certificate.key_id(form) == *found) {
        let says = format!("names the certificate; serial number {}, issuer {}", form.serial, form.issuer);
        return (Held::Yes, vec![says]);
    }
    let Some((serial, issuer, is_plain)) = parts(found) else {
        let says = format!("expected SN=<hex serial number>,CA=<issuer>, such as {usual}, found {found}");
        return (Held::No, vec![says]);
    };
    let (mut held, serial) = compare_serial(serial, certificate);
    let issuer = compare_issuer(issuer, certificate);
    let (true, Ok(issuer)) = (held != Held::No, &issuer) else {
        let wrong = (held == Held::No).then(|| serial.concat());
        return (Held::No, wrong.into_iter().chain(issuer.err()).collect());
    };
    let mut habits = [serial, issuer.clone()].concat();
    if !is_plain {
        held = Held::Open;
        habits.insert(0, "SN= and CA= are not joined by a single comma, or differ in case".to_owned());
    }
    (held, vec![format!("names the certificate, in another spelling than {usual}: {}", habits.join("; "))])
}

/// Splits a keyId into serial number and issuer. The third value is true if it is written as the document
/// shows it. Spaces and other case are accepted, because banks may accept them.
pub(crate) fn parts(found: &str) -> Option<(&str, &str, bool)> {
    if let Some((serial, issuer)) = found.strip_prefix("SN=").and_then(|rest| rest.split_once(",CA=")) {
        return Some((serial, issuer, true));
    }
    let after = |text: &'_ str, word: &str| -> Option<usize> {
        let rest = text.trim_start();
        let is_so = rest.get(..word.len())?.eq_ignore_ascii_case(word);
        let behind = rest[word.len()..].trim_start().strip_prefix('=')?;
        is_so.then_some(text.len() - behind.len())
    };
    let rest = &found[after(found, "SN")?..];
    let (serial, behind) = rest.split_at(rest.find([',', ';'])?);
    let issuer = &behind[1..];
    Some((serial.trim(), issuer[after(issuer, "CA")?..].trim_start(), false))
}

/// Compares a serial number. Returns unusual features of its spelling, or the reason that it differs.
fn compare_serial(found: &str, certificate: &Certificate) -> (Held, Vec<String>) {
    let number = certificate.serial_number();
    let (is_negative, digits) = found.strip_prefix('-').map_or((false, found), |digits| (true, digits));
    let plain = digits.replace([':', '-', ' '], "");
    let digits_of =
        |text: &str| BigInt::parse_bytes(text.as_bytes(), 16).filter(|_| !text.starts_with(['+', '-', '_']));
    let read = |text: &str| digits_of(text).map(|value| if is_negative { -value } else { value });
    // A negative number may be written as in DER, in two's complement.
    let is_der =
        number.sign() == Sign::Minus && plain.eq_ignore_ascii_case(&certificate.serial(&SerialForm::Signed));
    if read(&plain) == Some(number.clone()) || is_der {
        let habits = [
            (number.sign() == Sign::Minus, "it is negative, which RFC 5280, section 4.1.2.2, forbids"),
            (is_der, "the serial number is in two's complement, as in DER"),
            (plain.len() != digits.len(), "the serial number has separators"),
            (plain.len() > 1 && plain.starts_with('0'), "the serial number has leading zeros"),
            (found.bytes().any(|byte| byte.is_ascii_lowercase()), "the serial number is in lowercase"),
        ];
        return (Held::Yes, said(&habits));
    }
    let without_0x = plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X"));
    if without_0x.and_then(read) == Some(number.clone()) {
        return (Held::Open, vec!["the serial number has a prefix 0x".to_owned()]);
    }
    let mut bytes = base64_text::bytes_of_digits(&plain).unwrap_or_default();
    bytes.reverse();
    let expected = certificate.serial_hex();
    let upper = plain.to_ascii_uppercase();
    let why = match () {
        () if found == certificate.serial_decimal() => ": it is written in decimal",
        () if !bytes.is_empty()
            && [BigInt::from_bytes_be(Sign::Plus, &bytes), BigInt::from_signed_bytes_be(&bytes)]
                .contains(&number) =>
        {
            ": its bytes are in reverse order"
        }
        () if read(&plain).is_some_and(|value| -value == number) => ": it has the opposite sign",
        () if upper.len() > 3 && upper != expected && expected.contains(&upper) => {
            ": it is a part of the number"
        }
        () if certificate.subject().attributes().any(|one| one.text() == Some(found)) => {
            ": it is an attribute of the subject's name, not the number of the certificate"
        }
        () => "",
    };
    (Held::No, vec![format!("serial number: expected {expected}, found {found}{why}")])
}

/// Returns unusual features of the spelling of the issuer, or the difference as an error.
fn compare_issuer(found: &str, certificate: &Certificate) -> Result<Vec<String>, String> {
    let name = certificate.issuer();
    let written = Written::read(found);
    if let Ok(written) = &written
        && names(&name, written)
    {
        return Ok(habits(&name, written));
    }
    let expected = name.write(&NameForm::Rfc4514);
    let why = match &written {
        Ok(written) => difference(&name, written).join("; "),
        Err(error) => error.to_string(),
    };
    let habit = other_name(found, certificate).map(|habit| format!("{habit}; ")).unwrap_or_default();
    Err(format!("issuer: {habit}{why}; expected {expected} or its parts in another order, found {found}"))
}

/// Returns a known mistake that explains a whole issuer.
fn other_name(found: &str, certificate: &Certificate) -> Option<&'static str> {
    let issuer = certificate.issuer();
    let is = |name: &Name, text: &str| Written::read(text).is_ok_and(|written| names(name, &written));
    let percent = percent_decoded(found);
    let bytes: Option<Vec<u8>> = found.chars().map(|letter| u8::try_from(letter).ok()).collect();
    let again = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    match () {
        () if is(&certificate.subject(), found) => {
            Some("it is the name of the certificate's subject, not of its issuer")
        }
        () if percent.as_ref().is_some_and(|text| is(&issuer, text)) => {
            Some("it is percent-encoded, which names are not")
        }
        () if is(&issuer, &found.replace('+', " ")) => Some("its spaces are written as `+`"),
        () if again.is_some_and(|text| text != found && is(&issuer, &text)) => {
            Some("its UTF-8 was read as ISO-8859-1 and encoded again")
        }
        () if found.starts_with('/') && is(&issuer, &found[1..].replace('/', ",")) => {
            Some("its parts are separated by slashes, as in an old form of OpenSSL")
        }
        () => None,
    }
}

/// The content of an RDN, sorted: its values have no order (RFC 4514, section 2.2).
type Said = Vec<(String, crate::name::Value)>;

fn of_certificate(rdn: &[Attribute]) -> Said {
    sorted(rdn.iter().map(|one| (one.kind().to_owned(), one.value().folded())))
}

fn of_text(rdn: &[WrittenAttribute]) -> Said {
    sorted(rdn.iter().map(|one| (one.kind.clone(), one.value.folded())))
}

fn sorted(pairs: impl Iterator<Item = (String, crate::name::Value)>) -> Said {
    let mut pairs: Said = pairs.collect();
    pairs.sort();
    pairs.dedup();
    pairs
}

/// Returns true if both have the same RDNs, in any order.
fn names(name: &Name, written: &Written) -> bool {
    let mut expected: Vec<Said> = name.rdns().iter().map(|rdn| of_certificate(rdn)).collect();
    let mut found: Vec<Said> = written.rdns.iter().map(|rdn| of_text(rdn)).collect();
    expected.sort();
    found.sort();
    expected == found
}

/// Returns the parts that only one of them has.
fn difference(name: &Name, written: &Written) -> Vec<String> {
    let mut besides: Vec<&[WrittenAttribute]> = written.rdns.iter().map(Vec::as_slice).collect();
    let mut lacking: Vec<&[Attribute]> = Vec::new();
    for rdn in name.rdns() {
        match besides.iter().position(|other| of_text(other) == of_certificate(rdn)) {
            Some(at) => drop(besides.remove(at)),
            None => lacking.push(rdn),
        }
    }
    let shown = |rdn: &[Attribute]| rdn.iter().map(Attribute::shown).collect::<Vec<_>>().join("+");
    let kinds = |rdn: &[Attribute]| of_certificate(rdn).into_iter().map(|(kind, _)| kind).collect::<Vec<_>>();
    let mut said = Vec::new();
    for rdn in lacking {
        let same = besides.iter().position(|other| {
            of_text(other).into_iter().map(|(kind, _)| kind).collect::<Vec<_>>() == kinds(rdn)
        });
        match same {
            Some(at) => {
                let found = written_text(besides.remove(at));
                said.push(format!("has {found} where the certificate has {}", shown(rdn)));
            }
            None => said.push(format!("lacks {}", shown(rdn))),
        }
    }
    said.extend(
        besides.iter().map(|rdn| format!("has {}, which the certificate does not", written_text(rdn))),
    );
    said
}

fn written_text(rdn: &[WrittenAttribute]) -> String {
    let values = rdn.iter().map(|one| {
        let value = match &one.value {
            crate::name::Value::Text(text) => text.clone(),
            crate::name::Value::Other(_) => "#..".to_owned(),
        };
        format!("{}={value}", one.said)
    });
    values.collect::<Vec<_>>().join("+")
}

/// Returns unusual features of the spelling of a correct name.
fn habits(name: &Name, written: &Written) -> Vec<String> {
    let mut habits = Vec::new();
    let expected: Vec<Said> = name.rdns().iter().map(|rdn| of_certificate(rdn)).collect();
    let found: Vec<Said> = written.rdns.iter().map(|rdn| of_text(rdn)).collect();
    if !found.iter().eq(expected.iter().rev()) {
        let is_forward = found == expected;
        habits.push(
            if is_forward {
                "its first part first, as in the certificate"
            } else {
                "its parts in another order"
            }
            .to_owned(),
        );
    }
    let mut add = |habit: String| {
        if !habits.contains(&habit) {
            habits.push(habit);
        }
    };
    for one in written.rdns.iter().flatten() {
        let word = key_word(&one.kind).unwrap_or(&one.kind);
        if one.said != word {
            add(format!("`{}` instead of {word}", one.said));
        }
        match (key_word(&one.kind), one.is_encoded) {
            (Some(_), true) => add(format!("#hex instead of text for {word}")),
            (None, false) => add(format!("text instead of #hex for {word}")),
            _ => {}
        }
        // One of these has the same value, except for case and spaces.
        let same = name.attributes().filter(|known| known.kind() == one.kind);
        let mut same = same.filter(|known| known.value().folded() == one.value.folded());
        if !same.any(|known| *known.value() == one.value) {
            add(format!("other case or spaces in the value of {word}"));
        }
    }
    let has = written.has;
    let ways = [
        (has.blanks, "spaces after commas"),
        (has.odd_blanks, "spaces around `=`, `+` or commas"),
        (has.semicolons, "semicolons instead of commas"),
        (has.quotation_marks, "quotation marks around values"),
        (has.escaped_bytes, "characters escaped as bytes"),
    ];
    said(&ways).into_iter().for_each(add);
    habits
}

fn said(habits: &[(bool, &str)]) -> Vec<String> {
    habits.iter().filter(|(is_so, _)| *is_so).map(|(_, habit)| (*habit).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RENDERINGS: &str = include_str!("../../../../fixtures/vectors/issuers/renderings.tsv");
    const CERTIFICATES: [(&str, &str); 9] = [
        ("components", include_str!("../../../../fixtures/vectors/issuers/components.pem")),
        ("encodings", include_str!("../../../../fixtures/vectors/issuers/encodings.pem")),
        ("identifier", include_str!("../../../../fixtures/vectors/issuers/identifier.pem")),
        ("letters", include_str!("../../../../fixtures/vectors/issuers/letters.pem")),
        ("mail", include_str!("../../../../fixtures/vectors/issuers/mail.pem")),
        ("several", include_str!("../../../../fixtures/vectors/issuers/several.pem")),
        ("special", include_str!("../../../../fixtures/vectors/issuers/special.pem")),
        ("types", include_str!("../../../../fixtures/vectors/issuers/types.pem")),
        ("whole", include_str!("../../../../fixtures/vectors/issuers/whole.pem")),
    ];

    #[test]
    fn what_other_programs_write_names_the_certificate_and_no_other() {
        let certificates = CERTIFICATES.map(|(name, pem)| (name, Certificate::from_pem(pem).unwrap()));
        let mut read = 0;
        for line in RENDERINGS.lines() {
            let [name, tool, form, text] = line.splitn(4, '\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            // Java writes the bytes of a BMPString one by one, and its canonical form decomposes characters.
            if matches!(
                (name, tool, form),
                ("encodings", "Java", "RFC2253") | ("letters" | "whole", "Java", "CANONICAL")
            ) {
                continue;
            }
            read += 1;
            for (known, certificate) in &certificates {
                let compared = compare(&format!("SN={},CA={text}", certificate.serial_hex()), certificate);
                assert_eq!(compared.0 == Held::Yes, *known == name, "{line}: {known}: {compared:?}");
            }
        }
        assert!(read > 100, "{read}");
    }

    #[test]
    fn what_a_name_lacks_and_has_besides_is_said() {
        let (_, pem) = CERTIFICATES[2];
        let certificate = Certificate::from_pem(pem).unwrap();
        let key_id =
            |issuer: &str| compare(&format!("SN={},CA={issuer}", certificate.serial_hex()), &certificate);
        for (issuer, says) in [
            (
                "CN=Synthetic Seal CA,O=Synthetic Trust AS,C=NO",
                "issuer: lacks 2.5.4.97 (organizationIdentifier=PSDXX-TEST-3); expected CN=Synthetic Seal CA,2.5.4.97=#0c",
            ),
            (
                "CN=Synthetic Seal CA,2.5.4.97=PSDXX-TEST-4,O=Synthetic Trust AS,C=NO",
                "issuer: has 2.5.4.97=PSDXX-TEST-4 where the certificate has 2.5.4.97 (organizationIdentifier=PSDXX-TEST-3)",
            ),
            (
                "CN=Synthetic Seal CA,OU=Seals,2.5.4.97=PSDXX-TEST-3,O=Synthetic Trust AS,C=NO",
                "issuer: has OU=Seals, which the certificate does not",
            ),
            (
                "CN=Synthetic Seal CA,2.5.4.97=PSDXX-TEST-3,O=Synthetic Trust AS+C=NO",
                "issuer: lacks C=NO; lacks O=Synthetic Trust AS; has O=Synthetic Trust AS+C=NO, which the certificate does not",
            ),
            ("O=xs2aspec test material,CN=xs2aspec test TPP", "it is the name of the certificate's subject"),
            (
                "CN=Synthetic%20Seal CA,2.5.4.97=PSDXX-TEST-3,O=Synthetic%20Trust%20AS,C=NO",
                "issuer: it is percent-encoded, which names are not",
            ),
            (
                "CN=Synthetic+Seal+CA,2.5.4.97=PSDXX-TEST-3,O=Synthetic+Trust+AS,C=NO",
                "issuer: its spaces are written as `+`",
            ),
            (
                "/C=NO/O=Synthetic Trust AS/2.5.4.97=PSDXX-TEST-3/CN=Synthetic Seal CA",
                "issuer: its parts are separated by slashes, as in an old form of OpenSSL",
            ),
            ("CN=Synthetic Seal CA,ORG=Synthetic Trust AS", "found `ORG`"),
        ] {
            let wrong = key_id(issuer).1.concat();
            assert!(wrong.contains(says), "{issuer}: {wrong}");
        }
        let (_, letters) = CERTIFICATES[3];
        let letters = Certificate::from_pem(letters).unwrap();
        let twice: String = letters.key_id(&KeyIdForm::default()).bytes().map(char::from).collect();
        let wrong = compare(&twice, &letters).1.concat();
        assert!(wrong.contains("UTF-8 was read as ISO-8859-1 and encoded again"), "{wrong}");
    }

    #[test]
    fn a_serial_number_is_compared_as_a_number_and_its_writing_named() {
        let certificate =
            Certificate::from_pem(include_str!("../../../../fixtures/keys/tpp.cert.pem")).unwrap();
        let (hex, issuer) = (certificate.serial_hex(), certificate.issuer().write(&NameForm::Rfc4514));
        let bytes = base64_text::bytes_of_digits(&hex).unwrap();
        let reversed = bytes.iter().rev().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().concat();
        let colons = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":");
        for (serial, held, says) in [
            (hex.clone(), Held::Yes, "serial number upper"),
            (format!("00{hex}"), Held::Yes, "leading zeros"),
            (colons, Held::Yes, "separators"),
            (format!("0x{hex}"), Held::Open, "has a prefix 0x"),
            (certificate.serial_decimal(), Held::No, "in decimal"),
            (reversed, Held::No, "in reverse order"),
            (format!("-{hex}"), Held::No, "it has the opposite sign"),
            (format!("+{hex}"), Held::No, ""),
            (hex[4..].to_owned(), Held::No, "a part of the number"),
            (String::new(), Held::No, ""),
        ] {
            let found = compare(&format!("SN={serial},CA={issuer}"), &certificate);
            assert!(found.0 == held && found.1.concat().contains(says), "{serial}: {found:?}");
        }
        for (key_id, held) in [
            (format!("SN={hex}, CA={issuer}"), Held::Open),
            (format!("sn={hex},ca={issuer}"), Held::Open),
            (format!("SN = {hex} ; CA = {issuer}"), Held::Open),
            (format!("SN={hex}, CA=CN=another"), Held::No),
            (format!("CA={issuer},SN={hex}"), Held::No),
            (format!("SN={hex}"), Held::No),
        ] {
            assert_eq!(compare(&key_id, &certificate).0, held, "{key_id}");
        }
    }
}
