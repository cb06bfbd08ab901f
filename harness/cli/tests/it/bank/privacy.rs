//! No output contains personal data or data that protects an account. Every value of a profile and every
//! string of a response is a canary, unless a list here names it with the reason why it may be shown. The
//! test runs the profile with several commands, and searches everything that they write or print.

use std::{collections::BTreeSet, fs, path::Path};

use aho_corasick::AhoCorasick;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use wiremock::{MockServer, Request, ResponseTemplate};
use xs2aspec_judge::Profile;
use xs2aspec_reference::{Config, start};
use xs2aspec_suite::ProfileSpec;

use crate::support::{command, stub};

/// Values of a profile that may be shown, by the end of their names, with the reason.
const SEEN_OF_A_PROFILE: [(&str, &str); 6] = [
    ("redirect-uri", "the public address of the TPP, but for what was prepared for it"),
    ("currency", "a code of three letters"),
    ("agent", "the BIC of a bank"),
    ("amount-as-string", "the name of a change of the interface"),
    ("product", "a part of the path that the document gives"),
    ("status", "a code of the document"),
];

/// Strings of a response that may be shown, by the names of their fields, with the reason.
const SEEN_OF_AN_ANSWER: [(&str, &str); 24] = [
    ("amount", "what the case sent, or what the rules for amounts judge"),
    ("bankTransactionCode", "a code of a kind of transaction"),
    ("basketId", "made by the run; the links of the same answer are judged by it"),
    ("bookingDate", "a date, which is judged"),
    ("category", "a code"),
    ("code", "a code"),
    ("creditorAgent", "the BIC of a bank"),
    ("currency", "a code"),
    ("customerType", "a code"),
    ("debtorAgent", "the BIC of a bank"),
    ("exchangeRate", "a number, which is judged"),
    ("href", "a link, which is judged; ids in it are masked"),
    ("path", "the place of a mistake in the request"),
    ("paymentId", "made by the run; the links of the same answer are judged by it"),
    ("proprietaryBankTransactionCode", "a code of a kind of transaction"),
    (
        "psuMessage",
        "the bank's words to whoever looks for the mistake; accounts and persons in it are masked",
    ),
    ("purposeCode", "a code"),
    ("quotationDate", "a date, which is judged"),
    ("referenceIssuer", "a code"),
    ("referenceType", "a code"),
    ("text", "the bank's words to whoever looks for the mistake; accounts and persons in it are masked"),
    ("transactionStatus", "a code"),
    ("valueDate", "a date, which is judged"),
    ("verbs", "methods"),
];

/// Headers with signature and certificate. They are masked as a whole when sent, and no bank returns them.
const OF_A_KEY: [&str; 4] = ["signature", "tpp-signature-certificate", "client-cert", "tpp-certificate"];

/// Currency code types have names that end with this.
const CURRENCY: &str = "Currency";

/// Further values that no output may contain, with the place where they were put.
const CANARIES: [(&str, &str); 6] = [
    ("canary-api-key", "header of a gateway"),
    ("test-passphrase", "passphrase of the key"),
    ("canary-prepared", "what a command printed"),
    ("Canary Person", "name in an answer"),
    ("NO9386011117947", "IBAN in an answer"),
    ("12345678911", "person number in an answer"),
];

