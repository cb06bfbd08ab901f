//! Helpers for tests of banks behind TLS and proxies.

use std::{
    fs,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use p12_keystore::{Certificate, KeyStore, KeyStoreEntry, PrivateKey, PrivateKeyChain};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpSocket, TcpStream},
};

/// A CA that issues certificates and keys, PEM.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub fn pem(&self) -> String {
        self.0.pem()
    }

    pub fn gives(&self) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        (params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }
}

/// Returns certificate and key as a PKCS#12 file.
pub fn pkcs12(certificate: &str, key: &str, passphrase: &str) -> Vec<u8> {
    let der = |text: &str| pem::parse(text).unwrap().into_contents();
    let certificates = [Certificate::from_der(&der(certificate)).unwrap()];
    let chain = PrivateKeyChain::new("1", PrivateKey::from_der(&der(key)).unwrap(), certificates);
    let mut store = KeyStore::new();
    store.add_entry("client", KeyStoreEntry::PrivateKeyChain(chain));
    store.writer(passphrase).write().unwrap()
}

/// Returns a port without a listener. It stays reserved as long as the socket is kept, since other tests run
/// in parallel.
pub(crate) fn silent_port() -> (TcpSocket, u16) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let port = socket.local_addr().unwrap().port();
    (socket, port)
}

/// Starts a forward proxy on this machine, for requests with an absolute URL and for CONNECT. Returns its URL
/// and its count of connections.
pub async fn proxy() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let seen = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&seen);
    tokio::spawn(async move {
        loop {
            let (client, _) = listener.accept().await.unwrap();
            counter.fetch_add(1, Ordering::SeqCst);
            // A client that disconnects ends only its own connection.
            tokio::spawn(async move { drop(forward(client).await) });
        }
    });
    (url, seen)
}

async fn forward(mut client: TcpStream) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await?);
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    let mut words = text.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if method == "CONNECT" {
        let mut server = TcpStream::connect(target).await?;
        client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
        copy_bidirectional(&mut client, &mut server).await?;
        return Ok(());
    }
    let rest = target.strip_prefix("http://").unwrap_or_default();
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut server = TcpStream::connect(host).await?;
    // One request for each connection, since the next one may be for another host.
    let head = text.replacen(target, &format!("/{path}"), 1);
    let head = head.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    server.write_all(head.as_bytes()).await?;
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}

/// A forward proxy from another project, if the machine has it. It ends when this is dropped.
pub struct Tinyproxy {
    child: Child,
    pub url: String,
    folder: TempDir,
}

impl Tinyproxy {
    /// Starts the proxy.
    pub async fn start() -> Self {
        let folder = TempDir::new().unwrap();
        // A port that was free a moment ago.
        let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        let log = folder.path().join("log");
        let settings = format!(
            "Port {port}\nListen 127.0.0.1\nAllow 127.0.0.1\nLogFile \"{}\"\nLogLevel Connect\n",
            log.display()
        );
        let file = folder.path().join("tinyproxy.conf");
        fs::write(&file, settings).unwrap();
        let child = Command::new("tinyproxy")
            .arg("-d")
            .arg("-c")
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("tinyproxy is installed");
        for _ in 0..100 {
            if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Self { child, url: format!("http://127.0.0.1:{port}"), folder }
    }

    /// Returns its log of connections.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Tinyproxy {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
