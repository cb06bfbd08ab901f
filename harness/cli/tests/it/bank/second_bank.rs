//! A second bank that differs from the reference bank wherever the document allows it. It requires TLS with a
//! client certificate, has another path prefix, and other codes, error bodies, links, ids and formats. Runs
//! use HTTP/1.1 and HTTP/2, directly and through a forward proxy. The bank passes with nothing but a profile.

use std::{fs, sync::atomic::Ordering};

use tempfile::TempDir;
use xs2aspec_reference::{Bank, Config, Tls, start};

use crate::support::{
    command,
    network::{Authority, Tinyproxy, pkcs12, proxy},
    printed,
};

/// The variations of the second bank.
const UNLIKE: [&str; 22] = [
    "service.base-url/three-parts",
    "basket.path/below-payments",
    "service.sandbox/not-implemented",
    "error.body/problem",
    "error.code-status/unprocessable",
    "http.response-headers/chunked",
    "http.response-headers/more",
    "http.response-headers/no-request-id",
    "http.response-headers/indented",
    "http.response-content-type/charset",
    "json.unknown-members/answered",
    "link.href.relative/absolute",
    "links.names/other",
    "payment.success-status/ok-declared",
    "basket.response.links.absent/absent",
    "payment.response.transaction-status/accp-payments",
    "payment.response.transaction-fees.meaning/absent",
    "transaction.transaction-id.same/other",
    "transaction.bank-transaction-code.form/other",
    "account.identifier.response/both",
    "signature.key-id.serial/small-declared",
    "signature.wrap.extent/signature-declared",
];

/// The profile of that bank. Nothing else tells the suite how the bank differs.
const PROFILE: &str = r#"
name = "second bank"
version = "7.1"
environment = "sandbox"
contact = "interface team"
base-url = "BASE/psd2/bank-1/api"
session-id = "1c0f9a52-7a3e-4a53-9a6b-2f6c5c1f0d11"
redirect-uri = "https://tpp.example/return"
authorities = "bank-ca.pem"
psu.private = { id = "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f", identity = "01819000391" }
psu.corporate = { id = "7b1e4d2a-9c80-4f36-a5d4-1f0e2d3c4b5a", corporate-id = "AGR-310000019" }
transaction = { account-id = "acc-private-0001", transaction-id = "20250211-0000001" }
paths = { basket = "/v1/payments/signing-baskets" }
capabilities = { sandbox = false, basket = true, corporate = true, quota = false, batch = false, test-authority = false, pending-payment = false, pending-series = false, rejected-payment = false, kid = false, consent-age = false }

[accounts]
debtor = { iban = "NO1400004200179", bban = "00004200179", currency = "NOK" }
corporate-debtor = { iban = "NO1100004200330", currency = "NOK" }
domestic-creditor = { iban = "NO5597100000036", bban = "97100000036" }
foreign-creditor = { iban = "DE93999999990000000001", bban = "999999990000000001", agent = "AAAADEF0XXX", currency = "EUR" }
without-funds = { iban = "NO8900004200187" }

[tls]
pkcs12 = "client.p12"
passphrase = { env = "SECOND_BANK_PASSPHRASE" }

[choices]
"payment.success-status" = "200"
"basket.success-status" = "200"
"key-id.serial" = "lower"
"signature.wrap-extent" = "signature"
"#;

/// The second bank, and a folder with the files that its profile names.
struct Second {
    bank: Bank,
    folder: TempDir,
}

impl Second {
    async fn start() -> Self {
        let (servers, clients) = (Authority::new(), Authority::new());
        let (certificates, key) = servers.gives();
        let tls = Tls { certificates, key, client_authorities: Some(clients.pem()), client_required: true };
        let variations = UNLIKE.iter().map(|name| name.parse().unwrap()).collect();
        let bank = start(Config { variations, tls: Some(tls), ..Config::default() }).await.unwrap();
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("bank-ca.pem"), servers.pem()).unwrap();
        let (certificate, key) = clients.gives();
        fs::write(folder.path().join("client.p12"), pkcs12(&certificate, &key, "a passphrase")).unwrap();
        Self { bank, folder }
    }

    /// Runs the cases against it, with more lines in its profile. Returns the exit code, the output and the
    /// summary.
    fn run(&self, more: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
        let file = self.folder.path().join("bank.toml");
        let profile = PROFILE.replace("BASE", &self.bank.base_url());
        fs::write(&file, format!("{more}\n{profile}")).unwrap();
        let out = self.folder.path().join("out");
        let output = tokio::task::block_in_place(|| {
            command()
                .args(["run", "--quiet", "--target"])
                .arg(&file)
                .arg("--out")
                .arg(&out)
                .args(arguments)
                .env("SECOND_BANK_PASSPHRASE", "a passphrase")
                .output()
                .unwrap()
        });
        let said = printed(&output);
        (output.status.code(), said, fs::read_to_string(out.join("summary.md")).unwrap_or_default())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bank_unlike_the_reference_bank_passes_with_a_profile_alone() {
    let second = Second::start().await;
    let (by_proxy, seen) = proxy().await;
    let whole = second.run("", &[]);
    assert_eq!(whole.0, Some(0), "{}", whole.1);
    assert!(whole.1.contains("target second bank 7.1, sandbox at https://127.0.0.1:"), "{}", whole.1);
    assert!(whole.1.contains("contact interface team"), "{}", whole.1);
    assert!(whole.2.contains("- version of the target `7.1`"), "{}", whole.2);
    assert!(whole.1.contains("conforms") && !whole.1.contains("deny  "), "{}", whole.1);

    // A quick run over HTTP/2, and through a forward proxy.
    let by_proxy = format!("proxy = {by_proxy:?}");
    for (more, connects) in [("http = \"2\"", false), (by_proxy.as_str(), true)] {
        let before = seen.load(Ordering::SeqCst);
        let quick = second.run(more, &["--depth", "quick"]);
        assert_eq!(quick.0, Some(0), "{more}: {}", quick.1);
        let after = seen.load(Ordering::SeqCst);
        assert_eq!(after > before, connects, "{more}: {before} and {after} connections by the proxy");
    }

    // Without the settings of the profile, the bank is not even reachable.
    fs::write(second.folder.path().join("bank-ca.pem"), Authority::new().pem()).unwrap();
    let strange = second.run("", &["--only", "ncbct.path"]);
    assert_eq!(strange.0, Some(3), "{}", strange.1);
    second.bank.shutdown().await.unwrap();
}

/// A forward proxy from another project.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs tinyproxy: --include-ignored where it is installed"]
async fn it_passes_by_a_proxy_of_others() {
    let second = Second::start().await;
    let proxy = Tinyproxy::start().await;
    let quick = second.run(&format!("proxy = {:?}", proxy.url), &["--depth", "quick"]);
    assert_eq!(quick.0, Some(0), "{}", quick.1);
    assert!(proxy.log().contains("CONNECT 127.0.0.1:"), "{}", proxy.log());
    second.bank.shutdown().await.unwrap();
}
