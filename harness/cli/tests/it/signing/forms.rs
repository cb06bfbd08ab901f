//! One request in each common form of Digest, certificate, keyId and Signature, with the results of the
//! reference bank, the judge of traffic and `sign --verify`. `fixtures/vectors/forms.tsv` keeps them.

use std::{path::Path, sync::Arc};

use base64::{Engine, prelude::BASE64_STANDARD};
use chrono::{DateTime, Utc};
use http::Request;
use serde_json::json;
use tokio::runtime;
use xs2aspec_judge::{
    Judge, Profile,
    traffic::{Payload, Received as Answered, Sent, Traffic, TrafficJudge},
};
use xs2aspec_record::{End, Level};
use xs2aspec_reference::{Config, InProcessBank};
use xs2aspec_signing::{
    KeyIdForm, Options, OtherHash, Parameter, Signer, Wrap,
    certificate::SerialForm,
    diagnosis::{self, Held, Received},
    digest::Algorithm,
    encoded_word::{Charset, Encoding},
    listed_headers,
    name::NameForm,
    signature_header::sign,
};
use xs2aspec_suite::{Suite, Tree};

use crate::support::{CERTIFICATE, KEY};

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vectors/forms.tsv");
const PROFILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/targets/reference.toml");
const PATH: &str = "/v1/payments/norwegian-cross-border-credit-transfers";
const NOW: &str = "2026-11-21T09:00:35Z";
const DATE: &str = "Sat, 21 Nov 2026 09:00:35 GMT";
const CERTIFICATE_HEADER: &str = "TPP-Signature-Certificate";

/// A form: its part and name, how it is signed, and what then changes.
struct Form {
    part: &'static str,
    name: &'static str,
    digest: Option<String>,
    date: &'static str,
    options: Options,
    certificate: Option<String>,
    /// Changes the correct Signature header.
    header: Option<fn(&str) -> String>,
}

fn form(part: &'static str, name: &'static str) -> Form {
    Form {
        part,
        name,
        digest: None,
        date: DATE,
        options: Options::default(),
        certificate: None,
        header: None,
    }
}

fn body() -> Vec<u8> {
    let body = json!({
        "instructedAmount": {"currency": "EUR", "amount": "12.34"},
        "debtorAccount": {"iban": "NO1400004200179", "currency": "NOK"},
        "creditorName": "Blåbær & Co",
        "creditorAccount": {"iban": "DE93999999990000000001", "currency": "EUR"},
    });
    body.to_string().into_bytes()
}

fn digests() -> Vec<Form> {
    let body = body();
    let [short, long] = Algorithm::ALL.map(|algorithm| algorithm.header_value(&body));
    let (hash, other) = (&short["SHA-256=".len()..], &long["SHA-512=".len()..]);
    let hex =
        Algorithm::Sha256.hash(&body).iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let of = |bytes: &[u8]| Algorithm::Sha256.header_value(bytes);
    let wrong = of(b"");
    let python = String::from_utf8(body.clone()).unwrap().replace("\":", "\": ").replace("\",", "\", ");
    let rows = [
        ("SHA-256", short.clone()),
        ("SHA-512", long.clone()),
        ("lowercase token", format!("sha-256={hash}")),
        ("mixed token", format!("Sha-256={hash}")),
        ("mixed token, SHA-512", format!("sHa-512={other}")),
        ("list", format!("{short},{long}")),
        ("list in the other order", format!("{long},{short}")),
        ("list with a space", format!("{short}, {long}")),
        ("list in lowercase", format!("sha-256={hash},sha-512={other}")),
        ("list of the same twice", format!("{short},{short}")),
        ("list with MD5, wrong", format!("MD5=1B2M2Y8AsgTpgAmY7PhCfg==,{short}")),
        ("list with another algorithm", format!("{short},UNIXsum=30637")),
        ("list with SHA256", format!("{short},SHA256={hash}")),
        ("list with nothing behind a comma", format!("{short},")),
        ("list of a right and a wrong one", format!("{short},SHA-512={hash}")),
        ("list of a wrong and a right one", format!("{wrong}, {long}")),
        ("list of wrong ones", format!("{wrong},{wrong}")),
        ("without padding", short.trim_end_matches('=').to_owned()),
        ("alphabet for URLs", short.replace('+', "-").replace('/', "_")),
        ("quoted", format!("\"{short}\"")),
        ("quoted hash", format!("SHA-256=\"{hash}\"")),
        ("hash between colons", format!("SHA-256=:{hash}:")),
        ("percent-encoded", short.replace('+', "%2B").replace('/', "%2F")),
        ("hash alone", hash.to_owned()),
        ("SHA256", format!("SHA256={hash}")),
        ("MD5", "MD5=1B2M2Y8AsgTpgAmY7PhCfg==".to_owned()),
        ("hexadecimal", format!("SHA-256={hex}")),
        ("hexadecimal in uppercase", format!("SHA-256={}", hex.to_uppercase())),
        ("base64 of hexadecimal", format!("SHA-256={}", BASE64_STANDARD.encode(&hex))),
        ("base64 of base64", format!("SHA-256={}", BASE64_STANDARD.encode(hash))),
        ("hash of the hash", of(&Algorithm::Sha256.hash(&body))),
        ("hash of hexadecimal", of(hex.as_bytes())),
        ("hash of no body", wrong.clone()),
        ("hash with a line end", of(&[&body[..], b"\n"].concat())),
        ("hash of Python's JSON", of(python.as_bytes())),
        ("SHA-512 under the name of SHA-256", format!("SHA-256={other}")),
        ("empty", String::new()),
    ];
    rows.into_iter().map(|(name, value)| Form { digest: Some(value), ..form("Digest", name) }).collect()
}

