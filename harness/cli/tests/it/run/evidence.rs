//! A bundle is valid as written. If a byte or line is changed, dropped, doubled or moved, it is not, and the
//! place is named.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rcgen::{KeyPair, PKCS_ED25519};
use serde_json::Value;
use tempfile::TempDir;
use xs2aspec_evidence::{
    bundle::Program,
    verify::{self, Archive},
};
use xs2aspec_record::digest::sha256;

use crate::support::{FIXED, chained, xs2aspec};

/// Returns the program as a bundle names it.
fn program() -> Program {
    let name = concat!("xs2aspec ", env!("CARGO_PKG_VERSION")).to_owned();
    Program { name, sha256: sha256(&fs::read(env!("CARGO_BIN_EXE_xs2aspec")).unwrap()) }
}

/// Runs with failures, and bundles the run.
fn bundled(folder: &Path, key: &str) -> PathBuf {
    let out = folder.join("run");
    let (exit, said) = xs2aspec(
        &[
            &FIXED[..],
            &[
                "--mask-key",
                crate::support::MASK_KEY,
                "--fault",
                "periodic.months.duplicate/only-adjacent",
                "--only",
                "periodic.months.duplicate",
                "--only",
                "certificate.validity",
                "--out",
                out.to_str().unwrap(),
            ],
        ]
        .concat(),
    );
    assert_eq!(exit, Some(1), "{said}");
    let path = folder.join("evidence.tar");
    let (exit, said) =
        xs2aspec(&["bundle", out.to_str().unwrap(), "--key", key, "--out", path.to_str().unwrap()]);
    assert_eq!(exit, Some(0), "{said}");
    path
}

