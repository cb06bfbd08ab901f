//! Nothing that belongs to a person or protects an account stands in any output: a profile full of canaries is run, asked after and
//! explained, its bank answers with more of them, and everything that is written or printed is searched.

use std::{fs, path::Path, process::Command};

use tempfile::TempDir;
use wiremock::{Mock, MockServer, Request, ResponseTemplate, matchers::any};
use xs2aspec_reference::{Config, start};

/// What no output may hold, and where it was put.
const CANARIES: [(&str, &str); 19] = [
    ("0ca7a51e-0000-4000-8000-000000000001", "PSU-ID"),
    ("01819000391", "X-PSU-IDENTITY"),
    ("0ca7a51e-0000-4000-8000-000000000002", "PSU-ID of the corporate PSU"),
    ("CANARY-AGREEMENT", "PSU-Corporate-ID"),
    ("NO1400004200179", "IBAN of the debtor"),
    ("00004200179", "BBAN of the debtor"),
    ("NO1100004200330", "IBAN of the corporate debtor"),
    ("NO5597100000036", "IBAN of the creditor"),
    ("97100000036", "BBAN of the creditor"),
    ("DE93999999990000000001", "IBAN of the foreign creditor"),
    ("canary-account", "account id"),
    ("canary-transaction", "transaction id"),
    ("0ca7a51e-0000-4000-8000-000000000003", "TPP-Session-ID"),
    ("canary-api-key", "header of a gateway"),
    ("canary-passphrase", "passphrase of the key"),
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
psu.private = { id = "0ca7a51e-0000-4000-8000-000000000001", identity = "01819000391" }
psu.corporate = { id = "0ca7a51e-0000-4000-8000-000000000002", corporate-id = "CANARY-AGREEMENT" }
transaction = { account-id = "canary-account", transaction-id = "canary-transaction" }

[accounts]
debtor = { iban = "NO1400004200179", bban = "00004200179", currency = "NOK" }
corporate-debtor = { iban = "NO1100004200330", currency = "NOK" }
domestic-creditor = { iban = "NO5597100000036", bban = "97100000036" }
foreign-creditor = { iban = "DE93999999990000000001", bban = "999999990000000001", agent = "AAAADEF0XXX", currency = "EUR" }

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

/// A bank that tells everything it is told, and more.
async fn gossip() -> MockServer {
    let server = MockServer::start().await;
    let answer = |request: &Request| {
        let told = String::from_utf8_lossy(&request.body).into_owned();
        let headers: Vec<String> = request
            .headers
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), "signature" | "tpp-signature-certificate"))
            .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
            .collect();
        let body = serde_json::json!({
            "paymentId": request.url.path(),
            "debtorName": "Canary Person",
            "debtorAccount": {"iban": "NO9386011117947"},
            "note": "as 12345678911 said, NO9386011117947 belongs to Canary Person",
            "told": told,
            "headers": headers,
        });
        ResponseTemplate::new(if request.body.len().is_multiple_of(3) { 400 } else { 201 })
            .set_body_json(body)
    };
    Mock::given(any()).respond_with(answer).mount(&server).await;
    server
}

/// Everything below a folder.
fn files(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push((
                path.display().to_string(),
                String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned(),
            ));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_output_holds_a_canary() {
    let bank = start(Config::default()).await.unwrap();
    let gossip = gossip().await;
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
        let out = at("out");
        let mut said = Vec::new();
        for arguments in [
            &["run", "--target", &target, "--out", out.to_str().unwrap()][..],
            &["doctor", "--target", &target],
            &["explain", "ncbct.path/plain", "--target", &target],
            &["explain", "transaction.path/plain", "--target", &target],
        ] {
            let output = tokio::task::block_in_place(|| {
                Command::new(env!("CARGO_BIN_EXE_xs2aspec"))
                    .args(arguments)
                    .env("CANARY_PASSPHRASE", "test-passphrase")
                    .env("CANARY_API_KEY", "canary-api-key")
                    // Whatever a library would log.
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
        let secrets = CANARIES.map(|(canary, what)| (canary.to_lowercase(), what.to_owned()));
        let lines = |pem: &str, what: &str| -> Vec<(String, String)> {
            let lines = pem.lines().filter(|line| line.len() > 40 && !line.contains(' '));
            lines.map(|line| (line.to_lowercase(), what.to_owned())).collect()
        };
        let of_keys = [lines(&key, "signing key"), lines(&certificate, "signing certificate")].concat();
        assert!(of_keys.len() > 30);
        for (place, text) in &said {
            let text = text.to_lowercase();
            // As people write account numbers.
            let closed = text.replace(' ', "");
            for (canary, what) in secrets.iter().chain(&of_keys) {
                let found =
                    text.find(canary).map(|at| &text[at.saturating_sub(200)..(at + 60).min(text.len())]);
                assert_eq!(found, None, "{what} in {place} at {base}");
                assert!(
                    canary.contains(' ') || !closed.contains(canary),
                    "{what}, with blanks, in {place} at {base}"
                );
            }
        }
        // Equal values are recognisably equal: one pseudonym for the debtor in the whole record.
        let record = &said.iter().find(|(place, _)| place.ends_with("record.jsonl")).unwrap().1;
        let debtors: std::collections::BTreeSet<&str> = record
            .match_indices("debtorAccount\\\":{\\\"iban\\\":\\\"iban~")
            .filter_map(|(at, found)| record.get(at + found.len()..at + found.len() + 8))
            .collect();
        assert!((1..=4).contains(&debtors.len()), "{debtors:?}");
    }
    bank.shutdown().await.unwrap();
}
