//! Judges a response. A rejection is a 4xx, or a created resource with status RJCT if the profile allows that
//! form. A 5xx is never a rejection. Every 2xx body is checked, and all findings are reported together.

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

/// The required outcome of a valid request.
pub(crate) const ACCEPTANCE: &str = "acceptance (2xx)";

/// The required outcome of an invalid request.
pub(crate) const REFUSAL: &str = "a rejection (4xx)";

/// The required outcome of every request.
const BELOW_500: &str = "a status below 500";

/// Statuses for a resource that does not exist (RFC 9110 sections 15.5.5 and 15.5.11).
pub(crate) const NOT_THERE: [u16; 2] = [404, 410];

/// Statuses that a gateway may send (RFC 9110 sections 15.6.3 to 15.6.5). They count against the target only
/// if they repeat.
pub(crate) const UNAVAILABLE: [u16; 3] = [502, 503, 504];

/// The outcome of a request according to its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// 2xx with a body of the operation, and no rejection.
    Accepted,
    /// 2xx with a body that does not belong to the operation: another kind, or without required fields.
    Foreign,
    /// 2xx with transactionStatus RJCT in response to a create request. Reading the status of another
    /// rejected resource does not count.
    Rejected,
    /// 4xx.
    Refused,
    /// 5xx.
    ServerError,
    /// 429 or 503: the target is busy (RFC 6585 section 4, RFC 9110 section 15.6.4), with or without a time
    /// to retry.
    Busy,
    /// 1xx or 3xx: neither accepted nor rejected.
    Neither,
}

impl Outcome {
    /// Returns true if the target understood the request and rejected it.
    pub fn is_refusal(self) -> bool {
        matches!(self, Self::Refused | Self::Rejected)
    }

    /// Returns true if the target created the resource, even with status RJCT.
    pub fn is_made(self) -> bool {
        matches!(self, Self::Accepted | Self::Rejected)
    }
}

/// A response, parsed and checked against the response rules.
#[derive(Debug, Clone)]
pub struct Examined {
    /// The outcome of the request.
    pub outcome: Outcome,
    /// A summary of the response.
    pub got: Got,
    /// Number of rules evaluated on the body.
    pub checks: u32,
    /// Violations in the body.
    pub findings: Vec<Finding>,
    /// Observations where the document leaves the bank free.
    pub observations: Vec<String>,
    /// The body, if it is JSON.
    pub document: Option<Value>,
}

/// Parses a response and checks its body.
///
/// The document defines no body for operations that it only mentions, so those are not checked. An
/// observation becomes a finding if `levels` gives its clause a level above `note`. `asked` returns headers
/// of the request.
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
        // A web page comes from a server in front of the interface.
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
        let expected = "header lines with a name, a colon without a space before it and a value, and nothing after the response";
        findings.push(finding(clause, "header".to_owned(), expected.to_owned(), malformed.join(", ")));
    }
    for found in broken {
        findings.push(finding(
            &found.clause,
            found.at,
            "the plain reading of the clause".to_owned(),
            found.text,
        ));
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

/// Maximum number of error codes kept from a response.
const CODES: usize = 5;

/// Returns the kind of mismatch at a place of a body: the field is missing or has a wrong value.
fn kind_at(at: &str, body: Option<&Value>) -> Mismatch {
    let there =
        at.strip_prefix("body/").map(|pointer| body.and_then(|body| body.pointer(&format!("/{pointer}"))));
    if there == Some(None) { Mismatch::Missing } else { Mismatch::Value }
}

/// The result of judging a case.
#[derive(Debug)]
pub struct Judged {
    /// Pass, fail, observed or inconclusive.
    pub verdict: Verdict,
    /// Number of checks evaluated.
    pub checks: u32,
    /// All mismatches.
    pub findings: Vec<Finding>,
    /// Observations where the document leaves the target free.
    pub observations: Vec<String>,
    /// An observation about the expected rejection, as long as the verdict rests on it.
    pub refusal: Option<String>,
    /// The reason for an inconclusive verdict.
    pub reason: Option<Reason>,
}

impl Judged {
    /// Counts a check and adds a finding if the check failed.
    fn check(&mut self, is_met: bool, found: impl FnOnce() -> Finding) {
        self.checks += 1;
        if !is_met {
            self.findings.push(found());
        }
    }
}

/// Judges the response to the request of a case. `Levels::weigh` decides afterwards which findings are
/// violations and which are warnings.
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
    // Even without an expectation, each call may have used up a daily quota.
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
            // Missing fields are findings already.
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
            // A resource with status RJCT shows its values like any other.
            let is_met = matches!(outcome, Outcome::Accepted | Outcome::Rejected);
            judged
                .check(is_met, || wrong(Mismatch::NotAccepted, "a response with the required values (2xx)"));
            if is_met {
                let listed = |body: &Value| rules.listed(operation, body);
                let differences = shows::differences(values, document.as_ref(), &listed).into_iter();
                judged.findings.extend(differences.map(|(expected, actual, at)| {
                    Finding::new(clause, kind_at(&at, document.as_ref()), at, expected, actual)
                }));
                judged.checks = values.iter().fold(judged.checks, |checks, _| checks + 1);
            }
            // The resource has not reached the required state, and may never reach it.
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
        judged.refusal = Some(format!("{clause}: rejected with {words}"));
    }
    judged
}

