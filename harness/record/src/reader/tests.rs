use super::*;
use crate::RecordWriter;

fn start(format: u32) -> Event {
    Event::RunStarted(RunStarted { format, ..RunStarted::default() })
}

fn written(events: &[Event]) -> Vec<u8> {
    let mut writer = RecordWriter::new(Vec::new());
    for event in events {
        writer.write(event).unwrap();
    }
    writer.finish().unwrap()
}

#[test]
fn what_is_written_is_read_again() {
    let source = Event::Source(crate::CaseSource { file: "cases/a.yaml".into(), text: "a: \"ø\"\n".into() });
    let document = crate::DocumentText {
        text: "# One\n".into(),
        readings: vec![crate::Reading { row: 12, text: "so".into() }],
        columns: [("basket".to_owned(), "B".to_owned())].into(),
    };
    let events = vec![start(RunStarted::FORMAT), Event::Document(document), source];
    assert_eq!(read(written(&events).as_slice()).unwrap(), events);
}

#[test]
fn a_cut_last_line_is_left_out_and_a_broken_line_is_an_error() {
    let mut bytes = written(&[start(RunStarted::FORMAT)]);
    bytes.extend_from_slice(b"{\"event\":\"ver");
    assert_eq!(read(bytes.as_slice()).unwrap().len(), 1);
    bytes.extend_from_slice(b"\n");
    assert!(matches!(read(bytes.as_slice()), Err(ReadError::Line { line: 2, .. })));
}

