//! Every case as a test of its own, against the built-in bank or the target that `XS2ASPEC_TARGET` names (a URL, or the file of
//! a target profile). A case passes here when its verdict is pass, observed or not-applicable.

use std::{
    path::Path,
    process::ExitCode,
    sync::{Arc, OnceLock},
};

use libtest_mimic::{Arguments, Failed, Trial};
use tokio::runtime::Runtime;
use xs2aspec_record::Verdict;
use xs2aspec_reference::{Bank, Config};
use xs2aspec_runner::{Profile, Session};
use xs2aspec_suite::{Suite, Tree};

/// The seed of a target that is asked again and again must differ from run to run: X-Request-ID is unique per call.
fn seed() -> u64 {
    uuid::Uuid::new_v4().as_u64_pair().0
}

struct Bench {
    runtime: Runtime,
    session: Session,
    /// Serves as long as it lives.
    _bank: Option<Bank>,
}

impl Bench {
    fn set_up(suite: Arc<Suite>) -> Result<Self, String> {
        let runtime = Runtime::new().map_err(|error| error.to_string())?;
        let (profile, bank) = match std::env::var("XS2ASPEC_TARGET") {
            Ok(target) if target.contains("://") => (Profile::of_url(&target), None),
            Ok(target) => (Profile::read(Path::new(&target)), None),
            Err(_) => {
                let bank = runtime.block_on(xs2aspec_reference::start(Config::default()));
                let bank = bank.map_err(|error| error.to_string())?;
                (Profile::reference(&bank.base_url()), Some(bank))
            }
        };
        let mut profile = profile.map_err(|error| error.to_string())?;
        profile.aim(false)?;
        let session =
            Session::new(suite, profile, seed(), chrono::Utc::now()).map_err(|error| error.to_string())?;
        Ok(Self { runtime, session, _bank: bank })
    }

    fn judge(&self, id: &str) -> Result<(), Failed> {
        let done = self.runtime.block_on(self.session.case(id)).ok_or("the suite has no such case")?;
        let verdict = &done.verdict;
        match verdict.verdict {
            Verdict::Pass | Verdict::Observed | Verdict::NotApplicable => Ok(()),
            word @ (Verdict::Fail | Verdict::Waived | Verdict::Inconclusive | Verdict::Error) => {
                let reason = verdict.reason.clone().unwrap_or_default();
                let findings: Vec<String> = verdict
                    .findings
                    .iter()
                    .map(|finding| {
                        format!("{}: expected {}, got {}", finding.clause, finding.expected, finding.actual)
                    })
                    .collect();
                Err(format!("{}: {} {reason}\n{}", verdict.place, word.word(), findings.join("\n")).into())
            }
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let suite = match Suite::load(Tree::embedded()) {
        Ok(suite) => Arc::new(suite),
        Err(problems) => {
            eprintln!("{problems}");
            return ExitCode::FAILURE;
        }
    };
    // Set up by the first test that runs, so that listing the tests starts no bank.
    let bench: &'static OnceLock<Result<Bench, String>> = Box::leak(Box::default());
    let trials = suite
        .cases()
        .iter()
        .map(|case| {
            let (id, suite) = (case.id.clone(), Arc::clone(&suite));
            Trial::test(case.id.clone(), move || {
                let bench = bench.get_or_init(|| Bench::set_up(suite));
                bench.as_ref().map_err(|error| Failed::from(error.clone()))?.judge(&id)
            })
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
