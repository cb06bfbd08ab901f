//! A profile may name any number of transactions and payments. Each of them is tested, and every command that
//! reads the run knows the cases.

use std::{collections::BTreeMap, fs};

use tempfile::TempDir;
use xs2aspec_record::Verdict;
use xs2aspec_reference::{Config, start};

use crate::support::{REFERENCE, command, printed, recorded};

/// A transaction and a payment of the reference bank, as entries of a profile.
const ENTRIES: &str = r#"
[[transaction]]
account-id = "acc-private-0001"
transaction-id = "20250211-0000001"

[[payment]]
id = "payment-rejected-0001"
product = "norwegian-cross-border-credit-transfers"
status = "RJCT"
"#;

/// The last entry: a payment whose status differs from the one in the profile.
const LAST: &str = r#"
[[payment]]
id = "payment-rejected-0001"
product = "norwegian-cross-border-credit-transfers"
status = "ACSC"
"#;

#[tokio::test(flavor = "multi_thread")]
async fn each_entry_of_a_profile_is_asked_however_many_there_are() {
    let bank = start(Config::default()).await.unwrap();
    let folder = TempDir::new().unwrap();
    let profile = REFERENCE.replace("http://127.0.0.1\"", &format!("{}\"", bank.base_url()));
    // Keys before a table belong to no table, so tables come last.
    fs::write(folder.path().join("bank.toml"), profile + &ENTRIES.repeat(30) + LAST).unwrap();
    let xs2aspec = |line: &str| {
        let arguments: Vec<&str> = line.split(' ').collect();
        let output = tokio::task::block_in_place(|| {
            command().current_dir(folder.path()).args(arguments).output().unwrap()
        });
        (output.status.code(), printed(&output))
    };

    let only = "--only transaction.path/further --only payment.status.follows";
    let (exit, said) = xs2aspec(&format!("run --target bank.toml --seed 1 --out out {only}"));
    assert_eq!(exit, Some(0), "{said}");
    let (verdicts, _) = recorded(&folder.path().join("out"), &said);
    let verdicts: BTreeMap<_, _> = verdicts.iter().map(|one| (one.case.as_str(), one.verdict)).collect();
    // The profile of the reference bank already has three transactions and two payments.
    for number in 2..=33 {
        assert_eq!(verdicts[format!("transaction.path/further/{number}").as_str()], Verdict::Pass);
    }
    let warned: Vec<_> = verdicts.iter().filter(|(_, verdict)| **verdict == Verdict::Warn).collect();
    let cases = ["payment.status.follows/declared-and-read/33", "payment.status.follows/declared/33"];
    assert_eq!(warned.iter().map(|(case, _)| **case).collect::<Vec<_>>(), cases, "{said}");
    assert!(!verdicts.contains_key("payment.status.follows/declared/34"));

    let (exit, said) = xs2aspec("rejudge out");
    assert_eq!(exit, Some(0), "{said}");
    assert!(!said.contains("no such case"), "{said}");
    let key = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/keys/tpp.key.pem");
    let (exit, said) = xs2aspec(&format!("bundle out --key {key} --out evidence.tar"));
    assert_eq!(exit, Some(0), "{said}");
    let (exit, said) = xs2aspec("verify evidence.tar");
    assert_eq!(exit, Some(0), "{said}");
    assert!(said.contains("the cases are those that this version of the suite plans"), "{said}");
    let (exit, said) = xs2aspec("explain payment.status.follows/declared/33 --target bank.toml");
    assert_eq!(exit, Some(0), "{said}");
    let (exit, said) = xs2aspec("explain payment.status.follows/declared/34 --target bank.toml");
    assert_eq!(exit, Some(2), "{said}");
    let (exit, said) = xs2aspec("curl transaction.path/further/33 --target bank.toml");
    assert_eq!(exit, Some(0), "{said}");
    assert!(said.contains("/transactions/20250211-0000001"), "{said}");
}
