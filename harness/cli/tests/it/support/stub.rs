//! Starts `wiremock` servers that send one response to every request.

use wiremock::{Mock, MockServer, Respond, matchers::any};

/// Starts a server that sends the same response to every request, or what a closure returns for it.
pub(crate) async fn server(response: impl Respond + 'static) -> MockServer {
    let server = MockServer::start().await;
    respond(&server, response).await;
    server
}

/// Adds a response for every request that no earlier response of the server matches.
pub(crate) async fn respond(server: &MockServer, response: impl Respond + 'static) {
    Mock::given(any()).respond_with(response).mount(server).await;
}

/// Returns the number of requests that the server received.
pub(crate) async fn received(server: &MockServer) -> usize {
    server.received_requests().await.expect("a server records its requests").len()
}
