//! HTTP/2 (RFC 9113) from a server that breaks off. The test writes the frames by hand.

use std::io::{ErrorKind, Read, Result, Write};

use xs2aspec_record::Verdict;

use super::{
    EXACT, PATIENT, PLAIN,
    connection::{good, over_tls, tls},
    run,
    server::{Server, Stream},
};

/// Returns a frame (RFC 9113 section 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Reads the number of the stream that the client opens with its HEADERS frame (type 1).
fn opened(stream: &mut dyn Stream) -> Result<u32> {
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head)?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        stream.read_exact(&mut payload)?;
        if head[3] == 1 {
            return Ok(u32::from_be_bytes([head[5], head[6], head[7], head[8]]));
        }
    }
}

/// Starts a server that receives requests over HTTP/2, and responds to each with these frames.
fn answering(answer: impl Fn(u32) -> Vec<u8> + Send + Sync + 'static) -> (Server, String) {
    let pair = good();
    let config = tls(&pair, &[b"h2"]);
    let server = Server::wrapped(
        move |stream| {
            let mut stream = over_tls(&config, stream)?;
            // Reads the preface, and sends its own settings (sections 3.4 and 6.5).
            stream.read_exact(&mut [0; 24])?;
            stream.write_all(&frame(4, 0, 0, &[]))?;
            stream.flush()?;
            loop {
                let number = opened(&mut *stream)?;
                stream.write_all(&answer(number))?;
                stream.flush()?;
            }
        },
        |_, _| Err(ErrorKind::Unsupported.into()),
    );
    (server, pair.cert.pem())
}

#[test]
fn streams_that_are_reset_connections_that_go_away_and_frames_that_are_none() {
    let reset = |stream| frame(3, 0, stream, &2u32.to_be_bytes());
    let go_away = |_| frame(7, 0, 0, &[0u32.to_be_bytes(), 0u32.to_be_bytes()].concat());
    // Sends `:status: 201` as a literal (RFC 7541 section 6.2.2), and resets the stream before the body.
    let half = move |stream| {
        let head = [&[0x08, 0x03], &b"201"[..]].concat();
        [frame(1, 4, stream, &head), frame(0, 0, stream, b"{\"payment"), reset(stream)].concat()
    };
    let garbage = |_| vec![0xff; 4096];
    let scripts: [Box<dyn Fn(u32) -> Vec<u8> + Send + Sync>; 4] =
        [Box::new(reset), Box::new(go_away), Box::new(half), Box::new(garbage)];
    for (number, script) in scripts.into_iter().enumerate() {
        let (server, certificate) = answering(script);
        let folder = tempfile::TempDir::new().unwrap();
        let authorities = folder.path().join("authorities.pem");
        std::fs::write(&authorities, certificate).unwrap();
        let url = format!("https://localhost:{}", server.address.port());
        let ran = run(&url, &format!("http = \"2\"\nauthorities = {authorities:?}\ndeadline-ms = {PATIENT}"));
        for (case, verdict) in &ran.verdicts {
            assert!(
                matches!(verdict.verdict, Verdict::Error | Verdict::Inconclusive),
                "{number} {case}: {verdict:?}"
            );
        }
        assert_eq!(
            (ran.verdict(PLAIN), ran.verdict(EXACT), ran.code),
            (Verdict::Error, Verdict::Error, Some(3))
        );
        let seen = ran.exchange(PLAIN).response.as_ref().map(|seen| seen.status);
        assert_eq!(seen, (number == 2).then_some(201), "script {number}");
    }
}
