//! `xs2aspec doctor`: checks before a run that the target is usable, and names the lines of its profile to
//! change.

use std::{collections::BTreeMap, fmt::Write as _, path::Path, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use xs2aspec_judge::{
    Done, Identity,
    doctor::{Validity, clock_hint, clock_skew, failure_hint, refusal_hint},
    profile::{AuthorizedProfile, Permission},
};
use xs2aspec_record::{Body, Exchange, Exit, Reason, Verdict};
use xs2aspec_runner::{Clock, Runner};
use xs2aspec_signing::Certificate;
use xs2aspec_suite::{Case, Suite};

use crate::{Failure, args::Doctor, fix::Fix, target};

/// The maximum number of characters of a response body to print.
const SHOWN: usize = 300;

/// The width of the column of operations.
const COLUMN: usize = 14;

/// Checks the profile, the key, the connection, the baseline requests and the cases, in this order.
pub(crate) async fn doctor(args: &Doctor) -> Result<Exit, Failure> {
    let suite = crate::suite(&args.source)?;
    let Some(target) = args.target.name() else {
        return Err(Failure::input(
            "no target to check: name a profile or a URL, as in `xs2aspec doctor bank.toml`",
        ));
    };
    let profile = target::profile(target, &suite.spec().profile)?;
    let suite = Arc::new(crate::with_entries(suite, &profile.values)?);
    let file = Path::new(target);
    if (args.fix || args.diff) && !file.is_file() {
        return Err(Failure::input("a URL has no profile to fix; write one with `xs2aspec init`"));
    }
    let at =
        if profile.name == profile.base_url { String::new() } else { format!(" at {}", profile.base_url) };
    say!("target     {}{at}", profile.name);
    let profile = profile.authorize(args.allow_production).map_err(Failure::input)?;
    say!("aim        {}", aim(&profile));
    let wrong = |error| Failure::input(format!("`[signing]` of the target profile: {error}"));
    let certificate = profile.signer().map_err(wrong)?.certificate().clone();
    let now = Utc::now();
    let identity = Identity::random(crate::random_seed());
    let runner = Runner::new(Arc::clone(&suite), profile, identity, Clock::at(now));
    let runner = runner.map_err(Failure::input)?;
    let judge = runner.judge();
    say!("key        {}", key(&certificate, now));
    let reached = target::connect(judge.profile()).await.map_err(|why| {
        let key = if judge.profile().proxy.is_some() { "proxy" } else { "base-url" };
        Failure::unreachable(format!(
            "cannot reach the target: {why}; check that it is running, or change `{key}`"
        ))
    })?;
    say!("reach      {reached}");

    let mut skew = None;
    let (mut accepted, mut refused) = (0, 0);
    let mut fix = Fix::default();
    say!("requests");
    for case in plain(&suite) {
        let Some(done) = runner.case(&case.id).await else { continue };
        let judged = judged(&done);
        skew = skew.or_else(|| clock_skew(judged.as_ref()?, Utc::now()));
        match done.verdict.verdict {
            Verdict::Pass | Verdict::Flaky | Verdict::Warn => accepted += 1,
            Verdict::NotApplicable => {}
            _ => refused += 1,
        }
        if let Some(exchange) = &judged {
            fix.answered(&suite, judge.profile(), &case.request.operation, exchange);
        }
        if let Some(culprit) = &done.verdict.culprit {
            fix.refused(culprit);
        }
        say_on!("{}", request(&case.request.operation, &done, judged.as_ref(), &suite));
    }
    say!("clock      {}", skew.map_or_else(|| "the target sends no Date".to_owned(), clock_hint));

    let plan = suite.plan(&[], &[], args.depth).map_err(Failure::input)?;
    let mut left_out = BTreeMap::<Reason, usize>::new();
    for case in &plan.selected {
        if let Some(reason) = runner.cannot_run(case).await {
            *left_out.entry(reason).or_default() += 1;
        }
    }
    let out: usize = left_out.values().sum();
    say!(
        "cases      {} of {} at depth {} can run",
        plan.selected.len() - out,
        plan.selected.len(),
        args.depth.word()
    );
    let mut left_out: Vec<(Reason, usize)> = left_out.into_iter().collect();
    left_out.sort_by_key(|(_, cases)| std::cmp::Reverse(*cases));
    for (reason, cases) in left_out {
        say!("  {cases:>6}   not: {reason}");
    }
    runner.known().absent().iter().for_each(|capability| fix.lacks(capability));
    let complete = || say!("fix        {} already has all that the responses show", file.display());
    if args.diff {
        fix.patch(file)?.map_or_else(complete, |patch| say_on!("\n{patch}"));
    } else if args.fix {
        if fix.write(file)? {
            say!("fix        wrote {}", file.display());
        } else {
            complete();
        }
    }
    Ok(if refused > 0 || accepted == 0 { Exit::CouldNotTell } else { Exit::Conforms })
}

/// Returns the baseline request of each operation whose response the document shows. Reading requests come
/// first, and requests with setup steps last.
fn plain(suite: &Suite) -> Vec<&Case> {
    let has_answer = |case: &&Case| suite.answers().has(&case.request.operation);
    let mut plain: Vec<&Case> =
        suite.cases().iter().filter(|case| case.is_plain).filter(has_answer).collect();
    plain.sort_by_key(|case| (!case.only_reads(), !case.before.is_empty()));
    plain
}

fn aim(profile: &AuthorizedProfile) -> &'static str {
    match profile.permission() {
        Permission::Nothing => "no request is sent",
        Permission::Reads => "a production system; only requests that read are sent",
        Permission::Everything if profile.environment.is_some() => "a sandbox, as the profile says",
        Permission::Everything => "this machine",
    }
}

