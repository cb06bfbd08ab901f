//! Commands with a pack, other than `run`.

use std::{fs, path::Path};

use tempfile::TempDir;

use super::{KEYS, NOW, PACK, command, desk, ended, record, run};
use crate::support::{self, KEY, MASK_KEY, copy_folder, xs2aspec};

#[test]
fn what_looks_at_cases_looks_at_those_of_the_pack() {
    let lint = xs2aspec(&["lint", "--pack", PACK]);
    assert_eq!(lint.0, Some(0), "{}", lint.1);
    let coverage = xs2aspec(&["coverage", "--pack", PACK]);
    assert!(coverage.0 == Some(0) && coverage.1.contains("(100.0 %)"), "{}", coverage.1);
    let (exit, matrix) = xs2aspec(&["coverage", "--matrix", "--pack", PACK]);
    assert!(exit == Some(0) && matrix.contains("cells, each decided: "), "{matrix}");
    assert!(matrix.contains("hand-over") && matrix.contains("two-byte-letters-one-more"), "{matrix}");
    let listed = xs2aspec(&["list", "track", "--pack", PACK]);
    assert!(listed.1.contains("track.same/id") && !listed.1.contains("ncbct"), "{}", listed.1);
    let (exit, said) =
        xs2aspec(&["explain", "parcel.weight.range/hand-over/weight/one-more", "--pack", PACK]);
    assert_eq!(exit, Some(0), "{said}");
    for expected in [
        &format!("file       {PACK}/fixtures/spec/requests.yaml:"),
        "document   line 46, Operations > Hand over a parcel\n",
        "POST http://127.0.0.1/v2/parcels\n",
        "headers=\"x-trace x-client-key digest date\"",
        "\"weight\":30001",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let (_, said) = xs2aspec(&["explain", "offices.path/plain", "--pack", PACK]);
    assert!(said.contains("/v2/offices?country=NO") && !said.contains("Signature:"), "{said}");
    let (exit, said) = xs2aspec(&["init", "--schema", "--pack", PACK]);
    assert!(exit == Some(0) && said.contains("X-Client-Key") && !said.contains("PSU"), "{said}");
}

#[test]
fn what_cannot_be_is_refused_with_what_to_do() {
    let both = xs2aspec(&["lint", "--pack", PACK, "--cases", "cases"]);
    assert_eq!(both.0, Some(2), "{}", both.1);
    assert!(both.1.contains("'--pack <DIR>' cannot be used with '--cases <DIR>'"), "{}", both.1);
    let (exit, said) = xs2aspec(&["run", "--pack", PACK, "--out", "/nowhere/at-all"]);
    assert_eq!(exit, Some(2), "{said}");
    assert!(said.contains("name a bank for that document with --target"), "{said}");
    let folder = TempDir::new().unwrap();
    let copy = folder.path().join("pack");
    copy_folder(Path::new(PACK), &copy);
    let lint = |copy: &Path| xs2aspec(&["lint", "--pack", copy.to_str().unwrap()]);
    assert_eq!(lint(&copy).0, Some(0));
    // A new clause is added to the files of the pack.
    let begun = xs2aspec(&[
        "scaffold",
        "parcel.note.empty",
        "--quote",
        "| note | text",
        "--pack",
        copy.to_str().unwrap(),
    ]);
    assert_eq!(begun.0, Some(0), "{}", begun.1);
    let next = format!("next     fill them in, then run `xs2aspec lint --pack {}`", copy.display());
    assert!(
        begun.1.contains(&format!("clause   {}/cases/parcels/parcel.yaml:", copy.display())),
        "{}",
        begun.1
    );
    assert!(begun.1.contains(&next) && !begun.1.contains("fault"), "{}", begun.1);
    copy_folder(Path::new(PACK), &copy);
    // The path of a mistake is one that the user can open.
    let rules = copy.join("cases/operations/accepted.yaml");
    let text = fs::read_to_string(&rules).unwrap();
    fs::write(&rules, text.replacen("baseline: hand-over", "baseline: hand-ober", 1)).unwrap();
    let (exit, said) = lint(&copy);
    assert_eq!(exit, Some(2), "{said}");
    assert!(
        said.contains(&format!("{}:3:5: there is no baseline `hand-ober-full`", rules.display())),
        "{said}"
    );
    fs::write(&rules, text).unwrap();
    let schema = copy.join("fixtures/schemas/offices.json");
    fs::remove_file(&schema).unwrap();
    let said = lint(&copy).1;
    assert!(
        said.contains(&format!("{}: the spec refers to this file, but it does not exist", schema.display())),
        "{said}"
    );
    let answers = copy.join("fixtures/spec/answers.yaml");
    fs::remove_file(&answers).unwrap();
    let said = lint(&copy).1;
    assert!(
        said.contains(&format!("{}: missing: a pack needs the rules for responses", answers.display())),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_names_its_pack_and_is_judged_again_with_it() {
    let ran = run(Some("note-length"), None, &[]).await;
    let out = ran.folder.path().join("out");
    let out = out.to_str().unwrap();
    let start = &record(Path::new(out))[0];
    assert_eq!(start["other_document"], PACK);
    assert!(
        ran.said.contains(&format!("parcel.note.length/hand-over/note/one-more --target {}", ran.profile())),
        "{}",
        ran.said
    );
    for line in
        ran.said.lines().filter(|line| line.contains("xs2aspec run") || line.contains("xs2aspec explain"))
    {
        assert!(line.contains(&format!("--pack {PACK}")), "{line}");
    }
    // Checks of rejections count like checks of other responses.
    assert!(ran.said.contains(" passed, 1 violated, 0 not tested, 0 skipped"), "{}", ran.said);
    let text = |name: &str| fs::read_to_string(Path::new(out).join(name)).unwrap();
    assert!(text("junit.xml").contains(&format!("<property name=\"other-document\" value=\"{PACK}\"/>")));
    assert!(text("summary.md").starts_with(&format!("## document from `{PACK}`, not the one built into")));
    assert!(text("report.html").contains(&format!("\">document from {PACK}, not")));
    let (exit, said) = xs2aspec(&["rejudge", out, "--pack", PACK]);
    assert!(exit == Some(0) && said.contains(" 0 changed, 0 could not be rejudged"), "{said}");

    // Its evidence can be rejudged with the pack alone.
    let (key, archive) = (ran.folder.path().join("key.pem"), ran.folder.path().join("evidence.tar"));
    fs::write(&key, KEY).unwrap();
    let archive = archive.to_str().unwrap();
    let bundled = xs2aspec(&["bundle", out, "--key", key.to_str().unwrap(), "--out", archive]);
    assert_eq!(bundled.0, Some(0), "{}", bundled.1);
    let (exit, said) = xs2aspec(&["verify", archive]);
    assert_eq!(exit, Some(3), "{said}");
    assert!(
        said.contains("verdicts could not be rejudged; whether the record has all cases is unknown"),
        "{said}"
    );
    let (exit, said) = xs2aspec(&["verify", archive, "--pack", PACK]);
    assert_eq!(exit, Some(0), "{said}");
    assert!(said.contains(&format!("- --pack {PACK}: not the document of this program\n")), "{said}");
    assert!(said.contains("rejudged with this version, give the same verdict in "), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_of_the_pack_is_read_by_all_that_take_one() {
    let (desk, folder) = desk(None, None).await;
    let profile = folder.path().join("desk.toml");
    let profile = profile.to_str().unwrap();
    let asked = |arguments: &[&str]| {
        let arguments = [arguments, &["--target", profile, "--pack", PACK]].concat();
        tokio::task::block_in_place(|| xs2aspec(&arguments))
    };
    let (_, said) = asked(&["doctor"]);
    // The hint for a desk with a wrong clock comes from the pack, and unsigned requests are accepted.
    assert!(said.contains("  offices        accepted: 200 in "), "{said}");
    assert!(
        said.contains("  hand-over      not accepted") && said.contains("perhaps the clocks differ"),
        "{said}"
    );
    let (exit, said) = asked(&["curl", "offices.path/plain"]);
    assert!(exit == Some(0) && said.contains("/v2/offices?country=NO"), "{said}");
    let certificate = KEYS.path().join("tpp.cert.pem");
    let (exit, said) = asked(&["keys", "show", certificate.to_str().unwrap()]);
    assert!(exit == Some(0) && said.contains("[as declared by parcel desk]"), "{said}");
    assert!(said.contains("X-Client-Certificate: "), "{said}");
    let (exit, said) = asked(&["sign", "--method", "GET", "-H", "X-Client-Key: SHOP000001"]);
    assert_eq!(exit, Some(0), "{said}");
    assert!(said.contains("headers=\"x-trace x-client-key date\"") && said.contains("\nX-Trace: "), "{said}");
    drop(desk);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_the_pack_are_drawn() {
    let (exit, said) = xs2aspec(&["explore", "--pack", PACK]);
    assert!(exit == Some(2) && said.contains("name a bank for that document with --target"), "{said}");
    for (fault, expected) in [(None, 0), (Some("note-length"), 1)] {
        let (desk, folder) = desk(fault, None).await;
        let mut explore = support::command();
        explore.current_dir(folder.path()).args(["explore", "--pack", PACK, "--target", "desk.toml"]);
        explore.args(["--seed", "1", "--now", NOW, "--budget", "3000", "--out", "out"]);
        let (exit, said) = ended(explore).await;
        drop(desk);
        assert_eq!(exit, Some(expected), "{said}");
        assert_eq!(said.contains("parcel.note.length"), fault.is_some(), "{said}");
        let asked = record(&folder.path().join("out"));
        let cases = asked.iter().filter(|event| event["event"] == "verdict");
        assert!(cases.clone().count() > 1000 && asked[0]["other_document"] == PACK, "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_goes_on_goes_on_with_its_pack() {
    let (desk, folder) = desk(None, None).await;
    let begin = command(
        folder.path(),
        &["--pack", PACK, "--seed", "1", "--now", NOW, "--target", "desk.toml", "--mask-key", MASK_KEY],
    );
    assert_eq!(ended(begin).await.0, Some(0));
    let path = folder.path().join("out/record.jsonl");
    let whole = crate::support::read_record(&path).unwrap();
    // The run was killed halfway.
    let half: Vec<&str> = whole.lines().take(whole.lines().count() / 2).collect();
    fs::write(&path, half.join("\n") + "\n").unwrap();
    let (exit, said) = ended(command(
        folder.path(),
        &["--resume", "out", "--pack", PACK, "--target", "desk.toml", "--mask-key", MASK_KEY],
    ))
    .await;
    drop(desk);
    assert_eq!(exit, Some(0), "{said}");
    let verdicts = |text: &str| text.matches("{\"event\":\"verdict\"").count();
    assert_eq!(verdicts(&crate::support::read_record(&path).unwrap()), verdicts(&whole));
}
