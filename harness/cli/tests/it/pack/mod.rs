//! The second document as a test. `fixtures/packs/parcels` is data only, and the same program runs it against
//! a desk that conforms or has a fault.

mod commands;
mod desk;
mod faults;
mod levels;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
    sync::{Arc, LazyLock},
};

use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::Semaphore;
use wiremock::{MockServer, Request, ResponseTemplate};
use xs2aspec_signing::Certificate;

use self::{
    desk::{Asked, Desk},
    faults::{FAULTS, FREEDOMS},
};
use crate::support::{self, printed, stub, xs2aspec};

/// The pack.
const PACK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/packs/parcels");

/// The clock of all runs and desks.
const NOW: &str = "2031-03-04T09:00:00Z";

/// The profile of a desk.
const PROFILE: &str = r#"
name = "parcel desk"
base-url = "BASE"
client = { key = "SHOP000001" }
office = { id = "O0001" }
signing = { key = "KEYS/tpp.key.pem", certificate = "KEYS/tpp.cert.pem" }
"#;

/// The result of a run against a desk.
struct Ran {
    exit: Option<i32>,
    said: String,
    /// The folder with the profile, and with the record in `out`.
    folder: TempDir,
}

/// The keys of the shop.
static KEYS: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = TempDir::new().unwrap();
    let made = xs2aspec(&["keys", "new", "--out", folder.path().to_str().unwrap()]);
    assert_eq!(made.0, Some(0), "{}", made.1);
    folder
});

/// Starts a desk and writes a profile of it to a folder.
async fn desk(fault: Option<&'static str>, freedom: Option<&'static str>) -> (MockServer, TempDir) {
    let keys = KEYS.path();
    let shop = Certificate::from_pem(fs::read(keys.join("tpp.cert.pem")).unwrap()).unwrap();
    let desk = Desk::new((fault, freedom), shop, NOW.parse().unwrap());
    let server = stub::server(move |request: &Request| answer(&desk, request)).await;
    let profile = PROFILE.replace("BASE", &server.uri()).replace("KEYS", keys.to_str().unwrap());
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("desk.toml"), profile).unwrap();
    (server, folder)
}

fn answer(desk: &Desk, request: &Request) -> ResponseTemplate {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = request.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value)));
    let asked = Asked {
        method: request.method.as_str(),
        path: request.url.path(),
        query: request.url.query_pairs().into_owned().collect(),
        headers: headers.collect(),
        body: &request.body,
    };
    let (status, body) = desk.answer(&asked);
    let kind = if desk.uses("plain") { "text/plain" } else { "application/json" };
    ResponseTemplate::new(status).set_body_raw(body.to_string(), kind)
}

/// Runs the pack against a desk: the cases of these clauses, or all cases if the list is empty.
async fn run(fault: Option<&'static str>, freedom: Option<&'static str>, clauses: &[&str]) -> Ran {
    let (desk, folder) = desk(fault, freedom).await;
    let profile = folder.path().join("desk.toml");
    let mut arguments =
        vec!["--pack", PACK, "--seed", "1", "--now", NOW, "--target", profile.to_str().unwrap()];
    arguments.extend(clauses.iter().flat_map(|clause| ["--only", clause]));
    let (exit, said) = ended(command(folder.path(), &arguments)).await;
    drop(desk);
    Ran { exit, said, folder }
}

/// Returns a run in this folder.
fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = support::command();
    let out: &[&str] = if arguments.contains(&"--resume") { &[] } else { &["--out", "out"] };
    command.current_dir(folder).args(["run", "--quiet"]).args(arguments).args(out);
    command
}

/// Returns the exit code and the output of a command.
async fn ended(mut command: Command) -> (Option<i32>, String) {
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    (output.status.code(), printed(&output))
}

