//! The record has all traffic from before an interrupt.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::{Arc, Barrier},
    thread,
};

use tempfile::TempDir;

use super::{Record, Running, profile};

const CLIENTS: usize = 300;
const EACH: usize = 10;

/// Lets many clients read all their responses. Returns their number and the open connections.
fn answered(url: &str) -> (usize, Vec<TcpStream>) {
    let address = url.trim_start_matches("http://").to_owned();
    let begin = Arc::new(Barrier::new(CLIENTS));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (address, begin) = (address.clone(), Arc::clone(&begin));
            thread::spawn(move || {
                let mut stream = TcpStream::connect(address).unwrap();
                begin.wait();
                (0..EACH).for_each(|_| exchange(&mut stream));
                stream
            })
        })
        .collect();
    let streams: Vec<_> = clients.into_iter().map(|client| client.join().unwrap()).collect();
    (streams.len() * EACH, streams)
}

/// Sends a request, and reads the whole response.
fn exchange(stream: &mut TcpStream) {
    stream.write_all(b"GET /v1/sandbox/customers HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    let (_, length) = head.split_once("content-length: ").unwrap();
    let length = length.split("\r\n").next().unwrap().parse().unwrap();
    stream.read_exact(&mut vec![0; length]).unwrap();
}

#[test]
fn an_interrupt_loses_no_answer_that_a_client_has() {
    for _ in 0..2 {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("out");
        let bank = Running::bank(&["--record", out.to_str().unwrap()]);
        let (answers, _open) = answered(&bank.url);
        is_complete(bank, &out, answers);

        let bank = Running::bank(&[]);
        let out = folder.path().join("proxy");
        let proxy = Running::proxy(&profile(folder.path(), &bank.url, ""), &out, &["--quiet"]);
        let (answers, _open) = answered(&proxy.url);
        is_complete(proxy, &out, answers);
    }
}

fn is_complete(command: Running, out: &std::path::Path, answers: usize) {
    let (code, said) = command.end();
    assert_eq!(code, Some(1), "the requests are not signed: {said}");
    let record = Record::read(out);
    let recorded = record.exchanges.iter().filter(|one| one.response.is_some() && one.failure.is_none());
    assert_eq!(recorded.count(), answers, "{said}");
    assert!(record.finished.is_some());
}
