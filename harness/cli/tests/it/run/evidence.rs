//! A bundle holds as it was made; with any byte or line changed, dropped, doubled or in another place it does
//! not, and the place is named.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use rcgen::{KeyPair, PKCS_ED25519};
use tempfile::TempDir;
use xs2aspec_evidence::{
    bundle::Program,
    verify::{self, Archive},
};
use xs2aspec_record::digest::sha256;

use crate::support::xs2aspec;

/// The program, as a bundle names it.
fn program() -> Program {
    let name = concat!("xs2aspec ", env!("CARGO_PKG_VERSION")).to_owned();
    Program { name, sha256: sha256(&fs::read(env!("CARGO_BIN_EXE_xs2aspec")).unwrap()) }
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
            "does not conform: at least one clause is broken (exit 1)\nWHAT WAS RUN\n",
            "judged again by this version, come to the same verdict in ",
            "no byte of the 11 files of the bundle has changed",
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

/// A bundle that was made by the version of a commit long ago, as others keep theirs.
const KEPT: &[u8] = include_bytes!("../../../../../fixtures/bundles/0.1.0.tar.gz");

#[test]
fn a_bundle_of_an_earlier_build_still_holds() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("kept.tar");
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(KEPT).read_to_end(&mut bytes).unwrap();
    fs::write(&path, &bytes).unwrap();
    let certificate = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/keys/tpp.cert.pem");
    let (exit, said) = xs2aspec(&["verify", path.to_str().unwrap(), "--key", certificate]);
    assert_eq!(exit, Some(0), "{said}");
    for expected in [
        "does not conform: at least one clause is broken (exit 1)\nWHAT WAS RUN\n",
        "the key that you trust, ",
        "; public-key.pem is that key\n",
        "no byte of the 10 files of the bundle has changed",
        "each of the 1 cases that were selected has exactly one verdict",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    bytes[2_000] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert_eq!(xs2aspec(&["verify", path.to_str().unwrap()]).0, Some(1));
}

#[test]
fn what_is_no_bundle_is_told_before_it_is_read_whole() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("evidence.tar");
    let said = || {
        let (exit, said) = xs2aspec(&["verify", path.to_str().unwrap()]);
        assert_eq!(exit, Some(2), "{said}");
        said
    };
    for (bytes, kind) in [
        (KEPT, "gzip"),
        (b"PK\x03\x04 and so on", "zip"),
        (b"\x28\xb5\x2f\xfd and so on", "zstd"),
        (b"BZh91AY", "bzip2"),
    ] {
        fs::write(&path, bytes).unwrap();
        assert!(said().contains(&format!("this is {kind}; expected a tar, as `bundle` writes it")), "{kind}");
    }
    // 20 GB that take no room on the disk, and would take all of the memory.
    fs::File::create(&path).unwrap().set_len(20 << 30).unwrap();
    assert!(said().contains("expected an archive of at most 17179 MB, found more"), "{}", said());
    fs::remove_file(&path).unwrap();
    assert!(said().contains("cannot be read"), "{}", said());
}

