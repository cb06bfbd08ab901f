use super::*;
use crate::{
    CaseVerdict, RecordWriter, Resumed, RunFinished, RunStarted, Verdict, outputs::RECORD, verdict::sample,
};

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
    assert!(said.contains("the verdict of `a/b` is `fail` with findings of a `warn`"), "{said}");
    let said = verdict("pass", finding).unwrap_err();
    assert_eq!(
        said,
        "line 2 of the record contradicts itself: the verdict of `a/b` is `pass` with 1 finding; the record was edited"
    );
    assert!(verdict("fail", "").unwrap_err().contains("the verdict of `a/b` is `fail` without a finding"));
    // A verdict based on an unconfirmed rejection is not an independent result.
    let unconfirmed = |word: &str, findings: &str| {
        verdict(word, &format!("{findings}],\"unconfirmed\":true,\"differences\":[")).is_ok()
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
    // Otherwise anybody could edit a record by labeling it as an old format without a chain.
    for other in [0, 1, RunStarted::FORMAT - 1, RunStarted::FORMAT + 1] {
        let text = finished(other);
        let (before, _) = text.split_once(",\"chain\":").unwrap();
        for text in [format!("{before}}}\n"), text.clone()] {
            assert!(matches!(refusal(&text), Some(ReadError::Format { found }) if found == other), "{text}");
        }
    }
    assert!(matches!(read(b"".as_slice()), Err(ReadError::NoStart)));
}

/// Returns a record of three lines and an end in this format, as a run writes it.
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
    assert!(matches!(refusal(&unchained), Some(ReadError::NoChain { line: 4 })));
    for more in [one, last, "\n", "{", "x"] {
        assert!(matches!(refusal(&(text.clone() + more)), Some(ReadError::AfterEnd { line: 5 })), "{more}");
    }
    let twice = [first, one, first, two, last].concat();
    assert!(matches!(refusal(&twice), Some(ReadError::StartedTwice { line: 3 })));
    // A killed run has no end, which is not a sign of editing.
    for killed in [&text[..text.len() - 2], &[first, two].concat(), &[first, one, "{\"eve"].concat()] {
        assert!(refusal(killed).is_none(), "{killed}");
    }
    // A last line that lacks only its line ending was written by a run that had finished.
    assert!(refusal(text.trim_end()).is_none());
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

/// Returns a verdict of this case, which took `micros`.
fn verdict(case: &str, micros: u64) -> Event {
    Event::Verdict(CaseVerdict { case: case.to_owned(), micros, ..sample("a", Verdict::Pass) })
}

fn exchange(number: u64, case: &str) -> Event {
    let text = format!(
        r#"{{"number":{number},"case":"{case}","step":"request","micros":1,
            "request":{{"method":"GET","url":"/ø","headers":[]}}}}"#
    );
    Event::Exchange(serde_json::from_str(&text).unwrap())
}

fn sending(number: u64, case: &str) -> Event {
    let (case, step, method) = (case.to_owned(), "request".to_owned(), "GET".to_owned());
    Event::Sending(crate::Sending { number, case, step, method })
}

fn source(file: &str) -> Event {
    Event::Source(crate::CaseSource { file: file.into(), text: "a: 1\n".into() })
}

fn resumed() -> Event {
    Event::Resumed(Resumed { now: String::new(), kept: 2, in_doubt: vec![] })
}

fn end(exit: u8) -> Event {
    Event::RunFinished(RunFinished { exit, ..RunFinished::default() })
}

/// Returns the entries of a reader in short: each case with its request numbers and the time of its verdict.
fn entries_of(events: &[Event]) -> Vec<String> {
    let record = RecordReader::new(io::Cursor::new(written(events)));
    let of_file: Vec<Entry> = record.collect::<Result<_, _>>().unwrap();
    let without_chain = |entry: Entry| match entry {
        Entry::Run(Event::RunFinished(end)) => {
            Entry::Run(Event::RunFinished(RunFinished { chain: None, ..end }))
        }
        other => other,
    };
    let of_file: Vec<Entry> = of_file.into_iter().map(without_chain).collect();
    assert_eq!(of_file, crate::entries(events), "in memory as from the file");
    let said = |entry: &Entry| match entry {
        Entry::Run(Event::RunFinished(end)) => format!("end {}", end.exit),
        Entry::Run(Event::Source(source)) => source.file.clone(),
        Entry::Run(Event::Resumed(_)) => "resumed".to_owned(),
        Entry::Run(_) => "start".to_owned(),
        Entry::Case(case) => {
            let numbers: Vec<u64> = case.exchanges.iter().map(|exchange| exchange.number).collect();
            format!("{} {numbers:?} {:?}", case.case, case.verdict.as_ref().map(|verdict| verdict.micros))
        }
    };
    of_file.iter().map(said).collect()
}

