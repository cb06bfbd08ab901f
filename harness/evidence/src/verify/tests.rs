use std::io::Read as _;

use xs2aspec_record::{Event, RecordWriter, Verdict, compressed, digest::sha256};

use super::*;
use crate::{
    envelope::tests::ed25519,
    sample::{self, Sample},
};

type List = Vec<(String, Vec<u8>)>;

fn tool() -> Program {
    Program { name: "xs2aspec 0.1.0".into(), sha256: "ab".repeat(32) }
}

fn bundled(events: &[Event], key: &crate::envelope::SigningKey) -> Result<Vec<u8>, bundle::BundleError> {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join(RECORD);
    let mut writer = RecordWriter::new(std::fs::File::create(&path).unwrap());
    for event in events {
        writer.write(event).unwrap();
    }
    let mut bytes = Vec::new();
    bundle::bundle(&path, &tool(), key, &mut bytes)?;
    Ok(unpacked(&bytes))
}

/// Returns the tar in a compressed bundle. Earlier versions wrote such archives.
fn unpacked(bundle: &[u8]) -> Vec<u8> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bundle).unwrap();
    let mut bytes = Vec::new();
    compressed::open(file.path(), |_| true).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

fn made(events: &[Event], key: &crate::envelope::SigningKey) -> Vec<u8> {
    bundled(events, key).unwrap()
}

/// Returns the result of verifying a bundle with these bytes.
fn verify(bytes: &[u8], trusted: Option<&PublicKey>, own: &Program) -> Verified {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    super::verify(&Archive::open(file.path()).unwrap(), trusted, own).unwrap()
}

fn read(bytes: &[u8]) -> List {
    let mut list = List::new();
    for entry in tar::Archive::new(bytes).entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        list.push((entry.path().unwrap().to_str().unwrap().to_owned(), content));
    }
    list
}

/// Returns an archive of these members, listed in a statement signed by the key.
fn signed(bytes: &[u8], key: &crate::envelope::SigningKey, edit: impl Fn(&mut List)) -> Vec<u8> {
    let mut members = read(bytes);
    let (_, envelope) = members.pop().unwrap();
    let opened = key.public().unwrap().open(&String::from_utf8(envelope).unwrap()).unwrap();
    let mut statement: Value = serde_json::from_slice(&opened).unwrap();
    edit(&mut members);
    let subjects = members
        .iter()
        .map(|(name, content)| serde_json::json!({"name": name, "digest": {"sha256": sha256(content)}}));
    statement["subject"] = subjects.collect();
    members.push((STATEMENT.into(), key.seal(statement.to_string().as_bytes()).unwrap().into_bytes()));
    written(&members)
}

fn written(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, content) in members {
        bundle::append(&mut archive, name, content.len() as u64, content.as_slice()).unwrap();
    }
    archive.into_inner().unwrap()
}

#[test]
fn the_members_are_those_that_were_signed() {
    let key = ed25519();
    let bytes = made(&sample::mixed(), &key);
    let holds = |bytes: &[u8]| {
        let verified = verify(bytes, None, &tool());
        assert_eq!(verified.broken, Vec::<String>::new());
        verified.not_proven.join("\n")
    };
    // From a version with one report more, one with one report less, and one with another order.
    let more = signed(&bytes, &key, |members| members.insert(6, ("results.json".into(), b"{}".to_vec())));
    assert!(holds(&more).contains("the agreement of results.json with the record"), "{}", holds(&more));
    let less = signed(&bytes, &key, |members| drop(members.remove(8)));
    assert!(!holds(&less).contains("with the record"), "{}", holds(&less));
    holds(&signed(&bytes, &key, |members| members.swap(4, 5)));
    // Every bundle needs these members.
    for (at, name) in [(0, RECORD), (1, CHAIN), (2, PROFILE), (3, DIGESTS), (11, PUBLIC_KEY)] {
        let lacks = signed(&bytes, &key, |members| drop(members.remove(at)));
        let broken = verify(&lacks, None, &tool()).broken;
        assert!(broken.contains(&format!("the archive: `{name}` is missing")), "{name}: {broken:?}");
    }
    // One file was signed and is missing. Another is present and was not signed.
    let edited = |edit: &dyn Fn(&mut List)| {
        let mut members = read(&more);
        edit(&mut members);
        verify(&written(&members), None, &tool()).broken.join("\n")
    };
    let broken = edited(&|members| drop(members.remove(6)));
    assert!(broken.contains("`results.json` is missing"), "{broken}");
    let broken = edited(&|members| members[6].1.push(b' '));
    assert_eq!(broken, "results.json: it is not the file that was signed");
    let broken = edited(&|members| members.insert(7, ("more.txt".into(), vec![1])));
    assert!(broken.contains("`more.txt` does not belong to the bundle"), "{broken}");
}