const PROFILE: &str = r#"
base-url = "BASE"
environment = "sandbox"
session-id = "0ca7a51e-0000-4000-8000-000000000003"
redirect-uri = "https://tpp.example/return?state=${prepare.consent.state}"
limits = { retries = 0 }
psu.private = { id = "0ca7a51e-0000-4000-8000-000000000001", identity = "01819000391", session-id = "canary-session-private" }
psu.second = { id = "0ca7a51e-0000-4000-8000-000000000004", iban = "NO6800004202031", session-id = "canary-session-second" }
psu.d-number = { identity = "41819000466", iban = "NO9300004200195", session-id = "canary-session-d-number" }
psu.corporate = { id = "0ca7a51e-0000-4000-8000-000000000002", corporate-id = "CANARY-AGREEMENT", session-id = "canary-session-corporate", second-corporate-id = "CANARY-SECOND-AGREEMENT" }
consent.over-90 = { account-id = "canary-account-91", transaction-id = "canary-transaction-91" }
consent.within-180 = { account-id = "canary-account-180", transaction-id = "canary-transaction-180" }
consent.over-180 = { account-id = "canary-account-181", transaction-id = "canary-transaction-181" }
pending-payment = { id = "canary-pending-payment" }
pending-series = { id = "canary-pending-series" }
payment = { id = "canary-payment", product = "norwegian-cross-border-credit-transfers", status = "PDNG" }
rejected-payment = { id = "canary-rejected-payment", without-funds-id = "canary-payment-without-funds" }
bulk-payment = { id = "canary-bulk-payment" }
capabilities = { sandbox = true, basket = true, quota = true, corporate = true, test-authority = true }

[transaction]
account-id = "canary-account"
transaction-id = "canary-transaction"
quota-account-id = "canary-quota-account"
quota-transaction-id = "canary-quota-transaction"
batch-account-id = "canary-batch-account"
batch-transaction-id = "canary-batch-transaction"

[accounts]
debtor = { iban = "NO1400004200179", bban = "00004200179", currency = "NOK" }
corporate-debtor = { iban = "NO1100004200330", currency = "NOK" }
second-corporate-debtor = { iban = "NO8000004200349", currency = "NOK" }
domestic-creditor = { iban = "NO5597100000036", bban = "97100000036" }
foreign-creditor = { iban = "DE93999999990000000001", bban = "999999990000000001", agent = "AAAADEF0XXX", currency = "EUR" }
without-funds = { iban = "NO8900004200187" }
kid-creditor = { iban = "NO3397100000044", reference = "70000000018", wrong-reference = "70000000019" }

[signing]
key = "signing.key.pem"
certificate = "signing.cert.pem"
passphrase = { env = "CANARY_PASSPHRASE" }

[headers]
X-Api-Key = { env = "CANARY_API_KEY" }

[[prepare]]
name = "consent"
command = ["sh", "-c", "echo '{\"state\": \"canary-prepared\"}'"]
"#;

/// Generates responses from the schemas in which every string is a canary or may be shown.
#[derive(Default)]
struct Answers {
    canaries: BTreeSet<String>,
    shown: BTreeSet<String>,
}

impl Answers {
    fn of(&mut self, schema: &str) -> Value {
        let file = format!("{schema}.json");
        let whole = Self::read(&file);
        self.sample(&file, &whole, schema, "")
    }

    fn read(file: &str) -> Value {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/schemas"));
        serde_json::from_str(&fs::read_to_string(folder.join(file)).unwrap()).unwrap()
    }

    /// Returns a value for a schema in a file. `at` is its place, and `name` the name of the field.
    fn sample(&mut self, file: &str, schema: &Value, at: &str, name: &str) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            let (other, pointer) = reference.split_once('#').unwrap();
            let file = if other.is_empty() { file } else { other };
            let schema = Self::read(file).pointer(pointer).unwrap().clone();
            return self.sample(file, &schema, at, name);
        }
        let kind = if schema["properties"].is_object() { Some("object") } else { schema["type"].as_str() };
        match kind {
            Some("object") => {
                let mut members = Map::new();
                for (member, schema) in schema["properties"].as_object().unwrap_or(&Map::new()) {
                    members
                        .insert(member.clone(), self.sample(file, schema, &format!("{at}-{member}"), member));
                }
                members.into()
            }
            Some("array") => json!([self.sample(file, &schema["items"], at, name)]),
            Some("boolean") => true.into(),
            Some("integer" | "number") => 3.into(),
            _ => self.text(schema, at, name).into(),
        }
    }

    fn text(&mut self, schema: &Value, at: &str, name: &str) -> String {
        let is_seen = SEEN_OF_AN_ANSWER.iter().any(|(seen, _)| *seen == name) || name.ends_with(CURRENCY);
        if let Some(first) = schema["enum"][0].as_str() {
            assert!(is_seen, "{at} is a code, and is not named as one that may be seen");
            return first.to_owned();
        }
        if is_seen {
            let shown = format!("shown-{name}");
            self.shown.insert(shown.clone());
            return shown;
        }
        let canary = format!("canary-{at}").to_lowercase();
        self.canaries.insert(canary.clone());
        canary
    }
}

