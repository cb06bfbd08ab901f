//! All reports of a run agree and are rendered from the record alone, and two runs can be compared.

use std::{fs, path::Path};

use serde_json::Value;
use tempfile::TempDir;
use xs2aspec_record::{Event, Verdict};

use crate::support::{self, FIXED, command, execute, printed, recorded};

fn xs2aspec(arguments: &[&str]) -> (Option<i32>, Vec<u8>) {
    let output = execute(arguments);
    (output.status.code(), output.stdout)
}

fn run(folder: &Path, more: &[&str]) -> Option<i32> {
    let out = folder.to_str().unwrap();
    let only =
        ["--only", "periodic.months", "--only", "certificate.validity", "--only", "customers.with-accounts"];
    let written = ["--format", "html,junit,sarif,markdown,ctrf,har", "--out", out];
    xs2aspec(&[&FIXED[..], &written, &only, more].concat()).0
}

#[test]
fn every_format_counts_alike_and_is_drawn_again() {
    let folder = TempDir::new().unwrap();
    assert_eq!(run(folder.path(), &["--fault", "periodic.months.duplicate/only-adjacent"]), Some(1));
    let path = |name: &str| folder.path().join(name);
    let text = |name: &str| fs::read_to_string(path(name)).unwrap();
    for (name, format) in [
        ("junit.xml", "junit"),
        ("summary.md", "markdown"),
        ("report.html", "html"),
        ("ctrf.json", "ctrf"),
        ("exchanges.har", "har"),
        ("results.sarif", "sarif"),
    ] {
        let (exit, drawn) = xs2aspec(&["report", folder.path().to_str().unwrap(), "--format", format]);
        assert_eq!(exit, Some(0));
        assert_eq!(String::from_utf8(drawn).unwrap(), text(name), "{name} is the record's");
    }
    let events: Vec<Value> = crate::support::read_record(folder.path())
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |kind: &str| events.iter().filter(|event| event["event"] == kind).collect::<Vec<_>>();
    let selected: Vec<&Value> =
        of("verdict").into_iter().filter(|event| event["role"] == "selected").collect();
    let with = |word: &str| selected.iter().filter(|event| event["verdict"] == word).count();
    assert!(with("fail") > 3 && with("pass") > 10 && with("observed") > 3);

    let ctrf: Value = serde_json::from_str(&text("ctrf.json")).unwrap();
    let summary = &ctrf["results"]["summary"];
    let tests = ctrf["results"]["tests"].as_array().unwrap();
    assert_eq!((ctrf["reportFormat"].as_str(), tests.len()), (Some("CTRF"), selected.len()));
    assert_eq!(summary["failed"], with("fail"));
    assert_eq!(summary["passed"], with("pass") + with("observed"));
    for status in ["passed", "failed", "skipped", "pending", "other"] {
        assert_eq!(summary[status], tests.iter().filter(|test| test["status"] == status).count(), "{status}");
    }
    let took = summary["stop"].as_i64().unwrap() - summary["start"].as_i64().unwrap();
    assert!((0..600_000).contains(&took));

    let sarif: Value = serde_json::from_str(&text("results.sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let denied: Vec<_> = results.iter().filter(|result| result["level"] == "error").collect();
    let rules: Vec<_> = denied.iter().map(|result| result["ruleId"].as_str().unwrap()).collect();
    assert_eq!(rules, ["periodic.months.duplicate"], "a finding, however many cases show it");
    assert_eq!(denied[0]["occurrenceCount"], with("fail"));

    let har: Value = serde_json::from_str(&text("exchanges.har")).unwrap();
    let entries = har["log"]["entries"].as_array().unwrap();
    assert_eq!((har["log"]["version"].as_str(), entries.len()), (Some("1.2"), of("exchange").len()));
    let numbers = |events: &[&Value], name: &str| -> Vec<_> {
        events.iter().map(|event| event[name].as_u64().unwrap()).collect()
    };
    let archived = numbers(&entries.iter().collect::<Vec<_>>(), "_number");
    assert_eq!(archived, numbers(&of("exchange"), "number"), "in the order of the record");
    for entry in entries {
        for member in ["startedDateTime", "time", "request", "response", "cache", "timings"] {
            assert!(!entry[member].is_null(), "{member}");
        }
        let sent = entry["request"]["postData"]["text"].as_str().map_or(0, str::len);
        assert_eq!(entry["request"]["bodySize"], sent);
    }

    let page = text("report.html");
    let data = page
        .split("<script id=\"data\" type=\"application/json\">")
        .nth(1)
        .unwrap()
        .split("</script>")
        .next()
        .unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    let cases = data["cases"].as_array().unwrap();
    assert_eq!(cases.len(), selected.len());
    assert_eq!(cases.iter().filter(|case| case[4] == "fail").count(), with("fail"));
    // As many as there are findings.
    for (name, class, number) in [("violations", "denied", 1), ("warnings", "soft", 0)] {
        let number = format!("<dt>{name}</dt><dd class=\"{class}\">{number}</dd>");
        assert!(page.contains(&number), "{number}");
    }
    assert!(page.contains("id=\"clause:periodic.months.duplicate\" data-mark=\"denied\""));
    assert!(page.contains(" faults in "), "the kill matrix");
    assert!(page.contains("default-src 'none'; script-src 'sha256-"));
}

#[test]
fn what_is_newly_broken_is_told_and_is_red() {
    let folder = TempDir::new().unwrap();
    let (clean, faulty) = (folder.path().join("clean"), folder.path().join("faulty"));
    assert_eq!(run(&clean, &[]), Some(0));
    assert_eq!(run(&faulty, &["--fault", "periodic.months.duplicate/only-adjacent"]), Some(1));
    let (verdicts, _) = recorded(&faulty, "");
    let denied = verdicts.iter().filter(|verdict| verdict.verdict == Verdict::Fail).count();
    assert!(denied > 10, "{denied}");
    let [clean, faulty] = [&clean, &faulty].map(|path| path.to_str().unwrap().to_owned());
    let diff = |base: &str, head: &str| {
        let (exit, said) = xs2aspec(&["diff", base, head]);
        (exit, String::from_utf8(said).unwrap())
    };
    let (exit, said) = diff(&clean, &faulty);
    assert_eq!(exit, Some(1), "{said}");
    assert!(
        said.contains(&format!("{denied} newly failing, 0 fixed"))
            && said.contains("- `periodic.months.duplicate/2-apart`: `expected a rejection"),
        "{said}"
    );
    let ungated = xs2aspec(&["diff", &clean, &faulty, "--gate", "none"]);
    assert_eq!((ungated.0, String::from_utf8(ungated.1).unwrap()), (Some(0), said));
    let (exit, said) = diff(&faulty, &clean);
    let sentence = format!("0 newly failing, {denied} fixed");
    assert_eq!((exit, said.contains(&sentence)), (Some(0), true), "{said}");
    assert_eq!(diff(&clean, &clean).0, Some(0));
    assert!(diff(&clean, &clean).1.contains("No differences."));
    assert_eq!(diff(&clean, "none").0, Some(2));
}

#[test]
fn whoever_reads_may_stop_reading() {
    use std::process::Stdio;
    let mut child = command().arg("list").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), output.stderr.is_empty()),
        (Some(0), true),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn shards_make_one_run_and_none_may_be_missing() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let fault = ["--fault", "periodic.months.duplicate/only-adjacent"];
    assert_eq!(run(Path::new(&path("whole")), &fault), Some(1));
    for shard in 1..=3 {
        let name = format!("{shard}/3");
        run(Path::new(&path(&shard.to_string())), &[&fault[..], &["--shard", &name]].concat());
    }
    let merge = |parts: &[&str]| {
        let parts: Vec<String> = parts.iter().map(|part| path(part)).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let output = command().arg("merge").args(&parts).args(["--out", &path("merged")]).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(merge(&["1", "2", "3"]), (Some(1), String::new()));
    let verdicts = |name: &str| {
        let events = support::by_case(Path::new(&path(name))).into_iter();
        let verdicts = events.filter_map(|event| match event {
            Event::Verdict(verdict) => Some((verdict.case, verdict.role, verdict.verdict, verdict.findings)),
            _ => None,
        });
        verdicts.collect::<Vec<_>>()
    };
    assert_eq!(verdicts("merged"), verdicts("whole"));
    let bytes = |name: &str| {
        crate::support::read_record(Path::new(&path(name)).join("record.jsonl"))
            .map(String::into_bytes)
            .unwrap()
    };
    assert!(bytes("merged") == ["1", "2", "3"].map(bytes).concat(), "byte for byte");
    let numbers = support::recorded(Path::new(&path("merged")), "").1.into_iter().map(|one| one.number);
    let mut numbers: Vec<u64> = numbers.collect();
    let sent = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), sent, "a number is of one request");
    let (exit, said) = support::xs2aspec(&["run", "--resume", &path("merged")]);
    assert!(exit == Some(2) && said.contains("that of several shards"), "{said}");
    let (exit, said) = xs2aspec(&["diff", &path("whole"), &path("merged")]);
    assert_eq!(exit, Some(0), "{}", String::from_utf8_lossy(&said));
    for (parts, why) in [
        (&["1", "2"][..], "found 0 of shard 3"),
        (&["1", "2", "3", "3"], "found 2 of shard 3"),
        (&["whole"], "record 1 is not from a shard"),
    ] {
        let (exit, said) = merge(parts);
        assert_eq!((exit, said.contains(why)), (Some(2), true), "{said}");
    }
    let cut = Path::new(&path("2")).join("record.jsonl");
    let text = crate::support::read_record(&cut).unwrap();
    fs::write(&cut, &text[..text.rfind("{\"event\":\"run-finished\"").unwrap()]).unwrap();
    assert!(merge(&["1", "2", "3"]).1.contains("shard 2/3 did not finish"));
    let quick = text.replacen("\"depth\":\"standard\"", "\"depth\":\"quick\"", 1);
    fs::write(&cut, crate::support::chained(&quick)).unwrap();
    assert!(merge(&["1", "2", "3"]).1.contains("the same depth, found `standard` and `quick`"));
    assert_eq!(xs2aspec(&["run", "--shard", "4/3"]).0, Some(2));
}

#[cfg(unix)]
#[test]
fn a_report_is_opened_in_the_browser_that_is_named() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().to_str().unwrap();
    let (exit, said) =
        support::xs2aspec(&["run", "--quiet", "--seed", "1", "--only", "basket.mix", "--out", out]);
    assert_eq!(exit, Some(0), "{said}");
    let page = folder.path().join("report.html");
    fs::remove_file(&page).unwrap();
    let open = |browser: &str| {
        let output = command().args(["report", out, "--open"]).env("BROWSER", browser).output().unwrap();
        (output.status.code(), printed(&output))
    };
    let (exit, said) = open("true");
    assert!(exit == Some(0) && said.contains("report.html"), "{said}");
    assert!(fs::read_to_string(&page).unwrap().contains("id=\"clause:basket.mix\""));
    let (exit, said) = open("no-such-browser");
    assert!(exit == Some(2) && said.contains("cannot start no-such-browser: "), "{said}");
    let (exit, said) = support::xs2aspec(&["report", out, "--open", "--format", "junit"]);
    assert!(exit == Some(2) && said.contains("cannot be used with"), "{said}");
}