#[test]
fn another_build_may_draw_other_reports_and_its_own_must_be_as_it_draws_them() {
    let key = ed25519();
    let other = signed(&made(&sample::mixed(), &key), &key, |members| members[5].1.push(b'\n'));
    let broken = verify(&other, None, &tool()).broken.join("\n");
    assert!(
        broken.contains("summary.md: line ") && broken.contains(" does not match the record"),
        "{broken}"
    );
    let build = Program { sha256: "cd".repeat(32), ..tool() };
    let verified = verify(&other, None, &build);
    assert_eq!(verified.broken, Vec::<String>::new());
    let said = verified.not_proven.join("\n");
    assert!(
        said.contains(
            "the agreement of summary.md with the record: written by another build of xs2aspec 0.1.0"
        ),
        "{said}"
    );
    let whole = verify(&made(&sample::mixed(), &key), None, &build);
    assert!(
        whole.proven.iter().any(|said| said.starts_with("the reports, rendered again")),
        "{:?}",
        whole.proven
    );
}

#[test]
fn a_key_that_did_not_sign_and_a_result_that_is_not_the_records_are_named() {
    let key = ed25519();
    let bytes = made(&sample::mixed(), &key);
    let other = ed25519().public().unwrap().pem();
    let swapped = signed(&bytes, &key, |members| members[11].1 = other.clone().into_bytes());
    let broken = verify(&swapped, Some(&key.public().unwrap()), &tool()).broken;
    assert_eq!(broken, ["public-key.pem: it is not the key that signed the statement"]);
    // Independent of the program that it names.
    let mut members = read(&bytes);
    let opened = key.public().unwrap().open(&String::from_utf8(members[12].1.clone()).unwrap()).unwrap();
    let passed = String::from_utf8(opened).unwrap().replace("\"FAILED\"", "\"PASSED\"");
    members[12].1 = key.seal(passed.as_bytes()).unwrap().into_bytes();
    let elsewhere = Program { name: "xs2aspec 9.9.9".into(), ..tool() };
    for program in [tool(), elsewhere] {
        let broken = verify(&written(&members), None, &program).broken;
        assert_eq!(broken, ["statement.dsse.json: it says PASSED, but the record says otherwise"]);
    }
}

#[test]
fn what_was_not_changed_holds() {
    let key = ed25519();
    let bytes = made(&sample::mixed(), &key);
    let verified = verify(&bytes, None, &tool());
    assert_eq!(verified.broken, Vec::<String>::new());
    assert_eq!((verified.proven.len(), verified.not_proven.len()), (5, 2));
    let trusted = key.public().unwrap();
    let verified = verify(&bytes, Some(&trusted), &tool());
    assert_eq!((verified.broken.len(), verified.not_proven.len()), (0, 1));
    let other = ed25519().public().unwrap();
    let broken = verify(&bytes, Some(&other), &tool()).broken.join("\n");
    assert!(broken.starts_with("statement.dsse.json: it is signed by the key "), "{broken}");
    // Another version does not render the reports again, and reports that.
    let verified = verify(&bytes, None, &Program { name: "xs2aspec 9.9.9".into(), ..tool() });
    assert_eq!((verified.broken.len(), verified.not_proven.len()), (0, 3));
}