/// Starts a bank that returns everything it receives, and everything that its schemas allow.
async fn gossip(answers: &mut Answers) -> MockServer {
    let [basket, payment, customers, transaction, refusal] =
        ["basket", "payment", "customers", "transaction", "refusal"].map(|schema| answers.of(schema));
    let answer = move |request: &Request| {
        let told = String::from_utf8_lossy(&request.body).into_owned();
        let headers: Vec<String> = request
            .headers
            .iter()
            .filter(|(name, _)| !OF_A_KEY.contains(&name.as_str()))
            .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
            .collect();
        let mut more = json!({
            "seen": request.url.path(),
            "debtorName": "Canary Person",
            "debtorAccount": {"iban": "NO9386011117947"},
            "note": "as 12345678911 said, NO9386011117947 belongs to Canary Person",
            "told": told,
            "headers": headers,
        });
        let path = request.url.path();
        let (status, mut body) = match () {
            // Payments for a basket must be accepted, or no basket could be created.
            () if path.contains("periodic") && request.body.len() % 3 == 1 => (400, refusal.clone()),
            () if path.contains("baskets") => (201, basket.clone()),
            () if path.contains("customers") => (200, customers.clone()),
            () if path.contains("transactions/") => (200, transaction.clone()),
            () => (201, payment.clone()),
        };
        match &mut body {
            Value::Array(items) => items.push(more),
            Value::Object(members) => members.append(more.as_object_mut().unwrap()),
            _ => unreachable!("no answer is neither"),
        }
        ResponseTemplate::new(status).set_body_json(body)
    };
    stub::server(answer).await
}

/// Returns the canaries of a profile: all values except those that may be shown.
fn of_profile(profile: &Profile) -> Vec<(String, String)> {
    for offer in ProfileSpec::embedded().values.iter().filter(|offer| offer.entry_of.is_none()) {
        assert!(
            profile.value(&offer.name).is_some(),
            "the profile has no {}, so that it is not looked for",
            offer.name
        );
    }
    let is_seen = |name: &str, text: &str| {
        let ends = |end: &str| name == end || name.ends_with(&format!(".{end}")) || text == end;
        SEEN_OF_A_PROFILE.iter().any(|(end, _)| ends(end))
    };
    let values = profile.values.iter().filter(|(name, text)| !is_seen(name, text));
    values.map(|(name, text)| (text.to_lowercase(), name.clone())).collect()
}

