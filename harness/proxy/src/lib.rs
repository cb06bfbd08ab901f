//! Passes bytes between clients and a bank, unaltered, and reads on the side what they say.
//!
//! Each connection of a client gets one of its own to the bank. What comes from one end goes to the other as
//! it came, whatever it is. A copy is read as HTTP/1.1 (RFC 9112), and each request with its answer comes out
//! as an [`Exchange`]. What cannot be read, or is more than there is room for, passes all the same.
//!
//! Nothing here is sent, answered, followed or repeated that an end did not send or answer itself. A
//! connection is closed when an end closes it, or when nothing passes on it for a while.
//!
//! - [`budget`]: how much is kept of what passes.
//! - `http`: the messages of one direction. `conversation`: both, request by request.
//! - `forward`: one connection. [`server`]: all of them. [`tls`]: TLS towards the client.

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
