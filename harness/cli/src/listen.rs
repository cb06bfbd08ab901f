//! `xs2aspec listen`: waits until a bank redirects the PSU here after strong customer authentication, and
//! prints the query of that request.

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

/// The page in the browser of the PSU.
const THANKS: &str = "<!doctype html><title>xs2aspec</title><p>Done. You can close this window.";

/// Waits for one redirect, and prints it as JSON: `{"path": "/return", "query": {"code": ".."}}`.
pub(crate) async fn listen(args: &Listen) -> Result<Exit, Failure> {
    if !args.address.ip().is_loopback() {
        return Err(Failure::input(format!(
            "--address {}: expected a loopback address, 127.0.0.1 or [::1]",
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
    let listener =
        listener.map_err(|error| Failure::input(format!("cannot listen on {}: {error}", args.address)))?;
    let address = listener.local_addr().map_err(Failure::input)?;
    note!("waiting for the PSU at http://{address}{} for {} s", args.path, args.timeout_s);
    let (sender, arrived) = oneshot::channel();
    let server = tokio::spawn(axum::serve(listener, router(&args.path, address, sender)).into_future());
    let returned = timeout(Duration::from_secs(args.timeout_s), arrived).await;
    // The response to the browser may still be on its way.
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.abort();
    let Ok(Ok(returned)) = returned else {
        return Err(Failure::unreachable(format!("the PSU did not return within {} s", args.timeout_s)));
    };
    let text = format!("{returned}\n");
    // A code works only once, so print it even if the file cannot be written.
    say_on!("{text}");
    if let Some(path) = &args.out {
        outputs::write_private(path, text.as_bytes()).map_err(|error| cannot_write(path, &error))?;
    }
    Ok(Exit::Conforms)
}

/// Accepts the first redirect to this path. All other requests get 404. That includes requests under another
/// host name that resolves here, and requests by a script of another page (Fetch Metadata Request Headers,
/// `Sec-Fetch-Mode`).
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
            // The wait may have timed out.
            drop(
                sender
                    .send(json!({"path": uri.path(), "query": parameters(uri.query().unwrap_or_default())})),
            );
        }
        (StatusCode::OK, Html(THANKS))
    })
}

/// Returns the parameters of a query. The values of a repeated parameter become a list.
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