#[test]
fn a_verdict_that_its_findings_speak_against_is_an_edit() {
    let verdict = |word: &str, findings: &str| {
        let line = format!(
            r#"{{"event":"verdict","case":"a/b","clause":"a","area":"b","operation":"c","role":"selected","place":{{"file":"d","line":1,"column":1}},"verdict":"{word}","expected":"accepted","checks":1,"findings":[{findings}],"micros":1}}"#
        );
        let mut bytes = written(&[start(RunStarted::FORMAT)]);
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        read(bytes.as_slice()).map(drop).map_err(|error| error.to_string())
    };
    let finding = r#"{"clause":"a","expected":"a refusal","actual":"201","at":"status"}"#;
    for (word, with, without) in [
        ("pass", false, true),
        ("observed", false, true),
        ("inconclusive", false, true),
        ("not-applicable", false, true),
        ("error", false, true),
        ("fail", true, false),
        ("waived", true, false),
        ("warn", false, false),
    ] {
        assert_eq!((verdict(word, finding).is_ok(), verdict(word, "").is_ok()), (with, without), "{word}");
    }
    let warned = finding.replace('}', r#","level":"warn"}"#);
    assert!(verdict("warn", &warned).is_ok() && verdict("waived", &warned).is_ok());
    let said = verdict("fail", &warned).unwrap_err();
    assert!(said.contains("the verdict of `a/b` is `fail` beside findings of a `warn`"), "{said}");
    let said = verdict("pass", finding).unwrap_err();
    assert_eq!(
        said,
        "line 2 of the record contradicts itself: the verdict of `a/b` is `pass` beside 1 finding, so that it was edited"
    );
    assert!(verdict("fail", "").unwrap_err().contains("the verdict of `a/b` is `fail` without a finding"));
    // What rests on an unconfirmed rejection says nothing of its own.
    let unconfirmed = |word: &str, findings: &str| {
        verdict(word, &format!("{findings}],\"unconfirmed\":true,\"places\":[")).is_ok()
    };
    for (word, with, without) in [
        ("pass", false, false),
        ("observed", false, false),
        ("not-applicable", false, false),
        ("error", false, false),
        ("inconclusive", false, true),
        ("fail", true, false),
        ("waived", true, false),
    ] {
        assert_eq!((unconfirmed(word, finding), unconfirmed(word, "")), (with, without), "{word}");
    }
}

#[test]
fn another_format_and_a_missing_start_are_refused() {
    assert!(matches!(read(written(&[start(9)]).as_slice()), Err(ReadError::Format { found: 9 })));
    assert!(matches!(read(b"".as_slice()), Err(ReadError::NoStart)));
}

/// A record of three lines and an end, in this format, as the run wrote it.
fn finished(format: u32) -> String {
    let source =
        |text: &str| Event::Source(crate::CaseSource { file: "cases/a.yaml".into(), text: text.into() });
    let finished = Event::RunFinished(RunFinished::default());
    String::from_utf8(written(&[start(format), source("one"), source("two"), finished])).unwrap()
}

fn refusal(text: &str) -> Option<ReadError> {
    read(text.as_bytes()).err()
}

#[test]
fn a_finished_record_whose_lines_are_not_those_of_the_run_is_refused() {
    let text = finished(RunStarted::FORMAT);
    assert!(refusal(&text).is_none());
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let [first, one, two, last] = lines[..] else { panic!("{text}") };
    let (before, link) = last.split_once(",\"chain\":").unwrap();
    for (edited, at) in [
        (text.replace("one", "two"), 4),
        ([first, two, last].concat(), 3),
        ([first, one, one, two, last].concat(), 5),
        ([first, two, one, last].concat(), 4),
        (text.replace("\"exit\":0", "\"exit\":1"), 4),
        (text.replace("\"micros\":0", "\"micros\":1"), 4),
        (text.replace("\"stopped_early\":false", "\"stopped_early\":true"), 4),
        (text.replace("\"chain\":\"", "\"chain\": \""), 4),
        ([first, one, two, before, ",\"chain\":\"\"}\n"].concat(), 4),
    ] {
        assert!(matches!(refusal(&edited), Some(ReadError::Chain { line }) if line == at), "{edited}");
    }
    assert!(link.len() > 64);
    let unchained = [first, one, two, before, "}\n"].concat();
    assert!(matches!(refusal(&unchained), Some(ReadError::NoChain { line: 4, format: RunStarted::FORMAT })));
    for more in [one, last, "\n", "{", "x"] {
        assert!(matches!(refusal(&(text.clone() + more)), Some(ReadError::AfterEnd { line: 5 })), "{more}");
    }
    let twice = [first, one, first, two, last].concat();
    assert!(matches!(refusal(&twice), Some(ReadError::StartedTwice { line: 3 })));
    // A run that was killed has no end, and is none that somebody edited.
    for killed in [&text[..text.len() - 2], &[first, two].concat(), &[first, one, "{\"eve"].concat()] {
        assert!(refusal(killed).is_none(), "{killed}");
    }
    // Where the last line is whole but for its end the run had come to it.
    assert!(refusal(text.trim_end()).is_none());
}

#[test]
fn records_of_before_are_read_by_what_their_format_has() {
    // Format 4: the link of the line before the last one.
    let text = finished(4);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut chain = HashChain::default();
    lines[..3].iter().for_each(|line| drop(chain.add(line.as_bytes()).to_owned()));
    let (before, _) = lines[3].split_once(",\"chain\":").unwrap();
    let last = format!("{before},\"chain\":\"{}\"}}\n", chain.link());
    let of_before = [lines[0], lines[1], lines[2], &last].concat();
    assert!(refusal(&of_before).is_none());
    assert!(matches!(refusal(&of_before.replace("one", "two")), Some(ReadError::Chain { line: 4 })));
    assert!(matches!(refusal(&text), Some(ReadError::Chain { line: 4 })), "format 4 has no seal");
    let unchained = |format: u32| {
        let text = finished(format);
        let (before, _) = text.split_once(",\"chain\":").unwrap();
        refusal(&format!("{before}}}\n"))
    };
    assert!(unchained(3).is_none());
    assert!(matches!(unchained(4), Some(ReadError::NoChain { line: 4, format: 4 })));
}

#[test]
fn a_line_without_an_end_is_refused_before_it_fills_the_memory() {
    let zeros = BufReader::new(io::repeat(0));
    assert!(matches!(read(zeros), Err(ReadError::Long { line: 1 })));
    let text = finished(RunStarted::FORMAT);
    let first = text.split_inclusive('\n').next().unwrap().as_bytes().to_vec();
    let endless = io::Read::chain(io::Cursor::new(first), io::repeat(b'x'));
    assert!(matches!(read(BufReader::new(endless)), Err(ReadError::Long { line: 2 })));
}
