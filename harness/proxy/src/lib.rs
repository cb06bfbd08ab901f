//! Forwards bytes between clients and a bank unchanged, and reads the messages in them.
//!
//! Each client connection gets its own connection to the bank. All bytes are forwarded as received. A copy is
//! parsed as HTTP/1.1 (RFC 9112), and each request with its response becomes an [`Exchange`]. Bytes that
//! cannot be parsed, or exceed the memory limit, are still forwarded.
//!
//! The proxy originates no messages: it does not respond, redirect or retry. It closes a connection when an
//! end closes it, or when nothing passes for a while.
//!
//! - [`budget`]: the limit for bytes kept in memory.
//! - `http`: the messages of one direction. `conversation`: both directions, request by request.
//! - `forward`: one connection. [`server`]: all connections. [`tls`]: TLS towards the client.

pub mod budget;
mod conversation;
pub mod exchange;
mod forward;
mod http;
pub mod server;
mod stream;
pub mod tls;

pub use budget::{Budget, Kept};
pub use exchange::{Answer, Exchange, Request, Sighting};
pub use http::ResponseHead;
pub use server::{Config, Connect, Proxy};
pub use stream::{BoxStream, Stream};
pub use tls::{TlsError, acceptor};
