//! Judges both ends of an exchange. Violations in the request belong to the client, those in the response to
//! the bank. The bank also violates the document if it accepts a request that must be rejected, or rejects
//! one that conforms.

use std::sync::Arc;

use serde_json::{Map, Value};
use xs2aspec_record::{End, Finding, Got, Level, Mismatch, Observation, Reason, Untold};
use xs2aspec_signing::Certificate;
use xs2aspec_spec::{
    Strength,
    answer::show,
    masks::{Privacy, holds_pseudonym},
    request::{Due, Payload as Shown, View},
};
use xs2aspec_suite::{Expectation, Party, Suite, combination::expected};

use super::{
    memory::Memory,
    message::{Payload, Received, Rejection, Sent, Traffic},
    reading::{Reader, Reading},
    routes::Routes,
    session::Session,
    signature::{self, Certificates},
    verdict::Judged,
    vocabulary::Vocabulary,
};
use crate::{
    Judge, Levels, Profile,
    answer::Answer,
    certificate_encoding::CertificateEncoding,
    judge::{self as answers, Examined, Outcome},
    request_signer::RequestSigner,
};

/// Judges exchanges in order of time, because later ones may refer to resources that earlier ones created.
#[derive(Debug)]
pub struct TrafficJudge {
    pub(super) suite: Arc<Suite>,
    pub(super) profile: Profile,
    pub(super) levels: Levels,
    pub(super) certificates: Certificates,
    pub(super) routes: Routes,
    vocabulary: Vocabulary,
    pub(super) memory: Memory,
    /// True if the profile belongs to the bank, so that its accounts and persons are valid there.
    pub(super) is_of_the_bank: bool,
    pub(super) session: Session,
}

/// The required outcome of a request according to the rules.
struct Asked {
    due: Due,
    /// Reasons why the bank may reject it anyway.
    unsure: Vec<Untold>,
    hidden: Vec<(String, Untold)>,
}

impl TrafficJudge {
    /// Returns a judge of traffic with this profile. `is_of_the_bank` is true if the profile was written for
    /// the bank that responded.
    pub fn new(judge: &Judge, is_of_the_bank: bool) -> Self {
        let suite = Arc::clone(&judge.suite);
        let profile = judge.profile().clone();
        Self {
            levels: judge.levels().clone(),
            certificates: certificates(&suite, &profile),
            routes: Routes::new(&suite, &profile),
            vocabulary: Vocabulary::new(&suite, &profile),
            memory: Memory::new(&suite),
            suite,
            profile,
            is_of_the_bank,
            session: Session::default(),
        }
    }

    /// Judges an exchange. If the bank is the reference bank, `rejection` has the rule behind its rejection
    /// and the clauses that it reads in an unusual way.
    pub fn exchange(&mut self, traffic: &Traffic, rejection: Option<(&Rejection, &[&str])>) -> Judged {
        let (spec, rules) = (self.suite.spec(), self.suite.requests());
        let spec = (&spec.signing, &spec.masks);
        let signature = signature::look(&traffic.request, spec, rules, &self.certificates);
        let mut judged = self.by_rules(traffic, &signature);
        self.client((traffic, &signature), rejection.is_some(), &mut judged);
        if let Some((rejection, freedoms)) = rejection {
            self.rejected(&mut judged, rejection, freedoms);
        }
        judged
    }

    /// Judges an exchange by the rules for requests and responses.
    fn by_rules(&mut self, traffic: &Traffic, signature: &signature::Found) -> Judged {
        let Some(found) = self.routes.find(&traffic.request) else { return Judged::of_no_operation() };
        let operation = found.operation.to_owned();
        let suite = Arc::clone(&self.suite);
        let Some(plain) = suite.baselines().get(&operation).map(|plain| &plain.request) else {
            return Judged::of_no_operation();
        };
        let reader = Reader {
            vocabulary: &self.vocabulary,
            memory: &self.memory,
            profile: &self.profile,
            client: &suite.spec().client,
            plain,
            now: traffic.began,
        };
        let reading = Reading::new(&traffic.request, &found, signature, &reader);
        let ids = found.fitting.iter().flat_map(|(_, values)| values).map(|(_, value)| value.clone());
        let ids = ids.collect();
        let unsigned = Map::new();
        let mut judged = Judged { operation: Some(operation.clone()), checks: 1, ids, ..Judged::default() };
        let mut asked =
            self.asked((&traffic.request, &reading), &plain.view(&unsigned), &signature.says, &mut judged);
        if !signature.is_own {
            asked.unsure.push(Untold::Certificate);
        }
        if traffic.request.has_gap() {
            asked.unsure.push(Untold::EmptyPart);
        }
        if self.memory.was_accepted(&operation, reading.amounts()) {
            asked.unsure.push(Untold::Duplicate);
        }
        judged.due = Some(asked.due.clone());
        judged.is_sure = asked.unsure.is_empty() && asked.hidden.is_empty();
        let document = self.answer(traffic, &operation, &asked, &mut judged);
        for (at, why) in asked.hidden {
            judged.cannot_tell(End::Client, format!("request/{at}"), why);
        }
        let day = traffic.began.date_naive();
        self.memory.add(&operation, (&traffic.request, day, reading.amounts()), document.as_ref());
        judged
    }

