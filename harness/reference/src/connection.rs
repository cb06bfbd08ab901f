//! Connections: TCP, with or without TLS.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use tokio::io::{AsyncRead, ReadBuf, join};
use tokio::net::TcpListener;
use tokio::net::tcp::OwnedReadHalf;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use xs2aspec_bank::policy::FieldNames;

use crate::patience::Waiter;
use crate::stream::Connection;

/// The time limit of a TLS handshake.
const HANDSHAKE_PATIENCE: Duration = Duration::from_secs(10);

/// The TLS setup of a bank, all of it in PEM.
#[derive(Clone, Debug)]
pub struct Tls {
    /// The certificate, followed by its intermediate certificates.
    pub certificates: String,
    /// The private key.
    pub key: String,
    /// The authorities of client certificates, or None to request no client certificate.
    pub client_authorities: Option<String>,
    /// True if a client certificate is required.
    pub client_required: bool,
}

/// The reason why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A value that is not PEM of the expected kind.
    #[error("expected {0} in PEM, found none that can be read")]
    Pem(&'static str),
    /// Values that do not match.
    #[error("TLS cannot be set up: {0}")]
    Setup(String),
}

impl Tls {
    fn acceptor(&self) -> Result<TlsAcceptor, TlsError> {
        let setup = |error: &dyn std::fmt::Display| TlsError::Setup(error.to_string());
        let certificates = all(&self.certificates, "a certificate")?;
        let key =
            PrivateKeyDer::from_pem_slice(self.key.as_bytes()).map_err(|_| TlsError::Pem("a private key"))?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| setup(&error))?;
        let builder = match &self.client_authorities {
            None => builder.with_no_client_auth(),
            Some(pem) => {
                let mut roots = RootCertStore::empty();
                for certificate in all(pem, "a certificate of an authority")? {
                    roots.add(certificate).map_err(|error| setup(&error))?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                let verifier = if self.client_required { verifier } else { verifier.allow_unauthenticated() };
                builder.with_client_cert_verifier(verifier.build().map_err(|error| setup(&error))?)
            }
        };
        let mut config = builder.with_single_cert(certificates, key).map_err(|error| setup(&error))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

fn all(pem: &str, what: &'static str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    certificates.ok().filter(|certificates| !certificates.is_empty()).ok_or(TlsError::Pem(what))
}

/// Accepts connections that are ready for HTTP.
pub(crate) enum Acceptor {
    Plain { listener: TcpListener, names: FieldNames, waiter: Waiter },
    Tls { ready: mpsc::Receiver<(Connection, SocketAddr)>, address: SocketAddr },
}

impl Acceptor {
    pub(crate) fn open(
        listener: TcpListener,
        tls: Option<&Tls>,
        names: FieldNames,
        waiter: Waiter,
    ) -> io::Result<Self> {
        let Some(tls) = tls else { return Ok(Self::Plain { listener, names, waiter }) };
        let acceptor = tls.acceptor().map_err(io::Error::other)?;
        let address = listener.local_addr()?;
        let (sender, ready) = mpsc::channel(64);
        tokio::spawn(greet(listener, acceptor, sender, waiter));
        Ok(Self::Tls { ready, address })
    }
}

/// Performs each handshake in a task of its own, so that a slow client delays no other.
async fn greet(
    mut listener: TcpListener,
    acceptor: TlsAcceptor,
    sender: mpsc::Sender<(Connection, SocketAddr)>,
    waiter: Waiter,
) {
    loop {
        let (stream, address) = tokio::select! {
            accepted = Listener::accept(&mut listener) => accepted,
            () = sender.closed() => return,
        };
        let (acceptor, sender) = (acceptor.clone(), sender.clone());
        tokio::spawn(async move {
            drop(stream.set_nodelay(true));
            if let Ok(Ok(stream)) = timeout(HANDSHAKE_PATIENCE, acceptor.accept(stream)).await {
                drop(sender.send((waiter.over(stream), address)).await);
            }
        });
    }
}

/// A counter of the requests on a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns(Arc<AtomicUsize>);

impl Turns {
    /// Returns the number of earlier requests, and counts this one.
    pub(crate) fn next(&self) -> usize {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

impl Connected<IncomingStream<'_, Acceptor>> for Turns {
    fn connect_info(_: IncomingStream<'_, Acceptor>) -> Self {
        Self::default()
    }
}

impl Listener for Acceptor {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        match self {
            Self::Plain { listener, names, waiter } => {
                let (stream, address) = Listener::accept(listener).await;
                // Responses are small and connections stay open, so waiting to fill a segment only adds
                // delay. If the socket rejects the option, it is already closed.
                drop(stream.set_nodelay(true));
                match *names {
                    FieldNames::AnyCase => (waiter.over(stream), address),
                    names => {
                        let (reader, writer) = stream.into_split();
                        (waiter.over(join(Picky { reader, names }, writer)), address)
                    }
                }
            }
            Self::Tls { ready, .. } => match ready.recv().await {
                Some(connection) => connection,
                // The handshake task lives as long as the acceptor.
                None => std::future::pending().await,
            },
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        match self {
            Self::Plain { listener, .. } => listener.local_addr(),
            Self::Tls { address, .. } => Ok(*address),
        }
    }
}

/// A connection on which the case of header names matters. HTTP libraries discard the case, so it is checked
/// on the raw bytes.
struct Picky {
    reader: OwnedReadHalf,
    names: FieldNames,
}

impl AsyncRead for Picky {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.reader).poll_read(context, buffer))?;
        spoil(&mut buffer.filled_mut()[before..], self.names);
        Poll::Ready(Ok(()))
    }
}