/// Creates an Ed25519 key. Returns the files of its private and public key.
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
            "does not conform: at least one clause is violated (exit 1)\nWHAT WAS RUN\n",
            "rejudged with this version, give the same verdict in ",
            "no byte of the 12 files of the bundle has changed",
            "the hash chain covers every line of the record",
            "the reports, rendered again from the record, equal those of the bundle",
            "the cases are those that this version of the suite plans at depth standard: ",
            "UNKNOWN\n- whose key that is",
            "that the target sent these responses",
        ] {
            assert!(said.contains(expected), "{expected}: {said}");
        }
        assert!(!said.contains("PROVEN"), "nobody knows whose key it is: {said}");
    }
    let path = folder.path().join("evidence.tar");
    let trusted = |key: &str| xs2aspec(&["verify", path.to_str().unwrap(), "--key", key]);
    let (exit, said) = trusted(&public);
    assert_eq!((exit, said.contains("the key that you trust, ")), (Some(0), true), "{said}");
    assert!(said.contains("\nPROVEN\n") && said.contains("\nNOT PROVEN\n"), "{said}");
    let other = ed25519(folder.path()).1;
    let (exit, said) = trusted(&other);
    assert_eq!(
        (exit, said.starts_with("DO NOT TRUST THIS BUNDLE\n- statement.dsse.json: it is signed by the key")),
        (Some(1), true),
        "{said}"
    );
    let (exit, said) = trusted(&private);
    assert_eq!((exit, said.contains("expected a public key")), (Some(2), true), "{said}");
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
        (&b"\x1f\x8b\x08 and so on"[..], "gzip"),
        (b"PK\x03\x04 and so on", "zip"),
        (b"\x28\xb5\x2f\xfd and so on", "zstd"),
        (b"BZh91AY", "bzip2"),
    ] {
        fs::write(&path, bytes).unwrap();
        assert!(
            said().contains(&format!("this is {kind}; expected a tar archive written by `bundle`")),
            "{kind}"
        );
    }
    // 20 GB that take no space on the disk, and would take all memory.
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
    assert_eq!((exit, said.contains(", and public-key.pem is that key")), (Some(0), true), "{said}");
    let (exit, said) = verified(&keys("other.cert.pem"));
    assert_eq!((exit, said.contains("it is signed by the key")), (Some(1), true), "{said}");
    let broken = folder.path().join("broken.pem");
    fs::write(&broken, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    let (exit, said) = verified(broken.to_str().unwrap());
    assert_eq!((exit, said.contains("does not contain an X.509 certificate")), (Some(2), true), "{said}");
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
    let verified = |more: &[&str], expected: i32| {
        let fixed = ["--format", "html,junit,markdown,ctrf", "--out"];
        let (_, ran) = xs2aspec(&[&FIXED[..], &fixed, &[&path("run")], more].concat());
        let (exit, said) =
            xs2aspec(&["bundle", &path("run"), "--key", &private, "--out", &path("evidence.tar")]);
        assert_eq!(exit, Some(0), "{said}");
        let (exit, said) = xs2aspec(&["verify", &path("evidence.tar")]);
        assert_eq!(exit, Some(expected), "{said}");
        (ran, said)
    };
    let cases = path("cases");
    let (ran, said) = verified(&["--cases", &cases, "--variation", "error.body/page"], 3);
    let first = format!("cases from {cases}, not those built into xs2aspec ");
    let text = |name: &str| fs::read_to_string(folder.path().join("run").join(name)).unwrap();
    assert!(ran.starts_with(&first) && said.starts_with(&first), "{ran}\n{said}");
    assert!(text("summary.md").starts_with(&format!("## cases from `{cases}`, not")));
    assert!(text("report.html").contains(&format!("\">{first}")));
    assert!(text("junit.xml").contains(&format!("<property name=\"other-cases\" value=\"{cases}\"/>")));
    assert!(text("ctrf.json").contains(&format!("\"conclusion\":\"{first}")));
    for expected in [
        "- the reference bank, with the variation error.body/page\n",
        &format!("- --cases {cases}: not the cases of this program\n"),
        "- depth standard: 1 cases (0 flaky, 0 not applicable, 0 with a warning, 0 waived",
        "that the record has all cases of the run: the run was planned by another version or with other cases",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let only = ["--only", "ncbct.path", "--only", "periodic.months", "--skip", "*duplicate*"];
    let (ran, said) =
        verified(&[&only[..], &["--fault", "periodic.months.duplicate/only-first"]].concat(), 0);
    assert!(!ran.contains("not those built into") && !said.contains("not those built into"), "{ran}\n{said}");
    for expected in [
        "- the reference bank, with the fault periodic.months.duplicate/only-first\n",
        "- --only ncbct.path, periodic.months\n- --skip *duplicate*\n",
        "give the same verdict in ",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    // The program's own cases count as its own, even if they come from a folder.
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases");
    let (_, said) = verified(&["--only", "ncbct.path", "--cases", own], 0);
    assert!(!said.contains("not those built into") && said.contains("give the same verdict in "), "{said}");
    // The limits of the run are printed.
    let (_, said) = verified(&["--only", "ncbct", "--requests", "12", "--shard", "1/1"], 0);
    assert!(said.contains("\n- --requests 12: ") && said.contains("\n- shard 1/1 of "), "{said}");
}

/// Returns the record of a run with its failures turned into passes, and with matching counts.
fn flattered(record: &str, keeps_findings: bool) -> String {
    let turn = |verdict: &mut Value| {
        verdict["verdict"] = "pass".into();
        if !keeps_findings {
            verdict.as_object_mut().unwrap().remove("findings");
        }
    };
    turned(record, turn)
}

/// Returns the record of a run whose failing verdicts were changed, with matching counts and exit code.
fn turned(record: &str, turn: impl Fn(&mut Value)) -> String {
    let mut turned = 0;
    let lines: Vec<String> = record
        .lines()
        .map(|line| {
            let mut event: Value = serde_json::from_str(line).unwrap();
            if event["event"] == "verdict" && event["verdict"] == "fail" {
                turned += 1;
                turn(&mut event);
            } else if event["event"] == "run-finished" {
                event["exit"] = 0.into();
                event["counts"]["pass"] = (event["counts"]["pass"].as_u64().unwrap() + turned).into();
                event["counts"]["fail"] = 0.into();
            } else {
                return line.to_owned() + "\n";
            }
            event.to_string() + "\n"
        })
        .collect();
    assert!(turned > 5);
    lines.concat()
}

/// Returns the record of a run with its first line edited.
fn begun(record: &str, edit: impl Fn(&mut Value)) -> String {
    let (first, rest) = record.split_once('\n').unwrap();
    let mut start: Value = serde_json::from_str(first).unwrap();
    edit(&mut start);
    format!("{start}\n{rest}")
}

/// A run with failures, its record and a key, to try with edited records.
struct Scene {
    folder: TempDir,
    private: String,
    public: String,
    honest: String,
}

impl Scene {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let (private, public) = ed25519(folder.path());
        bundled(folder.path(), &private);
        let honest = crate::support::read_record(folder.path().join("run/record.jsonl")).unwrap();
        fs::create_dir(folder.path().join("before")).unwrap();
        fs::write(folder.path().join("before/record.jsonl"), &honest).unwrap();
        Self { folder, private, public, honest }
    }

    fn at(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, record: &str) {
        fs::write(self.at("run/record.jsonl"), record).unwrap();
    }

    /// Returns each command that reads the record of the run.
    fn readers(&self) -> Vec<Vec<String>> {
        let (run, before) = (self.at("run"), self.at("before"));
        let lines: [&[&str]; 14] = [
            &["report", &run, "--format", "terminal"],
            &["report", &run, "--format", "har"],
            &["report", &run, "--format", "html", "--out", &self.at("drawn.html")],
            &["merge", &run, "--out", &self.at("merged")],
            &["bundle", &run, "--key", &self.private, "--out", &self.at("edited.tar")],
            &["rejudge", &run],
            &["diff", &run, &before],
            &["diff", &before, &run],
            &["client", "report", &run, "--out", &self.at("client")],
            &["judge", &run, "--out", &self.at("judged")],
            &["run", "--only", "ncbct.path", "--out", &self.at("next"), "--base", &run],
            &["run", "--failed", "--out", &run],
            &["run", "--resume", &run],
            &["report", &self.at("run/record.jsonl"), "--format", "junit"],
        ];
        lines.iter().map(|line| line.iter().map(|word| (*word).to_owned()).collect()).collect()
    }

    /// Bundles an edited record, and verifies the bundle. Returns the exit code, the second line, and the
    /// output.
    fn verified(&self, record: &str) -> (Option<i32>, String, String) {
        self.write(record);
        let tar = self.at("edited.tar");
        let (exit, said) = xs2aspec(&["bundle", &self.at("run"), "--key", &self.private, "--out", &tar]);
        assert_eq!(exit, Some(0), "an honest signer sees nothing: {said}");
        let (exit, said) = xs2aspec(&["verify", &tar, "--key", &self.public]);
        (exit, said.lines().nth(1).unwrap_or_default().to_owned(), said)
    }
}

#[test]
fn no_reader_takes_an_edited_record() {
    let scene = Scene::new();
    let honest = &scene.honest;
    let (before, last) = honest.trim_end().rsplit_once('\n').unwrap();
    let unchained = format!("{before}\n{}}}\n", last.split_once(",\"chain\":").unwrap().0);
    let unconfirmed = turned(honest, |verdict| {
        (verdict["verdict"], verdict["unconfirmed"]) = ("pass".into(), true.into());
        verdict.as_object_mut().unwrap().remove("findings");
    });
    let exit = chained(&honest.replace("\"exit\":1", "\"exit\":0"));
    let table = [
        ("verdicts that their findings speak against", flattered(honest, true)),
        ("the same in a chain that holds", chained(&flattered(honest, true))),
        ("verdicts without findings", flattered(honest, false)),
        ("unconfirmed passes in a chain that holds", chained(&unconfirmed)),
        ("a time", honest.replacen("\"micros\":", "\"micros\":1", 1)),
        ("no chain", unchained),
        ("a line more", format!("{honest}{}\n", before.lines().nth(5).unwrap())),
        ("half a line more", format!("{honest}{{")),
        ("another exit code in a chain that holds", exit),
    ];
    for (edit, record) in table {
        scene.write(&record);
        // A command that reads events instead of whole runs does not check the exit code.
        let is_summed = edit.starts_with("another exit code");
        for reader in scene.readers() {
            let is_of_events = matches!(reader[0].as_str(), "rejudge" | "client" | "judge")
                || reader.contains(&"--resume".to_owned())
                || reader.contains(&"--failed".to_owned());
            if is_summed && is_of_events {
                continue;
            }
            let line: Vec<&str> = reader.iter().map(String::as_str).collect();
            let (exit, said) = xs2aspec(&line);
            assert_eq!(exit, Some(2), "{edit}: {reader:?}: {said}");
            assert!(
                is_summed || said.contains("record.jsonl: ") || said.contains(": record 1: "),
                "{reader:?}: {said}"
            );
            assert!(is_summed || said.contains(" line "), "{reader:?} names the line: {said}");
        }
        assert_eq!(crate::support::read_record(scene.at("run/record.jsonl")).unwrap(), record, "{edit}");
        for name in ["drawn.html", "edited.tar", "merged/record.jsonl", "merged/record.jsonl.gz"] {
            assert!(!Path::new(&scene.at(name)).exists(), "{edit}: {name}");
        }
    }
}

/// A killed run has no end, but it was not edited.
#[test]
fn a_record_without_an_end_is_read() {
    let scene = Scene::new();
    let until = scene.honest.trim_end().rfind('\n').unwrap() + 1;
    for killed in [scene.honest[..until].to_owned(), format!("{}{{\"event\":\"ver", &scene.honest[..until])] {
        scene.write(&killed);
        for format in ["terminal", "junit", "html"] {
            let (exit, said) = xs2aspec(&["report", &scene.at("run"), "--format", format]);
            assert_eq!(exit, Some(0), "{said}");
            assert!(said.contains("the run did not finish"), "{format}: {said}");
        }
        let key = ["--mask-key", crate::support::MASK_KEY];
        let (exit, said) = xs2aspec(&[&["run", "--quiet", "--resume", &scene.at("run")][..], &key].concat());
        assert_eq!(exit, Some(1), "{said}");
        let (exit, said) = xs2aspec(&["report", &scene.at("run"), "--format", "terminal"]);
        assert_eq!(exit, Some(0), "it has an end, and a chain: {said}");
    }
}

#[test]
fn a_verdict_that_the_responses_contradict_is_named_first() {
    let scene = Scene::new();
    let record = chained(&flattered(&scene.honest, false));
    scene.write(&record);
    // `report` does not rejudge.
    let (exit, said) = xs2aspec(&["report", &scene.at("run"), "--format", "terminal"]);
    assert_eq!((exit, said.contains("(exit 0)")), (Some(0), true), "{said}");
    let (exit, said) = xs2aspec(&["rejudge", &scene.at("run")]);
    assert_eq!(exit, Some(1), "{said}");
    assert!(said.contains("periodic.months.duplicate/2-apart: pass -> fail: "), "{said}");
    let (exit, second, said) = scene.verified(&record);
    assert_eq!(exit, Some(1), "{said}");
    assert!(second.contains("the verdict of `periodic.months.duplicate/"), "{said}");
    assert!(!said.contains("conforms") && !said.contains("PROVEN"), "{said}");
}

/// Changes and omissions in the first line of a record that aim to make `verify` check less.
#[test]
fn whoever_lets_less_be_judged_again_is_told() {
    let scene = Scene::new();
    let flattered = flattered(&scene.honest, false);
    let failing: Vec<String> = scene
        .honest
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|event| event["verdict"] == "fail")
        .map(|event| event["case"].as_str().unwrap().to_owned())
        .collect();
    let is_failing = |line: &&str| {
        let event: Value = serde_json::from_str(line).unwrap();
        failing.iter().any(|case| event["case"] == case.as_str())
    };
    let kept: Vec<&str> = scene.honest.lines().filter(|line| !is_failing(line)).collect();
    let dropped = |drawn: bool| {
        let text = kept.join("\n") + "\n";
        let selected = text.matches("\"role\":\"selected\"").count();
        let record = begun(&text, |start| {
            start["cases"] = if drawn { 0.into() } else { selected.into() };
            if drawn {
                start["drawn"] = true.into();
            }
        });
        let counts = |event: &mut Value| {
            event["counts"]["fail"] = 0.into();
            event["exit"] = 0.into();
        };
        last(&record, counts)
    };
    let changes = failing.iter().fold(scene.honest.clone(), |record, case| {
        edited_verdict(&record, case, |verdict| verdict["changes"] = serde_json::json!(["body/a = 1"]))
    });
    let operation =
        edited_verdict(&scene.honest, &failing[0], |verdict| verdict["operation"] = "basket".into());
    let control = edited_verdict(&scene.honest, &failing[0], |verdict| {
        verdict["control"]["case"] = "basket.path/plain".into();
    });
    let tool = begun(&flattered, |start| start["tool"] = "xs2aspec 0.2.1".into());
    for (edit, record, expected) in [
        ("another version", tool.clone(), 3),
        ("another suite", begun(&tool, |start| start["suite_sha256"] = "0".into()), 3),
        ("drawn cases", begun(&flattered, |start| start["drawn"] = true.into()), 1),
        ("dropped cases of a drawn run", dropped(true), 3),
        ("dropped cases", dropped(false), 1),
        ("traffic of others", begun(&flattered, |start| start["traffic"] = "judge".into()), 1),
        ("an unknown pattern", begun(&scene.honest, |start| start["only"][0] = "nothing".into()), 1),
        ("fewer cases", begun(&scene.honest, |start| start["depth"] = "quick".into()), 1),
        ("other changes", changes, 1),
        ("another operation", operation, 1),
        ("another control", control, 1),
    ] {
        let (exit, second, said) = scene.verified(&chained(&record));
        assert_eq!(exit, Some(expected), "{edit}: {said}");
        match expected {
            3 => assert!(
                second.contains("could not be rejudged") || second.contains("is unknown"),
                "{edit}: {said}"
            ),
            _ => assert!(
                second.starts_with("- record.jsonl: ") && !said.contains("conforms"),
                "{edit}: {said}"
            ),
        }
        assert!(!said.contains("conforms") || expected == 3, "{edit}: {said}");
    }
}

