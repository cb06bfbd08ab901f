//! The order of suspicion: a failure that a wrong value of the profile explains is not held against the bank,
//! and `run` and `doctor` name the value. Other failures are.

use std::fs;

use tempfile::TempDir;
use xs2aspec_record::{CaseVerdict, Reason, Verdict};
use xs2aspec_reference::{self as reference, Config, start};

use crate::support::{REFERENCE, command, printed, recorded};

/// A reference bank, and a folder with its profile.
struct Bank {
    folder: TempDir,
    _bank: reference::Bank,
}

impl Bank {
    /// Starts a bank with these faults, and replaces one text of its profile.
    async fn start(fault: Option<&str>, other: (&str, &str)) -> Self {
        let faults = fault.iter().map(|fault| fault.parse().unwrap()).collect();
        Self::of(Config { faults, ..Config::default() }, other).await
    }

    /// Starts this bank, and replaces one text of its profile.
    async fn of(config: Config, (from, to): (&str, &str)) -> Self {
        let bank = start(config).await.unwrap();
        let folder = TempDir::new().unwrap();
        assert!(REFERENCE.contains(from), "{from}");
        let profile = REFERENCE.replace(from, to);
        let profile = profile.replace("\"http://127.0.0.1\"", &format!("{:?}", bank.base_url()));
        fs::write(folder.path().join("bank.toml"), profile).unwrap();
        Self { folder, _bank: bank }
    }

    /// Runs these clauses. Returns the exit code, what was printed, and the verdicts.
    fn run(&self, only: &[&str]) -> (Option<i32>, String, Vec<CaseVerdict>) {
        let out = self.folder.path().join("out");
        let output = tokio::task::block_in_place(|| {
            command()
                .args(["run", "--quiet", "--depth", "quick", "--target"])
                .arg(self.folder.path().join("bank.toml"))
                .arg("--out")
                .arg(&out)
                .args(only.iter().flat_map(|only| ["--only", only]))
                .output()
                .unwrap()
        });
        let said = printed(&output);
        let (verdicts, _) = recorded(&out, &said);
        (output.status.code(), said, verdicts)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_value_of_the_profile_is_named_and_no_bank_accused() {
    for (key, from, to, only) in [
        ("psu.private.id", "2a3b4c5d6e7f", "2a3b4c5d6e7a", "header.psu-id"),
        ("psu.private.identity", "01819000391", "01819000392", "header.x-psu-identity"),
        ("psu.corporate.id", "1f0e2d3c4b5a", "1f0e2d3c4b5b", "header.psu-corporate-id"),
        ("psu.corporate.corporate-id", "\"AGR-310000019\"", "\"AGR-310000018\"", "header.psu-corporate-id"),
        ("psu.d-number.identity", "41819000466", "41819000467", "header.x-psu-identity"),
        (
            "accounts.debtor.iban",
            "[accounts.debtor]\niban = \"NO1400004200179\"",
            "[accounts.debtor]\niban = \"NO1400004200178\"",
            "ncbct.path",
        ),
        (
            "accounts.foreign-creditor.iban",
            "DE93999999990000000001",
            "DE93999999990000000002",
            "account.iban",
        ),
        ("accounts.kid-creditor.iban", "NO3397100000044", "NO3397100000045", "error.kid"),
        (
            "consent.within-180.account-id",
            "account-id = \"acc-consent-0180\"",
            "account-id = \"acc-consent-0181\"",
            "limit.sca-renewal",
        ),
        ("pending-payment.id", "[pending-payment]\nid = \"", "[pending-payment]\nid = \"0", "error.pdng"),
        ("pending-series.id", "payment-pending-0002", "payment-pending-0003", "basket.mix"),
        ("bulk-payment.id", "payment-bulk-0001", "payment-bulk-0002", "basket.mix"),
        ("transaction.transaction-id", "!0000002=\"\nquota", "!0000003=\"\nquota", "transaction.path"),
    ] {
        assert_named(key, &Bank::start(None, (from, to)).await, &[only]);
    }
}

/// A wrong IBAN with correct check digits: the bank rejects it, since it knows no such account. Some cases
/// use it only in their setup requests.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_account_with_right_check_digits_is_named() {
    let variations = vec!["error.funds/of-unknown-debtors".parse().unwrap()];
    let other = (
        "[accounts.debtor]\niban = \"NO1400004200179\"\nbban = \"00004200179\"",
        "[accounts.debtor]\niban = \"NO3600004200268\"\nbban = \"00004200268\"",
    );
    let bank = Bank::of(Config { variations, ..Config::default() }, other).await;
    assert_named("accounts.debtor.iban", &bank, &["ncbct", "periodic.path", "basket"]);
}

/// Asserts that a run names this key of the profile, ends with 3 and accuses nobody.
fn assert_named(key: &str, bank: &Bank, only: &[&str]) {
    let (exit, said, verdicts) = bank.run(only);
    assert_eq!(exit, Some(3), "{key}: {said}");
    let named: Vec<String> = verdicts
        .iter()
        .filter_map(|verdict| match verdict.reason.as_ref()? {
            reason @ Reason::ProfileDoubted { .. } => Some(reason.to_string()),
            _ => None,
        })
        .filter(|line| line.contains(&format!("`{key}`")))
        .collect();
    assert!(!named.is_empty() && said.contains(&named[0]), "{key}: {said}");
    assert!(verdicts.iter().all(|verdict| verdict.verdict != Verdict::Fail), "{key}: {said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_names_a_wrong_value_of_the_profile() {
    let bank = Bank::start(None, ("2a3b4c5d6e7f", "2a3b4c5d6e7a")).await;
    let output = tokio::task::block_in_place(|| {
        command().args(["doctor", "--target"]).arg(bank.folder.path().join("bank.toml")).output().unwrap()
    });
    let said = printed(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("the profile may be wrong: the target responds with 401"), "{said}");
    assert!(
        said.contains("to `psu.private.id` and to an invented value, and accepts `psu.second.id`"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejection_that_no_value_of_the_profile_explains_is_held_against_the_bank() {
    for (fault, clause) in [
        ("header.psu-id.transaction/refused", "header.psu-id.transaction"),
        ("header.psu-corporate-id.transaction/refused", "header.psu-corporate-id.transaction"),
        ("header.psu-corporate-id.ncbct/first-agreement", "header.psu-corporate-id.ncbct"),
        ("header.psu-ip-address.transaction/demanded", "header.psu-ip-address.transaction"),
        ("header.x-psu-identity.ncbct/no-d-number", "header.x-psu-identity.ncbct"),
        ("header.x-psu-identity.ncbct/only-d-number", "header.x-psu-identity.ncbct"),
        ("limit.sca-renewal/a-day-less", "limit.sca-renewal"),
        ("account.bban.length/31-ncbct", "account.bban.length"),
    ] {
        let (exit, said, verdicts) = Bank::start(Some(fault), ("", "")).await.run(&[clause]);
        assert_eq!(exit, Some(1), "{fault}: {said}");
        let mut failed = verdicts.iter().filter(|verdict| verdict.verdict == Verdict::Fail);
        assert!(failed.any(|verdict| verdict.clause == clause), "{fault}: {said}");
    }
}