/// Renames headers in place: unknown spellings get an unknown name, and known ones with underscores their
/// usual name.
fn spoil(bytes: &mut [u8], names: FieldNames) {
    let mut start = 0;
    while let Some(end) = bytes[start..].iter().position(|byte| *byte == b'\n').map(|at| start + at) {
        if matches!(&bytes[start..end], b"" | b"\r") {
            return;
        }
        let line = &bytes[start..end];
        let name = line.iter().position(|byte| *byte == b':').map_or(&line[..0], |colon| &line[..colon]);
        // A request line can contain a colon too, but has a space before it.
        let name_end = start + name.len();
        if !name.contains(&b' ') && names.are_unknown(name) {
            bytes[start] = b'~';
        }
        if names == FieldNames::Underscores {
            let written = &mut bytes[start..name_end];
            written.iter_mut().filter(|byte| **byte == b'_').for_each(|byte| *byte = b'-');
        }
        start = end + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_the_wrong_case_are_spoiled_and_nothing_else_is() {
        let spoiled = |names| {
            let mut bytes =
                b"GET /X: HTTP/1.1\r\nHost: a\r\nDIGEST: A\r\nPSU-ID: b\r\ndIgEsT: c\r\n\r\nDIGEST: d\r\n"
                    .to_vec();
            spoil(&mut bytes, names);
            String::from_utf8(bytes).unwrap()
        };
        let plain = "GET /X: HTTP/1.1\r\nHost: a\r\nDIGEST: A\r\nPSU-ID: b\r\ndIgEsT: c\r\n\r\nDIGEST: d\r\n";
        assert_eq!(spoiled(FieldNames::NoCapitals), plain.replacen("DIGEST", "~IGEST", 1));
        assert_eq!(spoiled(FieldNames::NoMixture), plain.replace("dIgEsT", "~IgEsT"));
        assert_eq!(spoiled(FieldNames::Underscores), plain);
        let mut underscored = b"GET /a_b HTTP/1.1\r\nPSU_ID: a_b\r\n\r\n".to_vec();
        spoil(&mut underscored, FieldNames::Underscores);
        assert_eq!(underscored, b"GET /a_b HTTP/1.1\r\nPSU-ID: a_b\r\n\r\n");
    }

    #[test]
    fn texts_that_are_no_pem_are_named() {
        let tls = |certificates: &str, key: &str| Tls {
            certificates: certificates.to_owned(),
            key: key.to_owned(),
            client_authorities: None,
            client_required: false,
        };
        let error = tls("none", "none").acceptor().err().unwrap();
        assert_eq!(error.to_string(), "expected a certificate in PEM, found none that can be read");
    }
}
