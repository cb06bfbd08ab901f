//! The block that shows one case, or one finding by its smallest witness: the request, the mismatch, the
//! clause, and the command that reruns it.

use std::fmt::Write as _;

use xs2aspec_record::{CaseVerdict, ClauseText, Exchange, Finding, Traffic, Verdict};

use crate::{
    reporter::CaseReport,
    shell,
    summary::RunSummary,
    text::{self, harmless, short},
    words,
};

/// Limit of the changes that a short block shows.
const CHANGES: usize = 2;

/// Renders the block of a case, including the final line end.
pub(crate) fn failure_block(summary: &RunSummary, report: &CaseReport<'_>) -> String {
    let verdict = report.verdict;
    let mut block = format!("{}  {}\n", verdict.verdict.word().to_uppercase(), spaced(&verdict.case));
    line(&mut block, "  --> ", &harmless(&verdict.place.to_string()));
    sent(&mut block, summary, report);
    for finding in &verdict.findings {
        let mut words = short(&mismatch(summary, finding));
        if finding.clause != verdict.clause {
            let _ = write!(words, " [{}]", harmless(&finding.clause));
        }
        line(&mut block, "   | ", &words);
    }
    if let Some(said) = said(verdict) {
        line(&mut block, "   | ", &said);
    }
    clauses(&mut block, summary, verdict);
    let broken = verdict.findings.first().map_or(verdict.clause.as_str(), |finding| &finding.clause);
    rest(&mut block, summary, verdict);
    line(&mut block, "   = ", &format!("next    {}", next(summary, verdict, broken)));
    block
}

/// Appends the judged exchange, and the changes to its request.
fn sent(block: &mut String, summary: &RunSummary, report: &CaseReport<'_>) {
    if let Some(exchange) = report.judged() {
        line(block, "   | ", &exchanged(exchange, &summary.start().base_url));
    }
    for change in words::changes(report.verdict) {
        line(block, "   | ", &short(&change));
    }
    if let Some(culprit) = &report.verdict.culprit {
        line(block, "   | ", &short(&culprit.says()));
    }
}

/// Returns the mismatch, in words, and the end that caused it.
fn mismatch(summary: &RunSummary, finding: &Finding) -> String {
    words::mismatch(words::end(summary.start(), finding), finding)
}

/// Appends the basis of a verdict, and the command that reruns the case.
fn rest(block: &mut String, summary: &RunSummary, verdict: &CaseVerdict) {
    if let Some(plain) = &verdict.same_as {
        line(block, "   = ", &format!("same as {}: not sent again", spaced(plain)));
    }
    for with in &verdict.judged_with {
        line(block, "   = ", &format!("with    {}", short(with)));
    }
    if let Some(control) = &verdict.control {
        let word = if control.accepted { "accepted" } else { "not accepted" };
        line(block, "   = ", &format!("control {word}: {}", spaced(&control.case)));
    }
    if let Some(again) = again(summary, &verdict.case) {
        line(block, "   = ", &format!("again   {again}"));
    }
}

/// Renders the witness of a finding, below a heading that names the clause.
pub(crate) fn finding_block(summary: &RunSummary, report: &CaseReport<'_>, finding: &Finding) -> String {
    let verdict = report.verdict;
    let mut block = String::new();
    line(&mut block, "  --> ", &harmless(&verdict.place.to_string()));
    sent(&mut block, summary, report);
    line(&mut block, "   | ", &short(&mismatch(summary, finding)));
    if let Some(body) = body_of(report) {
        line(&mut block, "   | ", &format!("response {body}"));
    }
    line(&mut block, "   = ", &format!("witness {}", spaced(&verdict.case)));
    line(&mut block, "   = ", &format!("clause  {}", source(summary.clause(&finding.clause))));
    rest(&mut block, summary, verdict);
    // A case of the suite is explained by the id of its finding, which is known at the end.
    if !summary.start().sends_cases() {
        line(&mut block, "   = ", &format!("next    {}", next(summary, verdict, &finding.clause)));
    }
    block
}

