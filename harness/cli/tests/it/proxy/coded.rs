//! Encoded responses through the proxy and from a file: decoded if possible and small enough, and otherwise
//! neither passed nor failed.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use flate2::{Compression, write::GzEncoder};
use tempfile::TempDir;
use xs2aspec_record::End;

use super::{Record, Running, profile};
use crate::support::xs2aspec;

const REQUEST: &[u8] = b"GET /v1/sandbox/customers HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut coder = GzEncoder::new(Vec::new(), Compression::fast());
    coder.write_all(bytes).unwrap();
    coder.finish().unwrap()
}

fn layers(count: usize) -> (String, Vec<u8>) {
    let body = (0..count).fold(b"no JSON".to_vec(), |body, _| gzip(&body));
    (vec!["gzip"; count].join(", "), body)
}

/// Returns layers of gzip, each padded with empty members to almost 8 MB.
pub(crate) fn padded_layers(count: usize) -> (String, Vec<u8>) {
    let empty = gzip(b"");
    let body = (1..count).fold(gzip(b"{}"), |body, _| {
        let padding = empty.repeat((8_000_000 - body.len()) / empty.len());
        gzip(&[body, padding].concat())
    });
    (vec!["gzip"; count].join(", "), body)
}

/// Returns codings and bodies, with true if the body can be decoded. A decoded body is not JSON.
fn responses() -> Vec<(String, Vec<u8>, bool)> {
    let own = |coding: &str| (coding.to_owned(), b"no JSON".to_vec());
    let known = [own("identity"), layers(1), layers(5)];
    let unknown = [layers(6), padded_layers(5), padded_layers(20), own("synthetic"), own("gzip"), own("br")];
    let known = known.into_iter().map(|(coding, body)| (coding, body, true));
    known.chain(unknown.into_iter().map(|(coding, body)| (coding, body, false))).collect()
}

fn response(coding: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// Asserts that the bank fails the checks of its list if its body is known, and none otherwise.
fn is_right(out: &Path, coding: &str, is_known: bool) {
    let record = Record::read(out);
    assert_eq!(record.exchanges.len(), 1, "{coding}");
    assert_eq!(record.broken_by(End::Bank).is_empty(), !is_known, "{coding}: {:?}", record.findings);
}

#[test]
fn the_proxy_decodes_what_it_can_and_ends_soon() {
    for (coding, body, is_known) in responses() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let response = response(&coding, &body);
        let length = response.len();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0; REQUEST.len()]).unwrap();
            stream.write_all(&response).unwrap();
        });
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("out");
        let proxy = Running::proxy(&profile(folder.path(), &url, ""), &out, &["--quiet"]);
        let mut client = TcpStream::connect(proxy.url.trim_start_matches("http://")).unwrap();
        client.write_all(REQUEST).unwrap();
        client.read_exact(&mut vec![0; length]).unwrap();
        let begun = Instant::now();
        proxy.end();
        assert!(begun.elapsed() < Duration::from_secs(20), "{coding}: {:?}", begun.elapsed());
        is_right(&out, &coding, is_known);
    }
}

#[test]
fn judge_decodes_what_it_can_and_ends_soon() {
    for (coding, body, is_known) in responses() {
        let folder = TempDir::new().unwrap();
        let (file, out) = (folder.path().join("traffic.http"), folder.path().join("out"));
        fs::write(&file, [REQUEST, &response(&coding, &body)].concat()).unwrap();
        let begun = Instant::now();
        let (code, said) = xs2aspec(&["judge", file.to_str().unwrap(), "--out", out.to_str().unwrap()]);
        assert!(matches!(code, Some(1 | 3)), "{coding}: {code:?}: {said}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{coding}: {:?}", begun.elapsed());
        is_right(&out, &coding, is_known);
    }
}
