//! `xs2aspec listen`: waits on this machine until a bank sends the PSU back after strong customer
//! authentication, and keeps what the address it comes back to says.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    http::{HeaderMap, StatusCode, Uri},
    response::Html,
};
use serde_json::{Map, Value, json};
use tokio::{net::TcpListener, sync::oneshot, time::timeout};
use xs2aspec_record::{Exit, outputs};

use crate::{Failure, args::Listen, live::is_own, report::cannot_write};

/// What the browser of the PSU shows.
const THANKS: &str = "<!doctype html><title>xs2aspec</title><p>You are back. This window can be closed.";

/// Waits for one return, and prints it as JSON: `{"path": "/return", "query": {"code": ".."}}`.
pub(crate) async fn listen(args: &Listen) -> Result<Exit, Failure> {
    if !args.address.ip().is_loopback() {
        return Err(Failure::input(format!(
            "{}: expected an address of this machine, 127.0.0.1 or [::1]",
            args.address
        )));
    }
    if !args.path.starts_with('/') {
        return Err(Failure::input(format!(
            "--path {}: expected a path that begins with `/`, as in `redirect-uri`",
            args.path
        )));
    }
    if let Some(path) = &args.out {
        outputs::may_write(path, &[]).map_err(Failure::input)?;
    }
    let listener = TcpListener::bind(args.address).await;
    let listener = listener.map_err(|error| Failure::input(format!("{}: {error}", args.address)))?;
    let address = listener.local_addr().map_err(Failure::input)?;
    note!("waiting at http://{address}{} for {} s", args.path, args.timeout_s);
    let (sender, arrived) = oneshot::channel();
    let server = tokio::spawn(axum::serve(listener, router(&args.path, address, sender)).into_future());
    let returned = timeout(Duration::from_secs(args.timeout_s), arrived).await;
    // The answer is on its way when the return is known; a moment lets the browser have it.
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.abort();
    let Ok(Ok(returned)) = returned else {
        return Err(Failure::unreachable(format!("nobody came back within {} s", args.timeout_s)));
    };
    let text = format!("{returned}\n");
    // A code is good for one time: it is shown whatever becomes of the file.
    say_on!("{text}");
    if let Some(path) = &args.out {
        outputs::write_private(path, text.as_bytes()).map_err(|error| cannot_write(path, &error))?;
    }
    Ok(Exit::Conforms)
}

/// Takes the first return to this path. Whatever else a browser requests is not found. So is what a page of
/// another host requests instead of the bank, by a name that leads here, or by a script (Fetch Metadata
/// Request Headers, `Sec-Fetch-Mode`).
fn router(path: &str, address: SocketAddr, sender: oneshot::Sender<Value>) -> Router {
    let path = path.to_owned();
    let sender = Arc::new(Mutex::new(Some(sender)));
    Router::new().fallback(move |headers: HeaderMap, uri: Uri| async move {
        let is_visit = headers.get("sec-fetch-mode").is_none_or(|mode| mode == "navigate");
        if uri.path() != path || !is_own(&headers, address) || !is_visit {
            note!("ignored a request: expected a visit to http://{address}{path}");
            return (StatusCode::NOT_FOUND, Html(""));
        }
        let sender = sender.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(sender) = sender {
            // Whoever waited may have given up.
            drop(
                sender
                    .send(json!({"path": uri.path(), "query": parameters(uri.query().unwrap_or_default())})),
            );
        }
        (StatusCode::OK, Html(THANKS))
    })
}

/// The parameters of a query; those that are there several times become a list.
fn parameters(query: &str) -> Value {
    let mut found = Map::<String, Value>::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let value = Value::from(value.into_owned());
        match found.get_mut(name.as_ref()) {
            None => {
                found.insert(name.into_owned(), value);
            }
            Some(Value::Array(values)) => values.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    found.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_kept_whole() {
        let expected = json!({"code": "a b&c", "scope": ["1", "2", ""], "empty": ""});
        assert_eq!(parameters("code=a+b%26c&scope=1&scope=2&empty=&scope="), expected);
        assert_eq!(parameters(""), json!({}));
    }
}
