//! Servers that misbehave. Every case gets the right verdict, time and memory are bounded, cases of other
//! operations are judged as usual, and the record has the exchange as far as it was received.
//!
//! A server follows the script of the test for requests to periodic payments, and responds like the reference
//! bank to all others.

mod connection;
mod heads;
mod http_2;
mod intermittent;
mod late;
mod sequence;
pub(crate) mod server;
mod turn;
mod wrong;

use std::{
    collections::BTreeMap,
    fs,
    io::{BufReader, ErrorKind, Result, Write},
    process::Stdio,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use flate2::{Compression, write::GzEncoder};
use server::{Script, Server, Stream, VICTIM, Which, created, split};
use tempfile::TempDir;
use xs2aspec_record::{CaseVerdict, Event, Exchange, Role, Verdict};

use crate::{
    proxy::coded::padded_layers,
    support::{REFERENCE, command, printed},
};

/// A deadline that is long enough for any machine.
const PATIENT: u32 = 30_000;
/// The deadline for tests that wait for it. It is still long enough for immediate responses.
const SHORT: u32 = 4_000;

/// The result of a run.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) said: String,
    pub(crate) verdicts: BTreeMap<String, CaseVerdict>,
    pub(crate) exchanges: Vec<Exchange>,
    /// The number of selected cases.
    selected: usize,
    /// The peak of resident memory, in KiB.
    peak: u64,
    took: Duration,
}

impl Ran {
    pub(crate) fn verdict(&self, case: &str) -> Verdict {
        self.verdicts.get(case).unwrap_or_else(|| panic!("no verdict of {case}: {}", self.said)).verdict
    }

    /// Returns the exchange of the case's own request.
    pub(crate) fn exchange(&self, case: &str) -> &Exchange {
        let mut own = self.exchanges.iter().filter(|one| one.case == case && one.step == "request");
        own.next_back().unwrap_or_else(|| panic!("no exchange of {case}: {}", self.said))
    }

    /// Returns true if a request of this case, or of its control, met the script.
    fn met(&self, case: &str, server: &Server) -> bool {
        let control = || self.verdicts.get(case)?.control.as_ref();
        self.exchanges.iter().any(|one| one.case == case && server.met(&one.request))
            || control().is_some_and(|control| self.met(&control.case, server))
    }
}

