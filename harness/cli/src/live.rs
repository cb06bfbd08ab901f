//! `xs2aspec serve --report`: the page of a run, on this machine alone, drawn from its record each time it is
//! asked for. While the run goes on the browser asks again.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use axum::{
    Router,
    http::{HeaderMap, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use tokio::{net::TcpListener, task};
use xs2aspec_record::{Exit, RecordReader, outputs::PART};
use xs2aspec_report::{
    format::Report,
    stream::{self, ReportsError},
};

use crate::{Failure, report};

/// Seconds until the browser asks again.
const AGAIN: &str = "3";

/// Shown before the run has begun its record.
const WAITING: &str = "<!doctype html><html lang=\"en\"><title>xs2aspec</title><p>The run has not begun yet.";

/// Serves until it is interrupted.
pub(crate) async fn serve(folder: &Path, address: SocketAddr) -> Result<Exit, Failure> {
    if !address.ip().is_loopback() {
        return Err(Failure::input(format!(
            "{address}: expected an address of this machine, 127.0.0.1 or [::1]"
        )));
    }
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|error| Failure::input(format!("cannot serve on {address}: {error}")))?;
    let address = listener.local_addr().map_err(Failure::input)?;
    say!("http://{address}/");
    let server = axum::serve(listener, router(folder, address));
    let until = async { drop(tokio::signal::ctrl_c().await) };
    server.with_graceful_shutdown(until).await.map_err(Failure::input)?;
    Ok(Exit::Conforms)
}

/// Answers whoever asks for this address by its own name: a page from elsewhere, whose name leads here, gets
/// nothing.
fn router(folder: &Path, address: SocketAddr) -> Router {
    let folder = Arc::new(folder.to_owned());
    let own = [address.to_string(), format!("localhost:{}", address.port())];
    Router::new().fallback(move |headers: HeaderMap| {
        let is_own = headers
            .get(header::HOST)
            .is_some_and(|host| own.iter().any(|name| name.as_bytes() == host.as_bytes()));
        let folder = Arc::clone(&folder);
        async move {
            if !is_own {
                return (StatusCode::NOT_FOUND, Html("")).into_response();
            }
            let drawn = task::spawn_blocking(move || page(&folder)).await;
            drawn.unwrap_or_else(|_| (StatusCode::INTERNAL_SERVER_ERROR, Html("")).into_response())
        }
    })
}

/// The page as the record is now.
fn page(folder: &Path) -> Response {
    let again = [(header::REFRESH, AGAIN), (header::CACHE_CONTROL, "no-store")];
    let Ok(record) = fs::read(newest(folder)) else { return (again, Html(WAITING)).into_response() };
    match draw(&record) {
        Ok((page, true)) => ([(header::CACHE_CONTROL, "no-store")], Html(page)).into_response(),
        Ok((page, false)) => (again, Html(page)).into_response(),
        // Its first line is not whole yet, or it is no record.
        Err(_) => (again, Html(WAITING)).into_response(),
    }
}

/// The record of a run that goes on with an earlier one stands beside that until it is whole.
fn newest(folder: &Path) -> PathBuf {
    let part = folder.join(PART);
    if part.exists() { part } else { report::record(folder) }
}

/// The page of a record, and whether its run came to its end.
fn draw(record: &[u8]) -> Result<(Vec<u8>, bool), ReportsError> {
    let summary = stream::summary(&mut RecordReader::new(record))?;
    let mut page = Vec::new();
    stream::draw(RecordReader::new(record), &summary, Report::Html.reporter(None).as_mut(), &mut page)?;
    Ok((page, summary.finish().is_some()))
}
