//! Runs every case as a test of its own, against the reference bank or the target in `XS2ASPEC_TARGET` (a URL
//! or the file of a profile). A case passes here if its verdict is pass or observed. A case that was not sent
//! is ignored, with the reason. The last test fails if a required clause was not tested because the profile
//! lacks a value.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::{Command, ExitCode},
    sync::{Arc, OnceLock},
};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use tokio::runtime::Runtime;
use xs2aspec_judge::{
    Identity, Profile,
    profile::{AuthorizedProfile, Offered},
};
use xs2aspec_record::Verdict;
use xs2aspec_reference::{Bank, Config};
use xs2aspec_runner::{Clock, Runner};
use xs2aspec_suite::{Case, ProfileSpec, Strength, Suite, Tree};

/// The variable that names another target than the reference bank.
const TARGET: &str = "XS2ASPEC_TARGET";

/// The test that fails if the profile lacks values for required clauses.
const COMPLETE: &str = "the run is complete";

/// The maximum number of lines that a message suggests for the profile.
const SHOWN: usize = 5;

/// Returns a seed that differs from run to run, since X-Request-ID must be unique for each call to a target.
fn seed() -> u64 {
    uuid::Uuid::new_v4().as_u64_pair().0
}

/// Returns the selected target, or `None` for the reference bank.
fn target() -> Option<Result<AuthorizedProfile, String>> {
    let target = std::env::var(TARGET).ok()?;
    let profile = if target.contains("://") {
        Profile::of_url(&target, ProfileSpec::embedded())
    } else {
        Profile::read(Path::new(&target), ProfileSpec::embedded())
    };
    Some(profile.map_err(|error| error.to_string()).and_then(|profile| profile.authorize(false)))
}

struct Bench {
    runtime: Runtime,
    runner: Runner,
    /// The bank, which serves until it is dropped.
    _bank: Option<Bank>,
}

impl Bench {
    fn set_up(suite: Arc<Suite>, target: Option<AuthorizedProfile>) -> Result<Self, String> {
        let runtime = Runtime::new().map_err(|error| error.to_string())?;
        let (profile, bank) = if let Some(profile) = target {
            (profile, None)
        } else {
            let bank = runtime.block_on(xs2aspec_reference::start(Config::default()));
            let bank = bank.map_err(|error| error.to_string())?;
            let profile = Profile::reference(&bank.base_url()).map_err(|error| error.to_string())?;
            (profile.authorize(false)?, Some(bank))
        };
        let identity = Identity::random(seed());
        let runner = Runner::new(suite, profile, identity, Clock::at(chrono::Utc::now()))
            .map_err(|error| error.to_string())?;
        Ok(Self { runtime, runner, _bank: bank })
    }