fn certificates(signer: &Signer) -> Vec<Form> {
    let right = signer.certificate().header_value();
    let der = signer.certificate().der();
    let hex: Vec<String> = der.iter().map(|byte| format!("{byte:02X}")).collect();
    let lines: Vec<&str> = CERTIFICATE.lines().skip_while(|line| !line.starts_with("-----")).collect();
    let percent = lines.join("%0A").replace(' ', "%20").replace('+', "%2B");
    let rows = [
        ("base64 of DER", right.clone()),
        ("base64 of PEM", BASE64_STANDARD.encode(CERTIFICATE)),
        ("without padding", right.trim_end_matches('=').to_owned()),
        ("alphabet for URLs", right.replace('+', "-").replace('/', "_")),
        ("alphabet for URLs, without padding", right.replace('+', "-").replace('/', "_").replace('=', "")),
        ("lines joined with spaces", lines[1..lines.len() - 1].join(" ")),
        ("plus signs as spaces", right.replace('+', " ")),
        ("quoted", format!("\"{right}\"")),
        ("between colons", format!(":{right}:")),
        ("percent-encoded", right.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D")),
        ("percent-encoded PEM", percent),
        ("PEM on one line", lines.join(" ")),
        ("PEM with \\n", lines.join("\\n")),
        ("hexadecimal", hex.concat()),
        ("hexadecimal with colons", hex.join(":")),
        ("base64 of base64", BASE64_STANDARD.encode(&right)),
        ("text behind it", format!("{right}!x!")),
        ("cut", right[..400].to_owned()),
        ("words", "certificate".to_owned()),
    ];
    rows.into_iter()
        .map(|(name, text)| Form { certificate: Some(text), ..form("certificate", name) })
        .collect()
}

fn key_ids(signer: &Signer) -> Vec<Form> {
    let certificate = signer.certificate();
    let right = certificate.key_id(&KeyIdForm::default());
    let (hex, decimal) = (certificate.serial_hex(), certificate.serial_decimal());
    let (serial, issuer) = right.split_once(",CA=").unwrap();
    let bytes: Vec<&str> = (0..hex.len()).step_by(2).map(|at| &hex[at..at + 2]).collect();
    let reversed: String = bytes.iter().rev().copied().collect();
    let forward = issuer.split(',').rev().collect::<Vec<_>>().join(",");
    let first = issuer.split(',').next().unwrap();
    let rows = [
        ("usual", right.clone()),
        ("lowercase number", right.to_lowercase().replace("sn=", "SN=").replace(",ca=", ",CA=")),
        ("number with zeros", right.replace("SN=", "SN=0000")),
        ("number with colons", format!("SN={},CA={issuer}", bytes.join(":"))),
        ("number as DER", format!("SN={},CA={issuer}", certificate.serial(&SerialForm::Signed))),
        ("number with 0x", right.replace("SN=", "SN=0x")),
        ("number in decimal", format!("SN={decimal},CA={issuer}")),
        ("number reversed", format!("SN={reversed},CA={issuer}")),
        ("number with a sign", right.replace("SN=", "SN=-")),
        ("number cut", right.replace(&hex, &hex[2..])),
        ("space before CA", right.replace(",CA=", ", CA=")),
        ("semicolon before CA", right.replace(",CA=", ";CA=")),
        ("lowercase words", right.replace("SN=", "sn=").replace(",CA=", ",ca=")),
        ("CA first", format!("CA={issuer},{serial}")),
        ("number alone", serial.to_owned()),
        ("issuer forward", format!("{serial},CA={forward}")),
        ("issuer with spaces", format!("{serial},CA={}", issuer.replace(',', ", "))),
        ("issuer in part", format!("{serial},CA={first}")),
        ("issuer percent-encoded", format!("{serial},CA={}", issuer.replace(' ', "%20"))),
        ("issuer with slashes", format!("{serial},CA=/{}", forward.replace(',', "/"))),
        ("subject for issuer", format!("{serial},CA={}", certificate.subject().write(&NameForm::default()))),
        ("words", "my key".to_owned()),
    ];
    let of = |text: String| Options { key_id: Parameter::Text(text), ..Options::default() };
    rows.into_iter().map(|(name, text)| Form { options: of(text), ..form("keyId", name) }).collect()
}

fn part(text: &str, change: impl Fn(&str) -> String) -> String {
    let (before, signature) = text.split_once("signature=\"").unwrap();
    format!("{before}signature=\"{}\"", change(signature.trim_end_matches('"')))
}

fn headers() -> Vec<Form> {
    let own = |name, header: fn(&str) -> String| Form { header: Some(header), ..form("Signature", name) };
    let signed = |name, options| Form { options, ..form("Signature", name) };
    let algorithm =
        |text: &str| Options { algorithm: Parameter::Text(text.to_owned()), ..Options::default() };
    let wrap = |charset, encoding| Options { wrap: Wrap::Always(charset, encoding), ..Options::default() };
    let hash = |hash| Options { hash: Some(hash), ..Options::default() };
    let date = |name, date| Form { date, ..form("Date", name) };
    vec![
        signed("usual", Options::default()),
        signed("without algorithm", Options { algorithm: Parameter::Absent, ..Options::default() }),
        signed("algorithm in uppercase", algorithm("RSA-SHA256")),
        signed("algorithm rsa-sha512", algorithm("rsa-sha512")),
        signed("algorithm hs2019", algorithm("hs2019")),
        signed("wrapped in utf-8/B", wrap(Charset::Utf8, Encoding::B)),
        signed("wrapped in iso-8859-1/Q", wrap(Charset::Iso8859_1, Encoding::Q)),
        own("spaces behind commas", |text| text.replace("\",", "\", ")),
        own("spaces around equals signs", |text| text.replace("=\"", " = \"")),
        own("unknown parameter", |text| format!("origin=\"synthetic\",{text}")),
        own("created", |text| format!("created=1795851000,{text}")),
        own("created and expires, with points", |text| {
            format!("created=1795851000.5,expires=1795851300.25,{text}")
        }),
        own("created with a comma", |text| text.replace("signature=", "created=1795851000,123,signature=")),
        own("created quoted", |text| format!("{text},created=\"1795851000\"")),
        own("parameter twice", |text| format!("{text},algorithm=\"rsa-sha256\"")),
        own("scheme word", |text| format!("Signature {text}")),
        own("without quotes", |text| text.replace('"', "")),
        own("single quotes", |text| text.replace('"', "'")),
        own("semicolons", |text| text.replace("\",", "\";")),
        own("spaces for commas", |text| text.replace("\",", "\" ")),
        own("parameter names in lowercase", |text| text.replace("keyId", "keyid")),
        own("signature without padding", |text| part(text, |value| value.trim_end_matches('=').to_owned())),
        own("signature in the alphabet for URLs", |text| {
            part(text, |value| value.replace('+', "-").replace('/', "_"))
        }),
        own("signature with a space", |text| {
            part(text, |value| format!("{} {}", &value[..76], &value[76..]))
        }),
        own("signature percent-encoded", |text| {
            part(text, |value| value.replace('+', "%2B").replace('=', "%3D"))
        }),
        own("signature in hexadecimal", |text| {
            part(text, |value| {
                let digits = BASE64_STANDARD.decode(value).unwrap();
                digits.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
            })
        }),
        own("signature cut", |text| part(text, |value| value[..40].to_owned())),
        own("list with (created)", |text| text.replace("headers=\"", "headers=\"(created) ")),
        own("list with a header that is not there", |text| text.replace("headers=\"", "headers=\"host ")),
        own("list without digest", |text| text.replace(" digest", "")),
        signed("SHA-1", hash(OtherHash::Sha1)),
        signed("SHA-512", hash(OtherHash::Sha512)),
        signed(
            "SHA-512 under its own name",
            Options { hash: Some(OtherHash::Sha512), ..algorithm("rsa-sha512") },
        ),
        signed("PSS", hash(OtherHash::Sha256Pss)),
        signed("one bit", Options { corrupted: true, ..Options::default() }),
        signed("another text", Options { text: Some("another".to_owned()), ..Options::default() }),
        date("IMF-fixdate", DATE),
        date("RFC 850", "Saturday, 21-Nov-26 09:00:35 GMT"),
        date("asctime", "Sat Nov 21 09:00:35 2026"),
        date("one digit", "Sat, 7 Nov 2026 09:00:35 GMT"),
        date("offset", "Sat, 21 Nov 2026 10:00:35 +0100"),
        date("ISO 8601", "2026-11-21T09:00:35Z"),
        date("another language", "lau., 21 nov. 2026 09:00:35 GMT"),
        date("now", "now"),
    ]
}

/// Returns the headers of a request in a form.
fn fields(form: &Form, signer: &Signer, due: &[String], at: usize) -> Vec<(String, String)> {
    let body = body();
    let digest = form.digest.clone().unwrap_or_else(|| Algorithm::Sha256.header_value(&body));
    let mut fields: Vec<(String, String)> = [
        ("Accept", "application/json"),
        ("X-Request-ID", &format!("c63ec4ff-3e4f-4a20-9c2f-9fdf50{at:06}")),
        ("Date", form.date),
        ("x-accept-fix", "amount-as-string"),
        ("TPP-Session-ID", "1c0f9a52-7a3e-4a53-9a6b-2f6c5c1f0d11"),
        ("TPP-Redirect-URI", "https://tpp.example/return"),
        ("PSU-ID", "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f"),
        ("PSU-IP-Address", "192.0.2.10"),
        ("PSU-Context", "PRIVATE"),
        ("Content-Type", "application/json"),
        ("Digest", &digest),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec();
    let options = Options { listed: listed_headers(due, &fields), ..form.options.clone() };
    let header = sign(signer, &fields, &options).unwrap().value;
    let certificate = form.certificate.clone().unwrap_or_else(|| signer.certificate().header_value());
    fields.push((CERTIFICATE_HEADER.to_owned(), certificate));
    fields.push(("Signature".to_owned(), form.header.map_or(header.clone(), |change| change(&header))));
    fields
}

/// The three results: the rule that the bank names in its rejection, the clauses that the judge reports or
/// leaves open, and the objections of `--verify`.
struct Said {
    is_accepted: bool,
    bank: String,
    client: Vec<String>,
    is_denied: bool,
    bank_accused: Vec<String>,
    is_open: bool,
    held: Held,
    parts: Vec<String>,
}

impl Said {
    fn row(&self) -> String {
        let judge = match self.client.as_slice() {
            [] if self.is_open => "open".to_owned(),
            [] => "keeps".to_owned(),
            clauses => clauses.join(" "),
        };
        let verify = match self.held {
            Held::Yes => "ok",
            Held::Open => "open",
            Held::No => "NO",
        };
        let parts = if self.parts.is_empty() { String::new() } else { format!(" {}", self.parts.join(" ")) };
        format!("{}\t{judge}\t{verify}{parts}", self.bank)
    }
}

fn said(
    form: &Form,
    at: usize,
    signer: &Signer,
    bank: &InProcessBank,
    judge: &mut TrafficJudge,
    due: &[String],
) -> Said {
    let (fields, body) = (fields(form, signer, due, at), body());
    let mut request = Request::builder().method("POST").uri(format!("{PATH}?allowLogicalDuplicate=true"));
    for (name, value) in &fields {
        request = request.header(name, value.as_bytes());
    }
    let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answer = runtime.block_on(bank.answer(request.body(body.clone()).unwrap()));
    let now: DateTime<Utc> = NOW.parse().unwrap();
    let headers = answer.headers().iter();
    let headers =
        headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
    let status = answer.status().as_u16();
    let traffic = Traffic {
        number: at as u64 + 1,
        label: None,
        began: now,
        micros: 1,
        request: Sent {
            method: "POST".to_owned(),
            url: format!("http://127.0.0.1{PATH}?allowLogicalDuplicate=true"),
            headers: fields.clone(),
            body: Payload::Bytes(body.clone()),
            changed: None,
        },
        answer: Some(Answered { status, headers, body: Payload::Bytes(answer.body().to_vec()) }),
        failure: None,
    };
    let judged = judge.exchange(&traffic, None);
    let clauses = |end| judged.of(end).map(|finding| finding.clause.clone()).collect::<Vec<_>>();
    let findings = diagnosis::examine(&Received {
        signed_headers: due,
        certificate_header: Some(CERTIFICATE_HEADER),
        fields: &fields,
        latin_1: &[],
        body: &body,
        target: None,
        signed: None,
    });
    let mut parts: Vec<String> =
        findings.iter().filter(|one| one.held != Held::Yes).map(|one| one.part.clone()).collect();
    parts.dedup();
    let is_accepted = (200..300).contains(&status);
    Said {
        is_accepted,
        bank: if is_accepted { "accepts".to_owned() } else { format!("refuses {status}") },
        client: clauses(End::Client),
        is_denied: judged.of(End::Client).any(|finding| finding.level == Level::Deny),
        bank_accused: clauses(End::Bank),
        is_open: !judged.not_told.is_empty(),
        held: findings.iter().map(|one| one.held).max().unwrap(),
        parts,
    }
}

#[test]
fn the_table_of_forms_on_which_bank_judge_and_verify_agree_is_current() {
    let suite = Arc::new(Suite::load(Tree::embedded()).unwrap());
    let profile = Profile::read(Path::new(PROFILE), &suite.spec().profile).unwrap();
    let due = suite.spec().signing.signed_headers.clone();
    let judging = Judge::of_traffic(suite, profile).unwrap();
    let mut judge = TrafficJudge::new(&judging, true);
    let bank = InProcessBank::open(&Config::default());
    let signer = Signer::from_pem(KEY, CERTIFICATE).unwrap();
    let forms = [digests(), certificates(&signer), key_ids(&signer), headers()];
    let forms: Vec<Form> = forms.into_iter().flatten().collect();
    let mut table = "part\tform\tbank\tjudge\tverify\n".to_owned();
    let mut wrong = Vec::new();
    for (at, form) in forms.iter().enumerate() {
        let said = said(form, at, &signer, &bank, &mut judge, &due);
        let row = format!("{}\t{}\t{}\n", form.part, form.name, said.row());
        let agree = match said.held {
            // A correct form is accepted. At most a warning is given for what a sender may not send, but a
            // recipient accepts (RFC 9110, section 5.6.7; draft 10, section 2.2).
            Held::Yes => said.is_accepted && !said.is_denied,
            // An open form is never denied, whatever this bank does.
            Held::Open => !said.is_denied && (said.is_accepted || said.is_open),
            // A wrong form is rejected, and reported to the client. No clause requires a bank to check a
            // Date.
            Held::No => (form.part == "Date" || !said.is_accepted) && !said.client.is_empty(),
        };
        if !agree || !said.bank_accused.is_empty() {
            wrong.push(format!("{} bank accused: {:?}", row.trim_end(), said.bank_accused));
        }
        table += &row;
    }
    assert!(forms.len() > 100 && wrong.is_empty(), "{wrong:#?}");
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(TABLE, &table).unwrap();
    }
    assert_eq!(std::fs::read_to_string(TABLE).unwrap(), table, "{TABLE} is not current: UPDATE_GENERATED=1");
}
