//! The bytes of a connection.

use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};

/// Bytes in both directions.
pub(crate) type Connection = Pin<Box<dyn Stream>>;

/// What a [`Connection`] is made of.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send {}

impl<S: AsyncRead + AsyncWrite + Send> Stream for S {}
