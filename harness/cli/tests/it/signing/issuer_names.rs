//! Names of issuers in all common spellings. The bank accepts exactly those that `sign --verify` finds
//! correct.

use std::{collections::BTreeMap, fs};

use http::Request;
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config as TestConfig, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime;
use xs2aspec_reference::{Config, InProcessBank};
use xs2aspec_signing::{
    KeyIdForm, Options, Parameter, Signer,
    certificate::{NameForm, SerialForm},
    diagnosis::{self, Held, Received},
    signature_header::sign,
};

use crate::support::{KEY, REFERENCE, command, printed, recorded};

/// Certificates of [`KEY`] by CAs with unusual names.
const ISSUERS: [&str; 9] =
    ["components", "encodings", "identifier", "letters", "mail", "several", "special", "types", "whole"];
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vectors/issuers");

/// Returns the signer with a certificate of this CA.
fn issued_by(name: &str) -> Signer {
    Signer::from_pem(KEY, fs::read(format!("{FIXTURES}/{name}.pem")).unwrap()).unwrap()
}

/// The results of a bank and of the diagnosis for one request.
struct Both {
    accepted: bool,
    bank: String,
    holds: bool,
    diagnosis: String,
}

/// Signs a request with these options, and checks it with both.
fn both(bank: &InProcessBank, signer: &Signer, options: &Options) -> Both {
    let mut fields = vec![
        ("Accept".to_owned(), "application/json".to_owned()),
        ("X-Request-ID".to_owned(), "c63ec4ff-3e4f-4a20-9c2f-9fdf504160c3".to_owned()),
        ("Date".to_owned(), "Sat, 21 Nov 2026 09:00:35 GMT".to_owned()),
    ];
    let signed_headers = ["date", "x-request-id"].map(str::to_owned).to_vec();
    let options = Options { listed: signed_headers.clone(), ..options.clone() };
    let signature = sign(signer, &fields, &options).unwrap().value;
    fields.push(("TPP-Signature-Certificate".to_owned(), signer.certificate().header_value()));
    fields.push(("Signature".to_owned(), signature));
    let mut request = Request::builder().method("GET").uri("/v1/sandbox/customers");
    for (name, value) in &fields {
        request = request.header(name, value.as_bytes());
    }
    let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answer = runtime.block_on(bank.answer(request.body(Vec::new()).unwrap()));
    let received = Received {
        signed_headers: &signed_headers,
        certificate_header: Some("TPP-Signature-Certificate"),
        fields: &fields,
        latin_1: &[],
        body: b"",
        target: None,
        signed: None,
    };
    let findings = diagnosis::examine(&received);
    let said = findings.iter().map(|finding| format!("{}: {}\n", finding.part, finding.says));
    Both {
        accepted: answer.status().is_success(),
        bank: String::from_utf8_lossy(answer.body()).into_owned(),
        holds: findings.iter().all(|finding| finding.held == Held::Yes),
        diagnosis: said.collect(),
    }
}

/// Does the same with this keyId.
fn both_of(bank: &InProcessBank, signer: &Signer, key_id: &str) -> Both {
    both(bank, signer, &Options { key_id: Parameter::Text(key_id.to_owned()), ..Options::default() })
}

#[test]
fn what_is_signed_in_the_name_of_any_issuer_is_accepted_and_verified() {
    let bank = InProcessBank::open(&Config::default());
    for name in ISSUERS {
        let signer = issued_by(name);
        for serial in SerialForm::ALL {
            for issuer in NameForm::ALL {
                let key_id_form = KeyIdForm { serial: serial.clone(), issuer };
                let said =
                    both(&bank, &signer, &Options { key_id_form: key_id_form.clone(), ..Options::default() });
                assert!(said.accepted, "{name}, {key_id_form:?}: {}", said.bank);
                assert!(said.holds, "{name}, {key_id_form:?}: {}", said.diagnosis);
            }
        }
    }
}

/// A spelling of keyId, the keyId, true if it names the certificate of `whole.pem`, and the result of the
/// diagnosis.
type Form = (&'static str, String, bool, &'static str);

