//! A bundle holds as it was made; with any byte or line changed, dropped, doubled or in another place it does not, and the place is
//! named.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use rcgen::{KeyPair, PKCS_ED25519};
use tempfile::TempDir;
use xs2aspec_report::verify;

const TOOL: &str = concat!("xs2aspec ", env!("CARGO_PKG_VERSION"));

fn xs2aspec(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_xs2aspec")).args(arguments).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.code(), said)
}

/// A run with failures, and its bundle.
fn bundled(folder: &Path, key: &str) -> PathBuf {
    let out = folder.join("run");
    let (exit, said) = xs2aspec(&[
        "run",
        "--quiet",
        "--seed",
        "1",
        "--now",
        "2030-01-31T12:00:00Z",
        "--fault",
        "periodic.months.duplicate/only-adjacent",
        "--only",
        "periodic.months.duplicate",
        "--only",
        "certificate.validity",
        "--out",
        out.to_str().unwrap(),
    ]);
    assert_eq!(exit, Some(1), "{said}");
    let path = folder.join("evidence.tar");
    let (exit, said) =
        xs2aspec(&["bundle", out.to_str().unwrap(), "--key", key, "--out", path.to_str().unwrap()]);
    assert_eq!(exit, Some(0), "{said}");
    path
}

/// An Ed25519 key: the files of its two halves.
fn ed25519(folder: &Path) -> (String, String) {
    let key = KeyPair::generate_for(&PKCS_ED25519).unwrap();
    let (private, public) = (folder.join("key.pem"), folder.join("public.pem"));
    fs::write(&private, key.serialize_pem()).unwrap();
    fs::write(&public, key.public_key_pem()).unwrap();
    (private.to_str().unwrap().to_owned(), public.to_str().unwrap().to_owned())
}

#[test]
fn a_bundle_says_what_is_proven_and_what_is_not() {
    let folder = TempDir::new().unwrap();
    let (private, public) = ed25519(folder.path());
    let rsa = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/keys/tpp.key.pem");
    for key in [rsa, &private] {
        let path = bundled(folder.path(), key);
        let (exit, said) = xs2aspec(&["verify", path.to_str().unwrap()]);
        assert_eq!(exit, Some(0), "{said}");
        for expected in [
            "does not conform: at least one clause is broken (exit 1)\nPROVEN\n",
            "no byte of the 10 files of the bundle has changed",
            "the hash chain runs through every line of the record",
            "the reports, drawn again from the record, are those of the bundle",
            "the cases are those of this version of the suite at depth standard",
            "NOT PROVEN\n- whose key that is",
            "that the record tells what the target answered",
        ] {
            assert!(said.contains(expected), "{expected}: {said}");
        }
    }
    let path = folder.path().join("evidence.tar");
    let trusted = |key: &str| xs2aspec(&["verify", path.to_str().unwrap(), "--key", key]);
    let (exit, said) = trusted(&public);
    assert_eq!((exit, said.contains("the key that you trust, ")), (Some(0), true), "{said}");
    let other = ed25519(folder.path()).1;
    let (exit, said) = trusted(&other);
    assert_eq!(
        (
            exit,
            said.starts_with(
                "NOTHING IN THIS BUNDLE CAN BE BELIEVED\n- statement.dsse.json: it is signed by the key"
            )
        ),
        (Some(1), true),
        "{said}"
    );
    let (exit, said) = trusted(&private);
    assert_eq!((exit, said.contains("expected a public key")), (Some(2), true), "{said}");
}

#[test]
fn a_record_that_was_edited_and_signed_anew_lacks_a_case() {
    // The signature holds: what is missing shows only against the suite.
    let folder = TempDir::new().unwrap();
    let (private, _) = ed25519(folder.path());
    bundled(folder.path(), &private);
    let record = folder.path().join("run/record.jsonl");
    let text = fs::read_to_string(&record).unwrap();
    let case = "periodic.months.duplicate/adjacent";
    let lines = text.lines().filter(|line| !line.contains(&format!("\"case\":\"{case}\"")));
    let edited = lines.collect::<Vec<_>>().join("\n") + "\n";
    let count = |text: &str, name: &str, by: i64| {
        let (before, rest) = text.rsplit_once(&format!("\"{name}\":")).unwrap();
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let number = digits.parse::<i64>().unwrap() + by;
        format!("{before}\"{name}\":{number}{}", &rest[digits.len()..])
    };
    let edited = count(&count(&edited, "pass", -1), "cases", -1);
    fs::write(&record, edited).unwrap();
    let out = folder.path().join("evidence.tar");
    let run = folder.path().join("run");
    let (exit, said) =
        xs2aspec(&["bundle", run.to_str().unwrap(), "--key", &private, "--out", out.to_str().unwrap()]);
    assert_eq!(exit, Some(0), "{said}");
    let (exit, said) = xs2aspec(&["verify", out.to_str().unwrap()]);
    assert_eq!(exit, Some(1), "{said}");
    assert!(said.contains(&format!("record.jsonl: the case `{case}` has no verdict")), "{said}");
}

