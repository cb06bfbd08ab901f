//! Generated requests: they accuse no conforming bank, find faults that need two conditions, shrink and save
//! what they find, and respect the budget.

use std::fs;

use tempfile::TempDir;
use xs2aspec_reference::Config;

use crate::support::{REFERENCE, counting::Counting, execute};

/// Runs a command. Returns its exit code, and its output without the progress, which depends on the machine.
fn xs2aspec(arguments: &[&str]) -> (Option<i32>, String) {
    let out = TempDir::new().unwrap();
    let has_out = arguments.contains(&"--out");
    let more = if has_out { vec![] } else { vec!["--out", out.path().to_str().unwrap()] };
    let output = execute(&[arguments, &more].concat());
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

const FIXED: [&str; 4] = ["--seed", "1", "--now", "2030-01-31T12:00:00Z"];

/// Removes durations and folders from the output.
fn timeless(said: &str) -> String {
    let line = |line: &str| line.split(", after ").next().unwrap_or_default().to_owned();
    let lines = said.lines().filter(|line| !line.starts_with("reports in "));
    lines.map(line).collect::<Vec<_>>().join("\n")
}

#[test]
#[ignore = "half a minute with optimisation"]
fn nobody_is_accused_and_the_same_seed_says_the_same() {
    for more in [&[][..], &["--variation", "payment.response.transaction-status/rejects"]] {
        let run = || xs2aspec(&[&["explore", "--budget", "2500"][..], &FIXED, more].concat());
        let (exit, said) = run();
        assert_eq!(exit, Some(0), "{said}");
        assert!(said.contains(" 0 violations") && !said.contains("not reached"), "{said}");
        assert_eq!(timeless(&run().1), timeless(&said));
    }
}

#[test]
fn a_fault_that_takes_two_things_is_found_made_small_and_kept() {
    for (fault, only, parts) in [
        (
            "periodic.months.duplicate/with-an-end",
            "periodic",
            &["body/frequency", "body/monthsOfExecution", "body/endDate"][..],
        ),
        (
            "ncbct.creditor-address.optional/of-a-bban",
            "ncbct",
            &[
                "body/creditorAccount/iban",
                "body/creditorAccount/bban",
                "body/creditorAgent",
                "body/creditorAddress",
            ],
        ),
        (
            "customers.with-accounts/beside-encoding",
            "customers",
            &["query/withAccounts", "header/Accept-Encoding"],
        ),
    ] {
        found_and_kept(fault, only, parts);
    }
}

/// Faults that need several requests: the seed, the fault, its clause, and a step of the output. With some
/// seeds a single request shows the fault first.
const SEVERAL: [(&str, &str, &str, &str); 5] = [
    (
        "5",
        "basket.status.worst/received",
        "basket.status.worst",
        "owner: make rejected 1\n   | owner: make rejected 2\n   | owner: basket 1, 2",
    ),
    ("1", "limit.without-psu-ip/five", "limit.without-psu-ip", "transaction-quota is sent 4 times before"),
    ("1", "error.pdng/deleted", "error.pdng", "   | deletion\n   | path = "),
    (
        "1",
        "basket.payment-status.shown-to/anyone",
        "basket.payment-status.shown-to",
        "owner: make rejected 1\n   | other-tpp: read 1",
    ),
    (
        "1",
        "error.funds.no-server-error/fails",
        "http.no-server-error",
        "${target.accounts.without-funds.iban}",
    ),
];

#[test]
fn what_takes_several_requests_is_found_and_told_step_by_step() {
    are_found_and_told(&SEVERAL[..2]);
}

#[test]
#[ignore = "half a minute with optimisation"]
fn whatever_takes_several_requests_is_found_and_told_step_by_step() {
    are_found_and_told(&SEVERAL[2..]);
}

fn are_found_and_told(faults: &[(&str, &str, &str, &str)]) {
    for (seed, fault, clause, step) in faults {
        let folder = TempDir::new().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (kept, out) = (path("kept"), path("out"));
        let arguments = ["explore", "--budget", "8000", "--fail-fast", "--fault", fault, "--save", &kept];
        let (exit, said) = xs2aspec(&[&arguments[..], &["--seed", seed], &FIXED[2..]].concat());
        assert_eq!(exit, Some(1), "{fault}: {said}");
        assert!(said.contains(&format!("BROKEN  {clause}\n")) && said.contains(step), "{fault}: {said}");
        // The saved case finds the fault again, and accuses no conforming bank.
        let again = xs2aspec(&["run", "--quiet", "--cases", &kept, "--fault", fault, "--out", &out]);
        assert_eq!(again.0, Some(1), "{fault}: {}", again.1);
        let clean = xs2aspec(&["run", "--quiet", "--cases", &kept, "--out", &out]);
        assert_eq!(clean.0, Some(0), "{fault}: {}", clean.1);
    }
}

/// Faults of a created resource that a later request shows, each with its clause and a part of the output.
const OF_MEMORY: [(&str, &str, &str); 4] = [
    ("payment.deletion.effect/none", "payment.deletion.effect", "owner: delete 1\n   | owner: read 1"),
    ("payment.id.distinct/second", "payment.id.distinct", "   | owner: make series 1\n   | owner: make "),
    ("payment.deletion.refused/to-another", "payment.deletion.refused", ": delete 1\n   | owner: read 1"),
    ("basket.payment-ids.deleted/taken", "basket.payment-ids.deleted", "owner: basket 1"),
];

/// Faults of a created resource that a later request shows, found with the state model of a bank.
#[test]
#[ignore = "half a minute with optimisation"]
fn drawn_sequences_show_what_no_single_requests_do_and_are_kept() {
    are_warned_of_and_kept(&OF_MEMORY);
}

fn are_warned_of_and_kept(faults: &[(&'static str, &'static str, &'static str)]) {
    // In parallel, since the runs mostly wait for created resources to appear.
    std::thread::scope(|all| {
        for (fault, clause, says) in faults {
            all.spawn(move || warned_and_kept(fault, clause, says));
        }
    });
}

/// Asserts that generated sequences warn about a fault, under its clause and with this text, and that the
/// saved cases warn again.
fn warned_and_kept(fault: &str, clause: &str, says: &str) {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (kept, out) = (path("kept"), path("out"));
    let arguments = ["explore", "--budget", "6000", "--fault", fault, "--save", &kept];
    let (_, said) = xs2aspec(&[&arguments[..], &FIXED].concat());
    assert!(said.contains(&format!("WARNED  {clause}\n")) && said.contains(says), "{fault}: {said}");
    // The saved case finds the fault again, and accuses no conforming bank. Which payments share an id
    // depends on the order of requests.
    let run = |fault: &[&str]| {
        let kept = ["run", "--quiet", "--jobs", "1", "--cases", &kept, "--deny", "warnings", "--out", &out];
        xs2aspec(&[&kept[..], &FIXED, fault].concat())
    };
    let again = run(&["--fault", fault]);
    assert_eq!(again.0, Some(1), "{fault}: {}", again.1);
    assert!(again.1.contains(&format!("warn  {clause} ")), "{fault}: {}", again.1);
    let clean = run(&[]);
    assert_eq!(clean.0, Some(0), "{fault}: {}", clean.1);
}

/// The other interactions. Some of them need ten thousand requests.
#[test]
#[ignore = "a minute with optimisation"]
fn every_fault_that_takes_two_things_is_found_made_small_and_kept() {
    let cross_border = ["body/creditorAccount/iban", "body/creditorAccount/bban", "body/creditorAddress"];
    for (fault, only, parts) in [
        (
            "ncbct.creditor-name.length/beside-purpose",
            "ncbct",
            &["body/creditorName", "body/purposeCode"][..],
        ),
        ("ncbct.purpose-code.optional/in-yen", "ncbct", &["body/instructedAmount", "body/purposeCode"]),
        ("ncbct.creditor-agent.bban/with-address", "ncbct", &cross_border),
        (
            "ncbct.regulatory-reporting-information.length/with-a-date",
            "ncbct",
            &["body/regulatoryReportingInformation", "body/requestedExecutionDate"],
        ),
        (
            "ncbct.remittance-unstructured.length/amount-not-first",
            "ncbct",
            &["body/remittanceInformationUnstructured", "body"],
        ),
        (
            "periodic.ultimate-debtor.length/with-remittance",
            "periodic",
            &["body/ultimateDebtor", "body/remittanceInformationUnstructured"],
        ),
        ("periodic.purpose-code/weekly", "periodic", &["body/purposeCode", "body/frequency"]),
    ] {
        found_and_kept(fault, only, parts);
    }
}

const FAILS: &str = "a bank that fails everything";

/// The budget limits all requests that arrive at the bank.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "half a minute with optimisation"]
async fn no_more_requests_arrive_than_the_budget_says() {
    let fault = |name: &str| Some(Config { faults: vec![name.parse().unwrap()], ..Config::default() });
    for (bank, config) in [
        ("a good bank", Some(Config::default())),
        (FAILS, None),
        ("a fault of every answer", fault("payment.response.payment-id/answer-missing")),
        ("a fault of few requests", fault("periodic.months.duplicate/only-adjacent")),
    ] {
        let bank_of = Counting::start(config).await;
        let folder = TempDir::new().unwrap();
        let profile = folder.path().join("bank.toml");
        fs::write(&profile, REFERENCE.replacen("http://127.0.0.1", &bank_of.url, 1)).unwrap();
        for budget in [0, 1, 7, 100] {
            let budget_word = budget.to_string();
            let arguments =
                ["explore", "--seed", "1", "--target", profile.to_str().unwrap(), "--budget", &budget_word];
            let (exit, said) = tokio::task::block_in_place(|| xs2aspec(&arguments));
            let arrived = bank_of.methods().len();
            assert!(arrived <= budget, "{bank}: {arrived} requests with a budget of {budget}\n{said}");
            // A tenth is reserved for shrinking. The rest is generated, if the bank accepts a baseline
            // request.
            let least = if bank == FAILS { 3.min(budget) } else { budget - budget / 10 };
            assert!(arrived >= least, "{bank}: {arrived} of {budget}\n{said}");
            let said_of_it = said.lines().find(|line| line.contains(" reached, ")).unwrap();
            assert!(said_of_it.starts_with(&format!("{arrived} request")), "{said}");
            assert!(
                !said.contains("\n; ") && !said.contains(" 1 times") && !said.contains(" 1 violations"),
                "{said}"
            );
            if budget == 0 {
                assert_eq!(exit, Some(4), "{said}");
                assert!(
                    said.contains("\nnothing was sent; the budget of 0 requests is used up, after "),
                    "{said}"
                );
            }
        }
    }
}

fn found_and_kept(fault: &str, only: &str, parts: &[&str]) {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (kept, out) = (path("kept"), path("out"));
    let (exit, said) = xs2aspec(
        &[
            &[
                "explore",
                "--budget",
                "20000",
                "--fail-fast",
                "--fault",
                fault,
                "--only",
                only,
                "--save",
                &kept,
            ][..],
            &FIXED,
        ]
        .concat(),
    );
    assert_eq!(exit, Some(1), "{fault} was not found: {said}");
    let mut kept_files = String::new();
    for entry in fs::read_dir(folder.path().join("kept/explored")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in text.lines().filter(|line| line.trim_start().starts_with("- {\"")) {
            let changed = parts.iter().any(|part| line.contains(&format!("\"{part}\"")));
            assert!(changed, "{fault}: {line} is no part of it\n{text}");
        }
        kept_files += &text;
    }
    // The saved cases find the fault again, and accuse no conforming bank.
    let again = xs2aspec(&["run", "--quiet", "--cases", &kept, "--fault", fault, "--out", &out]);
    assert_eq!(again.0, Some(1), "{}\n{kept_files}", again.1);
    let clean = xs2aspec(&["run", "--quiet", "--cases", &kept, "--out", &out]);
    assert_eq!(clean.0, Some(0), "{}\n{kept_files}", clean.1);
}