#[test]
fn a_run_without_an_end_is_not_bundled_and_one_that_stopped_is_not_complete() {
    let mut sample = Sample::new(3);
    sample.verdict("periodic.months/one", Verdict::Pass);
    let error = bundled(&sample.killed(), &ed25519()).unwrap_err().to_string();
    assert!(error.starts_with("the run is unfinished"), "{error}");
    let verified = verify(&made(&sample.stopped_early(), &ed25519()), None, &tool());
    assert!(verified.broken.is_empty());
    assert!(verified.not_proven.iter().any(|said| said.contains("1 of 3 selected cases")));
}

#[test]
fn a_pass_beside_findings_is_no_record() {
    let mut sample = Sample::new(1);
    sample.verdict("periodic.months/one", Verdict::Fail);
    let key = ed25519();
    let edited = signed(&made(&sample.finished(), &key), &key, |members| {
        let record = String::from_utf8(members[0].1.clone()).unwrap();
        members[0].1 = record.replace("\"verdict\":\"fail\"", "\"verdict\":\"pass\"").into_bytes();
    });
    let broken = verify(&edited, None, &tool()).broken.join(
        "
",
    );
    assert!(broken.contains("the verdict of `periodic.months/one` is `pass` with 1 finding"), "{broken}");
}

/// Edits the members of a bundle and returns the result of verifying it.
fn edited(bytes: &[u8], edit: impl Fn(&mut List)) -> String {
    let mut members = read(bytes);
    edit(&mut members);
    verify(&written(&members), None, &tool()).broken.join("\n")
}

#[test]
fn members_that_are_dropped_doubled_turned_or_added_are_named() {
    let bytes = made(&sample::mixed(), &ed25519());
    let table = [
        edited(&bytes, |members| drop(members.remove(4))),
        edited(&bytes, |members| members.push(members[4].clone())),
        edited(&bytes, |members| members.swap(4, 5)),
        edited(&bytes, |members| members.push(("more.txt".into(), vec![1]))),
        edited(&bytes, |members| drop(members.pop())),
    ];
    for (broken, expected) in table.iter().zip([
        "the archive: `junit.xml` is missing",
        "the archive: `junit.xml` occurs 2 times",
        "the archive: `summary.md` is out of order",
        "the archive: `more.txt` does not belong to the bundle",
        "the archive: `statement.dsse.json` is missing",
    ]) {
        assert!(broken.contains(expected), "{broken}");
    }
}

