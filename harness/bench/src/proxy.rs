//! Measures the latency of the proxy: sends the same signed payments to the reference bank, one after the
//! other, with and without the proxy in turn.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use tokio::runtime::Runtime;
use xs2aspec_judge::{
    Profile,
    profile::{TEST_CERTIFICATE, TEST_KEY},
};
use xs2aspec_signing::{Signer, digest, signature_header};

use crate::{servers::PATH, table::Server};

/// The clock of the bank, and the Date of the requests.
const NOW: &str = "2026-01-05T12:00:00Z";
const DATE: &str = "Mon, 05 Jan 2026 12:00:00 GMT";

/// Requests that are sent before the measurement.
const WARM: usize = 200;

fn wrong(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Measures `count` requests each way. Returns a Markdown table with a row for each.
pub(crate) fn proxy(count: usize) -> Result<String, String> {
    let own = std::env::current_exe().map_err(wrong)?;
    let suite = own.with_file_name("xs2aspec");
    if !suite.is_file() {
        return Err(format!("cannot find {}: build it with `cargo build --release`", suite.display()));
    }
    let folder = TempDir::new().map_err(wrong)?;
    let bank = Server::start(&suite, &["serve", "--quiet", "--now", NOW])?;
    let proxy = before(&suite, &bank.url, folder.path())?;
    let requests = Payments::new()?;
    let (direct, through) = Runtime::new().map_err(wrong)?.block_on(async {
        let client =
            reqwest::Client::builder().http1_only().tcp_nodelay(true).no_proxy().build().map_err(wrong)?;
        let mut times = [Vec::with_capacity(count), Vec::with_capacity(count)];
        for number in 0..WARM + count {
            for (way, url) in [&bank.url, &proxy.url].into_iter().enumerate() {
                let took = requests.send(&client, url, 2 * number + way).await?;
                if number >= WARM {
                    times[way].push(took);
                }
            }
        }
        let [direct, through] = times;
        Ok::<_, String>((direct, through))
    })?;
    let (direct, through) = (quantiles(direct), quantiles(through));
    let added = through[0].saturating_sub(direct[0]);
    Ok(format!(
        "| way | p50 | p99 |\n|---|--:|--:|\n{}\n{}\n\n{count} payments each way in turn, one in flight: {} us added at p50",
        row("direct", direct),
        row("through the proxy", through),
        added.as_micros()
    ))
}

fn before(suite: &Path, bank: &str, folder: &Path) -> Result<Server, String> {
    let out = folder.join("out").to_string_lossy().into_owned();
    Server::start(suite, &["proxy", "--quiet", "--target", bank, "--out", &out])
}

fn quantiles(mut times: Vec<Duration>) -> [Duration; 2] {
    times.sort_unstable();
    let at = |hundredths: usize| times.get((times.len() * hundredths / 100).min(times.len() - 1));
    [50, 99].map(|hundredths| at(hundredths).copied().unwrap_or_default())
}

fn row(way: &str, [p50, p99]: [Duration; 2]) -> String {
    format!("| {way} | {} us | {} us |", p50.as_micros(), p99.as_micros())
}

/// Signed payments, each different.
struct Payments {
    signer: Signer,
    values: std::collections::BTreeMap<String, String>,
}

impl Payments {
    fn new() -> Result<Self, String> {
        let signer = Signer::from_pem(TEST_KEY, TEST_CERTIFICATE).map_err(wrong)?;
        let values = Profile::reference("http://127.0.0.1").map_err(wrong)?.values;
        Ok(Self { signer, values: values.into_iter().collect() })
    }

    /// Sends the payment with this number, and returns the time to its response, without signing.
    async fn send(&self, client: &reqwest::Client, url: &str, number: usize) -> Result<Duration, String> {
        let value = |name: &str| self.values.get(name).cloned().unwrap_or_default();
        let body = format!(
            "{{\"instructedAmount\":{{\"amount\":\"{}.{:02}\",\"currency\":\"NOK\"}},\"creditorName\":\"Synthetic Creditor Ltd\",\
             \"creditorAccount\":{{\"iban\":\"{}\",\"currency\":\"EUR\"}},\"debtorAccount\":{{\"iban\":\"{}\",\"currency\":\"NOK\"}},\
             \"regulatoryReportingCode\":\"14\",\"regulatoryReportingInformation\":\"Synthetic goods\"}}",
            100_000 + number / 100,
            number % 100,
            value("accounts.foreign-creditor.iban"),
            value("accounts.debtor.iban"),
        );
        let mut fields = vec![
            ("accept", "application/json".to_owned()),
            ("content-type", "application/json".to_owned()),
            ("x-accept-fix", "amount-as-string".to_owned()),
            ("x-request-id", format!("00000000-0000-4000-8000-{number:012}")),
            ("tpp-session-id", value("session-id")),
            ("tpp-redirect-uri", "https://tpp.example/return".to_owned()),
            ("psu-id", value("psu.private.id")),
            ("psu-ip-address", "192.0.2.10".to_owned()),
            ("date", DATE.to_owned()),
            ("digest", digest::Algorithm::Sha256.header_value(body.as_bytes())),
            ("tpp-signature-certificate", self.signer.certificate().header_value()),
        ];
        let listed = ["date", "digest", "x-request-id", "psu-id", "tpp-redirect-uri"].map(str::to_owned);
        let options =
            signature_header::Options { listed: listed.to_vec(), ..signature_header::Options::default() };
        let signed = signature_header::sign(&self.signer, &fields, &options).map_err(wrong)?;
        fields.push(("signature", signed.value));
        let mut request = client.post(format!("{url}{PATH}")).body(body);
        for (name, value) in fields {
            request = request.header(name, value);
        }
        let begun = Instant::now();
        let answer = request.send().await.map_err(wrong)?;
        let status = answer.status();
        let said = answer.bytes().await.map_err(wrong)?;
        let took = begun.elapsed();
        if status.as_u16() == 201 {
            Ok(took)
        } else {
            Err(format!("{status}: {}", String::from_utf8_lossy(&said)))
        }
    }
}