/// Forms of keyId seen in practice, for a name with all kinds of attributes.
#[rustfmt::skip]
fn forms() -> Vec<Form> {
    let id = "2.5.4.97=#0c0c50534458582d544553542d33";
    let mail = "1.2.840.113549.1.9.1=#161063614074727573742e6578616d706c65";
    let own = format!("{mail},CN=Synthetic Whole CA,{id},OU=Seals,O=Synthetic Trust AS,L=Ås,ST=Akershus,C=NO");
    let issuer = |text: &str| format!("SN=ABC1234,CA={text}");
    let other = |from: &str, to: &str| {
        assert!(own.contains(from), "{from}");
        issuer(&own.replace(from, to))
    };
    let serial = |text: &str| format!("SN={text},CA={own}");
    let forward: Vec<&str> = own.split(',').rev().collect();
    let small = format!("{mail},cn=synthetic whole ca,{id},ou=seals,o=synthetic trust as,l=ås,st=akershus,c=no");
    let openssl = "C=NO,ST=Akershus,L=Ås,O=Synthetic Trust AS,OU=Seals,organizationIdentifier=PSDXX-TEST-3,CN=Synthetic Whole CA,\
                   emailAddress=ca@trust.example";
    vec![
        // The form that a profile declares.
        ("RFC 4514", issuer(&own), true, "serial number upper, issuer RFC 4514\n"),
        ("RFC 4514, spaced", issuer(&own.replace(',', ", ")), true, "issuer RFC 4514, spaced"),
        ("forward", issuer(&forward.join(",")), true, "issuer forward\n"),
        ("forward, spaced", issuer(&forward.join(", ")), true, "issuer forward, spaced"),
        ("serial number in small letters", serial("abc1234"), true, "serial number lower"),
        // Serial numbers (reading 61).
        ("serial number with leading zeros", serial("00ABC1234"), true, "the serial number has leading zeros"),
        ("serial number with colons", serial("0A:BC:12:34"), true, "the serial number has separators; the serial number has leading zeros"),
        ("serial number with blanks", serial("0a bc 12 34"), true, "the serial number is in lowercase"),
        ("serial number in decimal", serial("180097588"), false, "expected ABC1234, found 180097588: it is written in decimal"),
        ("serial number with 0x", serial("0xABC1234"), false, "the serial number has a prefix 0x"),
        ("another serial number", serial("ABC1235"), false, "serial number: expected ABC1234, found ABC1235"),
        ("no serial number", serial(""), false, "serial number: expected ABC1234, found "),
        // Names (reading 62).
        ("another order", issuer(&format!("CN=Synthetic Whole CA,O=Synthetic Trust AS,OU=Seals,L=Ås,ST=Akershus,C=NO,{id},{mail}")), true, ": its parts in another order\n"),
        ("S for ST", other("ST=", "S="), true, ": `S` instead of ST\n"),
        ("blanks around the equals signs", other("=Seals", " = Seals"), true, ": spaces around `=`, `+` or commas\n"),
        ("values in small letters", other("O=Synthetic Trust AS", "O=synthetic trust as"), true, ": other case or spaces in the value of O\n"),
        ("values with more blanks", other("Trust AS", "Trust   AS"), true, "other case or spaces in the value of O"),
        ("types in small letters", other("O=", "o="), true, ": `o` instead of O\n"),
        ("all in small letters", issuer(&small), true, "`st` instead of ST"),
        ("organizationIdentifier", other(id, "organizationIdentifier=PSDXX-TEST-3"), true, "`organizationIdentifier` instead of 2.5.4.97; text instead of #hex for 2.5.4.97\n"),
        ("OID. and a text", other(id, "OID.2.5.4.97=PSDXX-TEST-3"), true, "`OID.2.5.4.97` instead of 2.5.4.97; text instead of #hex for 2.5.4.97\n"),
        ("OID. and #hex", other(id, &format!("OID.{id}")), true, ": `OID.2.5.4.97` instead of 2.5.4.97\n"),
        ("a number and a text", other(id, "2.5.4.97=PSDXX-TEST-3"), true, ": text instead of #hex for 2.5.4.97\n"),
        ("forward with the names of OpenSSL", issuer(openssl), true, "its first part first, as in the certificate; `organizationIdentifier` instead of 2.5.4.97"),
        ("letters as bytes", other("L=Ås", "L=\\C3\\85s"), true, ": characters escaped as bytes\n"),
        ("emailAddress", other(mail, "emailAddress=ca@trust.example"), true, "`emailAddress` instead of 1.2.840.113549.1.9.1"),
        ("E", other(mail, "E=ca@trust.example"), true, "`E` instead of 1.2.840.113549.1.9.1"),
        ("semicolons", issuer(&own.replace(',', ";")), true, ": semicolons instead of commas\n"),
        ("numbers for all types", other("O=", "2.5.4.10="), true, "`2.5.4.10` instead of O"),
        ("#hex for a text", other("C=NO", "C=#13024E4F"), true, ": #hex instead of text for C\n"),
        ("#hex of another kind of text", other("C=NO", "C=#0C024E4F"), true, ": #hex instead of text for C\n"),
        ("quotation marks", other("=Seals", "=\"Seals\""), false, "a quotation mark inside a parameter"),
        ("slashes", issuer(&format!("/{}", openssl.replace(',', "/"))), false, "separated by slashes, as in an old form of OpenSSL"),
        ("percent-encoded", other("Trust AS", "Trust%20AS"), false, "it is percent-encoded, which names are not"),
        ("an unknown type", other("OU=", "DEPARTMENT="), false, "found `DEPARTMENT`"),
        ("#hex that is none", other("C=NO", "C=#NO"), false, "expected after `#` the encoding of a value"),
        ("without organizationIdentifier", other(&format!("{id},"), ""), false, "issuer: lacks 2.5.4.97 (organizationIdentifier=PSDXX-TEST-3);"),
        ("without the last part", other(",C=NO", ""), false, "issuer: lacks C=NO;"),
        ("another value", other("O=Synthetic Trust AS", "O=Synthetic Trust"), false, "has O=Synthetic Trust where the certificate has O=Synthetic Trust AS"),
        ("a part twice", other("C=NO", "C=NO,C=NO"), false, "has C=NO, which the certificate does not"),
        ("parts joined with a plus", other("ST=Akershus,C=NO", "ST=Akershus+C=NO"), false, "has ST=Akershus+C=NO, which the certificate does not"),
        ("the subject", issuer("CN=xs2aspec test TPP,O=xs2aspec test material"), false, "the name of the certificate's subject"),
        ("a comma at the end", issuer(&format!("{own},")), false, "expected TYPE=VALUE"),
        ("the issuer first", format!("CA={own},SN=ABC1234"), false, "expected SN=<hex serial number>,CA=<issuer>"),
        ("a blank before CA", format!("SN=ABC1234, CA={own}"), false, "SN= and CA= are not joined by a single comma"),
        ("the issuer alone", own.clone(), false, "expected SN=<hex serial number>,CA=<issuer>"),
    ]
}