/// Numbers that look random, and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// Where a member's content stands in a tar archive of regular files with short names.
fn contents(bytes: &[u8]) -> Vec<(String, std::ops::Range<usize>)> {
    let mut at = 0;
    let mut contents = Vec::new();
    while bytes[at] != 0 {
        let text = |range: std::ops::Range<usize>| {
            String::from_utf8(bytes[range].to_vec()).unwrap().trim_end_matches(['\0', ' ']).to_owned()
        };
        let size = usize::from_str_radix(&text(at + 124..at + 136), 8).unwrap();
        contents.push((text(at..at + 100), at + 512..at + 512 + size));
        at += 512 + size.next_multiple_of(512);
    }
    contents
}

#[test]
fn six_hundred_random_edits_are_found_and_named() {
    let folder = TempDir::new().unwrap();
    let (private, _) = ed25519(folder.path());
    let bytes = fs::read(bundled(folder.path(), &private)).unwrap();
    assert_eq!(verify::verify(&bytes, None, TOOL).broken, Vec::<String>::new());
    let members = contents(&bytes);
    assert_eq!(members.len(), 11);
    let mut numbers = Numbers(3);
    let mut kinds = [0; 6];
    for number in 0..600 {
        // Small members are edited as often as large ones, and the archive around them too.
        let (name, range) = &members[numbers.below(members.len())];
        let anywhere = number % 5 == 0;
        let at = if anywhere { numbers.below(bytes.len()) } else { range.start + numbers.below(range.len()) };
        let mut edited = bytes.clone();
        let kind = numbers.below(kinds.len());
        // The line around the byte, and the next one.
        let start = edited[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |before| before + 1);
        let end = |from: usize| {
            bytes[from..]
                .iter()
                .position(|byte| *byte == b'\n')
                .map_or(bytes.len(), |length| from + length + 1)
        };
        let line = start.max(range.start)..end(at).min(range.end);
        let whole_line = !anywhere && line.start < line.end;
        match kind {
            0 => edited[at] ^= 1 << numbers.below(8),
            1 => drop(edited.remove(at)),
            2 => edited.insert(at, bytes[at]),
            3 if whole_line => drop(edited.splice(line, [])),
            4 if whole_line => drop(edited.splice(line.start..line.start, bytes[line].to_vec())),
            5 if whole_line => {
                let next = line.end..end(line.end.min(bytes.len() - 1)).min(range.end);
                if next.start >= next.end {
                    continue;
                }
                let turned = [&bytes[next.clone()], &bytes[line.clone()]].concat();
                edited.splice(line.start..next.end, turned);
            }
            _ => edited[at] = edited[at].wrapping_add(1),
        }
        if edited == bytes {
            continue;
        }
        kinds[kind] += 1;
        let broken = verify::verify(&edited, None, TOOL).broken;
        assert!(!broken.is_empty(), "edit {number} of kind {kind} at byte {at} in {name} passed");
        let names_a_place = |said: &String| {
            said.starts_with("the archive")
                || members.iter().any(|(name, _)| said.starts_with(&format!("{name}: ")))
        };
        assert!(broken.iter().all(names_a_place), "{broken:?}");
        // The length is the same: the archive still shows which member it is.
        if edited.len() == bytes.len() && !anywhere {
            let is_named = broken.iter().any(|said| said.starts_with(&format!("{name}: ")));
            let is_seal = name == "public-key.pem" && broken[0].starts_with("statement.dsse.json: ");
            assert!(is_named || is_seal, "edit {number} of kind {kind} in {name}: {broken:?}");
            if name == "record.jsonl" {
                let line = bytes[range.start..at].split(|byte| *byte == b'\n').count();
                let said = format!("record.jsonl: line {line} is not the line that was recorded");
                assert!(broken.contains(&said), "{said}: {broken:?}");
            }
        }
    }
    assert!(kinds.iter().sum::<i32>() >= 500 && kinds.iter().all(|times| *times > 40), "{kinds:?}");
}
