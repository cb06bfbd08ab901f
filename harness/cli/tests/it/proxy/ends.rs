//! Misbehaving clients and banks: the proxy forwards their bytes, limits its memory, judges everyone else,
//! and ends gracefully.

use std::{
    io::{ErrorKind, Read, Result, Write},
    net::{Shutdown, TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use flate2::{Compression, write::GzEncoder};
use tempfile::TempDir;
use xs2aspec_record::Verdict;

use super::{Record, Running};
use crate::hostile::{
    PLAIN, run,
    server::{Server, Stream, created, split},
};

/// The maximum memory of a proxy, in KiB.
const MOST: u64 = 320 * 1024;

fn close() -> Result<()> {
    Err(ErrorKind::ConnectionAborted.into())
}

/// Runs through a proxy against a server with this script. Asserts the verdict of the baseline case, which is
/// the same without the proxy. `failure` is the message of the proxy, with ` or ` between alternatives.
fn through(
    expected: Verdict,
    failure: &str,
    script: impl Fn(&[u8], &mut dyn Stream) -> Result<()> + Send + Sync + 'static,
) {
    // Not generic, so that the test program has this code once, and not once for each script.
    passes(expected, failure, &Server::start(script));
}

fn passes(expected: Verdict, failure: &str, server: &Server) {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let proxy = Running::proxy(&server.url(), &out, &["--quiet"]);
    let ran = run(&proxy.url, "deadline-ms = 4000");
    assert!(server.asked() > 0);
    assert_eq!(ran.verdict(PLAIN), expected, "{}", ran.said);
    assert_eq!(ran.verdict("ncbct.path/plain"), Verdict::Pass, "{}", ran.said);
    let peak = proxy.peak();
    assert!(peak > 0 && peak < MOST, "{peak} KiB");
    let (code, said) = proxy.end();
    assert!(matches!(code, Some(0 | 1 | 3)), "{code:?}: {said}");
    let record = Record::read(&out);
    assert!(record.finished.is_some(), "{said}");
    let failures: Vec<&str> = record.exchanges.iter().filter_map(|one| one.failure.as_deref()).collect();
    let is_told = match failure {
        "" => failures.is_empty(),
        words => failures.iter().any(|one| words.split(" or ").any(|words| one.contains(words))),
    };
    assert!(is_told, "{failure:?} among {failures:?}");
}

#[test]
fn an_honest_server_byte_by_byte() {
    through(Verdict::Pass, "", |answer, stream| {
        answer.chunks(1).try_for_each(|byte| {
            stream.write_all(byte)?;
            stream.flush()
        })
    });
}

#[test]
fn what_is_no_http() {
    through(Verdict::Error, "the response is not HTTP", |_, stream| {
        stream.write_all(b"SSH-2.0-synthetic\r\n\r\n")?;
        close()
    });
    through(Verdict::Error, "within its response", |_, stream| {
        stream.write_all(b"\x16\x03\x01\x00\x02\x01\x00")?;
        close()
    });
}

#[test]
fn a_connection_that_is_closed_early() {
    through(Verdict::Error, "without a response", |_, _| close());
    through(Verdict::Error, "within its response", |answer, stream| {
        stream.write_all(&answer[..30])?;
        close()
    });
    through(Verdict::Error, "within its response", |answer, stream| {
        stream.write_all(&answer[..answer.len() - split(answer).1.len() + 5])?;
        close()
    });
}

#[test]
fn a_head_without_end() {
    // The client may give up before the proxy does.
    through(Verdict::Error, "has a head that is too long or the client disconnected", |_, stream| {
        stream.write_all(b"HTTP/1.1 201 Created\r\n")?;
        let lines = "X-Synthetic: some value that goes on\r\n".repeat(1000);
        loop {
            stream.write_all(lines.as_bytes())?;
        }
    });
}

#[test]
fn a_body_without_end() {
    // The client gives up and disconnects.
    through(Verdict::Error, "disconnected", |_, stream| {
        write!(stream, "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n")?;
        let piece = [b"8000\r\n", &vec![b' '; 0x8000][..], b"\r\n"].concat();
        loop {
            stream.write_all(&piece)?;
        }
    });
}

#[test]
fn chunks_and_lengths_that_are_none() {
    through(Verdict::Error, "has a chunk with an invalid size", |_, stream| {
        write!(
            stream,
            "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{{}}"
        )?;
        close()
    });
    through(Verdict::Error, "within its response", |_, stream| {
        write!(stream, "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{{}}")?;
        close()
    });
    through(Verdict::Error, "has an invalid Content-Length", |_, stream| {
        write!(stream, "HTTP/1.1 201 Created\r\nContent-Length: 5, 7\r\n\r\n{{}}")?;
        close()
    });
}

#[test]
fn interim_answers_without_end_and_silence() {
    through(Verdict::Error, "disconnected", |_, stream| {
        let flood = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(500);
        loop {
            stream.write_all(flood.as_bytes())?;
        }
    });
    through(Verdict::Error, "the proxy was stopped first", |_, _| {
        thread::sleep(Duration::from_secs(60));
        close()
    });
}

#[test]
fn lengths_that_are_not_those_of_the_body() {
    let said = |body: &[u8], more: usize, less: usize| {
        let whole = String::from_utf8(created("", body)).unwrap();
        let (length, wrong) =
            (format!(": {}\r\n", body.len()), format!(": {}\r\n", body.len() + more - less));
        whole.replace(&length, &wrong)
    };
    let body = br#"{"paymentId":"p","transactionStatus":"RCVD"}"#;
    let (longer, shorter) = (said(body, 9, 0), said(body, 0, 35));
    through(Verdict::Error, "within its response", move |_, stream| {
        stream.write_all(longer.as_bytes())?;
        close()
    });
    through(Verdict::Fail, "", move |_, stream| stream.write_all(shorter.as_bytes()));
}

#[test]
fn a_compressed_body_that_grows_without_end_passes_and_is_not_unpacked() {
    let mut coder = GzEncoder::new(Vec::new(), Compression::best());
    let piece = vec![b' '; 1 << 20];
    (0..200).for_each(|_| coder.write_all(&piece).unwrap());
    let bomb = coder.finish().unwrap();
    through(Verdict::Error, "", move |_, stream| {
        stream.write_all(&created("Content-Encoding: gzip\r\n", &bomb))
    });
}

#[test]
fn what_no_stack_and_no_number_can_hold_is_the_banks() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    for more in [deep.as_str(), "{\"a\":1e999999}", "1e9223372036854775808"] {
        let body = format!(r#"{{"paymentId":"p","transactionStatus":"RCVD","more":{more}}}"#);
        through(Verdict::Fail, "", move |_, stream| stream.write_all(&created("", body.as_bytes())));
    }
}

#[test]
fn some_interim_answers_pass_and_redirects_lead_nowhere() {
    through(Verdict::Pass, "", |answer, stream| {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")?;
        stream.write_all(answer)
    });
    let elsewhere = Server::start(|answer, stream| stream.write_all(answer));
    let to = format!("{}/v1/periodic-payments/norwegian-domestic-credit-transfers", elsewhere.url());
    through(Verdict::Fail, "", move |_, stream| {
        write!(stream, "HTTP/1.1 307 Elsewhere\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
    });
    assert_eq!(elsewhere.asked(), 0);
}

#[test]
fn a_body_that_is_no_json_is_the_banks() {
    through(Verdict::Fail, "", |_, stream| stream.write_all(&created("", b"\xff\xfe")));
}

/// The bytes of misbehaving clients, with true if the client then ends its side of the connection.
const CLIENTS: [(&str, bool); 8] = [
    ("\0\x01\x02\x03\r\n\r\n", true),
    ("GET / HTTP/1.1\r\nX: ", false),
    ("GET / HTTP/1.1\r\nA B: c\r\n\r\n", true),
    ("POST /v1 HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999\r\n\r\n{", true),
    ("POST /v1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", false),
    ("POST /v1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n{", true),
    ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", false),
    ("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: synthetic\r\n\r\n", false),
];

#[test]
fn clients_that_misbehave_disturb_no_other() {
    let bank = Running::bank(&[]);
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let proxy = Running::proxy(&bank.url, &out, &[]);
    let address = proxy.url.trim_start_matches("http://");
    let mut open = Vec::new();
    for (bytes, ends) in CLIENTS {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(bytes.as_bytes()).unwrap();
        if ends {
            stream.shutdown(Shutdown::Write).unwrap();
        }
        open.push(stream);
    }
    // A client that sends an endless head and disconnects.
    let mut endless = TcpStream::connect(address).unwrap();
    let lines = "X-Synthetic: some value that goes on\r\n".repeat(1000);
    drop(endless.write_all(b"GET / HTTP/1.1\r\n"));
    for _ in 0..100 {
        drop(endless.write_all(lines.as_bytes()));
    }
    drop(endless);
    let ran = run(&proxy.url, "");
    assert_eq!(ran.code, Some(0), "{}", ran.said);
    let peak = proxy.peak();
    assert!(peak < MOST, "{peak} KiB");
    let begun = Instant::now();
    let (code, said) = proxy.end();
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert!(matches!(code, Some(1 | 3)), "{code:?}: {said}");
    assert!(said.contains("only partly judged"), "{said}");
    drop(open);
}

/// Memory stays flat, with 300 MB in one body and with many parallel connections with large ones.
#[test]
fn large_bodies_pass_in_flat_memory() {
    const PIECE: usize = 1 << 20;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || swallow(stream));
        }
    });
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let proxy = Running::proxy(&url, &out, &["--quiet"]);
    let address = proxy.url.trim_start_matches("http://").to_owned();
    let post = move |pieces: usize| {
        let mut stream = TcpStream::connect(&address).unwrap();
        let length = pieces * PIECE;
        write!(stream, "POST /v1/signing-baskets HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n")
            .unwrap();
        let piece = vec![b'x'; PIECE];
        (0..pieces).for_each(|_| stream.write_all(&piece).unwrap());
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
    };
    post(300);
    let posts: Vec<_> = (0..40)
        .map(|_| {
            let post = post.clone();
            thread::spawn(move || post(3))
        })
        .collect();
    for post in posts {
        post.join().unwrap();
    }
    let peak = proxy.peak();
    assert!(peak > 0 && peak < MOST, "{peak} KiB");
    proxy.end();
    let record = Record::read(&out);
    assert_eq!(record.exchanges.len(), 41);
    assert!(record.text.contains(r#""why":{"code":"not-kept"}"#));
}

/// Reads one request with its body, and responds.
fn swallow(mut stream: TcpStream) -> Result<()> {
    let mut head = Vec::new();
    let mut piece = vec![0; 1 << 16];
    let (mut body, length) = loop {
        let count = stream.read(&mut piece)?;
        head.extend_from_slice(&piece[..count]);
        if let Some(end) = head.windows(4).position(|end| end == b"\r\n\r\n") {
            let text = String::from_utf8_lossy(&head[..end]).into_owned();
            let length: usize = text.rsplit(": ").next().unwrap().parse().unwrap();
            break (head.len() - end - 4, length);
        }
    };
    while body < length {
        body += stream.read(&mut piece)?;
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
}