/// Returns true for the Content-Type of a web page.
pub(crate) fn is_page(content_type: &str) -> bool {
    content_type.to_ascii_lowercase().starts_with("text/html")
}

/// Returns true if a response does not come from an API: a web page, or a 2xx without a body.
pub(crate) fn is_foreign(answer: &Response) -> bool {
    let header = answer.headers.iter().find(|Header(name, _)| name.eq_ignore_ascii_case("content-type"));
    let media =
        header.map(|header| header.1.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
    let is_page = media.is_some_and(|media| !media.is_empty() && !media.ends_with("json"));
    is_page || answer.body.is_none() && (200..300).contains(&answer.status)
}

/// Returns true if a response says that a quota is used up, as opposed to a target that is only busy.
pub(crate) fn is_quota(answer: &Answer, rules: &AnswerRules) -> bool {
    // This runs for every response, so the body is parsed only if the status matches.
    let document = || serde_json::from_slice(&answer.body).ok();
    let says = |code: &str| Codes::anywhere(document().as_ref(), &answer.body).have(code);
    (400..500).contains(&answer.status) && rules.quota().is_some_and(|quota| says(&quota.code))
}

/// Returns true if a 429 to a step may be the effect of a daily quota that the case uses up. If the step must
/// be accepted, the bank may only be busy.
pub(crate) fn may_be_used_up(case: &Case, step: &str) -> bool {
    let of_step = |before: &&Preparation| step.split('/').next() == Some(before.name.as_str());
    let must_be_accepted = match case.before.iter().find(of_step) {
        Some(before) => before.expect == StepExpect::Accepted,
        None => case.expect.is_accepted(),
    };
    case.needs_quota() && !must_be_accepted
}

/// Returns true if a 429 is the rejection that a quota case expects.
pub(crate) fn used_up(expect: &Expectation, status: u16) -> bool {
    status == 429 && waits_for_quota(expect)
}

/// Returns true if the case expects a rejection because of a used-up quota.
pub(crate) fn waits_for_quota(expect: &Expectation) -> bool {
    matches!(expect, Expectation::Refused(refusal) if refusal.quota)
}

/// Returns the expectation for the bank's choice. Returns `Observed` if there is no choice or the case does
/// not list it.
pub(crate) fn by_choice<'a>(expect: &'a Expectation, choice: Option<&str>) -> &'a Expectation {
    match expect {
        Expectation::Choice(values) => {
            choice.and_then(|choice| values.get(choice)).unwrap_or(&Expectation::Observed)
        }
        other => other,
    }
}

/// Returns true if a response can be judged without resending the request: its body has the required values
/// or will never have them.
pub(crate) fn is_settled(expect: &Expectation, examined: &Examined) -> bool {
    let Expectation::Shows(values) = expect else { return true };
    !matches!(examined.outcome, Outcome::Accepted | Outcome::Rejected)
        || shows::is_final(values, examined.document.as_ref())
}

/// Returns true if a body has content: plain text, or a nonempty string or a number in JSON.
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

/// Checks the success status. The document names CREATED and OK, which plainly means 201 and 200, but the
/// bank may choose. The status counts if the profile declares it or the clause ledger makes the usual one the
/// plain reading.
fn success_status((clause, wanted): (&str, &str), status: u16, profile: &Profile, judged: &mut Judged) {
    // The choice key of each of these clauses is the clause id.
    let is_declared = profile.choices.contains_key(clause);
    let why = if is_declared { "as the profile declares" } else { "by the plain reading of the clause" };
    let status = status.to_string();
    let expected = || format!("status {wanted}, {why}");
    judged.check(wanted == status, || Finding::new(clause, Mismatch::Status, "status", expected(), &status));
}

#[cfg(test)]
mod tests;
