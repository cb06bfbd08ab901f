//! Verdicts that wait until it is sure that the target still accepts valid requests. A refusal says something
//! of a request only then: a target whose token is over, or that has had enough, refuses whatever it is
//! asked.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use xs2aspec_record::{CaseVerdict, End, Exchange, Finding, Level, Mismatch, RefusedSince, Role, Verdict};

use crate::{
    judge::NOT_THERE,
    session::{Again, Done, Session},
    unconfirmed::unconfirm,
};

/// Verdicts that wait for one another before the plain requests that they lean on are asked again.
const WAITING: usize = 100;

/// Verdicts that wait, and what is known of the plain requests that they lean on.
#[derive(Debug, Default)]
pub struct Window {
    /// Landed since the plain requests were asked last.
    waiting: Vec<(Arc<Done>, Role)>,
    /// Those for which the plain requests are asked now.
    asked: Vec<(Arc<Done>, Role)>,
    /// How often they were asked.
    times: u64,
    /// The number of the request with which each was accepted last.
    accepted: BTreeMap<String, u64>,
    /// What is said of cases that lean on one that is not accepted any more.
    refused: BTreeMap<String, String>,
    /// Since when, in the order in which it was seen.
    since: Vec<RefusedSince>,
    /// Answers of which some were the first refusals of plain requests while other requests were under way:
    /// those are asked again when nothing else is. A target may only know what was made last.
    in_doubt: Option<Answers>,
    /// Whether the plain requests are asked while nothing else is.
    is_alone: bool,
}

/// What came of asking plain requests again.
pub type Answers = Vec<(String, Again)>;

impl Window {
    /// Takes what a case came to, if it has to wait; else gives it back.
    pub fn take(&mut self, session: &Session, done: Arc<Done>, role: Role) -> Option<(Arc<Done>, Role)> {
        if session.asks_again() && done.rests_on_refusal() {
            self.waiting.push((done, role));
            return None;
        }
        Some((done, role))
    }

    /// Whether no further case is to be begun before the plain requests have answered.
    pub fn is_full(&self) -> bool {
        self.in_doubt.is_some() || self.waiting.len() >= WAITING && !self.asked.is_empty()
    }

    /// The plain requests to ask now, if it is time or nothing else is left to do, and which time it is.
    pub fn due(&mut self, session: &Session, is_end: bool) -> Option<(u64, BTreeSet<String>)> {
        if let Some(answers) = &self.in_doubt {
            let refused = answers.iter().filter(|(plain, again)| self.is_news(session, plain, again));
            let refused = refused.map(|(plain, _)| plain.clone()).collect();
            self.is_alone = is_end;
            self.times += u64::from(is_end);
            return is_end.then_some((self.times, refused));
        }
        let is_time = self.waiting.len() >= WAITING || is_end && !self.waiting.is_empty();
        if !is_time || !self.asked.is_empty() {
            return None;
        }
        self.asked = std::mem::take(&mut self.waiting);
        self.is_alone = is_end;
        self.times += 1;
        let plain = self.asked.iter().map(|(done, _)| session.plain(&done.verdict.case));
        Some((self.times, plain.collect()))
    }

    /// The plain requests that the target refused at some time after it had accepted them.
    pub fn refused_since(self) -> Vec<RefusedSince> {
        self.since
    }

    /// Takes the answers of plain requests: settles the verdicts that waited for them, unless a refusal may
    /// be due to what was asked beside it.
    pub fn answered(&mut self, session: &Session, answers: Answers) -> Vec<(CaseVerdict, Vec<Exchange>)> {
        let is_alone = std::mem::take(&mut self.is_alone);
        let mut all = match self.in_doubt.take() {
            None if !is_alone && answers.iter().any(|(plain, again)| self.is_news(session, plain, again)) => {
                self.in_doubt = Some(answers);
                return Vec::new();
            }
            None => return self.settle(session, answers),
            Some(before) => before,
        };
        for (plain, again) in answers {
            let Some((_, known)) = all.iter_mut().find(|(other, _)| *other == plain) else { continue };
            *known = again;
        }
        self.settle(session, all)
    }

    /// Whether a plain request is refused that was accepted until now.
    fn is_news(&self, session: &Session, plain: &str, again: &Again) -> bool {
        let was_accepted = self.accepted.contains_key(plain) || session.asked_at(plain).is_some();
        again.refused.is_some() && !again.is_held_back && was_accepted && !self.refused.contains_key(plain)
    }

