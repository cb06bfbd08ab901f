//! `xs2aspec serve --report`: serves the live report of a run on this machine. The page is rendered from the
//! record on request, and reloads until the run ends.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Instant, SystemTime},
};

use axum::{
    Router,
    http::{HeaderMap, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use tokio::{net::TcpListener, task};
use xs2aspec_record::{
    Exit, RecordReader,
    compressed::{self, COMPRESSED},
};
use xs2aspec_report::{format::Report, stream};

use crate::{Failure, interrupt, report};

/// Seconds until the browser reloads the page.
const AGAIN: &str = "3";

/// The time until a page is rendered again, as a multiple of the time that rendering took. It leaves the
/// machine to a long run.
const SHARE: u32 = 10;

/// The page before the run has started its record.
const WAITING: &str =
    "<!doctype html><html lang=\"en\"><title>xs2aspec</title><p>The run has not started yet.";

/// Serves the page until it is interrupted.
pub(crate) async fn serve(folder: &Path, address: SocketAddr) -> Result<Exit, Failure> {
    if !address.ip().is_loopback() {
        return Err(Failure::input(format!(
            "--address {address}: expected a loopback address, 127.0.0.1 or [::1]"
        )));
    }
    let end = interrupt::asked_to_end();
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|error| Failure::input(format!("cannot serve on {address}: {error}")))?;
    let address = listener.local_addr().map_err(Failure::input)?;
    say!("http://{address}/");
    let server = axum::serve(listener, router(folder, address));
    server.with_graceful_shutdown(end).await.map_err(Failure::input)?;
    Ok(Exit::Conforms)
}

/// Serves the page to requests that name this address. A request under another host name that resolves here
/// gets 404, so that other web pages cannot read the report.
fn router(folder: &Path, address: SocketAddr) -> Router {
    let shown = Arc::new((folder.to_owned(), Mutex::default()));
    Router::new().fallback(move |headers: HeaderMap| {
        let is_own = is_own(&headers, address);
        let shown = Arc::clone(&shown);
        async move {
            if !is_own {
                return (StatusCode::NOT_FOUND, Html("")).into_response();
            }
            let drawn = task::spawn_blocking(move || page(&shown.0, &shown.1)).await;
            drawn.unwrap_or_else(|_| (StatusCode::INTERNAL_SERVER_ERROR, Html("")).into_response())
        }
    })
}

/// Returns true if a request names this address, and not another host name that resolves here.
pub(crate) fn is_own(headers: &HeaderMap, address: SocketAddr) -> bool {
    let own = [address.to_string(), format!("localhost:{}", address.port())];
    headers.get(header::HOST).is_some_and(|host| own.iter().any(|name| name.as_bytes() == host.as_bytes()))
}

/// The page that was rendered last.
#[derive(Default)]
struct Drawn {
    /// The path, length and modification time of its record.
    record: Option<(PathBuf, u64, SystemTime)>,
    page: Vec<u8>,
    is_over: bool,
    /// The time until which the page is served again, even if the record grows.
    until: Option<Instant>,
}

/// Returns the page of the current record, or a recent page, since rendering a long record takes time.
fn page(folder: &Path, drawn: &Mutex<Drawn>) -> Response {
    let again = || [(header::REFRESH, AGAIN), (header::CACHE_CONTROL, "no-store")];
    let waiting = || (again(), Html(WAITING)).into_response();
    let path = report::record(folder);
    let written = fs::metadata(&path).and_then(|file| Ok((file.len(), file.modified()?)));
    let Ok((length, modified)) = written else { return waiting() };
    let record = Some((path.clone(), length, modified));
    let mut drawn = drawn.lock().unwrap_or_else(PoisonError::into_inner);
    let is_early = drawn.until.is_some_and(|until| Instant::now() < until) && !drawn.is_over;
    if drawn.record != record && !is_early {
        let began = Instant::now();
        // The first line may be incomplete, or the file is not a record.
        let Some((page, is_over)) = draw(&path, length) else { return waiting() };
        *drawn = Drawn { record, page, is_over, until: Some(Instant::now() + began.elapsed() * SHARE) };
    }
    let page = Html(drawn.page.clone());
    if drawn.is_over {
        ([(header::CACHE_CONTROL, "no-store")], page).into_response()
    } else {
        (again(), page).into_response()
    }
}

/// Renders the page of the first `length` bytes of a record, which may grow meanwhile. Also returns true if
/// the run has ended.
fn draw(path: &Path, length: u64) -> Option<(Vec<u8>, bool)> {
    // The record of a finished run does not grow, and its content is longer than its file.
    let length = if path.ends_with(COMPRESSED) { u64::MAX } else { length };
    let record = || Some(RecordReader::until(compressed::open_record(path).ok()?, length));
    let summary = stream::summary(record()?).ok()?;
    let mut page = Vec::new();
    stream::report(record()?, &summary, (Report::Html, None), &mut page).ok()?;
    Some((page, summary.finish().is_some()))
}
