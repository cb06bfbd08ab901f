//! Files without an end, or with a line longer than memory. The commands report them without reading them
//! into memory.

use std::{
    fs::{self, File},
    io::Write as _,
    path::Path,
    process::Command,
};

use tempfile::TempDir;

use super::text;
use crate::support::{printed, xs2aspec};

/// The address space of the command, in KiB. It is smaller than the input.
const MEMORY: &str = "3000000";

fn bounded(folder: &Path, line: &str) -> (Option<i32>, String) {
    let mut command = Command::new("sh");
    let script = format!("ulimit -v {MEMORY}; exec {} {line}", env!("CARGO_BIN_EXE_xs2aspec"));
    let output = command.current_dir(folder).args(["-c", &script]).output().unwrap();
    (output.status.code(), printed(&output))
}

/// Returns a folder with a run, and a record whose second line has no end.
fn scene() -> TempDir {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let (exit, said) = xs2aspec(&["run", "--quiet", "--only", "ncbct.path", "--out", text(&out)]);
    assert_eq!(exit, Some(0), "{said}");
    let record = crate::support::read_record(out.join("record.jsonl")).unwrap();
    fs::create_dir(folder.path().join("long")).unwrap();
    let mut long = File::create(folder.path().join("long/record.jsonl")).unwrap();
    long.write_all(record.split_inclusive('\n').next().unwrap().as_bytes()).unwrap();
    // 5 GB that take no space on the disk.
    long.set_len(5 << 30).unwrap();
    folder
}

#[test]
#[ignore = "half a minute with optimisation"]
fn a_record_with_a_line_that_is_longer_than_memory_is_told() {
    let folder = scene();
    for (record, at) in [("/dev/zero", 1), ("long", 2)] {
        for reader in [
            format!("report {record} --format junit"),
            format!("rejudge {record}"),
            format!("diff {record} run"),
            format!("diff run {record}"),
            format!("merge {record} --out merged"),
            format!("client report {record} --out client"),
            format!("run --quiet --only ncbct.path --base {record} --out next"),
        ] {
            let (exit, said) = bounded(folder.path(), &reader);
            assert_eq!(exit, Some(2), "{reader}: {said}");
            assert!(
                said.contains(&format!("line {at} of the record is longer than 64 MB")),
                "{reader}: {said}"
            );
        }
    }
    for reader in ["run --quiet --resume long", "judge long --out judged", "bundle long --key key.pem"] {
        fs::write(folder.path().join("key.pem"), crate::support::KEY).unwrap();
        let (exit, said) = bounded(folder.path(), reader);
        assert_eq!(exit, Some(2), "{reader}: {said}");
        assert!(said.contains("line 2 of the record is longer than 64 MB"), "{reader}: {said}");
    }
}

#[test]
#[ignore = "half a minute with optimisation"]
fn an_archive_with_a_member_that_is_longer_than_memory_is_told() {
    are_told(&[("record.jsonl", b'0'), ("pax", b'x')]);
}

#[test]
#[ignore = "a minute with optimisation"]
fn an_archive_with_a_statement_or_a_name_that_is_longer_than_memory_is_told() {
    are_told(&[("statement.dsse.json", b'0'), ("././@LongLink", b'L')]);
}

fn are_told(members: &[(&str, u8)]) {
    let folder = scene();
    for &(name, kind) in members {
        let mut header = tar_header(name, kind, 5 << 30);
        header.resize(512, 0);
        let path = folder.path().join("long.tar");
        let mut file = File::create(&path).unwrap();
        file.write_all(&header).unwrap();
        file.set_len((5 << 30) + 512 + 1024).unwrap();
        let (exit, said) = bounded(folder.path(), "verify long.tar");
        assert_eq!(exit, Some(1), "{name}: {said}");
        assert!(said.starts_with("DO NOT TRUST THIS BUNDLE\n"), "{name}: {said}");
    }
}

/// Returns the header of a tar entry (POSIX ustar), with its checksum.
fn tar_header(name: &str, kind: u8, length: u64) -> Vec<u8> {
    let mut header = vec![0; 512];
    let mut put = |at: usize, text: &[u8]| header[at..at + text.len()].copy_from_slice(text);
    put(0, name.as_bytes());
    put(100, b"0000644\0");
    put(124, format!("{length:011o}\0").as_bytes());
    put(136, b"00000000000\0");
    put(148, b"        ");
    put(156, &[kind]);
    put(257, b"ustar\x0000");
    let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

#[test]
#[ignore = "half a minute with optimisation"]
fn traffic_with_a_text_that_is_longer_than_memory_is_told() {
    let folder = TempDir::new().unwrap();
    let written = |name: &str, begin: &str, text: &[u8]| {
        let mut file = File::create(folder.path().join(name)).unwrap();
        file.write_all(begin.as_bytes()).unwrap();
        for _ in 0..70 {
            file.write_all(&text.repeat((1 << 20) / text.len())).unwrap();
        }
    };
    written("url.har", "{\"log\":{\"entries\":[{\"request\":{\"url\":\"", b"a");
    written("items.har", "{\"log\":{\"entries\":[{\"request\":{\"headers\":[", b"1,");
    written("name.har", "{\"", b"a");
    let request = "GET /v1/sandbox/customers HTTP/1.1\nHost: b\n\n";
    written("body.http", &format!("{request}HTTP/1.1 200 OK\n\n"), b"aaaaaaa\n");
    written("fields.http", "GET /v1/sandbox/customers HTTP/1.1\n", b"a: aaaa\n");
    for name in ["url.har", "items.har", "name.har", "body.http", "fields.http"] {
        let (exit, said) = bounded(folder.path(), &format!("judge {name} --out judged"));
        // The reader can find the next exchange in a wire file, but not in an archive.
        let (most, code) = if name.ends_with("har") { (16, 2) } else { (64, 3) };
        assert_eq!(exit, Some(code), "{name}: {said}");
        assert!(said.contains(&format!("{most} MB, found more")), "{name}: {said}");
    }
    // A declared length is not trusted, either.
    let long = format!("{request}HTTP/1.1 200 OK\nContent-Length: 900000000\n\n");
    fs::write(folder.path().join("length.http"), long).unwrap();
    assert_eq!(bounded(folder.path(), "judge length.http --out judged").0, Some(3));
}
