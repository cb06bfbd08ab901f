//! The bytes of a connection.

use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};

/// A stream of bytes in both directions.
pub(crate) type Connection = Pin<Box<dyn Stream>>;

/// The trait of a [`Connection`].
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send {}

impl<S: AsyncRead + AsyncWrite + Send> Stream for S {}
