use std::fs;

use tempfile::TempDir;
use xs2aspec_record::{Event, Exit, PartsError, RecordWriter, Verdict};

use super::*;
use crate::sample::Sample;

/// Returns a shard of a plan of `planned` cases, with these cases.
fn shard(shard: &str, planned: usize, cases: &[&str]) -> Sample {
    let mut sample = Sample::new(cases.len());
    sample.start().shard = Some(shard.into());
    sample.start().planned = Some(planned);
    for case in cases {
        sample.verdict(&format!("periodic.months/{case}"), Verdict::Pass);
    }
    sample
}

fn bytes(events: &[Event]) -> Vec<u8> {
    let mut writer = RecordWriter::new(Vec::new());
    for event in events {
        writer.write(event).unwrap();
    }
    writer.finish().unwrap()
}

/// Returns the summary of these records, and the bytes of the merged one.
fn merged(records: &[Vec<u8>]) -> Result<(RunSummary, Vec<u8>), MergeError> {
    let folder = TempDir::new().unwrap();
    let paths: Vec<PathBuf> = (1..=records.len()).map(|part| folder.path().join(part.to_string())).collect();
    for (path, record) in paths.iter().zip(records) {
        fs::write(path, record).unwrap();
    }
    let whole = folder.path().join("whole");
    let mut out = Output::create(&whole).unwrap();
    let summary = merge(&paths, &mut out)?;
    out.finish().unwrap();
    Ok((summary, fs::read(whole).unwrap()))
}

#[test]
fn a_merged_record_has_the_bytes_of_all_shards() {
    let one = bytes(&shard("1/2", 3, &["one", "two"]).finished());
    let two = bytes(&shard("2/2", 3, &["three"]).finished());
    let (summary, record) = merged(&[one.clone(), two.clone()]).unwrap();
    assert_eq!(record, [&one[..], &two].concat());
    assert!(summary.complete() && summary.exit() == Exit::Conforms);
    assert_eq!((summary.totals().counts().pass, summary.start().shard.as_deref()), (3, None));
    // A last line may lack its line end.
    for records in [[&one[..one.len() - 1], &two], [&one, &two[..two.len() - 1]]] {
        assert_eq!(merged(&records.map(<[u8]>::to_vec)).unwrap().1, record);
    }
    // A single shard is the whole run.
    let (summary, _) = merged(&[bytes(&shard("1/1", 1, &["one"]).finished())]).unwrap();
    assert_eq!(summary.exit(), Exit::Conforms);
}

#[test]
fn a_record_that_is_not_that_of_a_finished_shard_is_named() {
    let one = || bytes(&shard("1/2", 2, &["one"]).finished());
    let two = || shard("2/2", 2, &["two"]);
    let mut whole = two();
    whole.start().shard = None;
    let found = |second: Vec<u8>| merged(&[one(), second]).unwrap_err();
    assert!(matches!(found(bytes(&whole.finished())), MergeError::NoShard { number: 2 }));
    assert!(matches!(found(b"{}\n".to_vec()), MergeError::Record { number: 2, .. }));
    assert!(matches!(found(Vec::new()), MergeError::Record { number: 2, .. }));
    for events in [two().killed(), two().stopped_early()] {
        assert!(matches!(found(bytes(&events)), MergeError::Unfinished { shard } if shard == "2/2"));
    }
    assert!(merged(&[one(), bytes(&two().finished())]).is_ok());
}

#[test]
fn shards_of_which_one_or_a_case_is_missing_are_not_merged() {
    let part = |part: &str, cases: &[&str]| bytes(&shard(part, 2, cases).finished());
    let missing = merged(&[part("1/2", &["one"]), part("2/2", &[])]).unwrap_err();
    assert!(matches!(missing, MergeError::Missing { planned: 2, found: 1 }), "{missing}");
    let parts = |records: &[Vec<u8>]| match merged(records).unwrap_err() {
        MergeError::Whole(ReportsError::Record(ReadError::Parts(error))) => error,
        error => panic!("{error}"),
    };
    let twice = parts(&[part("1/2", &["one"]), part("2/2", &["one"])]);
    assert_eq!(twice, PartsError::Twice("periodic.months/one".into()));
    let one = part("1/2", &["one"]);
    assert_eq!(parts(&[one.clone(), one.clone()]), PartsError::Shards { number: 1, found: 2, of: 2 });
    assert_eq!(parts(&[one.clone(), part("3/3", &["two"])]).to_string(), {
        "expected runs with the same number of shards, found `2` and `3`"
    });
}
