//! A bidirectional byte stream.

use tokio::io::{AsyncRead, AsyncWrite};

/// A bidirectional byte stream.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A boxed stream of any kind.
pub type BoxStream = Box<dyn Stream>;