/// Describes the certificate. The caller has checked that the key belongs to it.
fn key(certificate: &Certificate, now: DateTime<Utc>) -> String {
    let day = |time: DateTime<Utc>| time.format("%Y-%m-%d");
    let state = match Validity::new(certificate, now) {
        Validity::Expired(end) => format!("expired on {}; change `[signing] certificate`", day(end)),
        Validity::NotYet(start) => format!("not valid before {}; change `[signing] certificate`", day(start)),
        Validity::Until(end) => format!("valid until {}", day(end)),
    };
    format!("matches the certificate, serial {}, {state}", certificate.serial_hex())
}

/// Returns the judged exchange of a case, or its last one.
fn judged(done: &Done) -> Option<Exchange> {
    done.judged().or_else(|| done.exchanges.last()).cloned()
}

/// Describes a request: its verdict, its response, and what to change.
fn request(operation: &str, done: &Done, exchange: Option<&Exchange>, suite: &Suite) -> String {
    let verdict = &done.verdict;
    let response = exchange.and_then(|exchange| exchange.response.as_ref());
    let status = response.map(|response| format!("{} in {:.1} ms", response.status, took(exchange)));
    let mut lines = String::new();
    let word = match verdict.verdict {
        Verdict::Pass => "accepted",
        Verdict::Flaky => "accepted when resent",
        Verdict::NotApplicable => "not sent",
        Verdict::Warn => "responded, with a warning",
        Verdict::Fail => "not accepted, or the response does not conform",
        _ => "could not be judged",
    };
    _ = writeln!(
        lines,
        "  {operation:<COLUMN$} {word}{}",
        status.map(|status| format!(": {status}")).unwrap_or_default()
    );
    let more = |lines: &mut String, text: &str| _ = writeln!(lines, "  {:COLUMN$} {text}", "");
    if let Some(reason) = &verdict.reason {
        more(&mut lines, &reason.to_string());
        if let Some(cause) = done.failure.as_ref().and_then(failure_hint) {
            more(&mut lines, &format!("perhaps {cause}"));
        }
    }
    // A rejection of the public test key is not a violation, but it still needs an explanation.
    let is_refused = response.is_some_and(|response| response.status >= 300);
    let is_broken = matches!(verdict.verdict, Verdict::Fail | Verdict::Warn);
    if !(is_broken || verdict.verdict == Verdict::Inconclusive && is_refused) {
        return lines;
    }
    for finding in verdict.findings.iter().take(3) {
        more(&mut lines, &format!("{}: expected {}, got {}", finding.at, finding.expected, finding.actual));
    }
    if let Some(culprit) = verdict.culprit.as_ref().filter(|_| verdict.reason.is_none()) {
        more(&mut lines, &culprit.says());
    }
    if let Some(response) = response {
        let body = response.body.as_ref().map(Body::shown).unwrap_or_default();
        if !body.is_empty() {
            let body: String = body.chars().filter(|letter| !letter.is_control()).take(SHOWN).collect();
            more(&mut lines, &body);
        }
        if let Some(cause) = refusal_hint(operation, response, &suite.spec().profile) {
            more(&mut lines, &format!("perhaps {cause}"));
        }
    }
    lines
}

fn took(exchange: Option<&Exchange>) -> f64 {
    Duration::from_micros(exchange.map_or(0, |exchange| exchange.micros)).as_secs_f64() * 1000.0
}