/// Renders a finding in three lines: the request, the mismatch, and the command that reruns it.
pub(crate) fn short_block(summary: &RunSummary, report: &CaseReport<'_>, finding: &Finding) -> String {
    let mut block = String::new();
    let sent = report.judged().map(|judged| exchanged(judged, &summary.start().base_url));
    let changes = words::changes(report.verdict).into_iter().take(CHANGES);
    let sent: Vec<String> = sent.into_iter().chain(changes.map(|change| short(&change))).collect();
    line(&mut block, "   | ", &sent.join("     "));
    line(&mut block, "   | ", &short(&mismatch(summary, finding)));
    if let Some(again) = again(summary, &report.verdict.case) {
        line(&mut block, "   = ", &format!("again   {again}"));
    }
    block
}

/// Returns the body of the response, as recorded.
fn body_of(report: &CaseReport<'_>) -> Option<String> {
    let body = report.judged()?.response.as_ref()?.body.as_ref()?;
    Some(short(&body.shown())).filter(|body| !body.is_empty())
}

/// Returns how firmly the document states a clause, where, and who changed the level of its violations.
fn source(known: Option<&ClauseText>) -> String {
    let Some(clause) = known else { return "not in the record".to_owned() };
    let ClauseText { section, line, .. } = clause;
    format!("{}: {}, line {line} of the document", grade(clause), short(section))
}

/// Returns strength, standard, and a level that was set.
fn grade(clause: &ClauseText) -> String {
    let mut grade = clause.strength.word().to_owned();
    if let Some(standard) = &clause.standard {
        let _ = write!(grade, ", {}", harmless(standard));
    }
    if let Some(set) = clause.set {
        let _ = write!(grade, ", {} by {}", set.level.word(), set.by.words());
    }
    grade
}

/// Returns a case id as headings show it: `periodic.months.duplicate / adjacent`.
pub(crate) fn spaced(case: &str) -> String {
    harmless(case).replacen('/', " / ", 1)
}

/// Returns the command that reruns the case with the same target, depth and clock. Recorded traffic is judged
/// again and never sent.
pub(crate) fn again(summary: &RunSummary, case: &str) -> Option<String> {
    let start = summary.start();
    if let Some(traffic) = start.traffic {
        let command = ["xs2aspec"].into_iter().chain(traffic.again()?.split(' '));
        let words = command.chain(start.arguments.iter().map(String::as_str));
        return Some(words.map(shell::quoted).collect::<Vec<_>>().join(" "));
    }
    let mut words = if start.drawn {
        // The same seed generates the same cases.
        vec!["xs2aspec", "explore"]
    } else {
        vec!["xs2aspec", "run", "--only", case]
    };
    words.extend(start.arguments.iter().map(String::as_str));
    if !matches!(start.depth.as_str(), "" | "standard") {
        words.extend(["--depth", &start.depth]);
    }
    // A clock that was given does not advance.
    if !start.clock_runs {
        words.extend(["--now", &start.now]);
    }
    Some(words.into_iter().map(shell::quoted).collect::<Vec<_>>().join(" "))
}

/// Returns the command that explains the case, with the requests for this target. `clause` is the violated
/// clause.
fn next(summary: &RunSummary, verdict: &CaseVerdict, clause: &str) -> String {
    let start = summary.start();
    // An item of the client checklist is not a clause of the document.
    if start.traffic == Some(Traffic::ClientReport) && clause == verdict.clause {
        return "xs2aspec client checklist".to_owned();
    }
    // The suite does not contain cases that were generated or recorded elsewhere.
    let what = match start.traffic {
        Some(_) => clause,
        None if start.drawn => &verdict.clause,
        None => &verdict.case,
    };
    command(summary, &["explain", what], &["--target", "--cases", "--pack", "--deny", "--warn", "--allow"])
}

/// Returns a command line, with those of these options that the run had.
pub(crate) fn command(summary: &RunSummary, words: &[&str], options: &[&str]) -> String {
    let had = summary.start().arguments.windows(2).filter(|option| options.contains(&option[0].as_str()));
    let had = had.flatten().map(String::as_str);
    let words = ["xs2aspec"].into_iter().chain(words.iter().copied()).chain(had);
    words.map(shell::quoted).collect::<Vec<_>>().join(" ")
}

