//! Invalid archives are rejected with the reason and the place. In other archives, the readable entries are
//! read. None of them causes a panic.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;
use xs2aspec_traffic::input::{self, Piece};

use crate::support::{recorded, xs2aspec};

const CHROMIUM: &str = include_str!("../../../../../fixtures/traffic/chromium.har");

/// Returns the numbers of the exchanges of a file, those of unreadable ones with the reason, and the error.
fn pieces(bytes: &[u8]) -> (Vec<u64>, Vec<(u64, String)>, Option<String>) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.har");
    fs::write(&path, bytes).unwrap();
    let (mut exchanges, mut unread) = (Vec::new(), Vec::new());
    let mut take = |piece: Piece| {
        match piece {
            Piece::Traffic(traffic) => exchanges.push(traffic.number),
            Piece::Unread(one) => unread.push((one.number, one.why)),
            Piece::Masked(_) | Piece::Twice(_) => {}
        }
        true
    };
    let error = input::read(&path, chrono::DateTime::UNIX_EPOCH, &mut take).err();
    (exchanges, unread, error.map(|error| error.to_string()))
}

/// Returns the number of readable exchanges of a file, and the error.
fn read(bytes: &[u8]) -> (usize, Option<String>) {
    let (exchanges, unread, error) = pieces(bytes);
    assert_eq!(unread, []);
    (exchanges.len(), error)
}

#[test]
fn an_entry_that_cannot_be_read_is_named_by_its_number_and_the_others_are_read() {
    let archive: Value = serde_json::from_str(CHROMIUM).unwrap();
    let mut made = 0;
    for place in ["", "/request", "/request/method", "/request/url", "/request/headers", "/response"] {
        for value in
            [json!(true), json!(-1), json!(1e300), json!("x"), json!([1]), json!(null), json!({"a": {}})]
        {
            let is_fine = match place {
                "/request/method" | "/request/url" => {
                    value.is_string() || value.is_number() || value.is_boolean()
                }
                "/request/headers" => value.is_null(),
                "/response" => value.is_null() || value.is_object(),
                _ => false,
            };
            if is_fine {
                continue;
            }
            let mut archive = archive.clone();
            *archive.pointer_mut(&format!("/log/entries/2{place}")).unwrap() = value.clone();
            let (exchanges, unread, error) = pieces(archive.to_string().as_bytes());
            assert_eq!((exchanges, error), (vec![1, 2, 4, 5], None), "{place} {value}");
            let [(3, why)] = &unread[..] else { panic!("{place} {value}: {unread:?}") };
            assert!(why.contains("expected ") && why.contains(", found "), "{why}");
            made += 1;
        }
    }
    assert!(made > 25, "{made}");
}