/// Returns the record of a run with its last line edited.
fn last(record: &str, edit: impl Fn(&mut Value)) -> String {
    let (before, last) = record.trim_end().rsplit_once('\n').unwrap();
    let mut finished: Value = serde_json::from_str(last).unwrap();
    edit(&mut finished);
    format!("{before}\n{finished}\n")
}

/// Returns the record of a run with the verdict of a case edited.
fn edited_verdict(record: &str, case: &str, edit: impl Fn(&mut Value)) -> String {
    let line = |line: &str| {
        let mut event: Value = serde_json::from_str(line).unwrap();
        if event["event"] != "verdict" || event["case"] != case {
            return format!("{line}\n");
        }
        edit(&mut event);
        format!("{event}\n")
    };
    record.lines().map(line).collect()
}

/// Edits that rejudging cannot detect, but that WHAT WAS RUN shows or a signature reveals.
/// `reports/README.md` lists them.
#[test]
fn what_only_a_signature_reveals() {
    let scene = Scene::new();
    // The responses of a conforming bank instead of the recorded ones.
    let rejection: Value = scene
        .honest
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|event| event["event"] == "exchange" && event["response"]["status"] == 400)
        .unwrap()["response"]
        .clone();
    let failing: Vec<Value> = scene
        .honest
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|event| event["verdict"] == "fail")
        .map(|event| event["exchange"].clone())
        .collect();
    let replaced: Vec<String> = scene
        .honest
        .lines()
        .map(|line| {
            let mut event: Value = serde_json::from_str(line).unwrap();
            if event["event"] != "exchange" || !failing.contains(&event["number"]) {
                return line.to_owned();
            }
            // The headers stay, since they name the request.
            event["response"]["status"] = rejection["status"].clone();
            event["response"]["body"] = rejection["body"].clone();
            event.to_string()
        })
        .collect();
    let replaced = replaced.join("\n") + "\n";
    let (exit, second, said) = scene.verified(&chained(&flattered(&replaced, false)));
    assert_eq!((exit, second.contains("conforms")), (Some(0), true), "{said}");
    // A run with a lower level, which it would state itself.
    let allowed = begun(&scene.honest, |start| {
        start["levels"] = serde_json::json!([
            {"pattern": "periodic.months.duplicate", "level": "note", "by": "command-line"}
        ]);
    });
    let (exit, _, said) = scene.verified(&chained(&allowed));
    assert_eq!(exit, Some(1), "its verdicts do not follow: {said}");
}