/// Reads the events of the record in a folder.
fn record(folder: &Path) -> Vec<Value> {
    let text = crate::support::read_record(folder.join("record.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

impl Ran {
    /// Returns the clauses that failing cases report as violated.
    fn broken(&self) -> BTreeSet<String> {
        self.clauses("fail")
    }

    /// Returns the clauses of the cases with this verdict.
    fn clauses(&self, word: &str) -> BTreeSet<String> {
        let events = record(&self.folder.path().join("out")).into_iter();
        let failing = events.filter(|event| event["event"] == "verdict" && event["verdict"] == word);
        let findings =
            failing.flat_map(|verdict| verdict["findings"].as_array().cloned().unwrap_or_default());
        findings.filter_map(|finding| finding["clause"].as_str().map(str::to_owned)).collect()
    }

    /// Returns the profile of the desk.
    fn profile(&self) -> String {
        self.folder.path().join("desk.toml").display().to_string()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_desk_that_obeys_is_accused_of_nothing() {
    obeys(&[None, Some(FREEDOMS[0])]).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a minute with optimisation"]
async fn a_desk_that_obeys_is_accused_of_nothing_whatever_freedom_it_uses() {
    obeys(&FREEDOMS.map(Some)).await;
}

async fn obeys(freedoms: &[Option<(&'static str, Option<&str>)>]) {
    for freedom in freedoms {
        let (freedom, warned) = freedom.map_or((None, None), |(name, clause)| (Some(name), clause));
        let ran = run(None, freedom, &[]).await;
        assert_eq!(
            ran.clauses("warn"),
            warned.into_iter().map(str::to_owned).collect(),
            "{freedom:?}: {}",
            ran.said
        );
        assert_eq!((ran.exit, ran.broken()), (Some(0), BTreeSet::new()), "{freedom:?}: {}", ran.said);
        assert!(ran.said.contains("not the one built into xs2aspec"), "{}", ran.said);
    }
}

/// Prefixes of clauses without cases of their own, since every response is checked for them.
const OF_EVERY_ANSWER: [&str; 3] = ["answer.", "refusal.", "http."];
/// Cases whose responses show these clauses, except those about some rejections, and about an optional
/// service.
const ANSWERS: [&str; 5] = ["*.path", "parcel.service.*", "parcel.size.*", "track.*", "offices.*"];
const NOT_SHOWN: [&str; 2] = ["refusal.", "answer.service.same"];

/// The cases of a fault's clauses find every fourth fault, and each fault that only some rejections show. For
/// every twelfth fault, all cases run, so that any other clause could be named. The long version runs all
/// cases for all faults.
#[tokio::test(flavor = "multi_thread")]
async fn each_sentence_that_a_desk_breaks_is_found_under_its_clause() {
    let is_not_shown = |clause: &&str| NOT_SHOWN.iter().any(|begin| clause.starts_with(begin));
    desks_are_found_out(move |at, clauses| {
        if at % 12 == 0 || clauses.iter().any(is_not_shown) {
            Some(vec![])
        } else {
            (at % 4 == 0).then(|| cases_of(clauses))
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "two minutes with optimisation"]
async fn each_sentence_that_a_desk_breaks_is_found_under_its_clause_alone() {
    desks_are_found_out(|_, _| Some(vec![])).await;
}

/// Returns the cases of these clauses, and those whose responses show the clauses without cases.
fn cases_of(clauses: &[&'static str]) -> Vec<&'static str> {
    let is_shown = |clause: &&str| OF_EVERY_ANSWER.iter().any(|begin| clause.starts_with(begin));
    let (shown, own): (Vec<&str>, Vec<&str>) = clauses.iter().partition(|clause| is_shown(clause));
    let answers: &[&str] = if shown.is_empty() { &[] } else { &ANSWERS };
    [&own, answers].concat()
}

/// Asserts that a desk with a fault violates the clauses of that fault. `asked` gets the number of a fault
/// and its clauses, and returns the cases to run. An empty list means all cases, and `None` skips the fault.
async fn desks_are_found_out(asked: impl Fn(usize, &[&'static str]) -> Option<Vec<&'static str>>) {
    // Many in parallel, since some wait for a desk to change its state.
    let places = Arc::new(Semaphore::new(12));
    let mut runs = Vec::new();
    for (at, (fault, clauses)) in FAULTS.into_iter().enumerate() {
        let Some(asked) = asked(at, clauses) else { continue };
        let places = Arc::clone(&places);
        let ran = tokio::spawn(async move {
            let _place = places.acquire().await;
            run(Some(fault), None, &asked).await
        });
        runs.push((fault, clauses, ran));
    }
    assert!(runs.len() > 20, "{}", runs.len());
    let mut wrong = BTreeMap::new();
    for (fault, clauses, ran) in runs {
        let ran = ran.await.unwrap();
        let broken = ran.broken();
        if ran.exit != Some(1) || broken != clauses.iter().map(|id| (*id).to_owned()).collect() {
            wrong.insert(fault, (clauses, ran.exit, broken));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The pack is data: the program has no code for it.
#[test]
fn no_name_of_the_pack_is_in_the_program() {
    let table = fs::read_to_string(format!("{PACK}/fixtures/tables/headers.csv")).unwrap();
    let headers = table.lines().skip(1).filter_map(|line| line.split(',').nth(2));
    let own = headers.filter(|name| name.starts_with("X-")).map(str::to_lowercase);
    let mut names: BTreeSet<String> = own.collect();
    names.extend(["parcel", "hand-over", "officeid", "pickupon", "cancelledon"].map(str::to_owned));
    assert!(names.len() > 8, "{names:?}");
    let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let mut folders: Vec<_> =
        fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path().join("src")).collect();
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        // Not every folder next to the crates is a crate.
        for path in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let text = fs::read_to_string(&path).unwrap().to_lowercase();
            let found = names.iter().find(|name| text.contains(name.as_str()));
            assert_eq!(found, None, "{}", path.display());
        }
    }
    assert!(files > 150, "{files}");
}