/// Collects the text of all files below a folder.
fn files(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push((
                path.display().to_string(),
                String::from_utf8_lossy(&crate::support::content(&path)).into_owned(),
            ));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_output_holds_a_canary() {
    let bank = start(Config::default()).await.unwrap();
    let mut answers = Answers::default();
    let gossip = gossip(&mut answers).await;
    assert!(answers.canaries.len() > 30, "{:?}", answers.canaries);
    let keys = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/keys"));
    for base in [bank.base_url(), gossip.uri()] {
        let folder = TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name);
        let key = fs::read_to_string(keys.join("formats/pkcs8-aes.key.pem")).unwrap();
        let certificate = fs::read_to_string(keys.join("tpp.cert.pem")).unwrap();
        fs::write(at("signing.key.pem"), &key).unwrap();
        fs::write(at("signing.cert.pem"), &certificate).unwrap();
        fs::write(at("bank.toml"), PROFILE.replace("BASE", &base)).unwrap();
        let target = at("bank.toml").display().to_string();
        let shown_of =
            PROFILE.replace("BASE", &base).replace("{ env = \"CANARY_API_KEY\" }", "\"canary-api-key\"");
        let shown_of = shown_of.replace("{ env = \"CANARY_PASSPHRASE\" }", "{ file = \"passphrase\" }");
        fs::write(at("passphrase"), "test-passphrase").unwrap();
        fs::write(at("read.toml"), shown_of).unwrap();
        let profile = Profile::read(&at("read.toml"), ProfileSpec::embedded()).unwrap();
        let out = at("out");
        let mut said = Vec::new();
        for arguments in [
            &["run", "--depth", "quick", "--target", &target, "--out", out.to_str().unwrap()][..],
            &["doctor", "--target", &target],
            &["explain", "ncbct.path/plain", "--target", &target],
            &["explain", "transaction.path/plain", "--target", &target],
        ] {
            let output = tokio::task::block_in_place(|| {
                command()
                    .args(arguments)
                    .env("CANARY_PASSPHRASE", "test-passphrase")
                    .env("CANARY_API_KEY", "canary-api-key")
                    // Includes anything that a library might log.
                    .env("RUST_LOG", "trace")
                    .output()
                    .unwrap()
            });
            for (stream, bytes) in [("stdout", output.stdout), ("stderr", output.stderr)] {
                said.push((format!("{stream} of {}", arguments[0]), String::from_utf8(bytes).unwrap()));
            }
        }
        files(&out, &mut said);
        assert!(said.iter().map(|(_, text)| text.len()).sum::<usize>() > 1_000_000, "much was written");
        let mut secrets = of_profile(&profile);
        assert!(secrets.len() > 20, "{secrets:?}");
        secrets.extend(CANARIES.map(|(canary, what)| (canary.to_lowercase(), what.to_owned())));
        secrets
            .extend(answers.canaries.iter().map(|canary| (canary.clone(), "text of an answer".to_owned())));
        let lines = |pem: &str, what: &str| -> Vec<(String, String)> {
            let lines = pem.lines().filter(|line| line.len() > 40 && !line.contains(' '));
            lines.map(|line| (line.to_lowercase(), what.to_owned())).collect()
        };
        let of_keys = [lines(&key, "signing key"), lines(&certificate, "signing certificate")].concat();
        assert!(of_keys.len() > 30);
        // Search for all secrets in one pass, since there are hundreds and the texts are long.
        let all: Vec<&(String, String)> = secrets.iter().chain(&of_keys).collect();
        let (spaced, closed): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(canary, _)| canary.contains(' '));
        let search =
            |wanted: &[&(String, String)]| AhoCorasick::new(wanted.iter().map(|(canary, _)| canary)).unwrap();
        let (spaced, closed) = ((search(&spaced), spaced), (search(&closed), closed));
        for (place, text) in &said {
            let text = text.to_lowercase();
            // Some people write account numbers with spaces.
            let without_blanks = text.replace(' ', "");
            let looked = [(&spaced, &text), (&closed, &text), (&closed, &without_blanks)];
            for ((search, wanted), text) in looked {
                let found = search.find(text.as_str()).map(|found| {
                    let (_, what) = wanted[found.pattern().as_usize()];
                    let near = found.start().saturating_sub(200)..(found.end() + 60).min(text.len());
                    (what, String::from_utf8_lossy(&text.as_bytes()[near]))
                });
                assert_eq!(found, None, "in {place} at {base}");
            }
        }
        // Equal values stay recognizably equal: the debtor has one pseudonym in the whole record.
        let record = &said.iter().find(|(place, _)| place.ends_with("record.jsonl.gz")).unwrap().1;
        let debtors: std::collections::BTreeSet<&str> = record
            .match_indices("debtorAccount\\\":{\\\"iban\\\":\\\"iban~")
            .filter_map(|(at, found)| record.get(at + found.len()..at + found.len() + 8))
            .collect();
        // The second agreement and the second person have accounts of their own.
        assert!((1..=7).contains(&debtors.len()), "{debtors:?}");
        // The list above names nothing that is masked: every value in it is shown.
        let hidden = answers.shown.iter().filter(|shown| !record.contains(shown.as_str()));
        let hidden: Vec<&String> = hidden.filter(|_| base == gossip.uri()).collect();
        assert!(hidden.is_empty(), "{hidden:?}");
    }
    bank.shutdown().await.unwrap();
}