fn line(block: &mut String, margin: &str, text: &str) {
    block.push_str(margin);
    block.push_str(text);
    block.push('\n');
}

/// Returns method and path, the response, the duration, and the number of the request.
fn exchanged(exchange: &Exchange, base_url: &str) -> String {
    let url = &exchange.request.url;
    let path = url.strip_prefix(base_url.trim_end_matches('/')).filter(|path| path.starts_with('/'));
    let took = text::duration(exchange.micros);
    let end = match &exchange.response {
        Some(response) => format!("{} in {took}", response.status),
        None => format!("no response in {took}"),
    };
    let number = exchange.number;
    format!("{} {}     {end}, request {number}", short(&exchange.request.method), short(path.unwrap_or(url)))
}

/// Returns the reason of a verdict other than passed, failed or warning.
fn said(verdict: &CaseVerdict) -> Option<String> {
    let about = match verdict.verdict {
        Verdict::Pass | Verdict::Fail | Verdict::Warn => return None,
        Verdict::Observed => return verdict.reason.as_ref().map(|reason| short(&reason.to_string())),
        Verdict::Flaky => "flaky",
        Verdict::Waived => "waived",
        Verdict::Inconclusive => "inconclusive",
        Verdict::NotApplicable => "does not apply",
        Verdict::Error => "could not judge",
    };
    Some(format!("{about}: {}", words::why(verdict)))
}

/// Appends the violated clauses. If the case's own clause is not among them, it is named as `about`.
fn clauses(block: &mut String, summary: &RunSummary, verdict: &CaseVerdict) {
    let mut broken: Vec<&str> = Vec::new();
    for finding in &verdict.findings {
        if !broken.contains(&finding.clause.as_str()) {
            broken.push(&finding.clause);
        }
    }
    if let Some(own) = broken.iter().position(|clause| *clause == verdict.clause) {
        broken[..=own].rotate_right(1);
    } else {
        let label = if broken.is_empty() { "clause  " } else { "about   " };
        line(block, "   = ", &format!("{label}{}", clause(&verdict.clause, summary.clause(&verdict.clause))));
    }
    for id in broken {
        line(block, "   = ", &format!("clause  {}", clause(id, summary.clause(id))));
    }
}

fn clause(id: &str, known: Option<&ClauseText>) -> String {
    let Some(known) = known else {
        return format!("{} (not in the record)", harmless(id));
    };
    format!("{} ({}): {}", harmless(id), grade(known), short(&known.says))
}

#[cfg(test)]
mod tests {
    use xs2aspec_record::{End, Finding, Level, Verdict};

    use crate::{
        Run,
        sample::{self, Sample},
    };

    fn block(events: &[xs2aspec_record::Event], case: &str) -> String {
        let run = Run::of(events).unwrap();
        let verdict = run.verdicts().find(|verdict| verdict.case == case).unwrap();
        super::failure_block(run.summary(), &run.report(verdict))
    }