/// Returns the exit code, the output and the record.
fn judged(entries: &[Value]) -> (Option<i32>, String, String) {
    let folder = TempDir::new().unwrap();
    let (path, out) = (folder.path().join("a.har"), folder.path().join("out"));
    fs::write(&path, json!({"log": {"entries": entries}}).to_string()).unwrap();
    let (exit, said) = xs2aspec(&["judge", path.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    recorded(&out, &said);
    (exit, said, crate::support::read_record(out.join("record.jsonl")).unwrap())
}

#[test]
fn an_operation_that_cannot_be_read_could_not_be_told_and_what_is_of_others_does_not_matter() {
    let archive: Value = serde_json::from_str(CHROMIUM).unwrap();
    let good = archive["log"]["entries"][1].clone();
    let broken = |url: Value| {
        let mut entry = good.clone();
        entry["request"]["url"] = url;
        entry["response"]["status"] = json!("ok");
        entry
    };
    let of_document = broken(good["request"]["url"].clone());
    let (exit, said, record) = judged(&[of_document.clone(), good.clone()]);
    assert_eq!(exit, Some(3), "{said}");
    assert!(said.contains("a.har, entry 1: `response.status`: expected"), "{said}");
    assert!(record.contains(r#""reason":{"code":"unread","why":"`response.status`: expected"#), "{record}");
    let (exit, said, _) = judged(&[broken(json!("https://cdn.example/logo.png")), good.clone()]);
    assert_eq!(exit, Some(0), "{said}");
    assert!(!said.contains("unreadable") && said.contains("1 for no operation"), "{said}");
    let (exit, said, record) = judged(&[good.clone(), broken(json!(""))]);
    assert_eq!(exit, Some(0), "{said}");
    assert!(said.contains("entry 2: `request.url`") && record.contains(r#""code":"unread""#), "{said}");
    // A violation outweighs it.
    let wrong = archive["log"]["entries"][2].clone();
    let (exit, said, _) = judged(&[of_document.clone(), wrong]);
    assert_eq!(exit, Some(1), "{said}");
    let (_, said, _) = judged(&vec![of_document; 7]);
    assert!(said.contains("7 exchanges unreadable and not judged") && said.contains("and 2 more"), "{said}");
}

#[test]
fn what_is_packed_or_is_no_utf_8_is_named_with_what_to_do() {
    let utf_16 = |unit: fn(u16) -> [u8; 2]| CHROMIUM.encode_utf16().flat_map(unit).collect::<Vec<u8>>();
    let with_mark = |mark: &[u8], text: Vec<u8>| [mark, &text].concat();
    for (bytes, words) in [
        (b"\x1f\x8b\x08\0\0".to_vec(), "is compressed (gzip): unpack it with gunzip first"),
        (b"PK\x03\x04\x14".to_vec(), "is compressed (zip): unpack it with unzip first"),
        (b"\x28\xb5\x2f\xfd\x24".to_vec(), "is compressed (zstd): unpack it with unzstd first"),
        (with_mark(b"\xff\xfe", utf_16(u16::to_le_bytes)), "is UTF-16: convert it with iconv"),
        (with_mark(b"\xfe\xff", utf_16(u16::to_be_bytes)), "is UTF-16: convert it with iconv"),
        (utf_16(u16::to_le_bytes), "is UTF-16 without a byte order mark: convert it with iconv -f UTF-16LE"),
        (utf_16(u16::to_be_bytes), "is UTF-16 without a byte order mark: convert it with iconv -f UTF-16BE"),
    ] {
        let (exchanges, error) = read(&bytes);
        assert!(error.as_ref().is_some_and(|error| error.contains(words)), "{words}: {error:?}");
        assert_eq!(exchanges, 0);
    }
    assert_eq!(read(format!("\u{feff}{CHROMIUM}").as_bytes()), (5, None));
}

/// Browsers list a request of a page, and also the same request of its service worker.
#[test]
fn a_request_that_is_listed_twice_is_one() {
    let archive: Value = serde_json::from_str(CHROMIUM).unwrap();
    let good = archive["log"]["entries"][1].clone();
    let with = |name: &str, value: Value| {
        let mut entry = good.clone();
        entry[name] = value;
        entry
    };
    let worker = with("_fetchedViaServiceWorker", json!(true));
    let mut later = worker.clone();
    later["startedDateTime"] = json!("2999-01-01T00:00:00Z");
    let mut other = worker.clone();
    other["request"]["headers"][0]["value"] = json!("other");
    for (entries, expected) in [
        (vec![good.clone(), worker.clone()], 1),
        (vec![worker.clone(), good.clone()], 1),
        (vec![good.clone(), good.clone()], 2),
        (vec![worker.clone(), worker.clone()], 2),
        (vec![good.clone(), worker.clone(), good.clone(), worker.clone()], 2),
        (vec![good.clone(), good.clone(), worker.clone(), worker.clone()], 2),
        (vec![good.clone(), later], 2),
        (vec![good.clone(), other], 2),
    ] {
        let text = json!({"log": {"entries": entries}}).to_string();
        let (exchanges, unread, error) = pieces(text.as_bytes());
        assert_eq!((exchanges.len(), unread.len(), error), (expected, 0, None), "{text:.80}");
    }
}

#[test]
fn what_is_cut_anywhere_is_refused_without_a_panic() {
    let whole = CHROMIUM.trim_end().as_bytes();
    for end in (0..whole.len()).step_by(whole.len() / 150) {
        let (_, error) = read(&whole[..end]);
        let error = error.unwrap_or_else(|| panic!("read up to {end}"));
        assert!(error.contains("a.har: "), "{error}");
    }
}

#[test]
fn what_is_no_archive_is_refused() {
    let deep = "[".repeat(100_000);
    let nested = format!(r#"{{"log":{{"entries":[{}"#, r#"{"a":"#.repeat(50_000));
    for (text, expected) in [
        ("", "an empty file"),
        (" \n ", "an empty file"),
        ("\u{feff}", "an empty file"),
        ("null", "expected an HTTP archive"),
        ("hello there", "expected an HTTP archive"),
        ("{}", "expected an HTTP archive"),
        ("[]", "expected an object with `log`"),
        (r#"{"log":[]}"#, "expected `log`: an object with `entries`"),
        (r#"{"log":3}"#, "expected `log`: an object with `entries`"),
        (r#"{"log":null}"#, "expected `log`: an object with `entries`"),
        (r#"{"log":{}}"#, "found none"),
        (r#"{"log":{"entries":{}}}"#, "expected `log.entries`: a list"),
        (r#"{"log":{"entries":"x"}}"#, "expected `log.entries`: a list"),
        (r#"{"log":{"entries":[]}} more"#, "expected JSON"),
        (r#"{"log":{"entries":[{"request":}]}}"#, "entry 1: expected JSON"),
        (r#"{"log":{"entries":[{"time":1e999999}]}}"#, "entry 1: expected JSON"),
        (&deep, "a.har"),
        (&nested, "entry 1: "),
    ] {
        let (exchanges, error) = read(text.as_bytes());
        let error = error.unwrap_or_else(|| panic!("{text:.60}"));
        assert!(error.contains(expected), "{text:.60}: {error}");
        assert_eq!(exchanges, 0);
    }
    let (_, error) = read(b"\xff\xfe{}");
    assert!(error.is_some());
}

#[test]
fn a_message_that_cannot_be_read_is_named_and_what_follows_it_is_read() {
    let good = "GET /v1/sandbox/customers HTTP/1.1\r\nHost: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]\r\n";
    assert_eq!(read(good.as_bytes()), (1, None));
    for (wrong, words) in [
        ("###\r\nthis is no request\r\n\r\n", "expected `METHOD PATH HTTP/1.1`"),
        ("GET /v1 HTTP/1.1\r\nno field\r\n\r\n", "expected `Name: value`"),
        ("POST /v1 HTTP/1.1\r\nContent-Length: many\r\n\r\n", "expected a Content-Length"),
        (
            "POST /v1 HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            "expected the Transfer-Encoding `chunked`",
        ),
        (
            "POST /v1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
            "expected the end of a chunk",
        ),
        (
            "POST /v1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nz\r\n\r\n",
            "expected the size of a chunk",
        ),
        ("GET /v1 HTTP/1.1\r\n\r\nHTTP/1.1 what\r\n\r\n", "expected `HTTP/1.1 STATUS`"),
        ("GET /v1 HTTP/1.1\r\n\r\nHTTP/1.1 20000\r\n\r\n", "expected `HTTP/1.1 STATUS`"),
        ("POST /v1 HTTP/2\r\nhost: a\r\n\r\n{\"a\":1}\r\n\r\nHTTP/2 201\r\n\r\n", "needs its Content-Length"),
        (
            "POST /v1 HTTP/1.1\r\nContent-Length: 2\r\n\r\n{\"a\":1}\r\n",
            "the number of bytes in Content-Length",
        ),
    ] {
        let (exchanges, unread, error) = pieces(format!("{good}{wrong}{good}").as_bytes());
        assert_eq!((exchanges, error), (vec![1, 3], None), "{wrong}: {unread:?}");
        let [(2, why)] = &unread[..] else { panic!("{wrong}: {unread:?}") };
        assert!(why.contains(words) && why.contains(", found "), "{wrong}: {why}");
    }
    for wrong in [
        "POST /v1 HTTP/1.1\r\nContent-Length: 99\r\n\r\nshort",
        "GET /v1 HTTP/1.1\r\nHost: a\r\n",
        "GET /v1 HTTP/1.1\r\n\r\nHTTP/1.1 200 OK\r\nContent-Le",
    ] {
        let (exchanges, unread, error) = pieces(format!("{good}{wrong}").as_bytes());
        assert_eq!((exchanges, unread.len(), error), (vec![1], 1, None), "{wrong}");
    }
}

/// RFC 9112, section 7.1, and RFC 9113, section 8.3.
#[test]
fn bodies_are_taken_out_of_their_chunks_and_http_2_is_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.http");
    let answer =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n1;x=y\r\n]\r\n0\r\nA: b\r\n\r\n";
    // Some tools decode a chunked body, but keep the header.
    let plain = "HTTP/2 200\r\ntransfer-encoding: chunked\r\n\r\n[]\r\n";
    let request = "POST /v1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
    let new = ":method: POST\r\n:authority: bank.example\r\ncontent-length: 2\r\n\r\n{}\r\n";
    fs::write(&path, format!("{request}{answer}POST /v1 HTTP/2\r\n{new}{plain}")).unwrap();
    let mut read = Vec::new();
    let mut take = |piece: Piece| {
        let Piece::Traffic(traffic) = piece else { panic!("{piece:?}") };
        let answer = traffic.answer.unwrap();
        read.push((
            traffic.request.url,
            traffic.request.body.bytes().unwrap().to_vec(),
            answer.body.bytes().unwrap().to_vec(),
        ));
        true
    };
    input::read(&path, chrono::DateTime::UNIX_EPOCH, &mut take).unwrap();
    let expected = |host: &str| (format!("https://{host}/v1"), b"{}".to_vec(), b"[]".to_vec());
    assert_eq!(read, [expected("localhost"), expected("bank.example")]);
}

/// RFC 9112, section 6.3.
#[test]
fn an_answer_without_a_length_ends_before_the_next_request() {
    let next =
        "GET /v1/sandbox/customers HTTP/1.1\r\nHost: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]";
    for (method, answer) in [
        ("DELETE", "HTTP/1.1 204 No Content\r\n\r\n"),
        ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n"),
        ("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 17\r\n\r\n"),
        ("GET", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}\r\n"),
        ("GET", "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"),
        ("GET", "HTTP/1.1 200 OK\r\n\r\n{\"a\":\r\n1}\r\n"),
        ("GET", "HTTP/1.1 200 OK\r\n\r\n{}\r\n###\r\n"),
    ] {
        let text = format!("{method} /v1/payments/a HTTP/1.1\r\nHost: a\r\n\r\n{answer}{next}");
        assert_eq!(read(text.as_bytes()), (2, None), "{answer}");
    }
}