#[test]
fn a_bundle_that_was_signed_anew_is_not_that_of_the_key_that_is_trusted() {
    let scene = Scene::new();
    let other = TempDir::new().unwrap();
    let (private, _) = ed25519(other.path());
    let tar = scene.at("other.tar");
    let run = scene.at("run");
    assert_eq!(xs2aspec(&["bundle", &run, "--key", &private, "--out", &tar]).0, Some(0));
    let (exit, said) = xs2aspec(&["verify", &tar, "--key", &scene.public]);
    assert_eq!(exit, Some(1), "{said}");
    let (exit, said) = xs2aspec(&["verify", &tar]);
    assert_eq!((exit, said.contains("PROVEN")), (Some(0), false), "{said}");
}

/// Pseudorandom numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// Returns the byte ranges of the files in a tar archive with regular files and short names.
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
#[ignore = "half a minute with optimisation"]
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
    let bytes = crate::support::content(&bundled(folder.path(), &private));
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
        // Small entries are edited as often as large ones, and so is the archive around them.
        let (name, range) = &members[numbers.below(members.len())];
        let anywhere = number % 5 == 0;
        let at = if anywhere { numbers.below(bytes.len()) } else { range.start + numbers.below(range.len()) };
        let mut edited = bytes.clone();
        let kind = numbers.below(kinds.len());
        // The line with the byte, and the next line.
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
        // The length is unchanged, so the archive still shows which entry it is.
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
