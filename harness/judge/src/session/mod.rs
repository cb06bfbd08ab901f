//! Runs cases against one target: set-ups, controls once and shared, the judged request, the verdict. What is
//! asked stands in `ask`, what the target offers in `offer`; and the way to it in `transport`.

mod again;
mod alternative;
mod ask;
mod blank;
mod budget;
mod build;
mod confirm;
mod control;
mod evidence;
mod in_place;
mod narrow;
mod offer;
mod outcome;
mod quota;
mod set_up;
mod settled;
mod suspect;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize},
    },
    time::{Duration, Instant},
};

use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;
use futures_util::lock::Mutex as AsyncMutex;
use serde_json::Value;
use xs2aspec_record::{
    CaseVerdict, Culprit, End, Exchange, Finding, Level, Mismatch, Request, Role, TargetProfile, Verdict,
};
use xs2aspec_suite::{Case, Expectation, Suite};

pub use self::blank::left_in_doubt;
pub use self::outcome::Again;
pub use self::outcome::NotReady;
use self::{
    blank::{blank, differences},
    control::plain_rejected,
    outcome::{Ended, InPlace, Prepared, Unanswered},
    quota::Quota,
};
pub use crate::transport::RequestCache;
use crate::{
    answer::{ExchangeError, micros},
    fill::WireRequest,
    identity::Identity,
    judge::{self, Outcome, is_foreign},
    levels::{LevelError, Levels},
    mask::{Learned, Masker},
    profile::{Profile, validate::ProfileMismatch},
    request_signer::{RequestSigner, RequestSignerError},
    transport::{Stop, Target, Trail, Transport, Values},
    unconfirmed::unconfirm,
};

