//! Forty command lines that a user may type by mistake. In an earlier version each one destroyed something,
//! misled, or printed something false. Each has its exit code and part of its message.

use std::{fs, process::Output};

use tempfile::TempDir;
use xs2aspec_reference::{Bank, Config, start};

use crate::support::{CERTIFICATE, KEY, command, printed, xs2aspec};

/// A command line (`BANK` is the address of a bank on this machine), its exit code, and part of its output.
type Line = (&'static str, i32, &'static str);

/// A production system behind a tunnel.
const AIMS: [Line; 6] = [
    ("run --target production.toml --out aim", 2, "refusing to send requests"),
    ("doctor --target production.toml", 2, "refusing to send requests"),
    ("curl ncbct.path/plain --target production.toml", 2, "refusing to send requests"),
    ("explore --target production.toml --budget 10", 2, "refusing to send requests"),
    ("run --target production.toml --allow-production --out aim", 2, "confirm-production"),
    ("explore --budget 0", 4, "0 requests"),
];

/// Statements of a run about its selection.
const SAYINGS: [Line; 12] = [
    (
        "run --target bare.toml --only transaction --only customers --out bare",
        3,
        "required clauses were not tested or could not be judged",
    ),
    ("run --target BANK --only limit --out bare", 4, "to test more, add to the profile"),
    ("run --only periodic.months --skip *", 2, "`--skip` excludes all cases that `--only` selects"),
    ("list nothing", 2, "matches no case"),
    ("curl nope --target BANK", 2, "no case"),
    ("curl transaction.path/plain --target BANK", 2, "the target profile has no `transaction.account-id`"),
    ("explore --only baskets", 2, "did you mean `basket`?"),
    ("prove --matrix none.tsv", 2, "cannot read none.tsv"),
    ("coverage", 0, "(100.0 %)"),
    ("doctor --target 127.0.0.1:18300", 2, "a URL begins with `http://` or `https://`"),
    ("serve --style PLAIN", 2, "did you mean \"plain\"?"),
    ("serve --style xyz", 2, "styles are plain, strict, lenient, other and drawn-N"),
];

/// Files that must not be overwritten.
const FILES: [Line; 11] = [
    ("report run --format html --out run/record.jsonl", 2, "run/record.jsonl"),
    ("report run --format html --out linked.jsonl", 2, "linked.jsonl"),
    ("merge part-1 part-2 --out part-1", 2, "part-1"),
    ("bundle run --key key.pem --out key.pem", 2, "key.pem"),
    ("bundle run --key key.pem --out run/record.jsonl", 2, "run/record.jsonl"),
    ("run --only periodic.months --out killed", 2, "--resume killed"),
    ("run --only periodic.months --seed 1 --out killed --force", 0, "conforms"),
    (
        "run --only periodic.months.duplicate --seed 1 --fault periodic.months.duplicate/only-adjacent --base base --out base",
        1,
        " newly failing, 0 fixed",
    ),
    ("explore --budget 10 --save key.pem", 2, "key.pem"),
    ("init bare.toml", 2, "bare.toml"),
    ("keys new --out .", 0, ""),
];

/// Edited evidence, and files that are not evidence.
const EVIDENCE: [Line; 8] = [
    ("report edited --format terminal", 2, "pass"),
    ("diff edited run", 2, "pass"),
    ("rejudge edited", 2, "pass"),
    ("bundle edited --key key.pem --out edited.tar", 2, "pass"),
    ("verify zipped.tar", 2, "this is gzip; expected a tar"),
    ("verify part.tar --key certificate.pem", 0, "--only"),
    ("merge run part-2 --out merged", 2, "run: record 1 is not from a shard"),
    ("report nowhere --format terminal", 2, "nowhere"),
];

