//! Archives that are none: each is refused with what is wrong, and where. None of them is a panic.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;
use xs2aspec_traffic::input::{self, Piece};

const CHROMIUM: &str = include_str!("../../../../../fixtures/traffic/chromium.har");

/// What reading a file comes to: how many exchanges were read, and the error.
fn read(bytes: &[u8]) -> (usize, Option<String>) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.har");
    fs::write(&path, bytes).unwrap();
    let mut exchanges = 0;
    let mut take = |piece: Piece| {
        exchanges += usize::from(matches!(piece, Piece::Traffic(_)));
        true
    };
    let error = input::read(&path, chrono::DateTime::UNIX_EPOCH, &mut take).err();
    (exchanges, error.map(|error| error.to_string()))
}

/// Archives that are wrong in one of their entries, with its number.
fn wrong_entries() -> Vec<(Vec<u8>, usize)> {
    let archive: Value = serde_json::from_str(CHROMIUM).unwrap();
    let wrong: Vec<Value> = vec![
        json!(true),
        json!(-1),
        json!(1.5),
        json!(1e300),
        json!("x"),
        json!([]),
        json!([1]),
        json!({"a": {}}),
    ];
    let places = [
        "/request",
        "/request/method",
        "/request/url",
        "/request/headers",
        "/request/headers/0/name",
        "/request/postData",
        "/request/postData/text",
        "/response",
        "/response/status",
        "/response/content",
        "/response/content/text",
        "/response/headers",
        "/startedDateTime",
    ];
    let fits = |place: &str, value: &Value| match place {
        "/request/method"
        | "/request/url"
        | "/request/headers/0/name"
        | "/request/postData/text"
        | "/response/content/text" => value.is_string(),
        "/request/headers" | "/response/headers" => *value == json!([]),
        "/request" | "/response" | "/request/postData" | "/response/content" => value.is_object(),
        _ => false,
    };
    let mut made = Vec::new();
    for (turn, place) in places.iter().enumerate() {
        for (number, value) in wrong.iter().enumerate().filter(|(_, value)| !fits(place, value)) {
            // Those with a body.
            let at = 1 + (turn + number) % 2;
            let mut archive = archive.clone();
            *archive.pointer_mut(&format!("/log/entries/{at}{place}")).unwrap() = value.clone();
            made.push((archive.to_string().into_bytes(), at + 1));
        }
    }
    for place in ["/request", "/startedDateTime", "/request/method", "/request/url"] {
        let mut archive = archive.clone();
        let (holder, name) = place.rsplit_once('/').unwrap();
        let holder = archive.pointer_mut(&format!("/log/entries/3{holder}")).unwrap();
        holder.as_object_mut().unwrap().remove(name);
        made.push((archive.to_string().into_bytes(), 4));
    }
    for (place, encoding, text) in [
        ("/response/content", "base64", "!!"),
        ("/response/content", "base64", "A"),
        ("/response/content", "gzip", "AAAA"),
        ("/request/postData", "base64", "%%"),
    ] {
        let mut archive = archive.clone();
        let member = archive.pointer_mut(&format!("/log/entries/2{place}")).unwrap();
        member["encoding"] = encoding.into();
        member["text"] = text.into();
        made.push((archive.to_string().into_bytes(), 3));
    }
    for entry in [json!(null), json!(7), json!("text"), json!([])] {
        let mut archive = archive.clone();
        archive["log"]["entries"][1] = entry;
        made.push((archive.to_string().into_bytes(), 2));
    }
    made
}

#[test]
fn a_wrong_entry_is_named_by_its_number() {
    let made = wrong_entries();
    assert!(made.len() >= 100, "{}", made.len());
    for (bytes, number) in made {
        let (exchanges, error) = read(&bytes);
        let error = error.unwrap_or_else(|| panic!("read: {}", String::from_utf8_lossy(&bytes)));
        assert!(error.contains(&format!("entry {number}: ")), "{error}");
        assert!(error.contains("expected ") && error.contains(", found "), "{error}");
        assert_eq!(exchanges, number - 1, "those before it are read: {error}");
        for library in ["serde", "invalid type", "EOF", "at line"] {
            assert!(!error.contains(library), "the words of a library: {error}");
        }
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
        ("[]", "found a list"),
        (r#"{"log":[]}"#, "found a list"),
        (r#"{"log":3}"#, "found a number"),
        (r#"{"log":null}"#, "found null"),
        (r#"{"log":{}}"#, "found none"),
        (r#"{"log":{"entries":{}}}"#, "found an object"),
        (r#"{"log":{"entries":"x"}}"#, "found a text"),
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
fn wrong_pairs_are_named_by_their_number() {
    let good = "GET /v1/sandbox/customers HTTP/1.1\r\nHost: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]\r\n";
    assert_eq!(read(good.as_bytes()), (1, None));
    for wrong in [
        "this is no request\r\n\r\n",
        "GET /v1 HTTP/1.1\r\nno field\r\n\r\n",
        "POST /v1 HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        "POST /v1 HTTP/1.1\r\nContent-Length: 99\r\n\r\nshort",
        "POST /v1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET /v1 HTTP/1.1\r\n\r\nHTTP/1.1 what\r\n\r\n",
        "GET /v1 HTTP/1.1\r\n\r\nHTTP/1.1 20000\r\n\r\n",
        "GET /v1 HTTP/1.1\r\nHost: a\r\n",
        "GET /v1 HTTP/1.1\r\n\r\nHTTP/1.1 200 OK\r\nContent-Le",
    ] {
        let (exchanges, error) = read(format!("{good}{wrong}").as_bytes());
        let error = error.unwrap_or_else(|| panic!("{wrong}"));
        assert!(error.contains("entry 2: ") && error.contains("expected "), "{error}");
        assert_eq!(exchanges, 1, "{wrong}");
    }
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
