//! Targets in trouble: busy for a while, gone for a while, or with responses to other requests.

use std::{
    net::{TcpListener, TcpStream},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use xs2aspec_record::{Exchange, Verdict};

use super::{EXACT, PATIENT, PLAIN, against, bounded, run, server::Server};

#[test]
fn busy_for_a_while_and_then_healthy() {
    // A target that sends Retry-After is busy, not flaky.
    for (answer, is_flaky) in [
        ("503 Busy\r\nRetry-After: 1", false),
        ("503 Busy", true),
        ("502 Bad Gateway", true),
        ("504 Late\r\nContent-Type: text/html", true),
    ] {
        let asked = AtomicUsize::new(0);
        let ran = against(move |own, stream| {
            if asked.fetch_add(1, Ordering::SeqCst) < 2 {
                return write!(stream, "HTTP/1.1 {answer}\r\nContent-Length: 0\r\n\r\n");
            }
            stream.write_all(own)
        });
        bounded(&ran);
        // The bank may have created a payment despite its error, so the run sends other payments.
        let count = |word| ran.verdicts.values().filter(|verdict| verdict.verdict == word).count();
        let right = count(Verdict::Pass) + count(Verdict::Observed) + count(Verdict::Flaky);
        assert_eq!(right, ran.verdicts.len(), "{}", ran.said);
        let flaky = count(Verdict::Flaky);
        assert!(flaky <= 2 && (flaky > 0) == is_flaky, "{answer}: {}", ran.said);
        let is_too_flaky = flaky * 100 > ran.selected;
        assert_eq!(ran.code, Some(if is_too_flaky { 3 } else { 0 }), "{}", ran.said);
    }
}

#[test]
fn a_gateway_that_fails_for_good_is_a_server_that_fails() {
    for status in ["502 Bad Gateway", "504 Late"] {
        let ran = against(move |_, stream| write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n"));
        bounded(&ran);
        assert_eq!((ran.verdict(PLAIN), ran.code), (Verdict::Fail, Some(1)), "{}", ran.said);
        let is_own = |one: &&Exchange| one.case == PLAIN && one.step.starts_with("request");
        assert_eq!(ran.exchanges.iter().filter(is_own).count(), 3, "it is sent again before it counts");
    }
}

#[test]
fn busy_for_good_after_a_while() {
    let asked = AtomicUsize::new(0);
    let ran = against(move |answer, stream| {
        if asked.fetch_add(1, Ordering::SeqCst) < 40 {
            return stream.write_all(answer);
        }
        stream.write_all(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
    });
    bounded(&ran);
    let count = |word| ran.verdicts.values().filter(|verdict| verdict.verdict == word).count();
    assert!(count(Verdict::Pass) >= 4, "what was asked before is judged: {}", ran.said);
    assert!(count(Verdict::Inconclusive) > 0 && count(Verdict::Fail) == 0, "{}", ran.said);
    assert_eq!(ran.code, Some(3), "{}", ran.said);
}

#[test]
fn answers_that_are_meant_for_another_request() {
    // Each request gets the response to the previous request.
    let before = Mutex::new(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".to_vec());
    let ran = against(move |answer, stream| {
        let other = std::mem::replace(&mut *before.lock().unwrap(), answer.to_vec());
        stream.write_all(&other)
    });
    bounded(&ran);
    let wrong = ran.verdicts.values().filter(|verdict| verdict.verdict == Verdict::Fail);
    assert!(wrong.count() > 0, "{}", ran.said);
    assert_eq!(ran.code, Some(1), "{}", ran.said);
    for (case, verdict) in &ran.verdicts {
        assert!(case.contains("periodic") || verdict.verdict != Verdict::Fail, "{case}: {verdict:?}");
    }
}

#[test]
fn gone_in_the_middle_of_a_run_and_back_again() {
    // A listener that closes after some connections, and reopens half a second later.
    let inner = Server::start(|answer, stream| stream.write_all(answer));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut listener = Some(listener);
        let mut seen = 0;
        loop {
            let accepted = listener.as_ref().unwrap().accept();
            let Ok((client, _)) = accepted else { continue };
            seen += 1;
            if seen == 4 {
                drop(client);
                drop(listener.take());
                thread::sleep(Duration::from_millis(500));
                listener = Some(TcpListener::bind(address).unwrap());
                continue;
            }
            let server = TcpStream::connect(inner.address).unwrap();
            let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || drop(std::io::copy(&mut from, &mut to)));
            let (mut from, mut to) = (server, client);
            thread::spawn(move || drop(std::io::copy(&mut from, &mut to)));
        }
    });
    let ran =
        run(&format!("http://{address}"), &format!("deadline-ms = {PATIENT}\nlimits = {{ retries = 5 }}"));
    bounded(&ran);
    let count = |word| ran.verdicts.values().filter(|verdict| verdict.verdict == word).count();
    // One case is unknown because its connection broke. Requests without a connection were resent.
    assert_eq!(count(Verdict::Fail), 0, "{}", ran.said);
    assert!(count(Verdict::Pass) >= 5, "{}", ran.said);
    // The listener loses the connections in its queue. If one of them was for the control of an operation,
    // the cases of that operation are unknown, too. Cases of the other operation are known.
    let lost = count(Verdict::Error) + count(Verdict::Inconclusive);
    assert!(lost < ran.verdicts.len() / 2, "{}", ran.said);
    assert_eq!(ran.code, Some(if count(Verdict::Error) > 0 { 3 } else { 0 }), "{}", ran.said);
    for case in [PLAIN, EXACT] {
        assert!(ran.verdicts.contains_key(case));
    }
}
