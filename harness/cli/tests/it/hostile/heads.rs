//! Heads of responses: interim responses, malformed lines, and unexpected bytes.

use xs2aspec_record::Verdict;

use super::{ERROR, EXACT, PLAIN, SHORT, against, bounded, healthy, hostile, server::split, whatever};

#[test]
fn interim_answers_without_end() {
    let flood = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(500);
    hostile(SHORT, ERROR, whatever, move |_, stream| {
        loop {
            stream.write_all(flood.as_bytes())?;
        }
    });
}

#[test]
fn some_interim_answers() {
    healthy(&against(|answer, stream| {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")?;
        stream.write_all(answer)
    }));
}

#[test]
fn a_malformed_header_line_is_read_on_and_is_a_warning() {
    for line in ["X-Trace-Id : 7f", "Warning on line 0", "X-Route: a;\r\n  b"] {
        let ran = against(move |answer, stream| {
            let (head, body) = split(answer);
            stream.write_all(&[head.as_bytes(), line.as_bytes(), b"\r\n\r\n", body].concat())
        });
        bounded(&ran);
        assert_eq!((ran.verdict(PLAIN), ran.code), (Verdict::Pass, Some(0)), "{}", ran.said);
        let findings = &ran.verdicts[EXACT].findings;
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!((findings[0].clause.as_str(), findings[0].at.as_str()), ("http.field-lines", "header"));
        assert_eq!(ran.verdict(EXACT), Verdict::Warn);
    }
}

#[test]
fn bytes_behind_a_response_are_a_warning() {
    let ran = against(|answer, stream| stream.write_all(&[answer, b"{}"].concat()));
    assert_eq!((ran.verdict(PLAIN), ran.code), (Verdict::Pass, Some(0)), "{}", ran.said);
    let findings: Vec<_> = ran.verdicts[EXACT].findings.iter().map(|found| found.clause.as_str()).collect();
    assert_eq!((ran.verdict(EXACT), findings), (Verdict::Warn, vec!["http.field-lines"]));
}
