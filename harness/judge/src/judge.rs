//! Judges an answer. The rules are those of the design: a refusal is a 4xx (or a created resource with status
//! RJCT where the profile allows that form), a 5xx never is; every 2xx body is checked whatever the case is
//! about; all findings come together.

mod by;
mod shows;

use serde_json::Value;
use xs2aspec_record::{Finding, Foreign, Got, Header, Mismatch, Reason, Response, Verdict};
use xs2aspec_spec::AnswerRules;
use xs2aspec_suite::{Case, Expectation, Preparation, Refusal, StepExpect};

pub use self::by::{Judge, JudgeError};
use self::shows::shortened;
use crate::{
    answer::{Answer, MALFORMED},
    codes::Codes,
    levels::Levels,
    profile::Profile,
};

/// The outcome that a valid request must have, in words.
pub(crate) const ACCEPTANCE: &str = "acceptance (2xx)";

/// The outcome that an invalid request must have, in words.
pub(crate) const REFUSAL: &str = "a refusal (4xx)";

/// The outcome that every request must have, in words.
const BELOW_500: &str = "an answer below 500";

/// Statuses that say that a thing is not there (RFC 9110, sections 15.5.5 and 15.5.11).
pub(crate) const NOT_THERE: [u16; 2] = [404, 410];

/// Statuses that a gateway sends instead of the target (RFC 9110 sections 15.6.3 to 15.6.5). They say
/// something about the target only if they repeat.
pub(crate) const UNAVAILABLE: [u16; 3] = [502, 503, 504];

/// What an answer says about the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// 2xx with a body of the operation, and no rejection.
    Accepted,
    /// 2xx with a body that is none of the operation: of another kind, or without members that it must have.
    Foreign,
    /// 2xx with transactionStatus RJCT where something is made: created, and rejected. To read that something
    /// else was rejected is no refusal.
    Rejected,
    /// 4xx.
    Refused,
    /// 5xx.
    ServerError,
    /// 429 or 503: the target has no time for the request (RFC 6585 section 4, RFC 9110 section 15.6.4),
    /// whether it names a time to come back or not.
    Busy,
    /// 1xx or 3xx: neither accepted nor refused.
    Neither,
}

impl Outcome {
    /// Whether the target refuses: it understood, and does not want to.
    pub fn is_refusal(self) -> bool {
        matches!(self, Self::Refused | Self::Rejected)
    }

    /// Whether the target made what it was asked for, be it rejected.
    pub fn is_made(self) -> bool {
        matches!(self, Self::Accepted | Self::Rejected)
    }
}

/// An answer, parsed and held against the rules for responses.
#[derive(Debug, Clone)]
pub struct Examined {
    /// What it says about the request.
    pub outcome: Outcome,
    /// The answer in short.
    pub got: Got,
    /// Rules evaluated on the body.
    pub checks: u32,
    /// What the body breaks.
    pub findings: Vec<Finding>,
    /// What the body does where the document leaves it free.
    pub observations: Vec<String>,
    /// The body, where it is JSON.
    pub document: Option<Value>,
}