    #[test]
    fn a_failure_looks_as_designed() {
        insta::assert_snapshot!(block(&sample::mixed(), "periodic.months.duplicate/adjacent"), @"
        FAIL  periodic.months.duplicate / adjacent
          --> cases/periodic/months-of-execution.yaml:18
           | POST /v1/periodic-payments/norwegian-domestic-credit-transfers     201 in 12 ms, request 3
           | body/monthsOfExecution = [3, 3]
           | expected a rejection (4xx), got 201 with transactionStatus RCVD
           = clause  periodic.months.duplicate (stated): month numbers may not repeat
           = control accepted: periodic.months / ascending
           = again   xs2aspec run --only periodic.months.duplicate/adjacent --target 'my bank.toml' --now 2030-01-02T03:04:05Z
           = next    xs2aspec explain periodic.months.duplicate/adjacent --target 'my bank.toml'
        ");
    }

    #[test]
    fn what_could_not_be_report_gives_its_reason() {
        insta::assert_snapshot!(block(&sample::mixed(), "periodic.months.duplicate/spread"), @"
        INCONCLUSIVE  periodic.months.duplicate / spread
          --> cases/periodic/months-of-execution.yaml:18
           | body/monthsOfExecution = [3, 5, 3]
           | inconclusive: its control periodic.months/two was not accepted: it got 400
           = clause  periodic.months.duplicate (stated): month numbers may not repeat
           = control not accepted: periodic.months / two
           = again   xs2aspec run --only periodic.months.duplicate/spread --target 'my bank.toml' --now 2030-01-02T03:04:05Z
           = next    xs2aspec explain periodic.months.duplicate/spread --target 'my bank.toml'
        ");
        insta::assert_snapshot!(block(&sample::mixed(), "ncbct.path/plain"), @"
        ERROR  ncbct.path / plain
          --> cases/ncbct/months-of-execution.yaml:18
           | POST /v1/periodic-payments/norwegian-domestic-credit-transfers     no response in 12 ms, request 5
           | could not judge: no answer within 5 s
           = clause  ncbct.path (stated): an NCBCT payment is created under its path
           = again   xs2aspec run --only ncbct.path/plain --target 'my bank.toml' --now 2030-01-02T03:04:05Z
           = next    xs2aspec explain ncbct.path/plain --target 'my bank.toml'
        ");
    }

    #[test]
    fn every_broken_clause_has_its_line_and_the_own_clause_comes_first() {
        let mut sample = Sample::new(1);
        let verdict = sample.verdict("periodic.months/one", Verdict::Fail);
        let finding = |clause: &str, at: &str| Finding {
            clause: clause.into(),
            expected: "at most 2 decimals (NOK)".into(),
            actual: "\"1.234\"".into(),
            at: at.into(),
            kind: xs2aspec_record::Mismatch::Value,
            level: Level::Deny,
            end: End::Bank,
        };
        verdict.findings = vec![
            finding("amount.digits", "body/transactionFees/amount"),
            finding("periodic.months", "status"),
        ];
        insta::assert_snapshot!(block(&sample.finished(), "periodic.months/one"), @r#"
        FAIL  periodic.months / one
          --> cases/periodic/months-of-execution.yaml:18
           | POST /v1/periodic-payments/norwegian-domestic-credit-transfers     201 in 12 ms, request 1
           | body/transactionFees/amount: expected at most 2 decimals (NOK), got "1.234" [amount.digits]
           | expected at most 2 decimals (NOK), got "1.234"
           = clause  periodic.months (stated): months 1 to 11 are accepted
           = clause  amount.digits (derived, ISO 4217): an amount has no more decimals than its currency
           = again   xs2aspec run --only periodic.months/one --target 'my bank.toml' --now 2030-01-02T03:04:05Z
           = next    xs2aspec explain periodic.months/one --target 'my bank.toml'
        "#);
        sample.last().findings.pop();
        sample.last().findings.push(finding("nowhere", "body/x"));
        insta::assert_snapshot!(block(&sample.finished(), "periodic.months/one"), @r#"
        FAIL  periodic.months / one
          --> cases/periodic/months-of-execution.yaml:18
           | POST /v1/periodic-payments/norwegian-domestic-credit-transfers     201 in 12 ms, request 1
           | body/transactionFees/amount: expected at most 2 decimals (NOK), got "1.234" [amount.digits]
           | body/x: expected at most 2 decimals (NOK), got "1.234" [nowhere]
           = about   periodic.months (stated): months 1 to 11 are accepted
           = clause  amount.digits (derived, ISO 4217): an amount has no more decimals than its currency
           = clause  nowhere (not in the record)
           = again   xs2aspec run --only periodic.months/one --target 'my bank.toml' --now 2030-01-02T03:04:05Z
           = next    xs2aspec explain periodic.months/one --target 'my bank.toml'
        "#);
    }

    #[test]
    fn a_hostile_answer_stays_on_its_line() {
        let block = block(&sample::hostile(), sample::HOSTILE_CASE);
        assert!(!block.chars().any(|letter| letter != '\n' && crate::text::is_hostile(letter)), "{block:?}");
        assert!(block.lines().all(|line| line.chars().count() < 900), "{block}");
        // Text from the target appears behind a margin, so that it cannot look like a heading.
        assert_eq!(block.lines().filter(|line| line.starts_with("FAIL")).count(), 1, "{block}");
        assert!(block.contains("characters more)"));
    }
}