    /// Returns the result for an exchange that cannot be read. At most its method and URL are known.
    pub fn unread(&self, traffic: &Traffic, why: String) -> Judged {
        let Sent { method, url, .. } = &traffic.request;
        let found = self.routes.find(&traffic.request);
        if found.is_none() && !method.is_empty() && !url.is_empty() {
            return Judged::of_no_operation();
        }
        let ids = found.iter().flat_map(|found| found.fitting.iter().flat_map(|(_, values)| values));
        Judged {
            operation: found.as_ref().map(|found| found.operation.to_owned()),
            ids: ids.map(|(_, value)| value.clone()).collect(),
            undecided: Some(Reason::Unread { why }),
            ..Judged::default()
        }
    }

    /// Returns the required outcome of a request, and adds the client's violations.
    fn asked(
        &self,
        (sent, reading): (&Sent, &Reading),
        plain: &View<'_>,
        says: &[(String, String)],
        judged: &mut Judged,
    ) -> Asked {
        let rules = self.suite.requests();
        let is_expected = |clause: &str| {
            let clause = self.suite.clauses().get(clause);
            clause.is_some_and(|clause| matches!(clause.strength, Strength::Expected))
        };
        let view = reading.view();
        let due = rules.judge(&view, plain, &reading.prepared, &is_expected);
        let mut asked = Asked { due, unsure: reading.unsure.clone(), hidden: reading.hidden.clone() };
        let Due::Refused { clauses, conditions, open } = &asked.due else { return asked };
        // If the bank may accept the request and set status RJCT, the client made no mistake.
        let is_mistake = conditions.get(OR_REJECTED).is_none();
        let breaches = rules.breaches(&view, plain, &reading.prepared);
        let why = |clause: &String| {
            let bank = || Untold::KnownToTheBank { says: self.says(clause) };
            let hidden = || reading.hides_all(breaches.iter().filter(|breach| breach.clause == *clause));
            rules.is_known_to_the_bank_alone(clause).then(bank).or_else(hidden)
        };
        let (known, unknown): (Vec<&String>, Vec<&String>) =
            clauses.iter().partition(|clause| why(clause).is_none());
        let why = unknown.first().and_then(|clause| why(clause));
        for breach in breaches.iter().filter(|breach| known.contains(&&breach.clause)) {
            let at =
                if breach.at.is_empty() { "request".to_owned() } else { format!("request/{}", breach.at) };
            let found = says.iter().find(|(at, _)| breach.at.eq_ignore_ascii_case(at));
            let actual =
                found.map_or_else(|| self.value_at(&view, sent, &breach.at), |(_, says)| says.clone());
            let kept = accepted_by(&self.says(&breach.clause));
            if self.is_of_the_session(&breach.clause) {
                continue;
            }
            if is_mistake {
                self.add(judged, (&breach.clause, End::Client, Mismatch::Request), (at, kept, actual));
            } else {
                judged.seen.push(Observation::OrRejected { clause: breach.clause.clone(), at, actual });
            }
        }
        if let Some(why) = why {
            if known.is_empty() {
                asked.due = Due::Open(why.to_string());
            } else {
                asked.unsure.push(why);
                let (clauses, open) = (known.into_iter().cloned().collect(), open.clone());
                asked.due = Due::Refused { clauses, conditions: Map::new(), open };
            }
        }
        asked
    }