#[test]
fn every_writing_of_key_id_comes_to_the_same_end_in_the_bank_and_in_the_diagnosis() {
    let (bank, signer) = (InProcessBank::open(&Config::default()), issued_by("whole"));
    let forms = forms();
    let mut wrong = Vec::new();
    for (form, key_id, expected, says) in &forms {
        let said = both_of(&bank, &signer, key_id);
        let of_key_id = |line: &&str| line.starts_with("keyId: ") || line.starts_with("Signature: ");
        let told: String = said.diagnosis.split_inclusive('\n').filter(of_key_id).collect();
        if (said.accepted, said.holds) != (*expected, *expected) || !told.contains(says) {
            wrong.push(format!("{form}: {} {} {told}{}", said.accepted, said.holds, said.bank));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(forms.len() >= 29);
}

#[test]
fn what_other_programs_write_is_accepted_where_keyid_can_hold_it() {
    let bank = InProcessBank::open(&Config::default());
    let mut ends = BTreeMap::new();
    let renderings = fs::read_to_string(format!("{FIXTURES}/renderings.tsv")).unwrap();
    for line in renderings.lines() {
        let [name, _, _, text] = line.splitn(4, '\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let signer = issued_by(name);
        let said = both_of(&bank, &signer, &format!("SN={},CA={text}", signer.certificate().serial_hex()));
        assert_eq!(said.accepted, said.holds, "{line}: {}{}", said.bank, said.diagnosis);
        // The draft has no escape for a quotation mark. The two other lines differ from the certificate.
        if said.accepted == text.contains('"') {
            *ends.entry((name, said.accepted)).or_insert(0) += 1;
        }
    }
    let read_otherwise = [(("encodings", false), 1), (("letters", false), 1), (("whole", false), 1)];
    assert_eq!(ends.into_iter().collect::<Vec<_>>(), read_otherwise);
}

#[test]
fn a_changed_key_id_comes_to_the_same_end_too() {
    let (bank, signer) = (InProcessBank::open(&Config::default()), issued_by("whole"));
    let forms: Vec<Form> = forms().into_iter().filter(|(_, _, is_right, _)| *is_right).collect();
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(TestConfig::default(), rng);
    let change = {
        use proptest::prelude::*;
        let letter = prop::sample::select(" ,;+=#\"\\0aACNOÅ.%/<\u{a0}".chars().collect::<Vec<_>>());
        (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..8u8, letter)
    };
    let mut ends = [0, 0];
    for _ in 0..1_000 {
        let (form, at, kind, letter) = change.new_tree(&mut runner).unwrap().current();
        let mut letters: Vec<char> = forms[form.index(forms.len())].1.chars().collect();
        let at = at.index(letters.len());
        let here = letters[at];
        match kind {
            0 => drop(letters.remove(at)),
            1 => letters.insert(at, letter),
            2 => letters[at] = letter,
            // Spellings that may make no difference.
            3 => letters.insert(at, ' '),
            4 => letters[at] = here.to_ascii_lowercase(),
            5 => letters[at] = here.to_ascii_uppercase(),
            6 => letters.insert(at, '\\'),
            _ => drop(letters.splice(
                at..=at,
                here.to_string().bytes().flat_map(|byte| format!("\\{byte:02x}").chars().collect::<Vec<_>>()),
            )),
        }
        let key_id: String = letters.into_iter().collect();
        let said = both_of(&bank, &signer, &key_id);
        assert_eq!(said.accepted, said.holds, "{key_id}\n{}\n{}", said.bank, said.diagnosis);
        ends[usize::from(said.accepted)] += 1;
    }
    assert!(ends.iter().all(|count| *count > 200), "{ends:?}");
}

#[test]
fn the_bank_says_which_issuer_it_expected_and_which_part_is_missing() {
    let (bank, signer) = (InProcessBank::open(&Config::default()), issued_by("identifier"));
    let said = both_of(&bank, &signer, "SN=A1B2C,CA=CN=Synthetic Seal CA,O=Synthetic Trust AS,C=NO").bank;
    let text =
        serde_json::from_str::<Value>(&said).unwrap()["tppMessages"][0]["text"].as_str().unwrap().to_owned();
    assert_eq!(
        text,
        "signature.key-id.issuer: expected the issuer of the certificate, found one that lacks 2.5.4.97=PSDXX-TEST-3: expected \
         CN=Synthetic Seal CA,2.5.4.97=PSDXX-TEST-3,O=Synthetic Trust AS,C=NO in any order, found \"CN=Synthetic Seal CA,O=Synthetic \
         Trust AS,C=NO\""
    );
    let said = both_of(&bank, &signer, "SN=A1B2C,CA=CN=Synthetic Seal CA,ORG=Synthetic Trust AS").bank;
    assert!(
        said.contains("found the unknown type \\\"ORG\\\": expected CN=Synthetic Seal CA,2.5.4.97"),
        "{said}"
    );
    let said = both_of(&bank, &signer, "SN=A1B2D,CA=CN=Synthetic Seal CA").bank;
    assert!(
        said.contains("expected the serial number of the certificate, A1B2C, found \\\"A1B2D\\\""),
        "{said}"
    );
}

/// A run against the reference bank, signed in the name of an unusual issuer.
#[test]
fn a_run_in_the_name_of_any_issuer_finds_nothing() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let bank = runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let started = bank.block_on(xs2aspec_reference::start(Config::default())).unwrap();
    fs::write(at("tpp.key.pem"), KEY).unwrap();
    let reference = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/targets/reference.toml");
    let reference = fs::read_to_string(reference).unwrap();
    let profile = reference
        .replace("base-url = \"http://127.0.0.1\"", &format!("base-url = \"{}\"", started.base_url()));
    for (name, choice) in [
        ("identifier", "RFC 4514"),
        ("letters", "RFC 4514"),
        ("special", "forward"),
        (
            "whole",
            "E={E}, CN={CN}, OID.2.5.4.97={organizationIdentifier}, OU={OU}, O={O}, L={L}, S={ST}, C={C}",
        ),
    ] {
        let signing = format!("[signing]\nkey = \"tpp.key.pem\"\ncertificate = \"{FIXTURES}/{name}.pem\"\n");
        let issuer = format!("\"key-id.issuer\" = \"{choice}\"\n");
        assert!(profile.contains("[choices]\n"), "the profile has choices");
        let choices = profile.replace("[choices]\n", &format!("[choices]\n{issuer}"));
        fs::write(at("bank.toml"), format!("{choices}\n{signing}")).unwrap();
        let out = at(name);
        let done = command()
            .args([
                "run",
                "--quiet",
                "--only",
                "signature",
                "--only",
                "ncbct.path",
                "--only",
                "header.signature",
            ])
            .args(["--target", at("bank.toml").to_str().unwrap(), "--out", out.to_str().unwrap()])
            .output()
            .unwrap();
        let record = crate::support::read_record(out.join("record.jsonl"))
            .unwrap_or_else(|_| panic!("{name}: {}", String::from_utf8_lossy(&done.stderr)));
        let mut verdicts = BTreeMap::<String, Vec<String>>::new();
        for event in record.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
            if event["event"] == "verdict" {
                let word = event["verdict"].as_str().unwrap().to_owned();
                verdicts.entry(word).or_default().push(format!("{}: {}", event["case"], event["reason"]));
            }
        }
        let count = |word: &str| verdicts.get(word).map_or(0, Vec::len);
        assert!(count("pass") > 60, "{name}: {verdicts:#?}");
        for word in ["fail", "error", "inconclusive"] {
            assert_eq!(count(word), 0, "{name}: {:#?}", verdicts.get(word));
        }
    }
    bank.block_on(started.shutdown()).unwrap();
}

/// An issuer beyond Latin-1 rules out some forms of a signature. The doctor counts the cases, and a run skips
/// them.
#[test]
fn the_doctor_knows_what_a_key_cannot_sign() {
    let folder = TempDir::new().unwrap();
    let bank = runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let started = bank.block_on(xs2aspec_reference::start(Config::default())).unwrap();
    let profile = REFERENCE
        .replace("base-url = \"http://127.0.0.1\"", &format!("base-url = \"{}\"", started.base_url()));
    fs::write(folder.path().join("tpp.key.pem"), KEY).unwrap();
    let signing = format!("[signing]\nkey = \"tpp.key.pem\"\ncertificate = \"{FIXTURES}/letters.pem\"\n");
    fs::write(folder.path().join("bank.toml"), format!("{profile}\n{signing}")).unwrap();
    let call = |command_name: &str| {
        let arguments = [command_name, "--target", "bank.toml", "--depth", "quick"];
        printed(&command().current_dir(folder.path()).args(arguments).output().unwrap())
    };
    let said = call("doctor");
    let foretold: BTreeMap<String, usize> = said
        .lines()
        .filter_map(|line| line.split_once("   not: the issuer "))
        .map(|(cases, reason)| (format!("the issuer {reason}"), cases.trim().parse().unwrap()))
        .collect();
    let ran = call("run");
    let (verdicts, _) = recorded(&folder.path().join("reports/latest"), &ran);
    let mut left_out = BTreeMap::<String, usize>::new();
    for reason in verdicts.iter().filter_map(|verdict| verdict.reason.as_ref()) {
        if let xs2aspec_record::Reason::NoSuchRequest { why } = reason
            && why.starts_with("the issuer ")
        {
            *left_out.entry(why.clone()).or_default() += 1;
        }
    }
    assert_eq!(left_out.len(), 2, "{ran}");
    // Cases that depend on such a case are skipped with it.
    assert!(foretold.keys().eq(left_out.keys()), "{said}");
    assert!(foretold.iter().all(|(reason, cases)| cases <= &left_out[reason]), "{said}\n{ran}");
    bank.block_on(started.shutdown()).unwrap();
}