/// Invalid values.
const WORDS: [Line; 9] = [
    ("run --now yesterday", 2, "expected an RFC 3339 time such as 2030-01-31T12:00:00Z"),
    ("run --seed -1", 2, "--seed"),
    ("listen --path return", 2, "expected a path that begins with `/`"),
    ("lint --cases twice", 2, "duplicate key `title`"),
    ("doctor --target tls.toml", 3, "the target does not use TLS at this address"),
    ("run --target lines.toml", 2, "expected a string on one line"),
    ("run --target wrong-field.toml", 2, "`xs2aspec init --schema` lists the allowed fields"),
    ("explain transaction.wrapper", 0, "on every response of transaction"),
    ("sign --url http://127.0.0.1/v1/a --method=", 2, "--method"),
];

struct Scene {
    folder: TempDir,
    bank: String,
}

impl Scene {
    fn new(bank: &Bank) -> Self {
        let scene = Self { folder: TempDir::new().unwrap(), bank: bank.base_url() };
        let write = |name: &str, text: &str| fs::write(scene.at(name), text).unwrap();
        let url = &scene.bank;
        write("key.pem", KEY);
        write("certificate.pem", CERTIFICATE);
        write("bare.toml", &format!("base-url = \"{url}\"\n"));
        write("production.toml", &format!("base-url = \"{url}\"\nenvironment = \"production\"\n"));
        write("tls.toml", &format!("base-url = \"{}\"\n", url.replace("http://", "https://")));
        write("lines.toml", &format!("base-url = \"{url}\"\nsession-id = \"a\\r\\nb\"\n"));
        write("wrong-field.toml", &format!("base-url = \"{url}\"\nxyzzy = 1\n"));
        write("zipped.tar", "\u{1f}\u{8b}");
        fs::write(scene.at("zipped.tar"), [0x1f, 0x8b, 8, 0]).unwrap();
        for line in [
            "run --quiet --only periodic.months --seed 1 --out run",
            "run --quiet --only periodic.months.duplicate --seed 1 --out base",
            "run --quiet --only periodic.months --seed 1 --shard 1/2 --out part-1",
            "run --quiet --only periodic.months --seed 1 --shard 2/2 --out part-2",
            "bundle run --key key.pem --out part.tar",
        ] {
            let output = scene.run(line);
            assert!(output.status.success(), "{line}: {}", printed(&output));
        }
        let record = crate::support::read_record(scene.at("run/record.jsonl")).unwrap();
        std::os::unix::fs::symlink(scene.at("run/record.jsonl.gz"), scene.at("linked.jsonl")).unwrap();
        scene.kill(&record);
        scene.edit();
        let twice = scene.at("twice");
        fs::create_dir_all(twice.join("one")).unwrap();
        fs::write(twice.join("one/a.yaml"), "title: a\ntitle: b\ncases: []\n").unwrap();
        scene
    }

    /// Writes a run that was killed while it sent a payment.
    fn kill(&self, record: &str) {
        fs::create_dir(self.at("killed")).unwrap();
        let mut lines: Vec<&str> = record.lines().collect();
        lines.pop();
        lines.push(
            r#"{"event":"sending","number":9000,"case":"ncbct.path/plain","step":"request","method":"POST"}"#,
        );
        fs::write(self.at("killed/record.jsonl"), lines.join("\n") + "\n").unwrap();
    }

    /// Writes a record whose failures were turned into passes, with matching counts.
    fn edit(&self) {
        let line = "run --quiet --only periodic.months.duplicate --seed 1 --fault periodic.months.duplicate/only-adjacent --out edited";
        assert_eq!(self.run(line).status.code(), Some(1));
        let path = self.at("edited/record.jsonl");
        let record = crate::support::read_record(&path).unwrap();
        let failed = record.matches("\"verdict\":\"fail\"").count();
        let passed = record.matches("\"verdict\":\"pass\",").count();
        assert!(failed > 0);
        let edited = record.replace("\"verdict\":\"fail\"", "\"verdict\":\"pass\"");
        let edited = edited.replace(&format!("\"fail\":{failed}"), "\"fail\":0");
        let edited =
            edited.replace(&format!("\"pass\":{passed},"), &format!("\"pass\":{},", passed + failed));
        fs::write(path, edited.replace("\"exit\":1", "\"exit\":0")).unwrap();
    }