/// Parses an answer and checks its body.
///
/// Answers of an operation that the document only mentions have no shape to be held to. What would be
/// observed is a finding where the levels mind it. `asked` gives header fields of the request.
pub fn examine(
    operation: &str,
    asked: impl Fn(&str) -> Option<String>,
    answer: &Answer,
    rules: &AnswerRules,
    levels: &Levels,
) -> Examined {
    let checked = rules.check(operation, answer.status, answer.header("content-type"), &answer.body);
    let status = rules.status(checked.document.as_ref());
    let is_foreign = if rules.has(operation) {
        !rules.is_of(operation, checked.document.as_ref())
    } else {
        // A page comes from something before the interface, whatever was asked.
        answer.header("content-type").is_some_and(is_page)
    };
    let outcome = match answer.status {
        429 | 503 => Outcome::Busy,
        200..=299 if is_foreign => Outcome::Foreign,
        200..=299 if status.is_some_and(|(_, status)| rules.is_rejected(operation, status)) => {
            Outcome::Rejected
        }
        200..=299 => Outcome::Accepted,
        400..=499 => Outcome::Refused,
        status if rules.may_lack(operation, status) => Outcome::Refused,
        500.. => Outcome::ServerError,
        _ => Outcome::Neither,
    };
    let is_page = answer.status >= 300 && answer.header("content-type").is_some_and(is_page);
    let codes = rules.codes(checked.document.as_ref());
    let got = Got {
        status: answer.status,
        resource: status
            .filter(|_| (200..300).contains(&answer.status))
            .map(|(member, status)| (member.to_owned(), shortened(status))),
        codes: codes.iter().take(CODES).map(|code| shortened(code)).collect(),
        foreign: match outcome {
            Outcome::Foreign => Some(Foreign::Other),
            _ => is_page.then_some(Foreign::Page),
        },
        is_repeated: false,
    };
    let (broken, seen): (Vec<_>, Vec<_>) =
        checked.observations.into_iter().partition(|observation| levels.minds(&observation.clause));
    let document = checked.document.as_ref();
    let finding = |clause: &str, at: String, expected: String, actual: String| {
        Finding::new(clause, kind_at(&at, document), at, expected, actual)
    };
    let mut findings = Vec::new();
    for found in checked.findings {
        let clause = rules.otherwise(&found.clause, &asked).unwrap_or(&found.clause);
        findings.push(finding(clause, found.at, found.expected, found.actual));
    }
    let malformed: Vec<&str> =
        answer.headers.iter().filter(|(name, _)| name == MALFORMED).map(|(_, line)| line.as_str()).collect();
    if let Some(clause) = rules.field_lines().filter(|_| !malformed.is_empty()) {
        let expected = "header lines of a name, a colon without a space before it and a value, and nothing after the response";
        findings.push(finding(clause, "header".to_owned(), expected.to_owned(), malformed.join(", ")));
    }
    for found in broken {
        findings.push(finding(&found.clause, found.at, "what the clause says".to_owned(), found.text));
    }
    Examined {
        outcome,
        got,
        checks: checked.checks,
        findings,
        observations: seen
            .into_iter()
            .map(|seen| format!("{}: {}: {}", seen.clause, seen.at, seen.text))
            .collect(),
        document: checked.document,
    }
}

/// Error codes of a response that are kept: a bank may send any number of them.
const CODES: usize = 5;

/// Returns what kind of thing is wrong at a place of a body: it is not there, or not what it must be.
fn kind_at(at: &str, body: Option<&Value>) -> Mismatch {
    let there =
        at.strip_prefix("body/").map(|pointer| body.and_then(|body| body.pointer(&format!("/{pointer}"))));
    if there == Some(None) { Mismatch::Missing } else { Mismatch::Value }
}

/// What a case comes to.
#[derive(Debug)]
pub struct Judged {
    /// Pass, fail, observed or inconclusive.
    pub verdict: Verdict,
    /// How many checks were evaluated.
    pub checks: u32,
    /// Every mismatch.
    pub findings: Vec<Finding>,
    /// What was seen where the document leaves the target free.
    pub observations: Vec<String>,
    /// How the refusal that was expected came: an observation, as long as the verdict rests on it.
    pub refusal: Option<String>,
    /// Why it could not be told.
    pub reason: Option<Reason>,
}

impl Judged {
    /// Counts a check, and adds a finding unless it is met.
    fn check(&mut self, is_met: bool, found: impl FnOnce() -> Finding) {
        self.checks += 1;
        if !is_met {
            self.findings.push(found());
        }
    }
}