#[test]
fn cases_come_in_the_order_of_their_ids_whenever_their_events_happened() {
    let start = || start(RunStarted::FORMAT);
    let in_order = [start(), source("s"), exchange(1, "a"), verdict("a", 7), exchange(2, "b"), end(0)];
    assert_eq!(entries_of(&in_order), ["start", "s", "a [1] Some(7)", "b [2] None", "end 0"]);
    let as_it_happened = [
        start(),
        source("s"),
        sending(1, "b"),
        sending(2, "a"),
        exchange(2, "a"),
        exchange(1, "b"),
        sending(3, "c"),
        verdict("b", 8),
        exchange(4, "a"),
        verdict("a", 9),
        end(3),
    ];
    assert_eq!(entries_of(&as_it_happened), ["start", "s", "a [2, 4] Some(9)", "b [1] Some(8)", "end 3"]);
}

#[test]
fn a_run_that_went_on_has_the_last_verdict_of_each_case_and_the_last_end() {
    let events = [
        start(RunStarted::FORMAT),
        exchange(1, "a"),
        verdict("a", 1),
        exchange(2, "b"),
        verdict("b", 2),
        end(3),
        resumed(),
        exchange(3, "a"),
        verdict("a", 5),
        end(0),
    ];
    assert_eq!(entries_of(&events), ["start", "resumed", "a [1, 3] Some(5)", "b [2] Some(2)", "end 0"]);
    // The run was killed again after it was resumed.
    assert_eq!(entries_of(&events[..8]), ["start", "resumed", "a [1, 3] Some(1)", "b [2] Some(2)"]);
}

#[test]
fn a_record_goes_on_where_it_was_cut() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join(RECORD);
    let events = [start(RunStarted::FORMAT), exchange(1, "a"), verdict("a", 1), resumed(), end(0)];
    let whole = written(&events);
    for cut in 0..whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let kept = whole[..cut].split(|byte| *byte == b'\n').count() - 1;
        let mut writer = RecordWriter::go_on(&path).unwrap();
        events[kept..].iter().for_each(|event| writer.write(event).unwrap());
        drop(writer);
        assert!(std::fs::read(&path).unwrap() == whole, "cut after {cut} bytes");
    }
}

#[test]
fn what_is_added_behind_the_end_needs_a_run_that_goes_on() {
    let bytes = written(&[start(RunStarted::FORMAT), end(0), resumed(), verdict("a", 1), end(0)]);
    let text = String::from_utf8(bytes).unwrap();
    assert!(refusal(&text).is_none());
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let without = [lines[0], lines[1], lines[3], lines[4]].concat();
    assert!(matches!(refusal(&without), Some(ReadError::AfterEnd { line: 3 })));
    let edited = text.replace("\"kept\":2", "\"kept\":3");
    assert!(matches!(refusal(&edited), Some(ReadError::Chain { line: 5 })));
    // The run was killed while it wrote that it was resumed.
    assert!(refusal(&[lines[0], lines[1], "{\"event\":\"resumed\",\"no"].concat()).is_none());
}

#[test]
fn a_record_of_which_a_part_counts_ends_there() {
    let bytes = written(&[start(RunStarted::FORMAT), verdict("b", 1), verdict("a", 1), end(0)]);
    for length in 0..=bytes.len() {
        let read = RecordReader::until(io::Cursor::new(&bytes), length as u64).collect::<Result<Vec<_>, _>>();
        let lines = bytes[..length].split(|byte| *byte == b'\n').count() - 1;
        match read {
            Ok(entries) => assert!(entries.len() == lines || bytes.get(length) == Some(&b'\n'), "{length}"),
            Err(error) => assert!(matches!(error, ReadError::NoStart), "{length}: {error}"),
        }
    }
}
