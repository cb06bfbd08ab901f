//! A server on this machine that answers as a test says, and keeps what arrived.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::Request,
    http::{Response, header::CONTENT_TYPE},
};
use serde_json::Value;
use tokio::net::TcpListener;

/// A request as it arrived.
pub type Arrived = Request<Vec<u8>>;

/// What is sent back.
pub type Answer = Response<Vec<u8>>;

type Answering = Box<dyn Fn(&Arrived) -> Answer + Send + Sync>;

/// A server with an answer to everything.
pub struct Stub {
    /// Its base URL.
    pub url: String,
    answering: Arc<Mutex<Answering>>,
    arrived: Arc<Mutex<usize>>,
}

impl Stub {
    /// A server whose answer depends on the request.
    pub async fn start(answering: impl Fn(&Arrived) -> Answer + Send + Sync + 'static) -> Self {
        // In the test program once, and not once for each answer.
        Self::started(Box::new(answering)).await
    }

    async fn started(answering: Answering) -> Self {
        let answering = Arc::new(Mutex::new(answering));
        let arrived = Arc::new(Mutex::new(0));
        let (by, count) = (Arc::clone(&answering), Arc::clone(&arrived));
        let answer = async move |request: Request| {
            *count.lock().unwrap() += 1;
            let (head, body) = request.into_parts();
            let body = to_bytes(body, usize::MAX).await.unwrap_or_default().to_vec();
            let answer = by.lock().unwrap()(&Request::from_parts(head, body));
            answer.map(Body::from)
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(axum::serve(listener, Router::new().fallback(answer)).into_future());
        Self { url, answering, arrived }
    }

    /// A server with one answer.
    pub async fn with(answer: Answer) -> Self {
        Self::start(move |_| answer.clone()).await
    }

    /// From now on there is another answer.
    pub fn change(&self, answer: Answer) {
        *self.answering.lock().unwrap() = Box::new(move |_| answer.clone());
    }

    /// How many requests arrived.
    pub fn arrived(&self) -> usize {
        *self.arrived.lock().unwrap()
    }
}

/// An answer without a body.
pub fn status(status: u16) -> Answer {
    Response::builder().status(status).body(Vec::new()).unwrap()
}

/// An answer without a body, and with a header.
pub fn header(code: u16, name: &'static str, value: &str) -> Answer {
    let mut answer = status(code);
    answer.headers_mut().insert(name, value.parse().unwrap());
    answer
}

/// An answer with a body of a media type.
pub fn body(status: u16, media: &str, body: impl Into<Vec<u8>>) -> Answer {
    Response::builder().status(status).header(CONTENT_TYPE, media).body(body.into()).unwrap()
}

/// An answer with JSON.
pub fn json(status: u16, document: &Value) -> Answer {
    body(status, "application/json", document.to_string())
}