    fn judge(&self, id: &str) -> Result<Completion, Failed> {
        let done = self.runtime.block_on(self.runner.case(id)).ok_or("the suite has no such case")?;
        let verdict = &done.verdict;
        match verdict.verdict {
            Verdict::Pass | Verdict::Flaky | Verdict::Observed => Ok(Completion::Completed),
            Verdict::Warn => {
                for finding in &verdict.findings {
                    eprintln!("warn  {} ({}): {}", finding.clause, verdict.case, finding.mismatch());
                }
                Ok(Completion::Completed)
            }
            Verdict::NotApplicable => Ok(Completion::Ignored { reason: Some(verdict.why().to_string()) }),
            word @ (Verdict::Fail | Verdict::Waived | Verdict::Inconclusive | Verdict::Error) => {
                let reason = verdict.reason.as_ref().map(ToString::to_string).unwrap_or_default();
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

/// Why a case is not sent to a target with this profile, as far as the profile alone tells.
enum LeftOut<'a> {
    /// The profile declares that the target lacks something.
    Declared,
    /// The profile lacks a value. The text is the line to add.
    NotSaid(&'a str),
}

fn left_out<'a>(suite: &'a Suite, profile: &Profile, case: &Case) -> Option<LeftOut<'a>> {
    let spec = &suite.spec().profile;
    let is_declared = |name: &str| {
        let capability = spec.value(name).and_then(|value| value.with.as_ref());
        capability.is_some_and(|capability| profile.capability(capability) == Offered::No)
    };
    let mut next = Some(case);
    while let Some(case) = next {
        for need in &case.needs {
            match profile.capability(need) {
                Offered::Yes | Offered::Ask => {}
                Offered::No => return Some(LeftOut::Declared),
                Offered::NotSaid => {
                    return Some(LeftOut::NotSaid(spec.capability(need).map_or("", |one| &one.add)));
                }
            }
        }
        let requests = case.before.iter().map(|step| &step.request).chain([&case.request]);
        let values: Vec<String> = requests.flat_map(|request| request.placeholders()).collect();
        let values = || values.iter().filter_map(|name| name.strip_prefix("target."));
        if values().any(is_declared) {
            return Some(LeftOut::Declared);
        }
        if let Some(name) = values().find(|name| profile.value(name).is_none()) {
            return Some(LeftOut::NotSaid(spec.value(name).map_or("", |value| &value.add)));
        }
        next = case.control.as_deref().and_then(|id| suite.case(id));
    }
    None
}

/// Fails if no case of a stated or derived clause is sent, but one would be with a more complete profile.
fn complete(suite: &Suite, profile: &Profile) -> Result<(), Failed> {
    let mut sent = BTreeSet::new();
    let mut not_said = BTreeMap::<&str, BTreeSet<&str>>::new();
    for case in suite.cases() {
        let strength = suite.clauses().get(&case.clause).map(|clause| &clause.strength);
        if !matches!(strength, Some(Strength::Stated | Strength::Derived(_))) {
            continue;
        }
        match left_out(suite, profile, case) {
            None => _ = sent.insert(case.clause.as_str()),
            Some(LeftOut::NotSaid(line)) => _ = not_said.entry(&case.clause).or_default().insert(line),
            Some(LeftOut::Declared) => {}
        }
    }
    not_said.retain(|clause, _| !sent.contains(clause));
    if not_said.is_empty() {
        return Ok(());
    }
    let mut lines = BTreeMap::<&str, usize>::new();
    not_said.values().flatten().for_each(|line| *lines.entry(line).or_default() += 1);
    let mut lines: Vec<(&str, usize)> = lines.into_iter().collect();
    lines.sort_by_key(|(_, clauses)| std::cmp::Reverse(*clauses));
    let first: Vec<String> =
        lines.iter().take(SHOWN).map(|(line, clauses)| format!("  {line}   for {clauses} clauses")).collect();
    let more = lines.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!("\n  and {more} lines more") } else { String::new() };
    Err(format!(
        "of {} clauses that the document demands nothing was sent, because the target profile does not say enough. \
         Add to it, or say `false` in [capabilities] of what the target lacks:\n{}{more}",
        not_said.len(),
        first.join("\n")
    )
    .into())
}

/// Starts this program once more against a target with a minimal profile, and checks that cases are ignored
/// instead of passed.
fn little_is_said() -> Result<(), Failed> {
    let runtime = Runtime::new()?;
    let bank = runtime.block_on(xs2aspec_reference::start(Config::default()))?;
    let folder = tempfile::TempDir::new()?;
    let file = folder.path().join("bank.toml");
    let url = format!("base-url = {:?}", bank.base_url());
    let declared = "[capabilities]\ncorporate = false\nquota = false\nbasket = false\nsandbox = false\ntest-authority = false";
    let again = |profile: &str, arguments: &[&str]| -> Result<(bool, String), Failed> {
        std::fs::write(&file, profile)?;
        let output = Command::new(std::env::current_exe()?).env(TARGET, &file).args(arguments).output()?;
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        Ok((output.status.success(), said))
    };
    let ensure = |holds: bool, said: &str| if holds { Ok(()) } else { Err(Failed::from(said)) };

    // The profile names no transaction. Its cases are ignored, each with the line to add.
    let (is_green, said) = again(&url, &["transaction.path"])?;
    ensure(is_green && said.contains(" 0 passed") && !said.contains(" 0 ignored"), &said)?;
    ensure(said.contains("[transaction] account-id = "), &said)?;
    // A test runner with one process for each case lists the cases first.
    let (_, listed) = again(&url, &["--list", "--ignored", "transaction.path"])?;
    ensure(listed.contains("transaction.path/plain: test"), &listed)?;
    let (is_green, said) = again(&url, &[COMPLETE])?;
    ensure(!is_green && said.contains("clauses that the document demands nothing was sent"), &said)?;
    ensure(said.contains("session-id = "), &said)?;
    // What the profile declares absent is not required. What else is missing is still named.
    let (is_green, said) = again(&format!("{url}\n{declared}"), &[COMPLETE])?;
    ensure(!is_green && !said.contains("corporate") && !said.contains("quota"), &said)?;
    // A complete profile makes the run complete.
    let reference = include_str!("../../../fixtures/targets/reference.toml");
    let whole = reference.replacen("base-url = \"http://127.0.0.1\"", &url, 1);
    let (is_green, said) = again(&whole, &[COMPLETE])?;
    ensure(is_green && said.contains(" 1 passed"), &said)?;
    runtime.block_on(bank.shutdown())?;
    Ok(())
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
    let target = match target().transpose() {
        Ok(target) => target,
        Err(why) => {
            eprintln!("{TARGET}: {why}");
            return ExitCode::FAILURE;
        }
    };
    let is_ignored = |case: &Case| {
        // While tests run, each one prints why it is ignored. A list can only show it in the name.
        let is_told = arguments.list || arguments.ignored;
        is_told && target.as_ref().is_some_and(|profile| left_out(&suite, profile, case).is_some())
    };
    // The first test that runs starts the bank, so listing the tests starts none.
    let bench: &'static OnceLock<Result<Bench, String>> = Box::leak(Box::default());
    let mut trials: Vec<Trial> = suite
        .cases()
        .iter()
        .map(|case| {
            let (id, suite, target) = (case.id.clone(), Arc::clone(&suite), target.clone());
            let trial = Trial::ignorable_test(case.id.clone(), move || {
                let bench = bench.get_or_init(|| Bench::set_up(suite, target));
                bench.as_ref().map_err(|error| Failed::from(error.clone()))?.judge(&id)
            });
            trial.with_ignored_flag(is_ignored(case))
        })
        .collect();
    trials.push(match target {
        Some(target) => Trial::test(COMPLETE, move || complete(&suite, &target)),
        None => Trial::test("what is not said of a target is ignored and not passed", little_is_said),
    });
    libtest_mimic::run(&arguments, trials).exit_code()
}
