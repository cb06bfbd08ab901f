//! Pseudonyms: nobody can reverse one with the files of a run, and no two runs share any.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use aws_lc_rs::{digest, hmac};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;
use tempfile::TempDir;
use xs2aspec_record::{Body, Exchange};
use xs2aspec_reference::{Config, start};

use crate::support::{MASK_KEY, REFERENCE, command, printed, recorded, xs2aspec};

/// Cases with a person, accounts and a body that is digested.
const ONLY: [&str; 6] =
    ["--only", "ncbct.path", "--only", "header.x-psu-identity.ncbct", "--only", "transaction.path"];

/// A fault that the cases of [`FAULTY`] find.
const FAULT: [&str; 4] =
    ["--fault", "periodic.months.duplicate/only-adjacent", "--only", "periodic.months.duplicate"];

/// The number of PSUs that these cases name: a private and a corporate one.
const PSUS: usize = 2;

/// Masked values of the reference bank, each next to a value that the bank does not have.
const CANDIDATES: [(&str, &str); 3] =
    [("01819000391", "01819000392"), ("NO1400004200179", "NO1400004200178"), ("00004200179", "00004200178")];

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

/// Returns the files below a folder with their bytes.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.clone(), crate::support::content(&path)));
        }
    }
    found
}

/// Returns the hexadecimal digits of the pseudonyms in a text.
fn marks(text: &str) -> BTreeSet<String> {
    xs2aspec_spec::masks::pseudonyms(text.as_bytes())
        .filter_map(|at| text[at].rsplit_once('~').map(|(_, digits)| digits.to_owned()))
        .collect()
}

/// Returns every scalar of a record as bytes, since each of them might be the key.
fn keys(record: &str) -> BTreeSet<Vec<u8>> {
    fn collect(value: &Value, keys: &mut BTreeSet<Vec<u8>>) {
        match value {
            Value::String(text) => drop(keys.insert(text.clone().into_bytes())),
            Value::Number(number) => {
                keys.insert(number.to_string().into_bytes());
                if let Some(number) = number.as_u64() {
                    keys.insert(number.to_be_bytes().to_vec());
                    keys.insert(number.to_le_bytes().to_vec());
                }
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, keys)),
            Value::Object(members) => members.iter().for_each(|(name, value)| {
                keys.insert(name.clone().into_bytes());
                collect(value, keys);
            }),
            _ => {}
        }
    }
    let mut keys = BTreeSet::from([Vec::new()]);
    record.lines().for_each(|line| collect(&serde_json::from_str(line).unwrap(), &mut keys));
    keys
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

/// Returns the pseudonyms that a guess and a key might produce.
fn hashes(key: &[u8], guess: &str) -> [String; 4] {
    let of = |parts: &[&[u8]]| hex(digest::digest(&digest::SHA256, &parts.concat()).as_ref());
    let mac = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), guess.as_bytes());
    [hex(mac.as_ref()), of(&[key, guess.as_bytes()]), of(&[guess.as_bytes(), key]), of(&[guess.as_bytes()])]
}

/// Returns the digests of the recorded bodies, with a guess instead of each pseudonym.
fn digests(exchanges: &[Exchange], guess: &str) -> BTreeSet<String> {
    let bodies = exchanges.iter().flat_map(|exchange| {
        let answer = exchange.response.as_ref().and_then(|answer| answer.body.as_ref());
        [exchange.request.body.as_ref(), answer].into_iter().flatten()
    });
    let mut digests = BTreeSet::new();
    for body in bodies {
        let Body::Text(text) = body else { continue };
        let places: Vec<_> = xs2aspec_spec::masks::pseudonyms(text.as_bytes()).collect();
        for one in &places {
            let mut guessed = text.clone();
            let mark = &text[one.clone()];
            guessed = guessed.replace(mark, guess);
            digests.insert(BASE64_STANDARD.encode(digest::digest(&digest::SHA256, guessed.as_bytes())));
        }
    }
    digests
}

