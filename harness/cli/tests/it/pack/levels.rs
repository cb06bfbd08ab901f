//! Levels: a deviation from the plain reading is a warning, unless the user sets another level.

use std::{fs, path::Path};

use tempfile::TempDir;

use super::{NOW, PACK, command, desk, ended, record};
use crate::support::xs2aspec;

/// The clause that leaves a status open, and whose plain reading is the usual status.
const CLAUSE: &str = "parcel.success-status";

/// A desk that responds with 200 instead of 201.
struct Quick {
    _desk: wiremock::MockServer,
    folder: TempDir,
    profile: String,
}

/// The result of a run.
struct Ran {
    exit: Option<i32>,
    said: String,
    junit: String,
    summary: String,
}

impl Quick {
    async fn start() -> Self {
        let (desk, folder) = desk(None, Some("quick")).await;
        let profile = fs::read_to_string(folder.path().join("desk.toml")).unwrap();
        Self { _desk: desk, folder, profile }
    }

    /// Runs with these lines in the profile, and these arguments.
    async fn run(&self, more: &str, arguments: &[&str]) -> Ran {
        let folder = self.folder.path();
        fs::write(folder.join("desk.toml"), format!("{}{more}", self.profile)).unwrap();
        let all = ["--pack", PACK, "--seed", "1", "--now", NOW, "--target", "desk.toml"];
        let (exit, said) = ended(command(folder, &[&all, arguments].concat())).await;
        let read = |name: &str| fs::read_to_string(folder.join("out").join(name)).unwrap_or_default();
        Ran { exit, said, junit: read("junit.xml"), summary: read("summary.md") }
    }

    /// Runs only some of the cases that show the deviation, since all of them take seconds.
    async fn shown(&self, more: &str, arguments: &[&str]) -> Ran {
        self.run(more, &[arguments, &["--only", "hand-over.path"]].concat()).await
    }

    fn out(&self) -> String {
        self.folder.path().join("out").display().to_string()
    }
}