    /// Judges a response. Returns its body if the request was accepted.
    fn answer(
        &self,
        traffic: &Traffic,
        operation: &str,
        asked: &Asked,
        judged: &mut Judged,
    ) -> Option<Value> {
        let Some(received) = traffic.answer.as_ref().filter(|_| traffic.failure.is_none()) else {
            let failure = traffic.failure.as_ref();
            let reason = failure.map_or(Reason::NoResponseRecorded, Reason::no_response);
            judged.cannot_tell(End::Bank, "status", reason.clone());
            judged.undecided = Some(reason);
            return None;
        };
        let body = match &received.body {
            Payload::Bytes(bytes) => bytes.clone(),
            Payload::Unknown(why) => {
                self.status_alone(operation, (received, asked), why, judged);
                return None;
            }
        };
        let answer = Answer { status: received.status, headers: received.headers.clone(), body };
        if self.may_lack(operation, received.status) {
            judged.seen.push(Observation::ForTheSandbox { operation: operation.to_owned() });
            return None;
        }
        let rules = self.suite.answers();
        let field = |name: &str| traffic.request.header(name).map(str::to_owned);
        let examined = answers::examine(operation, field, &answer, rules, &self.levels);
        judged.codes.clone_from(&examined.got.codes);
        let document = examined.document.clone().filter(|_| examined.outcome == Outcome::Accepted);
        let (expect, clause) = self.expectation(operation, asked, &examined, judged);
        let whole = examined.document.clone();
        let result = answers::judge(
            (&clause, operation),
            &expect,
            &answer,
            examined,
            (&self.profile, &self.levels),
            rules,
        );
        judged.checks += result.checks;
        judged.observations.extend(result.observations);
        for finding in result.findings {
            let Finding { clause, expected, actual, at, kind, .. } = finding;
            if is_masked_at(whole.as_ref(), &at) {
                judged.cannot_tell(End::Bank, at, Untold::Masked);
            } else {
                self.add(judged, (&clause, End::Bank, kind), (at, expected, actual));
            }
        }
        if let Some(reason) = result.reason {
            judged.cannot_tell(End::Bank, "status", reason.clone());
            judged.undecided = Some(reason);
        }
        document
    }

    /// Returns the expectation for a response and its clause. If the bank may have a reason that the traffic
    /// does not show, a rejection does not count.
    fn expectation(
        &self,
        operation: &str,
        asked: &Asked,
        examined: &Examined,
        judged: &mut Judged,
    ) -> (Expectation, String) {
        let plain = self.suite.requests().plain_clause(operation).unwrap_or_default().to_owned();
        let read = |due: &Due| Expectation::parse(&expected(due)).unwrap_or(Expectation::Observed);
        match &asked.due {
            Due::Refused { clauses, .. } => {
                let clause = clauses.iter().max_by_key(|clause| {
                    let place = clauses.iter().position(|other| other == *clause).unwrap_or_default();
                    (self.levels.clause(clause).level, std::cmp::Reverse(place))
                });
                (read(&asked.due), clause.cloned().unwrap_or(plain))
            }
            Due::Choice { clause, .. } if asked.hidden.is_empty() && asked.unsure.is_empty() => {
                (read(&asked.due), clause.clone())
            }
            Due::Accepted { clauses } => {
                // Any of several clauses may be the one that the bank violates.
                let clause = clauses.iter().min_by_key(|clause| self.levels.clause(clause).level);
                let clause = clause.unwrap_or(&plain).clone();
                let is_refusal = matches!(examined.outcome, Outcome::Refused | Outcome::Rejected);
                let why = self.may_refuse(asked).filter(|_| is_refusal);
                if let Some(why) = why {
                    judged.cannot_tell(End::Bank, "status", why.clone());
                    let (got, why) = (examined.got.clone(), Box::new(why));
                    judged.undecided = Some(Reason::RefusalUndecided { got, why });
                    return (Expectation::Observed, plain);
                }
                (Expectation::Accepted, clause)
            }
            Due::Choice { .. } | Due::Open(_) => (Expectation::Observed, plain),
        }
    }

    /// Returns the reason why a bank may reject a conforming request, if there is one.
    fn may_refuse(&self, asked: &Asked) -> Option<Untold> {
        let unknown = (!self.is_of_the_bank).then_some(Untold::Psu);
        let hidden = asked.hidden.first().cloned();
        let hidden = hidden.map(|(at, why)| Untold::OfTheRequest { at, why: Box::new(why) });
        hidden.or_else(|| asked.unsure.first().cloned()).or(unknown)
    }

    /// Judges a response by its status alone.
    fn status_alone(
        &self,
        operation: &str,
        (received, asked): (&Received, &Asked),
        why: &Untold,
        judged: &mut Judged,
    ) {
        judged.cannot_tell(End::Bank, "body", why.clone());
        judged.checks += 1;
        let actual = received.status.to_string();
        let at = "status".to_owned();
        let is_lacking = self.suite.answers().may_lack(operation, received.status);
        if received.status >= 500 && received.status != 503 && !is_lacking {
            let clause = self.suite.answers().server_error();
            let kind = Mismatch::ServerError;
            self.add(judged, (clause, End::Bank, kind), (at, "a status below 500".to_owned(), actual));
        } else if (200..300).contains(&received.status) && matches!(asked.due, Due::Refused { .. }) {
            // The body may say that the created resource was rejected.
            judged.undecided =
                Some(Reason::BodyUnknown { got: Got::status(received.status), why: Box::new(why.clone()) });
        }
    }