    fn at(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, line: &str) -> Output {
        let words = line.split(' ').map(|word| word.replace("BANK", &self.bank));
        command().args(words).current_dir(self.folder.path()).env_remove("CI").output().unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_mistake_ends_as_it_says_and_destroys_nothing() {
    let bank = start(Config::default()).await.unwrap();
    let wrong = tokio::task::block_in_place(|| {
        let scene = Scene::new(&bank);
        let kept = ["run/record.jsonl.gz", "part-1/record.jsonl.gz", "key.pem", "bare.toml"];
        let before = kept.map(|name| fs::read(scene.at(name)).unwrap());
        let mut wrong = Vec::new();
        let lines = [&AIMS[..], &SAYINGS, &FILES, &EVIDENCE, &WORDS].concat();
        assert!(lines.len() >= 40);
        for (line, exit, sentence) in lines {
            let output = scene.run(line);
            let text = printed(&output);
            if output.status.code() != Some(exit) || !text.contains(sentence) {
                let end: Vec<&str> = text.lines().rev().take(6).collect();
                wrong.push(format!(
                    "{line}\n  wanted {exit} and {sentence:?}, got {:?}\n  {end:#?}",
                    output.status.code()
                ));
            }
        }
        let after = kept.map(|name| fs::read(scene.at(name)).unwrap());
        for (name, (before, after)) in kept.iter().zip(before.iter().zip(&after)) {
            if before != after {
                wrong.push(format!("{name} was written over"));
            }
        }
        wrong
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    bank.shutdown().await.unwrap();
}

#[test]
fn explain_says_what_stands_beside_a_mistake() {
    let of = |case: &str| xs2aspec(&["explain", case]).1;
    let beside = of("account.currency/ncbct/creditorAccount.currency/empty/beside-1");
    assert!(beside.contains("\nwith       optional parts of row 1: "), "{beside}");
    let alone = of("account.currency/ncbct/creditorAccount.currency/empty");
    assert!(alone.starts_with("case ") && !alone.contains("\nwith "), "{alone}");
    // A name that only starts the same.
    let named = of("periodic.months.duplicate/beside-a-day");
    assert!(named.starts_with("case ") && !named.contains("\nwith "), "{named}");
}

#[test]
fn explain_of_a_clause_names_its_file_its_cases_and_what_breaks_it() {
    let (_, said) = xs2aspec(&["explain", "basket.status.worst"]);
    for line in [
        "file       cases/baskets/status.yaml:",
        "  basket.status.worst/with-a-rejected-payment/alone  ",
        "  basket.status.worst/of-the-first  The bank takes the status of a basket from its first payment.",
        "    denied by basket.status.worst/",
    ] {
        assert!(said.lines().any(|one| one.starts_with(line)), "{line}: {said}");
    }
    let (_, said) = xs2aspec(&["explain", "error.body"]);
    assert!(said.contains("\nvariations 7\n"), "{said}");
    assert!(said.contains("\n  error.body/problem  "), "{said}");
}

#[test]
fn explain_of_a_header_reads_what_is_written_of_it() {
    for (clause, first) in [
        ("header.psu-http-method.ncbct", None),
        ("header.psu-ip-address.transaction", Some("reading    80: The form of PSU-IP-Address ")),
        ("header.tpp-redirect-uri.absolute", Some("reading    78: TPP-Redirect-URI is ")),
    ] {
        let (_, said) = xs2aspec(&["explain", clause]);
        let reading = said.lines().find(|line| line.starts_with("reading "));
        assert_eq!(reading.is_some(), first.is_some(), "{said}");
        assert!(reading.is_none_or(|line| line.starts_with(first.unwrap())), "{said}");
    }
}
