//! Something that bytes come from and go to.

use tokio::io::{AsyncRead, AsyncWrite};

/// Something that bytes come from and go to.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Any of them.
pub type BoxStream = Box<dyn Stream>;
