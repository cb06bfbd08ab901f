//! `xs2aspec listen`: waits on this machine until a bank sends the PSU back after strong customer
//! authentication, and keeps what the address it comes back to says.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    http::{StatusCode, Uri},
    response::Html,
};
use serde_json::{Map, Value, json};
use tokio::{net::TcpListener, sync::oneshot, time::timeout};
use xs2aspec_record::{Exit, outputs};

use crate::{Failure, args::Listen, report};

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
    let server = tokio::spawn(axum::serve(listener, router(&args.path, sender)).into_future());
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
        report::write(path, &[], text.as_bytes())?;
    }
    Ok(Exit::Conforms)
}

/// Takes the first return to this path; whatever else a browser asks for is not found.
fn router(path: &str, sender: oneshot::Sender<Value>) -> Router {
    let path = path.to_owned();
    let sender = Arc::new(Mutex::new(Some(sender)));
    Router::new().fallback(move |uri: Uri| async move {
        if uri.path() != path {
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