/// Judges the answer to the request of a case of this clause and operation. Which findings are violations,
/// and which only warnings, `Levels::weigh` says afterwards.
pub fn judge(
    (clause, operation): (&str, &str),
    expect: &Expectation,
    answer: &Answer,
    examined: Examined,
    (profile, levels): (&Profile, &Levels),
    rules: &AnswerRules,
) -> Judged {
    let Examined { mut outcome, got, checks, findings, observations, document, .. } = examined;
    let expect = by_choice(expect, levels.choice(clause));
    let verdict = Verdict::Inconclusive;
    let mut judged = Judged { verdict, checks, findings, observations, refusal: None, reason: None };
    // Where nothing is demanded, whatever counts as a call may have used up a quota of the day.
    let may_be_used_up = || *expect == Expectation::Observed && is_quota(answer, rules);
    if outcome == Outcome::Busy && (used_up(expect, answer.status) || may_be_used_up()) {
        outcome = Outcome::Refused;
    }
    if outcome == Outcome::Busy {
        let is_quota = is_quota(answer, rules);
        let reason = if is_quota { Reason::QuotaUsedUp { got } } else { Reason::Busy { got } };
        return Judged { findings: vec![], reason: Some(reason), ..judged };
    }
    let words = got.to_string();
    let wrong = |kind, expected: &str| Finding::new(clause, kind, "status", expected, &words);
    let failed =
        |clause: &str| Finding { clause: clause.to_owned(), ..wrong(Mismatch::ServerError, BELOW_500) };
    let is_up = outcome != Outcome::ServerError;
    judged.check(is_up, || failed(rules.server_error()));
    let mut is_open = false;
    match expect {
        Expectation::Accepted => {
            // What a body lacks is a finding already.
            let is_met = matches!(outcome, Outcome::Accepted | Outcome::Foreign);
            judged.check(is_met, || wrong(Mismatch::NotAccepted, ACCEPTANCE));
            if let Some(clause) = rules.success_status(operation).filter(|_| answer.is_success()) {
                match levels.choice(clause) {
                    Some(wanted) => success_status((clause, wanted), answer.status, profile, &mut judged),
                    None => judged.observations.push(format!("{clause}: {}", answer.status)),
                }
            }
        }
        Expectation::Shows(values) => {
            // A resource with status RJCT shows as well as another.
            let is_met = matches!(outcome, Outcome::Accepted | Outcome::Rejected);
            judged.check(is_met, || wrong(Mismatch::NotAccepted, "an answer that shows it (2xx)"));
            if is_met {
                let listed = |body: &Value| rules.listed(operation, body);
                let differences = shows::differences(values, document.as_ref(), &listed).into_iter();
                judged.findings.extend(differences.map(|(expected, actual, at)| {
                    Finding::new(clause, kind_at(&at, document.as_ref()), at, expected, actual)
                }));
                judged.checks = values.iter().fold(judged.checks, |checks, _| checks + 1);
            }
            // The body is not as far, and may never be.
            is_open = shows::is_open(values, document.as_ref());
        }
        Expectation::Refused(wanted) => {
            if wanted.text && !says_something(&answer.body) {
                let none = || Finding::new(clause, Mismatch::Code, "body", "a body with a message", "none");
                judged.check(false, none);
            }
            let codes = Codes::new(rules, operation, document.as_ref(), &answer.body);
            refused(wanted, (outcome, answer.status), &codes, profile, wrong, &mut judged);
        }
        Expectation::Answered => {
            judged.check(is_up || clause == rules.server_error(), || failed(clause));
        }
        Expectation::Observed | Expectation::Choice(_) => {}
    }
    judged.verdict = match expect {
        _ if !judged.findings.is_empty() => Verdict::Fail,
        Expectation::Observed | Expectation::Choice(_) => Verdict::Observed,
        _ if is_open => Verdict::Observed,
        _ => Verdict::Pass,
    };
    let is_seen = matches!(expect, Expectation::Answered | Expectation::Observed | Expectation::Choice(_));
    if is_seen || is_open && judged.verdict == Verdict::Observed {
        judged.observations.push(format!("{clause}: {words}"));
    }
    if matches!(expect, Expectation::Refused(_)) && judged.verdict == Verdict::Pass {
        judged.refusal = Some(format!("{clause}: refused with {words}"));
    }
    judged
}

/// Whether a Content-Type is that of a page for people.
pub(crate) fn is_page(content_type: &str) -> bool {
    content_type.to_ascii_lowercase().starts_with("text/html")
}