    /// Adds a finding with the level of its clause.
    fn add(
        &self,
        judged: &mut Judged,
        (clause, end, kind): (&str, End, Mismatch),
        (at, expected, actual): (String, String, String),
    ) {
        let level = match end {
            End::Client => self.level_of_client(clause),
            End::Bank => self.levels.clause(clause).level,
        };
        let finding = Finding { clause: clause.to_owned(), expected, actual, at, kind, level, end };
        if level == Level::Note {
            judged.seen.push(Observation::Noted { finding: Box::new(finding) });
        } else if !judged.findings.contains(&finding) {
            judged.findings.push(finding);
        }
    }

    /// Describes the value at a place of a request. Personal values stay hidden.
    fn value_at(&self, view: &View<'_>, sent: &Sent, at: &str) -> String {
        let (part, rest) = at.split_once('/').unwrap_or((at, ""));
        let field = |fields: &[(String, Value)]| {
            let found = fields.iter().find(|(name, _)| name.eq_ignore_ascii_case(rest));
            found.map(|(_, value)| value.clone())
        };
        let value = match (part, view.payload) {
            ("header", _) => field(view.headers),
            ("query", _) => field(view.query),
            ("body", Shown::Json(body, _)) => {
                let pointer = if rest.is_empty() { String::new() } else { format!("/{rest}") };
                body.pointer(&pointer).cloned()
            }
            ("body", Shown::Raw) => return "a body that is not JSON".to_owned(),
            ("body", Shown::None) => None,
            _ => return "a request that violates it".to_owned(),
        };
        let Some(value) = value else { return "nothing".to_owned() };
        let masks = &self.suite.spec().masks;
        let name = rest.rsplit('/').find(|name| name.parse::<usize>().is_err()).unwrap_or_default();
        let is_personal = match part {
            "header" => masks.is_personal_header(rest) || masks.hides_header(rest),
            "body" => matches!(masks.privacy(name), Privacy::Personal(_)),
            _ => false,
        };
        match value {
            Value::String(text) if is_personal && !text.contains("${") => {
                format!("a string of {} characters", text.chars().count())
            }
            // A date placeholder is an internal form of the rules, so the date that was sent is shown.
            Value::String(text) if part == "body" && text.contains("${") => {
                show::value(&Value::String(day_at(sent, rest).unwrap_or(text)))
            }
            value => show::value(&value),
        }
    }

    /// Returns the text of a clause.
    fn says(&self, clause: &str) -> String {
        self.suite.clauses().get(clause).map_or_else(|| clause.to_owned(), |clause| clause.says.clone())
    }
}

/// Returns what is expected of a client, with the sentence of the clause.
pub(super) fn accepted_by(sentence: &str) -> String {
    format!("what the bank accepts ({})", sentence.trim_end_matches('.'))
}

/// Returns the string that was sent at a place of the body if it starts with a date.
fn day_at(sent: &Sent, at: &str) -> Option<String> {
    let body: Value = serde_json::from_slice(sent.body.bytes()?).ok()?;
    let text = body.pointer(&format!("/{at}"))?.as_str()?;
    text.trim_start().get(..10)?.parse::<chrono::NaiveDate>().ok().map(|_| text.to_owned())
}

/// The condition that allows a bank to create the resource with status RJCT instead of rejecting the request.
const OR_REJECTED: &str = "or-rejected";

fn certificates(suite: &Suite, profile: &Profile) -> Certificates {
    let spec = &suite.spec().signing;
    let signer = profile.signer().ok();
    let own = signer.as_ref().map(|signer| signer.certificate().clone());
    let own = own.or_else(|| Certificate::from_pem(&profile.certificate).ok());
    let encoding = CertificateEncoding::of(&profile.choices, &spec.choices).ok();
    let form = encoding.as_ref().map(|encoding| encoding.key_id.clone()).unwrap_or_default();
    let signer = signer.zip(encoding);
    let signer =
        signer.and_then(|(signer, encoding)| RequestSigner::new(signer, encoding, &spec.signed_headers).ok());
    let other = signer.and_then(|signer| signer.certificate(Some(Party::Other), "pem"));
    let other = other.and_then(|text| signature::pem(&text));
    Certificates { own, other, form }
}

/// Returns true if the value at a place of a body is masked or contains a masked value.
fn is_masked_at(document: Option<&Value>, at: &str) -> bool {
    let pointer = at.strip_prefix("body").unwrap_or("/-");
    let value = document.and_then(|body| body.pointer(pointer));
    value.is_some_and(|value| holds_pseudonym(value.to_string().as_bytes()))
}