#[test]
fn lines_that_are_changed_dropped_turned_or_doubled_are_named() {
    let bytes = made(&sample::mixed(), &ed25519());
    let lines = |edit: &dyn Fn(&mut Vec<String>), member: usize| {
        edited(&bytes, |members| {
            let text = String::from_utf8(members[member].1.clone()).unwrap();
            let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
            edit(&mut lines);
            members[member].1 = lines.concat().into_bytes();
        })
    };
    let table = [
        lines(&|lines| drop(lines.remove(10)), 0),
        lines(&|lines| lines.insert(10, lines[9].clone()), 0),
        lines(&|lines| lines.swap(9, 12), 0),
        lines(&|lines| lines[13].insert(20, ' '), 0),
        lines(&|lines| drop(lines.remove(3)), 1),
        lines(&|lines| lines.swap(1, 2), 7),
        lines(&|lines| drop(lines.pop()), 4),
        lines(&|lines| lines.swap(0, 1), 5),
    ];
    insta::assert_snapshot!(table.join("\n--\n"), @"
    record.jsonl: line 11 is not the line that was recorded
    --
    record.jsonl: line 11 is not the line that was recorded
    --
    record.jsonl: line 10 is not the line that was recorded
    --
    record.jsonl: line 14 is not the line that was recorded
    --
    record.chain: line 4 does not match the record
    --
    ctrf.json: line 2 does not match the record
    --
    junit.xml: line 193 does not match the record
    --
    summary.md: line 1 does not match the record
    ");
}

#[test]
fn a_record_that_was_changed_before_it_was_bundled_is_seen() {
    let key = ed25519();
    let bytes = made(&sample::mixed(), &key);
    // The chain, the digests and the signature are all valid.
    let edited = signed(&bytes, &key, |members| {
        let record = String::from_utf8(members[0].1.clone()).unwrap();
        let record = record.replacen("\"micros\":12345", "\"micros\":12346", 1);
        let mut chain = HashChain::default();
        let links = record.split_inclusive('\n').map(|line| chain.add(line.as_bytes()).to_owned() + "\n");
        members[1].1 = links.collect::<String>().into_bytes();
        members[0].1 = record.into_bytes();
    });
    let lines = read(&edited)[0].1.split(|byte| *byte == b'\n').count() - 1;
    let broken = verify(&edited, None, &tool()).broken;
    assert!(broken[0].starts_with(&format!("record.jsonl: line {lines} of the record: ")), "{broken:?}");
    // `bundle` does not sign it.
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join(RECORD);
    std::fs::write(&path, &read(&edited)[0].1).unwrap();
    let error = bundle::bundle(&path, &tool(), &key, std::io::sink()).unwrap_err();
    let is_chain = |error: &bundle::BundleError| matches!(error, bundle::BundleError::Record(ReportsError::Record(ReadError::Chain { line })) if *line == lines);
    assert!(is_chain(&error), "{error}");
}

/// A file that is replaced during verification does not affect the result.
#[test]
fn an_archive_is_the_file_that_was_opened() {
    let key = ed25519();
    let folder = tempfile::TempDir::new().unwrap();
    let (path, other) = (folder.path().join("evidence.tar"), folder.path().join("other.tar"));
    std::fs::write(&path, made(&sample::mixed(), &key)).unwrap();
    std::fs::write(&other, made(&sample::hostile(), &key)).unwrap();
    let archive = Archive::open(&path).unwrap();
    std::fs::rename(&other, &path).unwrap();
    let verified = super::verify(&archive, None, &tool()).unwrap();
    assert_eq!(verified.broken, Vec::<String>::new());
    std::fs::remove_file(&path).unwrap();
    assert_eq!(super::verify(&archive, None, &tool()).unwrap().broken, Vec::<String>::new());
}

/// An extended header is not something that `bundle` writes.
#[test]
fn an_extended_header_is_a_member_that_does_not_belong_there() {
    let bytes = made(&sample::mixed(), &ed25519());
    let mut archive = tar::Builder::new(Vec::new());
    for (number, (name, content)) in read(&bytes).iter().enumerate() {
        if number == 1 {
            let pax = [("comment", b"hidden".as_slice())];
            archive.append_pax_extensions(pax).unwrap();
        }
        bundle::append(&mut archive, name, content.len() as u64, content.as_slice()).unwrap();
    }
    let broken = verify(&archive.into_inner().unwrap(), None, &tool()).broken.join("\n");
    assert!(broken.contains("does not belong to the bundle"), "{broken}");
}

#[test]
fn a_compressed_bundle_is_verified_like_the_tar_in_it_and_each_change_is_found() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("evidence.tar.gz");
    let mut packed = compressed::packer(Vec::new());
    std::io::Write::write_all(&mut packed, &made(&sample::mixed(), &ed25519())).unwrap();
    std::fs::write(&path, packed.finish().unwrap()).unwrap();
    let broken = || match Archive::open(&path) {
        Ok(archive) => !super::verify(&archive, None, &tool()).unwrap().broken.is_empty(),
        Err(OpenError::Kind("gzip")) => true,
        Err(error) => panic!("{error}"),
    };
    let bytes = std::fs::read(&path).unwrap();
    assert!(bytes.starts_with(b"\x1f\x8b") && !broken());
    let mut found = 0;
    for at in (10..bytes.len()).step_by(bytes.len() / 40) {
        let mut edited = bytes.clone();
        edited[at] ^= 0x55;
        std::fs::write(&path, edited).unwrap();
        assert!(broken(), "byte {at}");
        std::fs::write(&path, &bytes[..at]).unwrap();
        assert!(broken(), "only {at} bytes");
        found += 1;
    }
    assert!(found >= 40);
}