#[test]
fn nobody_computes_a_value_back_from_what_a_run_leaves() {
    let folder = TempDir::new().unwrap();
    let (out, key, bundle) = (path(&folder, "out"), path(&folder, "key.pem"), path(&folder, "bundle.tar"));
    let (exit, said) = xs2aspec(&[&["run", "--seed", "5", "--out", &out][..], &ONLY].concat());
    assert_eq!(exit, Some(0), "{said}");
    let pem = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap().serialize_pem();
    fs::write(&key, pem).unwrap();
    let (exit, more) = xs2aspec(&["bundle", &out, "--key", &key, "--out", &bundle]);
    assert_eq!(exit, Some(0), "{more}");
    let mut all = files(Path::new(&out));
    all.push((bundle.clone().into(), crate::support::content(Path::new(&bundle))));
    for format in ["har", "ctrf"] {
        all.push((format.into(), crate::support::rendered(Path::new(&out), format).into_bytes()));
    }
    all.push(("terminal".into(), (said.clone() + &more).into_bytes()));
    assert!(all.len() > 8, "{}", all.len());
    let texts: Vec<(PathBuf, String)> =
        all.into_iter().map(|(path, bytes)| (path, String::from_utf8_lossy(&bytes).into_owned())).collect();
    let found: BTreeSet<String> = texts.iter().flat_map(|(_, text)| marks(text)).collect();
    assert!(found.len() > 10, "{found:?}");
    let record = crate::support::read_record(format!("{out}/record.jsonl")).unwrap();
    let (_, exchanges) = recorded(Path::new(&out), &said);
    let keys = keys(&record);
    assert!(keys.len() > 2_000, "{}", keys.len());
    for (right, wrong) in CANDIDATES {
        for guess in [right, wrong] {
            for (path, text) in &texts {
                assert!(!text.contains(guess), "{guess} in {}", path.display());
            }
            for hash in keys.iter().flat_map(|key| hashes(key, guess)) {
                for length in [8, 16] {
                    assert!(!found.contains(&hash[..length]), "{guess} is {}", &hash[..length]);
                }
            }
            let digests = digests(&exchanges, guess);
            assert!(digests.len() > 10, "{}", digests.len());
            for digest in digests {
                assert!(!record.contains(&digest), "a digest confirms {guess}");
            }
        }
    }
    // Neither command needs the key, which has been deleted.
    assert!(!Path::new(&format!("{out}/mask.key")).exists());
    let (exit, said) = xs2aspec(&["rejudge", &out]);
    assert_eq!(exit, Some(0), "{said}");
    let (exit, said) = xs2aspec(&["verify", &bundle]);
    assert_eq!(exit, Some(0), "{said}");
}

/// Returns the pseudonyms in the header of a record, and the ids of its findings.
fn seen(out: &str, header: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let (_, exchanges) = recorded(Path::new(out), "");
    let headers = exchanges.iter().filter_map(|exchange| exchange.request.header(header));
    let pseudonyms = headers.flat_map(marks).collect();
    let sarif: Value = serde_json::from_slice(&fs::read(format!("{out}/results.sarif")).unwrap()).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap().iter();
    (pseudonyms, results.map(|result| result["partialFingerprints"].to_string()).collect())
}

