//! The other ends of measurements: a server that checks nothing, and the suite's HTTP client alone.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::Bytes,
    http::{StatusCode, header::CONTENT_TYPE},
    routing::any,
};
use tokio::{net::TcpListener, runtime::Runtime};
use xs2aspec_bench::CREATED;

/// As many headers as the baseline payment has, without its signature.
pub(crate) const HEADERS: [&str; 10] = [
    "accept",
    "content-type",
    "x-accept-fix",
    "x-request-id",
    "tpp-session-id",
    "tpp-redirect-uri",
    "psu-id",
    "psu-ip-address",
    "date",
    "digest",
];

/// The value of each of these headers.
pub(crate) const VALUE: &str = "some value of the usual length, in all 40";

/// The path of the payment.
pub(crate) const PATH: &str = "/v1/payments/norwegian-cross-border-credit-transfers";

/// A body as long as that of the baseline payment.
pub(crate) const PAYMENT: &str = r#"{"creditorAccount":{"iban":"DE93999999990000000001"},"creditorName":"Synthetic Creditor","debtorAccount":{"iban":"NO1400004200179","currency":"NOK"},"instructedAmount":{"amount":"250000.00","currency":"NOK"},"regulatoryReportingCode":"14","regulatoryReportingInformation":"Invoice 17"}"#;

fn wrong(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Serves until it is stopped, and responds to every request as to a new payment.
pub(crate) fn serve() -> Result<String, String> {
    Runtime::new().map_err(wrong)?.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(wrong)?;
        #[expect(clippy::print_stdout, reason = "the caller reads the address")]
        {
            println!("http://{}", listener.local_addr().map_err(wrong)?);
        }
        let answer =
            |_: Bytes| async { (StatusCode::CREATED, [(CONTENT_TYPE, "application/json")], CREATED) };
        axum::serve(listener, Router::new().fallback(any(answer))).await.map_err(wrong)?;
        Ok(String::new())
    })
}

/// Returns the requests per second of the suite's HTTP client, which checks nothing, with `jobs` in flight.
pub(crate) fn raw(url: &str, jobs: usize, time: Duration) -> Result<f64, String> {
    Runtime::new().map_err(wrong)?.block_on(async {
        let client =
            reqwest::Client::builder().http1_only().tcp_nodelay(true).no_proxy().build().map_err(wrong)?;
        let url = format!("{url}{PATH}");
        let sent = Arc::new(AtomicU64::new(0));
        let start = Instant::now();
        let mut flying = tokio::task::JoinSet::new();
        for _ in 0..jobs {
            let (client, url, sent) = (client.clone(), url.clone(), Arc::clone(&sent));
            flying.spawn(async move {
                while start.elapsed() < time {
                    let mut request = client.post(&url).body(PAYMENT);
                    for name in HEADERS {
                        request = request.header(name, VALUE);
                    }
                    let answer = request.send().await.map_err(wrong)?;
                    answer.bytes().await.map_err(wrong)?;
                    sent.fetch_add(1, Ordering::Relaxed);
                }
                Ok::<_, String>(())
            });
        }
        while let Some(ended) = flying.join_next().await {
            ended.map_err(wrong)??;
        }
        #[expect(clippy::cast_precision_loss, reason = "a rate")]
        let sent = sent.load(Ordering::Relaxed) as f64;
        Ok(sent / start.elapsed().as_secs_f64())
    })
}