/// Whether an answer is that of something else than an interface: a page, or nothing where there is no
/// failure.
pub(crate) fn is_foreign(answer: &Response) -> bool {
    let header = answer.headers.iter().find(|Header(name, _)| name.eq_ignore_ascii_case("content-type"));
    let media =
        header.map(|header| header.1.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
    let is_page = media.is_some_and(|media| !media.is_empty() && !media.ends_with("json"));
    is_page || answer.body.is_none() && (200..300).contains(&answer.status)
}

/// Whether an answer says that a quota is used up, and not only that the target has no time at the moment.
pub(crate) fn is_quota(answer: &Answer, rules: &AnswerRules) -> bool {
    // Every answer is looked at: a body is read only where its status allows it.
    let document = || serde_json::from_slice(&answer.body).ok();
    let says = |code: &str| Codes::anywhere(document().as_ref(), &answer.body).have(code);
    (400..500).contains(&answer.status) && rules.quota().is_some_and(|quota| says(&quota.code))
}

/// Returns true if a response with 429 to a step may be what a daily quota leads to, in a case that uses one.
/// A request that must be accepted may meet a bank that is only busy.
pub(crate) fn may_be_used_up(case: &Case, step: &str) -> bool {
    let of_step = |before: &&Preparation| step.split('/').next() == Some(before.name.as_str());
    let must_be_accepted = match case.before.iter().find(of_step) {
        Some(before) => before.expect == StepExpect::Accepted,
        None => case.expect.is_accepted(),
    };
    case.needs_quota() && !must_be_accepted
}

/// Whether a request to come back later is the answer that a case about a quota waits for.
pub(crate) fn used_up(expect: &Expectation, status: u16) -> bool {
    status == 429 && waits_for_quota(expect)
}

/// Whether an answer is expected that says that a quota is used up.
pub(crate) fn waits_for_quota(expect: &Expectation) -> bool {
    matches!(expect, Expectation::Refused(refusal) if refusal.quota)
}

/// The expectation that a choice leads to; observed where there is none, or one that the case does not know.
pub(crate) fn by_choice<'a>(expect: &'a Expectation, choice: Option<&str>) -> &'a Expectation {
    match expect {
        Expectation::Choice(values) => {
            choice.and_then(|choice| values.get(choice)).unwrap_or(&Expectation::Observed)
        }
        other => other,
    }
}

/// Whether an answer can be judged, and need not be asked for again: it has what a case demands of its body,
/// or never will.
pub(crate) fn is_settled(expect: &Expectation, examined: &Examined) -> bool {
    let Expectation::Shows(values) = expect else { return true };
    !matches!(examined.outcome, Outcome::Accepted | Outcome::Rejected)
        || shows::is_final(values, examined.document.as_ref())
}

/// Whether a body says something: words, or a text, code or number in its JSON.
fn says_something(body: &[u8]) -> bool {
    fn says(value: &Value) -> bool {
        match value {
            Value::String(text) => !text.trim().is_empty(),
            Value::Number(_) => true,
            Value::Array(items) => items.iter().any(says),
            Value::Object(members) => members.values().any(says),
            _ => false,
        }
    }
    let is_blank = body.trim_ascii().is_empty();
    serde_json::from_slice(body).map_or(!is_blank, |document| says(&document))
}

fn refused(
    refusal: &Refusal,
    (outcome, status): (Outcome, u16),
    codes: &Codes,
    profile: &Profile,
    wrong: impl Fn(Mismatch, &str) -> Finding,
    judged: &mut Judged,
) {
    let form = refusal.or_rejected
        || profile.rejected_is_refusal && !refusal.nothing_created && refusal.statuses.is_empty();
    let is_refused = outcome == Outcome::Refused || (form && outcome == Outcome::Rejected);
    judged.check(is_refused, || wrong(Mismatch::NotRejected, REFUSAL));
    if !is_refused {
        return;
    }
    if let Some(expected) = refusal.said_statuses() {
        judged.check(refusal.statuses.contains(&status), || wrong(Mismatch::Status, &expected));
    }
    if let Some(expected) = refusal.said_codes() {
        let is_met = refusal.codes.iter().any(|code| codes.have(code));
        judged.check(is_met, || Finding { at: codes.place.clone(), ..wrong(Mismatch::Code, &expected) });
    }
}

/// 201 and 200 are the natural reading of CREATED and OK, and the bank's choice: asserted where its profile
/// declares them, or where the ledger says that the usual one is the plain reading.
fn success_status((clause, wanted): (&str, &str), status: u16, profile: &Profile, judged: &mut Judged) {
    // The key of each of these clauses is its id.
    let is_declared = profile.choices.contains_key(clause);
    let why = if is_declared { "as the profile declares" } else { "as the clause is plainly read" };
    let status = status.to_string();
    let expected = || format!("status {wanted}, {why}");
    judged.check(wanted == status, || Finding::new(clause, Mismatch::Status, "status", expected(), &status));
}

#[cfg(test)]
mod tests;
