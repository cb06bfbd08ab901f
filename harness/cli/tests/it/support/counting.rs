//! A server on this machine that counts requests by method.
//!
//! The responses come from the bank, which is asynchronous, unlike a responder of `wiremock`.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::Request,
    http::{Response, StatusCode},
};
use tokio::net::TcpListener;
use xs2aspec_reference::{Config, InProcessBank};

/// A counting server.
pub struct Counting {
    /// Its base URL.
    pub url: String,
    methods: Arc<Mutex<Vec<String>>>,
}

impl Counting {
    /// Starts a server that responds like the reference bank with this configuration. Without one, every
    /// request fails.
    pub async fn start(config: Option<Config>) -> Self {
        let methods = Arc::new(Mutex::new(Vec::new()));
        let bank = config.map(|config| InProcessBank::open(&config));
        let kept = Arc::clone(&methods);
        let answer = move |request: Request| {
            kept.lock().unwrap().push(request.method().to_string());
            let bank = bank.clone();
            async move {
                let Some(bank) = bank else {
                    return Response::builder()
                        .status(StatusCode::INTERNAL_SERVER_ERROR)
                        .body(Body::empty())
                        .unwrap();
                };
                let (head, body) = request.into_parts();
                let body = to_bytes(body, usize::MAX).await.unwrap_or_default().to_vec();
                bank.answer(Request::from_parts(head, body)).await.map(Body::from)
            }
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(axum::serve(listener, Router::new().fallback(answer)).into_future());
        Self { url, methods }
    }

    /// Returns the methods of the requests since the last call.
    pub fn methods(&self) -> Vec<String> {
        std::mem::take(&mut self.methods.lock().unwrap())
    }
}
