//! A server on a raw socket between the suite and a reference bank. Requests for one operation get the
//! response of a script, and all others that of the bank.
//!
//! `wiremock` cannot send malformed bytes, stop within a response or break a connection.

use std::{
    io::{ErrorKind, Read, Result, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, OnceLock},
    thread,
};

use tokio::runtime::Runtime;
use xs2aspec_record::Request;
use xs2aspec_reference::{Bank, Config};

/// The path prefix of the requests for the script.
pub(crate) const VICTIM: &str = "/v1/periodic-payments";

/// The requests for which a script responds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// All requests.
    All,
    /// Requests that are written byte by byte. Only these close their connection.
    Exact,
}

/// A plain or TLS connection.
pub(crate) trait Stream: Read + Write {}
impl<S: Read + Write> Stream for S {}

/// A script that responds instead of the bank. It gets the bank's response and the connection, which is
/// closed after an error.
pub(crate) type Script = dyn Fn(&[u8], &mut dyn Stream) -> Result<()> + Send + Sync;

/// Wraps a TCP connection.
pub(crate) type Wrap = dyn Fn(TcpStream) -> Result<Box<dyn Stream>> + Send + Sync;

/// A hostile server.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    /// The requests that the script handled.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server with this script.
    pub(crate) fn start(
        script: impl Fn(&[u8], &mut dyn Stream) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::of_some(Which::All, Arc::new(script))
    }

    /// Starts a server whose script handles some requests.
    pub(crate) fn of_some(which: Which, script: Arc<Script>) -> Self {
        Self::open(Arc::new(|stream| Ok(Box::new(stream))), which, script)
    }

    /// Starts a server whose TCP connections are wrapped.
    pub(crate) fn wrapped(
        wrap: impl Fn(TcpStream) -> Result<Box<dyn Stream>> + Send + Sync + 'static,
        script: impl Fn(&[u8], &mut dyn Stream) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::open(Arc::new(wrap), Which::All, Arc::new(script))
    }

    /// Not generic, so that the test program has this code once, and not once for each script.
    fn open(wrap: Arc<Wrap>, which: Which, script: Arc<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, wrap, script) = (Arc::clone(&seen), Arc::clone(&wrap), Arc::clone(&script));
                thread::spawn(move || {
                    stream.set_nodelay(true)?;
                    converse(&mut *wrap(stream)?, which, &*script, &seen)
                });
            }
        });
        Self { address, asked }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    /// Returns true if the script handled this request, by its `X-Request-ID`.
    pub(crate) fn met(&self, request: &Request) -> bool {
        let id = request.headers.iter().find(|field| field.0.eq_ignore_ascii_case("x-request-id"));
        let asked = self.asked.lock().unwrap();
        id.is_some_and(|id| asked.iter().any(|asked| asked.contains(&id.1)))
    }
}

/// Responds to requests until the connection ends.
fn converse(stream: &mut dyn Stream, which: Which, script: &Script, seen: &Mutex<Vec<String>>) -> Result<()> {
    loop {
        let request = message(stream)?;
        let healthy = of_bank(&request)?;
        let is_victim = request
            .split(|byte| *byte == b' ')
            .nth(1)
            .is_some_and(|path| path.starts_with(VICTIM.as_bytes()));
        let is_exact = request.windows(17).any(|text| text == b"Connection: close");
        if is_victim && (is_exact || which == Which::All) {
            seen.lock().unwrap().push(String::from_utf8_lossy(&request).into_owned());
            script(&healthy, stream)?;
        } else {
            stream.write_all(&healthy)?;
        }
        stream.flush()?;
    }
}

/// Reads a request or a response, with a body if it has a Content-Length.
pub(crate) fn message(stream: &mut dyn Stream) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let count = stream.read(&mut piece)?;
        if count == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&piece[..count]);
        let Some(head) = bytes.windows(4).position(|end| end == b"\r\n\r\n") else { continue };
        let length = String::from_utf8_lossy(&bytes[..head])
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .map_or(0, |(_, value)| value.trim().parse().unwrap());
        if bytes.len() >= head + 4 + length {
            return Ok(bytes);
        }
    }
}

/// Returns the response of the reference bank to these bytes.
fn of_bank(request: &[u8]) -> Result<Vec<u8>> {
    static BANK: OnceLock<(Runtime, Bank)> = OnceLock::new();
    let (_, bank) = BANK.get_or_init(|| {
        let runtime = Runtime::new().unwrap();
        let bank = runtime.block_on(xs2aspec_reference::start(Config::default())).unwrap();
        (runtime, bank)
    });
    let mut stream = TcpStream::connect(bank.address())?;
    stream.write_all(request)?;
    message(&mut stream)
}

/// Splits a response into its head, up to the empty line, and its body.
pub(crate) fn split(answer: &[u8]) -> (String, &[u8]) {
    let head = answer.windows(4).position(|end| end == b"\r\n\r\n").unwrap();
    (String::from_utf8(answer[..head + 2].to_vec()).unwrap(), &answer[head + 4..])
}

/// Returns the response for a created payment, with these header lines and this body.
pub(crate) fn created(more: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n{more}Content-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}