/// Runs baseline and other cases of two operations, including those with exact header names, with these lines
/// in the profile.
pub(crate) fn run(base_url: &str, settings: &str) -> Ran {
    let folder = TempDir::new().unwrap();
    let profile = folder.path().join("bank.toml");
    let lines: Vec<&str> = REFERENCE.lines().filter(|line| !line.starts_with("base-url")).collect();
    fs::write(&profile, format!("base-url = {base_url:?}\n{settings}\n{}", lines.join("\n"))).unwrap();
    let begun = Instant::now();
    let mut child = command()
        .args(["run", "--quiet", "--seed", "1", "--target"])
        .arg(&profile)
        .arg("--out")
        .arg(folder.path().join("out"))
        .args(CASES.iter().flat_map(|only| ["--only", only]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        // Until `exec`, a new process has the memory of this one.
        let is_it = status.lines().any(|line| line == "Name:\txs2aspec");
        let line = status.lines().filter(|_| is_it).find_map(|line| line.strip_prefix("VmHWM:"));
        let seen = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        peak = peak.max(seen.unwrap_or_default());
        thread::sleep(Duration::from_millis(5));
    }
    let took = begun.elapsed();
    let output = child.wait_with_output().unwrap();
    let said = printed(&output);
    let record = xs2aspec_record::compressed::open_record(&folder.path().join("out/record.jsonl"))
        .unwrap_or_else(|_| panic!("{said}"));
    let (mut verdicts, mut exchanges, mut selected) = (BTreeMap::new(), Vec::new(), 0);
    for event in xs2aspec_record::read(BufReader::new(record)).unwrap() {
        match event {
            Event::Verdict(verdict) => drop(verdicts.insert(verdict.case.clone(), verdict)),
            Event::Exchange(exchange) => exchanges.push(exchange),
            Event::RunStarted(started) => selected = started.cases,
            _ => {}
        }
    }
    for report in ["junit.xml", "report.html"] {
        assert!(folder.path().join("out").join(report).metadata().unwrap().len() > 0, "{report}");
    }
    Ran { code: output.status.code(), said, verdicts, exchanges, selected, peak, took }
}

const CASES: [&str; 6] = [
    PLAIN,
    "periodic.execution-rule.listed",
    "http.field-names/periodic/x-accept-fix/upper",
    EXACT,
    "ncbct.path/plain",
    "ncbct.creditor-name.length",
];
pub(crate) const PLAIN: &str = "periodic.path/plain";
/// A case whose request is written byte by byte.
pub(crate) const EXACT: &str = "http.field-names/periodic/x-request-id/upper";

/// Runs against a server that applies the script first to every request of its operation, then only to
/// requests that are written byte by byte. Every case has a verdict. No case that met the script passes, the
/// baseline case has one of the expected verdicts, and all other cases are unaffected. `look` gets the
/// exchange of the baseline request, and of an exact one.
fn hostile(
    deadline: u32,
    expected: &[Verdict],
    look: impl Fn(&Exchange),
    script: impl Fn(&[u8], &mut dyn Stream) -> Result<()> + Send + Sync + 'static,
) {
    // Not generic, so that the test program has this code once, and not once for each script.
    meets(deadline, expected, &look, &(Arc::new(script) as Arc<Script>));
}

fn meets(deadline: u32, expected: &[Verdict], look: &dyn Fn(&Exchange), script: &Arc<Script>) {
    for (which, plain) in [(Which::All, PLAIN), (Which::Exact, EXACT)] {
        let server = Server::of_some(which, Arc::clone(script));
        let ran = run(&server.url(), &format!("deadline-ms = {deadline}"));
        assert!(server.asked() > 0);
        bounded(&ran);
        for (case, verdict) in &ran.verdicts {
            let word = verdict.verdict;
            let right = matches!(word, Verdict::Pass | Verdict::Observed);
            assert_ne!(ran.met(case, &server), right, "{case} is {word:?}: {verdict:?}");
        }
        // If there is no response three times, and the control is accepted, the target fails because of the
        // request.
        let failure = ran.exchange(plain).failure.as_deref().unwrap_or_default();
        let is_broken = matches!(which, Which::Exact) && failure.starts_with("the response is broken");
        let expected = if is_broken && expected == ERROR { &[Verdict::Fail] } else { expected };
        assert!(expected.contains(&ran.verdict(plain)), "{:?}\n{}", ran.verdicts[plain], ran.said);
        let is_warned = expected == WARN && ran.code == Some(0);
        assert!(is_warned || matches!(ran.code, Some(1 | 3)), "{:?}: {}", ran.code, ran.said);
        look(ran.exchange(plain));
    }
}

#[test]
fn a_connection_that_breaks_for_one_form_of_a_request_breaks_its_clause() {
    let server = Server::of_some(Which::Exact, Arc::new(|_, _| close()));
    let ran = run(&server.url(), &format!("deadline-ms = {PATIENT}"));
    let verdict = &ran.verdicts[EXACT];
    assert_eq!((verdict.verdict, ran.code), (Verdict::Fail, Some(1)), "{}", ran.said);
    let [finding] = verdict.findings.as_slice() else { panic!("{verdict:?}") };
    assert_eq!((&finding.clause, finding.expected.as_str()), (&verdict.clause, "acceptance (2xx)"));
    let words = "no response three times, while the baseline request is accepted: the response is broken: ";
    assert!(finding.actual.starts_with(words), "{finding:?}");
    assert!(ran.said.contains("got no response three times"), "{}", ran.said);
}

/// Checks nothing more.
fn whatever(_: &Exchange) {}

/// Asserts that the server violated nothing.
pub(crate) fn healthy(ran: &Ran) {
    bounded(ran);
    for (case, verdict) in &ran.verdicts {
        assert!(matches!(verdict.verdict, Verdict::Pass | Verdict::Observed), "{case}: {verdict:?}");
    }
    assert_eq!(ran.code, Some(0), "{}", ran.said);
}

fn bounded(ran: &Ran) {
    let selected = ran.verdicts.values().filter(|verdict| verdict.role == Role::Selected);
    assert_eq!(selected.count(), ran.selected, "{:?}", ran.verdicts.keys());
    assert!(ran.peak > 0 && ran.peak < 400 * 1024, "{} KiB", ran.peak);
    assert!(ran.took < Duration::from_secs(60), "{:?}", ran.took);
}

/// Runs against a server that applies this script to every request of its operation.
fn against(script: impl Fn(&[u8], &mut dyn Stream) -> Result<()> + Send + Sync + 'static) -> Ran {
    let server = Server::start(script);
    let ran = run(&server.url(), &format!("deadline-ms = {PATIENT}"));
    assert!(server.asked() > 0);
    ran
}

/// Ends the connection.
fn close() -> Result<()> {
    Err(ErrorKind::ConnectionAborted.into())
}

/// Sends these bytes, and then stays silent.
fn silent(bytes: &[u8], stream: &mut dyn Stream) -> Result<()> {
    stream.write_all(bytes)?;
    stream.flush()?;
    thread::sleep(Duration::from_secs(60));
    close()
}

const ERROR: &[Verdict] = &[Verdict::Error];
const FAIL: &[Verdict] = &[Verdict::Fail];
const WARN: &[Verdict] = &[Verdict::Warn];

#[test]
fn an_honest_server_passes() {
    healthy(&against(|answer, stream| stream.write_all(answer)));
}

#[test]
fn accepts_and_never_answers() {
    let look = |exchange: &Exchange| {
        assert_eq!(exchange.response, None);
        assert_eq!(exchange.failure.as_deref(), Some("no complete response within 4000 ms"));
    };
    hostile(SHORT, ERROR, look, |_, stream| silent(b"", stream));
}

/// Sends these bytes one at a time.
fn one_by_one(bytes: &[u8], stream: &mut dyn Stream) -> Result<()> {
    bytes.chunks(1).try_for_each(|byte| {
        stream.write_all(byte)?;
        stream.flush()
    })
}

#[test]
fn answers_byte_by_byte() {
    healthy(&against(one_by_one));
}

#[test]
fn answers_byte_by_byte_and_stops_within_the_body() {
    let look = |exchange: &Exchange| {
        let seen = exchange.response.as_ref().expect("what was seen");
        assert_eq!(seen.status, 201);
        assert!(seen.body.as_ref().unwrap().shown().contains("transactionStatus"));
        assert!(exchange.failure.is_some());
    };
    hostile(SHORT, ERROR, look, |answer, stream| {
        one_by_one(&answer[..answer.len() - 1], stream)?;
        silent(b"", stream)
    });
}

#[test]
fn closes_before_the_headers() {
    hostile(PATIENT, ERROR, whatever, |_, _| close());
}

#[test]
fn closes_within_the_headers() {
    hostile(PATIENT, ERROR, whatever, |answer, stream| {
        stream.write_all(&answer[..30])?;
        close()
    });
}

#[test]
fn closes_after_the_headers_and_within_the_body() {
    for part in [0, 10] {
        let look = |exchange: &Exchange| {
            assert_eq!(exchange.response.as_ref().expect("what was seen").status, 201);
            assert!(exchange.failure.is_some());
        };
        hostile(PATIENT, ERROR, look, move |answer, stream| {
            let body = split(answer).1.len();
            stream.write_all(&answer[..answer.len() - body + part])?;
            close()
        });
    }
}

#[test]
fn closes_after_the_body_and_says_so() {
    healthy(&against(|answer, stream| {
        let (head, body) = split(answer);
        stream.write_all(&[head.as_bytes(), b"Connection: close\r\n\r\n", body].concat())?;
        close()
    }));
}

#[test]
fn says_a_greater_length_than_there_is() {
    let longer = |answer: &[u8]| {
        let (head, body) = split(answer);
        let head = head.replace(&format!(": {}\r\n", body.len()), &format!(": {}\r\n", body.len() + 9));
        [head.as_bytes(), b"\r\n", body].concat()
    };
    hostile(PATIENT, ERROR, whatever, move |answer, stream| {
        stream.write_all(&longer(answer))?;
        close()
    });
    hostile(SHORT, ERROR, whatever, move |answer, stream| silent(&longer(answer), stream));
}

#[test]
fn says_a_smaller_length_than_there_is() {
    // The remaining bytes are not a response to the next request, either.
    hostile(PATIENT, FAIL, whatever, |_, stream| {
        let whole = created("", br#"{"paymentId":"p","transactionStatus":"RCVD"}"#);
        let whole = String::from_utf8(whole).unwrap().replace(": 44\r\n", ": 9\r\n");
        stream.write_all(whole.as_bytes())
    });
}

#[test]
fn lengths_that_are_none_or_two() {
    for lengths in ["Content-Length: -1", "Content-Length: 5, 7", "Content-Length: 18446744073709551616"] {
        hostile(PATIENT, ERROR, whatever, move |_, stream| {
            write!(stream, "HTTP/1.1 201 Created\r\n{lengths}\r\n\r\n{{}}")?;
            close()
        });
    }
}

#[test]
fn chunks_that_are_none() {
    for chunks in ["zz\r\n{}\r\n0\r\n\r\n", "5\r\n{}\r\n0\r\n\r\n", "fffffffffffffffff\r\n", "2\r\n{}"] {
        hostile(PATIENT, ERROR, whatever, move |_, stream| {
            write!(stream, "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}")?;
            close()
        });
    }
}

#[test]
fn headers_without_end() {
    hostile(PATIENT, ERROR, whatever, |_, stream| {
        stream.write_all(b"HTTP/1.1 201 Created\r\n")?;
        let lines = "X-Synthetic: some value that goes on\r\n".repeat(1000);
        loop {
            stream.write_all(lines.as_bytes())?;
        }
    });
    hostile(PATIENT, ERROR, whatever, |_, stream| {
        stream.write_all(b"HTTP/1.1 201 Created\r\nX-Synthetic: ")?;
        loop {
            stream.write_all(&[b'x'; 8192])?;
        }
    });
}

#[test]
fn a_body_without_end() {
    for framing in ["", "Transfer-Encoding: chunked\r\n"] {
        let look = |exchange: &Exchange| {
            assert_eq!(exchange.response.as_ref().expect("what was seen").status, 201);
            assert!(exchange.failure.as_deref().unwrap().contains("longer than"), "{exchange:?}");
        };
        hostile(PATIENT, ERROR, look, move |_, stream| {
            write!(stream, "HTTP/1.1 201 Created\r\n{framing}\r\n")?;
            let mut piece = vec![b' '; 0x8000];
            if !framing.is_empty() {
                piece = [b"8000\r\n", &piece[..], b"\r\n"].concat();
            }
            loop {
                stream.write_all(&piece)?;
            }
        });
    }
}

#[test]
fn a_compressed_body_that_grows_without_end() {
    let mut coder = GzEncoder::new(Vec::new(), Compression::best());
    let piece = vec![b' '; 1 << 20];
    for _ in 0..200 {
        coder.write_all(&piece).unwrap();
    }
    let bomb = coder.finish().unwrap();
    hostile(PATIENT, ERROR, whatever, move |_, stream| {
        stream.write_all(&created("Content-Encoding: gzip\r\n", &bomb))
    });
}

#[test]
fn a_content_coding_that_cannot_be_decoded() {
    let valid = br#"{"paymentId":"p","transactionStatus":"RCVD"}"#;
    let own = |coding: &str| (coding.to_owned(), valid.to_vec());
    for (coding, body) in
        [own("gzip"), own("br"), own("zstd"), own("synthetic"), padded_layers(5), padded_layers(20)]
    {
        let look = |exchange: &Exchange| assert!(exchange.response.is_some(), "{exchange:?}");
        hostile(SHORT, ERROR, look, move |_, stream| {
            stream.write_all(&created(&format!("Content-Encoding: {coding}\r\n"), &body))
        });
    }
}

#[test]
fn not_http_at_all() {
    for greeting in [
        &b"SSH-2.0-synthetic\r\n"[..],
        b"220 synthetic ESMTP\r\n",
        b"\x16\x03\x01\x00\x02\x01\x00",
        b"\0\0\0\0\0\0\0\0",
        b"HTTP/9.9 201 Created\r\n\r\n",
    ] {
        hostile(PATIENT, ERROR, whatever, move |_, stream| {
            stream.write_all(greeting)?;
            close()
        });
    }
}

#[test]
fn bodies_that_are_no_json() {
    for body in [
        &b"{\"paymentId\":\"\xff\xfe\",\"transactionStatus\":\"RCVD\"}"[..],
        b"\xef\xbb\xbf{\"paymentId\":\"p\",\"transactionStatus\":\"RCVD\"}",
        b"{\"paymentId\":\"p\",\"transactionStatus\":\"RCVD\"}\0",
        b"{\"paymentId\":\"p\0\",\"transactionStatus\":\"RCVD\"}",
        b"{\"paymentId\":\"p\",\"transactionStatus\":\"RCVD\",\"more\":NaN}",
        b"\xfe\xff\0{\0}",
        b"",
    ] {
        hostile(PATIENT, FAIL, whatever, move |_, stream| stream.write_all(&created("", body)));
    }
}

#[test]
fn members_that_are_there_twice() {
    // Many readers keep the last one, so the first one gives only a warning.
    for (body, expected) in [
        (br#"{"paymentId":"p","transactionStatus":"RCVD","paymentId":17}"#, FAIL),
        (br#"{"paymentId":17,"transactionStatus":"RCVD","paymentId":"p"}"#, WARN),
    ] {
        hostile(PATIENT, expected, whatever, move |_, stream| stream.write_all(&created("", body)));
    }
}

#[test]
fn numbers_that_nobody_can_count() {
    for number in ["1e999999", "-0.1e-999999", "1e9223372036854775808"] {
        let body = format!(r#"{{"paymentId":{number},"transactionStatus":"RCVD"}}"#);
        hostile(PATIENT, FAIL, whatever, move |_, stream| stream.write_all(&created("", body.as_bytes())));
    }
}

#[test]
fn a_document_nested_a_hundred_thousand_deep() {
    for (open, shut) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(100_000), shut.repeat(100_000));
        let body = format!(r#"{{"paymentId":"p","transactionStatus":"RCVD","more":{deep}}}"#);
        hostile(PATIENT, FAIL, whatever, move |_, stream| stream.write_all(&created("", body.as_bytes())));
    }
}

#[test]
fn redirects_lead_nowhere() {
    // Signed headers are not sent to another host, and not in a redirect loop.
    let elsewhere = Server::start(|answer, stream| stream.write_all(answer));
    let other = format!("{}{VICTIM}", elsewhere.url());
    for (status, to) in
        [(301, "/v1/periodic-payments/a"), (302, ""), (307, other.as_str()), (308, other.as_str())]
    {
        let to = to.to_owned();
        let look = |exchange: &Exchange| assert_eq!(exchange.response.as_ref().unwrap().status, status);
        hostile(PATIENT, FAIL, look, move |_, stream| {
            write!(stream, "HTTP/1.1 {status} Elsewhere\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
        });
    }
    assert_eq!(elsewhere.asked(), 0);
}