/// Why a session cannot begin. Exit code 2.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Key or certificate.
    #[error(transparent)]
    RequestSigner(#[from] RequestSignerError),
    /// TLS.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// The profile names what the suite does not know.
    #[error(transparent)]
    ProfileMismatch(#[from] ProfileMismatch),
    /// A level of a clause that the suite does not know.
    #[error(transparent)]
    Level(#[from] LevelError),
}

/// What became of a case: its verdict and the exchanges that led to it, those of its control apart.
#[derive(Debug)]
pub struct Done {
    /// The verdict, with the role [`Selected`](xs2aspec_record::Role::Selected) until the plan sets it.
    pub verdict: CaseVerdict,
    /// Exchanges in the order in which they ended, until they are taken.
    exchanges: Mutex<Vec<Exchange>>,
    /// The outcome of the judged request, if there was an answer, and the answer in words.
    answered: Option<(Outcome, String)>,
    /// The status of that answer.
    status: Option<u16>,
    /// The ids and amounts with which its valid requests were accepted.
    values: Values,
    /// Whether that answer shows by itself what is wrong: it is not what a target says that has had enough.
    shows_it: bool,
    /// Why its last request had no answer, if it had none.
    pub failure: Option<ExchangeError>,
    /// Whether a request of it, or of its control, was held back by the limit of exchanges, so that its
    /// verdict says nothing.
    pub is_held_back: bool,
    /// Whether it was not judged because the daily calls may be used up.
    is_used_up: bool,
}

impl Done {
    /// Returns true if the server failed at the judged request.
    pub(crate) fn is_server_error(&self) -> bool {
        self.status.is_some_and(|status| status >= 500)
    }

    /// Returns the verdict in its role, and takes the exchanges that led to it.
    pub fn told(&self, role: Role) -> (CaseVerdict, Vec<Exchange>) {
        (CaseVerdict { role, ..self.verdict.clone() }, self.take_exchanges())
    }

    /// The exchanges, in the order in which they ended. Who has taken them keeps them: a run has more of them
    /// than fit into memory.
    pub fn take_exchanges(&self) -> Vec<Exchange> {
        std::mem::take(&mut self.exchanges.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A value that is found once, by whoever needs it first. It is being looked for as long as it is locked.
type Once<T> = Arc<AsyncMutex<Option<T>>>;

/// One target, one suite, one identity and one clock.
#[derive(Debug)]
pub struct Session {
    suite: Arc<Suite>,
    profile: Profile,
    request_signer: Arc<RequestSigner>,
    identity: Identity,
    now: DateTime<Utc>,
    /// Since when the clock runs, where it does.
    running: Option<Instant>,
    /// Whether other lawful requests are asked in place of a plain one that is refused.
    asks_otherwise: bool,
    /// Whether no plain request was accepted, nor another lawful one in its place.
    is_hopeless: AtomicBool,
    /// Whether it is known what the plain requests came to.
    is_weighed: AtomicBool,
    /// True if a plain request that reads was accepted, so that the target knows the key.
    knows_key: AtomicBool,
    /// Why none of the first plain requests got an answer, where none did.
    silence: OnceLock<String>,
    /// How long after it was made the target shows a thing, where it needs a while.
    shows_after: OnceLock<Duration>,
    transport: Transport,
    /// Signatures of another session of the same identity and clock.
    signed: Option<Arc<RequestCache>>,
    masker: Masker,
    levels: Levels,
    /// Calls that used up the quota of the day.
    calls: AtomicUsize,
    done: Mutex<HashMap<String, Once<Arc<Done>>>>,
    asked: Mutex<HashMap<String, Once<Option<String>>>>,
    /// At how many exchanges each valid request that was asked again was accepted last.
    accepted: Mutex<HashMap<String, u64>>,
    /// What is sent in place of the requests of operations whose plain one is refused.
    in_place: Mutex<BTreeMap<String, Arc<InPlace>>>,
    /// What is known of the values of the profile that were doubted.
    doubts: suspect::Doubts,
}

/// The longest request that whatever stands before a bank takes: servers limit a header section to 8 KiB and
/// more (RFC 9110 section 5.4 names no limit).
const USUAL_LENGTH: usize = 8 * 1024;

impl Session {
    /// The suite.
    pub fn suite(&self) -> &Suite {
        &self.suite
    }

    /// The target.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// What a breach of each clause does.
    pub fn levels(&self) -> &Levels {
        &self.levels
    }

    /// What makes its ids and amounts unlike those of other runs.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The clock as it was handed over.
    pub fn now(&self) -> DateTime<Utc> {
        self.now
    }

    /// Whether the clock goes on.
    pub fn clock_runs(&self) -> bool {
        self.running.is_some()
    }

    /// What a record keeps of the target's profile.
    pub fn recorded_profile(&self) -> TargetProfile {
        self.profile.seen(|name, text| self.masker.value(name, text))
    }

    /// The clock as it stands.
    pub fn clock(&self) -> DateTime<Utc> {
        self.running.map_or(self.now, |since| self.now + since.elapsed())
    }

    /// Exchanges so far.
    pub fn exchanges(&self) -> u64 {
        self.transport.live().map_or(0, Target::sent)
    }

    /// How many of them sent a request once more.
    pub fn retries(&self) -> u64 {
        self.transport.live().map_or(0, Target::retries)
    }

    /// Returns what masks everything that the session records.
    pub fn masker(&self) -> &Masker {
        &self.masker
    }

    /// A request as it may be shown: without what belongs to persons and keys.
    pub fn masked(&self, request: &WireRequest) -> Request {
        self.masker.request(request)
    }

    /// Runs a case, its control first; each at most once in a session. `None` if the suite has no such case.
    pub fn case<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Option<Arc<Done>>> {
        Box::pin(async move {
            let case = self.suite.case(id)?;
            let cell = {
                let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
                Arc::clone(done.entry(id.to_owned()).or_default())
            };
            let mut done = cell.lock().await;
            if let Some(done) = &*done {
                return Some(Arc::clone(done));
            }
            Some(Arc::clone(done.insert(Arc::new(self.run(case).await))))
        })
    }

    /// Runs a case that need not be one of the suite. Its control, if it names one, is.
    ///
    /// Boxed, so that its code is in the program once, and not once for each caller.
    pub fn run<'a>(&'a self, case: &'a Case) -> BoxFuture<'a, Done> {
        Box::pin(self.run_case(case))
    }

    async fn run_case(&self, case: &Case) -> Done {
        let start = Instant::now();
        let mut trail = Trail::default();
        let mut verdict = blank(case);
        let mut is_used_up = false;
        let answered = match self.attempt(case, &mut verdict, &mut trail).await {
            Ok(seen) => Some(seen),
            Err(Stop { verdict: word, reason, absence, seen, is_used_up: used_up }) => {
                is_used_up = used_up;
                verdict.verdict = word;
                verdict.reason = Some(reason);
                verdict.absence = absence;
                // What a broken set-up or answer showed besides is in its exchanges; a verdict that is no
                // `fail` has no findings.
                verdict.findings.clear();
                seen
            }
        };
        if let Some((outcome, _)) = &answered {
            self.suspect_profile(case, *outcome, &mut verdict, &mut trail).await;
        }
        self.levels.weigh(&mut verdict);
        if let Some(reason) = self.flaky(case, &trail.exchanges).filter(|_| verdict.verdict == Verdict::Pass)
        {
            (verdict.verdict, verdict.reason) = (Verdict::Flaky, Some(reason));
        }
        if !verdict.findings.is_empty()
            && let Some(control) = case.control.as_deref().and_then(|id| self.suite.case(id))
        {
            verdict.differences = differences(case, control);
        }
        if verdict.findings.is_empty() {
            verdict.codes.clear();
        }
        let is_held_back = trail.is_held_back
            || case.control.as_deref().and_then(|id| self.done(id)).is_some_and(|done| done.is_held_back);
        // A run that goes on asks it when the target accepts something then.
        let is_given_up = self.is_hopeless() && trail.exchanges.is_empty();
        verdict.unconfirmed |= is_given_up && verdict.verdict == Verdict::Inconclusive || is_used_up;
        let values = trail.values.max(trail.accepted_with);
        let Trail { exchanges, learned, failure, status, passing, judged_with, .. } = trail;
        verdict.judged_with = judged_with.into_iter().collect();
        verdict.observations.extend(passing.into_iter().map(|seen| format!("{}: {seen}", case.clause)));
        if self.transport.is_shown() {
            self.mask_findings(&mut verdict, &learned);
            let seen = verdict.observations.iter_mut().chain(&mut verdict.refusal);
            let differing = verdict.differences.iter_mut().flat_map(|one| [&mut one.sent, &mut one.control]);
            let told = verdict.codes.iter_mut().chain(differing.flatten());
            for text in seen.chain(&mut verdict.reason).chain(told) {
                *text = self.masker.text_with(text, &learned);
            }
        }
        verdict.observations.sort();
        verdict.observations.dedup();
        if case.is_plain && !self.is_suspected(case) {
            self.go_on_with(case, verdict.culprit.as_deref());
        }
        verdict.micros = micros(start.elapsed());
        let judged = exchanges.iter().find(|exchange| Some(exchange.number) == verdict.exchange);
        let shows_it = case.expect.is_accepted()
            && matches!(answered, Some((Outcome::Foreign, _)))
            && judged.and_then(|judged| judged.response.as_ref()).is_some_and(|answer| !is_foreign(answer));
        let exchanges = Mutex::new(exchanges);
        Done { verdict, exchanges, answered, status, values, shows_it, failure, is_held_back, is_used_up }
    }

    /// Masks the findings of a case.
    fn mask_findings(&self, verdict: &mut CaseVerdict, learned: &Learned) {
        let rule = |name: &str| self.suite.spec().masks.privacy(name);
        for finding in &mut verdict.findings {
            self.masker.finding(finding, learned, &rule);
        }
    }

    /// What became of a case, if it was run.
    pub(crate) fn done(&self, id: &str) -> Option<Arc<Done>> {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        // It is being asked as long as it is locked.
        done.get(id)?.try_lock()?.clone()
    }

    /// The way of a case up to its verdict, or to where it stops.
    async fn attempt(
        &self,
        case: &Case,
        verdict: &mut CaseVerdict,
        trail: &mut Trail,
    ) -> Result<(Outcome, String), Stop> {
        self.offered(case).await?;
        if let Some(plain) = &case.same_as {
            return self.by_name(case, plain, verdict).await;
        }
        let refused_control = self.control(case, verdict).await?;
        trail.values = self.values_of_control(case);
        let set_up = self.set_up(case, trail).await;
        let Prepared { kept, checks, findings, ended } = set_up.map_err(|stop| match stop.verdict {
            Verdict::Inconclusive if case.is_plain => {
                Stop::inconclusive(plain_rejected(&case.id, &stop.reason))
            }
            _ => stop,
        })?;
        if let Some(Ended { outcome, words, verdict: unbroken }) = ended {
            verdict.exchange = trail.exchanges.last().map(|exchange| exchange.number);
            verdict.verdict = if findings.is_empty() { unbroken } else { Verdict::Fail };
            verdict.checks = checks + 1;
            verdict.findings = merged(findings);
            let word = if outcome == Outcome::Refused { "refused" } else { "answered" };
            verdict.observations.push(format!("{}: {word} with {words}", case.clause));
            return Ok((outcome, words));
        }
        let expect = self.expectation(case, &kept)?;
        let asked = self.judged_exchange(case, (&expect, &kept), refused_control.is_none(), trail).await;
        let (answer, mut examined) = match asked {
            Ok(asked) => asked,
            Err(stop) => match self.no_answer(case, (&expect, &kept), verdict, (stop, trail)).await? {
                Unanswered::Answered(asked) => *asked,
                Unanswered::Each(words) => return Ok((Outcome::ServerError, words)),
            },
        };
        trail.status = Some(answer.status);
        verdict.codes.clone_from(&examined.codes);
        verdict.exchange = trail.exchanges.last().map(|exchange| exchange.number);
        examined.checks += checks;
        examined.findings.splice(0..0, findings);
        let mut seen = (examined.outcome, examined.words.clone());
        if examined.outcome != Outcome::Accepted
            && let Some(stop) = refused_control
        {
            return Err(stop);
        }
        // A lawful request that is accepted shows that the target can be asked, and what it minds.
        if case.is_plain && examined.outcome.is_refusal() {
            verdict.culprit = self.accepted_otherwise(case, answer.status, trail).await.map(Box::new);
        }
        let culprit = verdict.culprit.as_deref();
        if case.is_plain && self.is_left_open(culprit) {
            let said = culprit.map(Culprit::says).unwrap_or_default();
            let reason = format!("the plain request {} was not accepted: it got {}; {said}", case.id, seen.1);
            return Err(Stop { seen: Some(seen), ..Stop::inconclusive(reason) });
        }
        let is_understood = self.profile.own_key || culprit.is_some();
        if case.is_plain && !is_understood && examined.outcome.is_refusal() {
            let reason = plain_rejected(&case.id, &format!("it got {}", seen.1));
            return Err(Stop { seen: Some(seen), ..Stop::inconclusive(reason) });
        }
        if let Some(meaning) = self.quota(case, &answer, trail) {
            if meaning == Quota::UsedUp {
                return Err(Stop { seen: Some(seen), ..Stop::used_up() });
            }
            examined.outcome = Outcome::Refused;
            seen.0 = Outcome::Refused;
        }
        let plain = self.plain(case.control.as_deref().unwrap_or(&case.id));
        if examined.outcome == Outcome::Accepted && case.expect.is_accepted() {
            examined.checks += 1;
            examined.findings.extend(self.other_status(case, &plain, answer.status));
        }
        let of = (case.clause.as_str(), case.request.operation.as_str());
        let by = (&self.profile, &self.levels);
        let judged = judge::judge(of, &expect, &answer, examined, by, self.suite.answers());
        verdict.verdict = judged.verdict;
        verdict.checks = judged.checks;
        verdict.findings = merged(judged.findings);
        verdict.observations.extend(judged.observations);
        verdict.observations.extend(judged.refusal.clone());
        verdict.refusal = judged.refusal;
        if judged.verdict == Verdict::Pass && self.is_doubtful(case, &plain, seen.0, answer.status) {
            let again = self.ask_in_between(&plain, &format!("again-after/{}", case.id)).await;
            // What may not be asked now is asked before the verdict is told.
            if let Some(words) = again.refused.filter(|_| !again.is_held_back) {
                let why = "the target accepts nothing any more, so that its refusal says nothing";
                unconfirm(
                    verdict,
                    &format!("{why}: the plain request {plain} {words} when it was asked again"),
                );
                return Ok(seen);
            }
        }
        verdict.reason =
            judged.reason.map(|why| if case.is_plain { plain_rejected(&case.id, &why) } else { why });
        Ok(seen)
    }

    /// Judges a request that got no whole answer: where the target breaks the connection each time, and
    /// accepts the control, that breaks the clause of the case. What it answers over a new connection counts.
    async fn no_answer(
        &self,
        case: &Case,
        (expect, kept): (&Expectation, &BTreeMap<String, Value>),
        verdict: &mut CaseVerdict,
        (stop, trail): (Stop, &mut Trail),
    ) -> Result<Unanswered, Stop> {
        let asked = trail.exchanges.last().filter(|last| last.step == "request");
        let is_usual =
            !case.request.exact && asked.is_some_and(|asked| asked.request.length() <= USUAL_LENGTH);
        let expected = match expect {
            Expectation::Accepted | Expectation::Shows(_) => Some("acceptance (2xx)"),
            // What stands before a bank may close a connection on what is no good HTTP, or too long for it.
            Expectation::Refused(_) if is_usual => Some("a refusal (4xx)"),
            _ => None,
        };
        let is_accepted = verdict.control.as_ref().is_some_and(|control| control.accepted);
        let asked = asked.map(|asked| asked.number);
        let had_its_own = case.request.exact && expected.is_none();
        if stop.verdict != Verdict::Error || !is_accepted || asked.is_none() || had_its_own {
            return Err(stop);
        }
        let (words, expected) = match (self.unanswered(case, kept, trail).await, expected) {
            (Some(Unanswered::Each(words)), Some(expected)) => (words, expected),
            (Some(answered @ Unanswered::Answered(_)), _) => return Ok(answered),
            _ => return Err(stop),
        };
        verdict.exchange = asked;
        verdict.verdict = Verdict::Fail;
        verdict.checks += 1;
        verdict.findings = vec![Finding {
            clause: case.clause.clone(),
            expected: expected.to_owned(),
            actual: words.clone(),
            at: "status".to_owned(),
            kind: Mismatch::NoResponse,
            level: Level::Deny,
            end: End::Bank,
        }];
        Ok(Unanswered::Each(words))
    }
}

/// The same mismatch in a set-up and in the judged answer is one.
fn merged(findings: Vec<Finding>) -> Vec<Finding> {
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        if !kept.contains(&finding) {
            kept.push(finding);
        }
    }
    kept
}
