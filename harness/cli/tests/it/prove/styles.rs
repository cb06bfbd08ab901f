//! Whole conforming banks: none is accused, each required rejection belongs to its own clause, and names are
//! checked.

use std::fs;

use tempfile::TempDir;

use crate::support::xs2aspec;

fn prove(arguments: &[&str]) -> (Option<i32>, String) {
    let out = TempDir::new().unwrap();
    let out = out.path().to_str().unwrap();
    xs2aspec(&[&["prove", "--out", out], arguments].concat())
}

#[test]
fn each_named_style_is_lawful() {
    let (exit, said) =
        prove(&["--only", "strict", "--only", "lenient", "--only", "other", "--depth", "quick"]);
    assert_eq!(exit, Some(0), "{said}");
    assert!(said.contains("; 0 false alarms on the clean bank and 3 styles; "), "{said}");
}

#[test]
fn drawn_styles_are_lawful() {
    let (exit, said) = prove(&["--drawn", "5", "--seed", "300", "--depth", "quick"]);
    assert_eq!(exit, Some(0), "{said}");
    assert!(said.contains("; 0 false alarms on the clean bank and 5 styles; "), "{said}");
}

/// A few banks test all variations together, as for the kill matrix. An accused bank is tested again with one
/// variation at a time, so that the variation is named.
#[test]
fn a_variation_that_is_accused_among_others_is_named() {
    let together = ["--variations", "together", "--only", "together-", "--depth", "quick"];
    let cases = TempDir::new().unwrap();
    let case = "title: names\ncases:\n  - { clause: ncbct.path, name: plain, baseline: ncbct, expect: accepted }\n  \
                - { clause: ncbct.path, name: words, baseline: ncbct, change: [{ set: header/X-Request-ID, to: \"words-${fresh.a}\" }], \
                control: ncbct.path/plain, expect: accepted }\n";
    fs::write(cases.path().join("a.yaml"), case).unwrap();
    let (exit, said) = prove(&[&together[..], &["--cases", cases.path().to_str().unwrap()]].concat());
    assert_eq!(exit, Some(1), "{said}");
    let mut accused: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("false alarm on ")?.split_once(": "))
        .map(|(name, _)| name)
        .collect();
    accused.sort_unstable();
    let alone = accused.iter().filter(|name| !name.starts_with("together-")).copied().collect::<Vec<_>>();
    assert_eq!(alone, ["header.x-request-id.format/uuid"], "{said}");
    assert_eq!(accused.len(), 2, "{said}");
}

#[test]
fn a_fault_is_caught_on_a_style_as_well() {
    let fault = "periodic.months.duplicate/only-adjacent";
    let only = ["--style", "strict", "--style", "lenient", "--depth", "quick", "--only", fault];
    let (exit, said) = prove(&only);
    assert_eq!(exit, Some(0), "{said}");
    assert!(said.contains("faults in 1 clauses caught by their own clause"), "{said}");
    let skipped = ["--skip", "periodic.months.duplicate/*"];
    let (exit, said) = prove(&[&only[..], &skipped].concat());
    assert_eq!(exit, Some(1), "{said}");
    assert!(said.lines().any(|line| line.starts_with(&format!("fault {fault} on "))), "{said}");
    assert!(said.contains(" on strict ") && said.contains(" on lenient "), "{said}");
}

/// An unlisted purpose and an unknown account: a bank that checks the account first says nothing about the
/// purpose.
#[test]
fn a_case_that_is_refused_for_another_reason_is_masked() {
    let cases = TempDir::new().unwrap();
    let case = |name: &str, iban: &str| {
        format!(
            "  - clause: ncbct.purpose-code\n    name: {name}\n    baseline: ncbct\n    change:\n      \
             - {{ set: body/purposeCode, to: XXXX }}\n      - {{ set: body/debtorAccount/iban, to: {iban} }}\n    \
             control: ncbct.path/plain\n    expect: refused\n"
        )
    };
    let own = case("from-an-own-account", "NO1400004200179");
    let other = case("from-another-account", "NO9386011117947");
    let plain = "  - { clause: ncbct.path, name: plain, baseline: ncbct, expect: accepted }\n";
    fs::write(cases.path().join("a.yaml"), format!("title: names\ncases:\n{plain}{own}{other}")).unwrap();
    let (exit, said) = prove(&["--only", "strict", "--cases", cases.path().to_str().unwrap()]);
    assert_eq!(exit, Some(1), "{said}");
    let masked: Vec<&str> =
        said.lines().filter(|line| line.starts_with("masked: ncbct.purpose-code")).collect();
    let says = "masked: ncbct.purpose-code/from-another-account: must be rejected for ncbct.purpose-code, but \
                is rejected for error.funds";
    assert_eq!(masked, [says], "{said}");
}

#[test]
fn a_run_in_a_style_says_so_and_can_be_repeated() {
    let out = TempDir::new().unwrap();
    let folder = out.path().to_str().unwrap();
    let run = ["run", "--style", "strict", "--only", "header.x-request-id.format", "--out", folder];
    let (exit, said) = xs2aspec(&run);
    assert_eq!(exit, Some(0), "{said}");
    assert!(said.contains("--style strict"), "{said}");
    let record = crate::support::read_record(out.path().join("record.jsonl")).unwrap();
    assert!(record.lines().next().unwrap().contains("\"header.x-request-id.format/uuid\""), "{record}");
}

#[test]
fn a_style_that_is_none_suggests_a_near_one() {
    for command in [&["run"][..], &["serve"], &["prove"]] {
        let (exit, said) = xs2aspec(&[command, &["--style", "strickt"]].concat());
        let says = "expected the name of a style, found \"strickt\"; did you mean \"strict\"?";
        assert_eq!(exit, Some(2), "{said}");
        assert!(said.contains(says), "{command:?}: {said}");
    }
}