#[test]
fn a_certificate_names_the_key_that_is_trusted() {
    let folder = TempDir::new().unwrap();
    let rsa = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/keys/tpp.key.pem");
    let path = bundled(folder.path(), rsa);
    let verified = |key: &str| xs2aspec(&["verify", path.to_str().unwrap(), "--key", key]);
    let keys = |name: &str| format!("{}/../../fixtures/keys/{name}", env!("CARGO_MANIFEST_DIR"));
    let (exit, said) = verified(&keys("tpp.cert.pem"));
    assert_eq!((exit, said.contains("; public-key.pem is that key")), (Some(0), true), "{said}");
    let (exit, said) = verified(&keys("other.cert.pem"));
    assert_eq!((exit, said.contains("it is signed by the key")), (Some(1), true), "{said}");
    let broken = folder.path().join("broken.pem");
    fs::write(&broken, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    let (exit, said) = verified(broken.to_str().unwrap());
    assert_eq!((exit, said.contains("expected an X.509 certificate")), (Some(2), true), "{said}");
}

#[test]
fn what_was_run_and_with_which_cases_is_said() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (private, _) = ed25519(folder.path());
    fs::create_dir_all(folder.path().join("cases/own")).unwrap();
    let cases =
        "title: own\ncases:\n  - {clause: ncbct.path, name: own, baseline: ncbct, expect: answered}\n";
    fs::write(path("cases/own/own.yaml"), cases).unwrap();
    fs::write(path("waivers.toml"), "").unwrap();
    let verified = |more: &[&str]| {
        let fixed = ["run", "--quiet", "--seed", "1", "--now", "2030-01-31T12:00:00Z", "--out"];
        let (_, ran) = xs2aspec(&[&fixed[..], &[&path("run")], more].concat());
        let (exit, said) =
            xs2aspec(&["bundle", &path("run"), "--key", &private, "--out", &path("evidence.tar")]);
        assert_eq!(exit, Some(0), "{said}");
        let (exit, said) = xs2aspec(&["verify", &path("evidence.tar")]);
        assert_eq!(exit, Some(0), "{said}");
        (ran, said)
    };
    let cases = path("cases");
    let (ran, said) = verified(&["--cases", &cases, "--variation", "error.body/page"]);
    let first = format!("with the cases of {cases}, which are not those of xs2aspec ");
    let text = |name: &str| fs::read_to_string(folder.path().join("run").join(name)).unwrap();
    assert!(ran.starts_with(&first) && said.starts_with(&first), "{ran}\n{said}");
    assert!(text("summary.md").starts_with(&format!("## with the cases of `{cases}`, which")));
    assert!(text("report.html").contains(&format!("\">{first}")));
    assert!(text("junit.xml").contains(&format!("<property name=\"other-cases\" value=\"{cases}\"/>")));
    assert!(text("ctrf.json").contains(&format!("\"conclusion\":\"{first}")));
    for expected in [
        "- the built-in bank, with the variation error.body/page\n",
        &format!("- --cases {cases}: no cases of this program\n"),
        "- depth standard: 1 cases, of which 0 not applicable, 0 with a warning, 0 waived",
        "that the verdicts follow from the recorded answers: only the cases that judged them can",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let only = ["--only", "ncbct.path", "--only", "periodic.months", "--skip", "*duplicate*"];
    let (ran, said) = verified(&[&only[..], &["--fault", "periodic.months.duplicate/only-first"]].concat());
    assert!(!ran.contains("which are not those") && !said.contains("which are not those"), "{ran}\n{said}");
    for expected in [
        "- the built-in bank, with the fault periodic.months.duplicate/only-first\n",
        "- --only ncbct.path, periodic.months\n- --skip *duplicate*\n",
        "come to the same verdict in ",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    // The program's own cases from a folder are its own.
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases");
    let (_, said) = verified(&["--only", "ncbct.path", "--cases", own]);
    assert!(!said.contains("which are not those") && said.contains("come to the same verdict in "), "{said}");
}

/// The record of a run with its failures turned into passes, and the counts mended.
fn flattered(record: &str, keeps_findings: bool) -> String {
    let mut turned = 0;
    let lines: Vec<String> = record
        .lines()
        .map(|line| {
            let mut event: serde_json::Value = serde_json::from_str(line).unwrap();
            if event["event"] == "verdict" && event["verdict"] == "fail" {
                turned += 1;
                event["verdict"] = "pass".into();
                if !keeps_findings {
                    event.as_object_mut().unwrap().remove("findings");
                }
            } else if event["event"] == "run-finished" {
                event["exit"] = 0.into();
                event["counts"]["pass"] = (event["counts"]["pass"].as_u64().unwrap() + turned).into();
                event["counts"]["fail"] = 0.into();
            }
            event.to_string() + "\n"
        })
        .collect();
    assert!(turned > 5);
    lines.concat()
}

/// A record whose last line does not say what the lines before it come to.
fn without_chain(record: &str) -> String {
    let (before, rest) = record.rsplit_once(",\"chain\":\"").unwrap();
    format!("{before}{}", rest.split_once('"').unwrap().1)
}

#[test]
fn failures_that_were_turned_into_passes_are_found_by_every_reader() {
    let folder = TempDir::new().unwrap();
    let (private, _) = ed25519(folder.path());
    bundled(folder.path(), &private);
    let (record, run) = (folder.path().join("run/record.jsonl"), folder.path().join("run"));
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (run, honest) = (run.to_str().unwrap(), fs::read_to_string(&record).unwrap());
    fs::create_dir(folder.path().join("before")).unwrap();
    fs::write(path("before/record.jsonl"), &honest).unwrap();
    // As `sed` leaves it: the findings speak against the verdict.
    fs::write(&record, flattered(&honest, true)).unwrap();
    for reader in [
        &["report", run, "--format", "terminal"][..],
        &["report", run, "--format", "har"],
        &["merge", run, "--out", &path("merged")],
        &["bundle", run, "--key", &private, "--out", &path("edited.tar")],
        &["rejudge", run],
        &["diff", run, &path("before")],
        &["diff", &path("before"), run],
        &["run", "--only", "ncbct.path", "--out", &path("next"), "--base", run],
        &["run", "--resume", run],
    ] {
        let (exit, said) = xs2aspec(reader);
        assert_eq!(exit, Some(2), "{reader:?}: {said}");
        assert!(said.contains(" is `pass` beside 1 finding, so that it was edited"), "{reader:?}: {said}");
    }
    // Without the findings it can be read: what was answered tells it.
    fs::write(&record, flattered(&honest, false)).unwrap();
    let (exit, said) = xs2aspec(&["report", run, "--format", "terminal"]);
    assert_eq!(
        (exit, said.contains("conforms: nothing that was checked is broken")),
        (Some(0), true),
        "{said}"
    );
    let (exit, said) = xs2aspec(&["rejudge", run]);
    assert_eq!(exit, Some(1), "{said}");
    assert!(said.contains("judged the run, so that the record was edited"), "{said}");
    assert!(!said.contains("the rules of judgement are others"), "{said}");
    let bundle = || xs2aspec(&["bundle", run, "--key", &private, "--out", &path("edited.tar")]);
    let (exit, said) = bundle();
    assert_eq!(exit, Some(2), "{said}");
    assert!(said.contains("the record was changed after the run had written it"), "{said}");
    // Without its hash chain, as a version before wrote it, it can be bundled.
    fs::write(&record, without_chain(&flattered(&honest, false))).unwrap();
    let (exit, said) = bundle();
    assert_eq!(exit, Some(0), "{said}");
    let (exit, said) = xs2aspec(&["verify", &path("edited.tar")]);
    assert_eq!(exit, Some(1), "{said}");
    assert!(
        said.starts_with("NOTHING IN THIS BUNDLE CAN BE BELIEVED\n- record.jsonl: the verdict of `"),
        "{said}"
    );
    assert!(
        said.contains(
            "record.jsonl: the verdict of `periodic.months.duplicate/2-apart` is `pass`, and its recorded answers come to `fail`: a new finding: "
        ),
        "{said}"
    );
    assert!(said.contains("so that the record was edited"), "{said}");
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
    fs::write(&record, without_chain(&edited)).unwrap();
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
fn two_hundred_random_edits_are_found_and_named() {
    are_found_and_named(200);
}

#[test]
#[ignore = "a minute with optimisation"]
fn six_hundred_random_edits_are_found_and_named() {
    are_found_and_named(600);
}

fn are_found_and_named(edits: usize) {
    let folder = TempDir::new().unwrap();
    let (private, _) = ed25519(folder.path());
    let bytes = fs::read(bundled(folder.path(), &private)).unwrap();
    let program = program();
    let path = folder.path().join("edited.tar");
    let verified = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        verify::verify(&Archive::open(&path).unwrap(), None, &program).unwrap().broken
    };
    assert_eq!(verified(&bytes), Vec::<String>::new());
    let members = contents(&bytes);
    assert_eq!(members.len(), 12);
    let mut numbers = Numbers(3);
    let mut kinds = [0_usize; 6];
    for number in 0..edits {
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
        let broken = verified(&edited);
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
    let all: usize = kinds.iter().sum();
    assert!(all * 6 >= edits * 5 && kinds.iter().all(|times| times * 15 > edits), "{kinds:?}");
}