/// Returns the number of verdicts of this kind in a record.
fn count(out: &str, word: &str) -> usize {
    record(Path::new(out))
        .iter()
        .filter(|event| {
            event["event"] == "verdict" && event["role"] == "selected" && event["verdict"] == word
        })
        .count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_warning_is_shown_and_the_run_conforms_unless_warnings_are_denied() {
    let quick = Quick::start().await;
    let warned = quick.shown("", &[]).await;
    assert_eq!(warned.exit, Some(0), "{}", warned.said);
    assert!(warned.said.contains(&format!("warn  {CLAUSE}    ")), "{}", warned.said);
    assert!(
        warned.said.contains("expected status 201, by the plain reading of the clause, got 200"),
        "{}",
        warned.said
    );
    assert!(warned.said.contains("conforms, with warnings for 1 clause"), "{}", warned.said);
    let cases = count(&quick.out(), "warn");
    assert!(cases > 3 && count(&quick.out(), "fail") == 0, "{cases}");
    assert_eq!(
        (warned.junit.matches("<failure").count(), warned.junit.matches("\nWARN  ").count()),
        (0, cases)
    );
    assert!(warned.summary.contains("### Warnings\n"), "{}", warned.summary);

    let denied = quick.shown("", &["--deny", "warnings"]).await;
    assert_eq!(denied.exit, Some(1), "{}", denied.said);
    assert!(denied.said.contains("does not conform: warnings are denied (exit 1)"), "{}", denied.said);
    assert_eq!((denied.junit.matches("<failure").count(), count(&quick.out(), "warn")), (cases, cases));
    let profile = quick.shown("[levels]\nwarnings = \"deny\"\n", &[]).await;
    assert_eq!(profile.exit, Some(1), "{}", profile.said);
    assert_eq!(quick.shown("[levels]\nwarnings = \"deny\"\n", &["-W", "warnings"]).await.exit, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_level_that_names_a_clause_counts_and_the_record_says_who_gave_it() {
    let quick = Quick::start().await;
    let deny = quick.shown("", &["-D", "parcel.*"]).await;
    assert_eq!(deny.exit, Some(1), "{}", deny.said);
    assert!(deny.said.contains(&format!("deny  {CLAUSE}    ")), "{}", deny.said);
    assert!(deny.said.contains("   = clause  choice, deny by the command line: "), "{}", deny.said);
    let note = quick.shown("", &["-D", "parcel", "-A", CLAUSE]).await;
    assert_eq!(note.exit, Some(0), "{}", note.said);
    assert!(!note.said.contains("\nwarn  ") && count(&quick.out(), "warn") == 0, "{}", note.said);
    assert!(note.summary.contains(&format!("{CLAUSE}: expected status 201")), "{}", note.summary);
    assert_eq!(quick.shown("", &["-A", CLAUSE, "-D", "parcel"]).await.exit, Some(1));

    let levels = format!("[levels]\n\"parcel.*\" = \"note\"\n\"{CLAUSE}\" = \"deny\"\n");
    assert_eq!(quick.shown(&levels, &[]).await.exit, Some(1));
    let both = quick.shown(&levels, &["--warn", CLAUSE]).await;
    assert_eq!(both.exit, Some(0), "{}", both.said);
    let start = record(Path::new(&quick.out())).swap_remove(0);
    let rules = start["levels"].as_array().unwrap().iter();
    let rules: Vec<_> =
        rules.map(|rule| (rule["level"].as_str().unwrap(), rule["by"].as_str().unwrap())).collect();
    assert_eq!(rules, [("note", "profile"), ("deny", "profile"), ("warn", "command-line")]);
    assert!(
        both.summary
            .contains("- level deny for `parcel.success-status`, by [levels] of the target profile\n")
    );

    // The declared value is the required one.
    for (status, exit) in [("200", 0), ("201", 1)] {
        let declared = quick.shown(&format!("[choices]\n\"{CLAUSE}\" = \"{status}\"\n"), &[]).await;
        assert_eq!((declared.exit, count(&quick.out(), "warn")), (Some(exit), 0), "{}", declared.said);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_level_is_refused_with_what_to_write() {
    let quick = Quick::start().await;
    for (more, arguments, expected) in [
        (
            "",
            &["-W", "parcel.sucess-status"][..],
            "--warn `parcel.sucess-status`: no clause has this id; did you mean `parcel.success-status`?",
        ),
        ("", &["-A", "warnings"], "--allow `warnings`: expected `deny` or `warn`"),
        (
            "[levels]\nnowhere = \"deny\"\n",
            &[],
            "`[levels]` of the target profile: `nowhere`: no clause has this id",
        ),
        (
            "[levels]\nparcel = \"fail\"\n",
            &[],
            "unknown variant `fail`, expected one of `deny`, `warn`, `note`",
        ),
        (
            "[choices]\n\"parcel.success-status\" = \"fail\"\n",
            &[],
            "write `\"parcel.success-status\" = \"deny\"` under `[levels]` instead",
        ),
    ] {
        let ran = quick.run(more, arguments).await;
        assert!(ran.exit == Some(2) && ran.said.contains(expected), "{expected}: {}", ran.said);
    }
    let explained = xs2aspec(&["explain", CLAUSE, "--pack", PACK]);
    assert!(explained.1.contains("level      warn, by its strength\n"), "{}", explained.1);
    let explained = xs2aspec(&["explain", CLAUSE, "--pack", PACK, "-D", "parcel"]);
    assert!(explained.1.contains("level      deny, by the command line\n"), "{}", explained.1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_warning_can_be_waived_compared_and_judged_again() {
    let quick = Quick::start().await;
    let folder = quick.folder.path().to_owned();
    let write_waiver = |cases: &str| {
        let text = format!(
            "[[waiver]]\ncases = \"{cases}\"\nowner = \"desk\"\nreason = \"next year\"\nticket = \"T-1\"\nexpires = \"2031-12-31\"\n"
        );
        fs::write(folder.join("waivers.toml"), text).unwrap();
    };
    let arguments = ["-D", "warnings", "--only", "hand-over.path", "--waivers", "waivers.toml"];
    write_waiver("hand-over.path");
    let waived = quick.run("", &arguments).await;
    assert_eq!(waived.exit, Some(0), "{}", waived.said);
    assert!(
        !waived.said.contains("\nwarn  ") && waived.said.contains("waives hand-over.path/"),
        "{}",
        waived.said
    );
    let declared = format!("[choices]\n\"{CLAUSE}\" = \"200\"\n");
    // A depth that skips cases cannot judge whether a waiver still applies.
    let stale = quick.run(&declared, &[&arguments[..], &["--depth", "exhaustive"]].concat()).await;
    assert_eq!(stale.exit, Some(1), "{}", stale.said);
    assert!(stale.said.contains("waives cases that do not fail: hand-over.path/"), "{}", stale.said);

    assert_eq!(quick.shown(&declared, &[]).await.exit, Some(0));
    fs::rename(folder.join("out"), folder.join("before")).unwrap();
    assert_eq!(quick.shown("", &[]).await.exit, Some(0));
    let (before, out) = (folder.join("before").display().to_string(), quick.out());
    let diff = |more: &[&str]| xs2aspec(&[&["diff", &before, &out], more].concat());
    assert!(diff(&[]).0 == Some(0) && diff(&[]).1.contains("#### New warnings ("), "{}", diff(&[]).1);
    assert_eq!(diff(&["--deny", "warnings"]).0, Some(1));
    assert_eq!(diff(&["--deny", "warnings", "--gate", "none"]).0, Some(0));

    let again = |more: &[&str]| xs2aspec(&[&["rejudge", &out, "--pack", PACK], more].concat());
    assert_eq!(again(&[]).0, Some(0), "{}", again(&[]).1);
    let (exit, said) = again(&["-D", CLAUSE]);
    assert!(
        exit == Some(1) && said.contains(": warn -> fail: its level was warn, and is deny now: "),
        "{said}"
    );
    assert!(!said.contains("the record was edited"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn levels_go_on_with_a_run_and_are_the_same_in_all_its_parts() {
    let quick = Quick::start().await;
    let stopped = quick.run("", &["-D", "warnings", "-W", "parcel.*", "--fail-fast", "--jobs", "1"]).await;
    assert!(stopped.exit == Some(1) && stopped.said.contains("stopped before the end"), "{}", stopped.said);
    let (exit, said) =
        ended(command(quick.folder.path(), &["--resume", "out", "--pack", PACK, "--target", "desk.toml"]))
            .await;
    assert!(exit == Some(1) && said.contains("does not conform: warnings are denied"), "{said}");
    assert!(count(&quick.out(), "warn") > 3 && count(&quick.out(), "fail") == 0, "{said}");

    let part = |number: &'static str, levels: &'static [&'static str]| {
        let folder = quick.folder.path().join(number.replace('/', "-"));
        let quick = &quick;
        async move {
            quick.run("", &[&["--shard", number], levels].concat()).await;
            fs::rename(quick.out(), &folder).unwrap();
            folder.display().to_string()
        }
    };
    let one = part("1/2", &["-A", CLAUSE]).await;
    let two = part("2/2", &["-A", CLAUSE]).await;
    let merged = quick.folder.path().join("merged").display().to_string();
    let (exit, said) = xs2aspec(&["merge", &one, &two, "--out", &merged]);
    assert!(exit == Some(0) && count(&merged, "warn") == 0 && count(&merged, "pass") > 200, "{said}");
    fs::remove_dir_all(&two).unwrap();
    let two = part("2/2", &["-D", CLAUSE]).await;
    let (exit, said) = xs2aspec(&["merge", &one, &two, "--out", &merged]);
    let expected = "expected runs with the same levels, found `note parcel.success-status` and `deny parcel.success-status`";
    assert!(exit == Some(2) && said.contains(expected), "{said}");
}