    /// Settles the verdicts that waited: what leans on a plain request that is accepted stands, the rest says
    /// nothing. The first case, by id, that leans on a broken one shows that.
    fn settle(&mut self, session: &Session, answers: Answers) -> Vec<(CaseVerdict, Vec<Exchange>)> {
        let (mut reasons, mut broken) = (BTreeMap::new(), BTreeMap::new());
        for (plain, again) in answers {
            let Some(words) = &again.refused else {
                let number = again.number().unwrap_or_default();
                // Between a refusal and an acceptance nobody knows.
                if let Some(reason) = self.refused.remove(&plain) {
                    reasons.insert(plain.clone(), reason);
                    let over = self.since.iter_mut().rev().find(|since| since.plain == plain);
                    if let Some(over) = over.filter(|over| over.again.is_none()) {
                        over.again = Some(number);
                    }
                }
                self.accepted.insert(plain, number);
                continue;
            };
            if !self.refused.contains_key(&plain) {
                let until = self.accepted.remove(&plain).or_else(|| session.asked_at(&plain));
                if until.is_none() && session.was_not_accepted(&plain) {
                    self.refused.insert(plain.clone(), never(&plain, words));
                } else {
                    self.refused.insert(plain.clone(), reason(&plain, words));
                    if let Some(refused) = refused_since(session, &plain, until, &again) {
                        if refused.is_broken {
                            let answer = again.answer.clone().unwrap_or_default();
                            broken.insert(plain.clone(), (refused.clone(), answer));
                        }
                        self.since.push(refused);
                    }
                }
            }
            reasons.extend(self.refused.get(&plain).map(|reason| (plain.clone(), reason.clone())));
        }
        let mut asked = std::mem::take(&mut self.asked);
        asked.sort_by(|(one, _), (other, _)| one.verdict.case.cmp(&other.verdict.case));
        let settled = asked.into_iter().map(|(done, role)| {
            let (mut verdict, exchanges) = done.told(role);
            let plain = session.plain(&verdict.case);
            if let Some(reason) = reasons.get(&plain) {
                unconfirm(&mut verdict, reason);
                if let Some((refused, answer)) = broken.remove(&plain) {
                    breaks(session, &mut verdict, &refused, &answer);
                }
            }
            (verdict, exchanges)
        });
        settled.collect()
    }
}

/// Returns since when a plain request is refused that was accepted with the request `until`, or at the
/// beginning. Returns `None` if nothing was sent, so that no request shows it.
fn refused_since(session: &Session, plain: &str, until: Option<u64>, again: &Again) -> Option<RefusedSince> {
    let last = again.last.as_ref().and_then(|last| last.response.as_ref());
    Some(RefusedSince {
        plain: plain.to_owned(),
        clause: session.suite().case(plain).map(|case| case.clause.clone()).unwrap_or_default(),
        until: until.unwrap_or_default(),
        since: again.number()?,
        words: again.refused.clone().unwrap_or_default(),
        again: None,
        is_broken: last.is_some_and(|last| NOT_THERE.contains(&last.status)) && session.reads(plain),
    })
}

/// Why what leans on a plain request that was refused from the beginning on says nothing.
fn never(plain: &str, words: &str) -> String {
    format!(
        "the plain request {plain} was not accepted in this run: it {words}: what is refused like it says nothing"
    )
}

/// Why what leans on a plain request says nothing any more.
fn reason(plain: &str, words: &str) -> String {
    format!(
        "the target accepted the plain request {plain} earlier in this run, and then no more: it {words}: what it \
         refuses since then says nothing"
    )
}

/// Makes the first verdict that leans on a plain request which reads what is not there any more the one that
/// shows it. Whoever made it a moment ago may read it, so that neither key nor values can be the cause. What
/// the profile names may be hidden when a consent is over: of that it is a warning.
fn breaks(session: &Session, verdict: &mut CaseVerdict, refused: &RefusedSince, answer: &str) {
    let Some(plain) = session.suite().case(&refused.plain) else { return };
    let level = match session.levels().clause(&plain.clause).level {
        Level::Note => return,
        Level::Deny if !session.has_made_it(&plain.id) => Level::Warn,
        level => level,
    };
    verdict.verdict = if level == Level::Deny { Verdict::Fail } else { Verdict::Warn };
    verdict.checks = verdict.checks.max(1);
    verdict.findings = vec![Finding {
        clause: plain.clause.clone(),
        expected: format!("acceptance (2xx) of {}, as earlier in the run", refused.plain),
        actual: answer.to_owned(),
        at: "status".to_owned(),
        kind: Mismatch::NotAccepted,
        level,
        end: End::Bank,
    }];
}