#[test]
fn pseudonyms_differ_between_runs_and_findings_do_not() {
    let folder = TempDir::new().unwrap();
    let (one, other) = (path(&folder, "one"), path(&folder, "other"));
    let fixed = ["run", "--quiet", "--seed", "1", "--now", "2030-01-31T12:00:00Z"];
    let (exit, said) = xs2aspec(&[&fixed[..], &FAULT, &["--out", &one]].concat());
    assert_eq!(exit, Some(1), "{said}");
    let (exit, said) = xs2aspec(&[&fixed[..], &FAULT, &["--out", &other, "--base", &one]].concat());
    assert_eq!(exit, Some(1), "{said}");
    let (seen_once, seen_twice) = (seen(&one, "psu-id"), seen(&other, "psu-id"));
    assert_eq!((seen_once.0.len(), seen_twice.0.len()), (PSUS, PSUS));
    assert_ne!(seen_once.0, seen_twice.0, "the pseudonyms");
    assert!(!seen_once.1.is_empty());
    assert_eq!(seen_once.1, seen_twice.1, "the ids of findings");
    let (exit, said) = xs2aspec(&["diff", &one, &other]);
    assert!(exit == Some(0) && said.contains("No differences"), "{said}");
    let record = crate::support::read_record(format!("{other}/record.jsonl")).unwrap();
    let changes = record.lines().find(|line| line.starts_with("{\"event\":\"changes\"")).unwrap();
    assert!(!changes.contains('~'), "{changes}");
    let (exit, said) = xs2aspec(&[&fixed[..], &["--out", &other, "--failed"], &FAULT[..2]].concat());
    assert_eq!(exit, Some(1), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_goes_on_has_its_key() {
    let folder = TempDir::new().unwrap();
    let bank = start(Config { faults: vec![FAULT[1].parse().unwrap()], ..Config::default() });
    let bank = bank.await.unwrap();
    let profile = REFERENCE.replace("http://127.0.0.1\"", &format!("{}\"", bank.base_url()));
    fs::write(folder.path().join("bank.toml"), profile).unwrap();
    let ran = |arguments: &[&str]| {
        let output = tokio::task::block_in_place(|| {
            command().current_dir(folder.path()).args(arguments).output().unwrap()
        });
        (output.status.code(), printed(&output))
    };
    let begin = |out: &str, more: &[&str]| {
        let line = ["run", "--quiet", "--target", "bank.toml", "--jobs", "1", "--fail-fast", "--out", out];
        let (exit, said) = ran(&[&line[..], &["--only", "periodic.months"], more].concat());
        assert_eq!(exit, Some(1), "{said}");
    };
    begin("out", &[]);
    let key = folder.path().join("out/mask.key");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let record =
        crate::support::read_record(folder.path().join("out/record.jsonl")).map(String::into_bytes).unwrap();
    let kept = fs::read_to_string(&key).unwrap();
    assert!(!String::from_utf8(record).unwrap().contains(kept.trim()));
    // Without the key, or with another one, equal values would no longer have equal pseudonyms.
    fs::rename(&key, folder.path().join("moved.key")).unwrap();
    let resume = ["run", "--quiet", "--target", "bank.toml", "--resume", "out"];
    let (exit, said) = ran(&resume);
    assert!(exit == Some(2) && said.contains("--mask-key"), "{said}");
    let (exit, said) = ran(&[&resume[..], &["--mask-key", MASK_KEY]].concat());
    assert!(exit == Some(2) && said.contains("mask key"), "{said}");
    let (exit, said) = ran(&[&resume[..], &["--mask-key", "moved.key"]].concat());
    assert_eq!(exit, Some(1), "{said}");
    let out = path(&folder, "out");
    assert_eq!(seen(&out, "psu-id").0.len(), PSUS, "{said}");
    // The end of a run deletes the key in its folder, but not a key of the user.
    begin("other", &[]);
    assert!(folder.path().join("other/mask.key").exists());
    let (exit, said) = ran(&["run", "--quiet", "--target", "bank.toml", "--resume", "other"]);
    assert_eq!(exit, Some(1), "{said}");
    assert!(!folder.path().join("other/mask.key").exists() && folder.path().join("moved.key").exists());
    assert_eq!(seen(&path(&folder, "other"), "psu-id").0.len(), PSUS);
    begin("given", &["--mask-key", "moved.key"]);
    assert!(!folder.path().join("given/mask.key").exists());
    bank.shutdown().await.unwrap();
}

#[test]
fn shards_with_one_key_have_one_pseudonym_for_a_value() {
    let folder = TempDir::new().unwrap();
    for (name, key, expected) in [("apart", &[][..], 2 * PSUS), ("shared", &["--mask-key", MASK_KEY], PSUS)] {
        let mut merge = vec!["merge".to_owned(), "--out".to_owned(), path(&folder, name)];
        for shard in ["1/2", "2/2"] {
            let out = path(&folder, &format!("{name}-{}", shard.replace('/', "-")));
            let fixed = ["run", "--quiet", "--seed", "1", "--shard", shard, "--out", &out];
            let (exit, said) = xs2aspec(&[&fixed[..], &["--only", "periodic.months"], key].concat());
            assert_eq!(exit, Some(0), "{said}");
            merge.push(out);
        }
        let merge: Vec<&str> = merge.iter().map(String::as_str).collect();
        let (exit, said) = xs2aspec(&merge);
        assert_eq!(exit, Some(0), "{said}");
        assert_eq!(seen(&path(&folder, name), "psu-id").0.len(), expected, "{name}");
        let (exit, said) = xs2aspec(&["rejudge", &path(&folder, name)]);
        assert_eq!(exit, Some(0), "{said}");
    }
}

#[test]
fn a_file_that_is_no_key_is_rejected_before_anything_is_sent() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("short.key"), "abc").unwrap();
    for key in ["short.key", "none.key"] {
        let (key, out) = (path(&folder, key), path(&folder, "out"));
        let (exit, said) = xs2aspec(&["run", "--only", "ncbct.path", "--mask-key", &key, "--out", &out]);
        assert!(exit == Some(2) && said.contains(&key), "{said}");
        assert!(!Path::new(&out).exists());
    }
}
