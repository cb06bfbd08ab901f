//! Verdicts that wait until it is sure that the target still accepts valid requests. A refusal says something
//! of a request only then: a target whose token is over, or that has had enough, refuses whatever it is
//! asked.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use xs2aspec_record::{CaseVerdict, Exchange, Role};

use crate::{
    session::{Again, Done, Session},
    unconfirmed::unconfirm,
};

/// Verdicts that wait for one another before the plain requests that they lean on are asked again.
const WAITING: usize = 100;

/// Verdicts that wait, and what is known of the plain requests that they lean on.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// Landed since the plain requests were asked last.
    waiting: Vec<(Arc<Done>, Role)>,
    /// Those for which the plain requests are asked now.
    asked: Vec<(Arc<Done>, Role)>,
    /// How often they were asked.
    times: u64,
    /// At how many requests of the run each was accepted last.
    accepted: BTreeMap<String, u64>,
    /// What is said of cases that lean on one that is not accepted any more.
    refused: BTreeMap<String, String>,
}

/// What came of asking plain requests again, each with the number of requests of the run until then.
pub(crate) type Answers = Vec<(String, u64, Again)>;

impl Window {
    /// Takes what a case came to, if it has to wait; else gives it back.
    pub(crate) fn take(
        &mut self,
        session: &Session,
        done: Arc<Done>,
        role: Role,
    ) -> Option<(Arc<Done>, Role)> {
        if session.asks_again() && done.rests_on_refusal() {
            self.waiting.push((done, role));
            return None;
        }
        Some((done, role))
    }

    /// Whether no further case is to be begun before the plain requests have answered.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() >= WAITING && !self.asked.is_empty()
    }

    /// The plain requests to ask now, if it is time or nothing else is left to do, and which time it is.
    pub(crate) fn due(&mut self, session: &Session, is_end: bool) -> Option<(u64, BTreeSet<String>)> {
        let is_time = self.waiting.len() >= WAITING || is_end && !self.waiting.is_empty();
        if !is_time || !self.asked.is_empty() {
            return None;
        }
        self.asked = std::mem::take(&mut self.waiting);
        self.times += 1;
        let plain = self.asked.iter().map(|(done, _)| session.plain(&done.verdict.case));
        Some((self.times, plain.collect()))
    }

    /// Settles the verdicts that waited: what leans on a plain request that is accepted stands, the rest says
    /// nothing. The exchanges that show it are those of the first case, by id, that says nothing.
    pub(crate) fn settle(
        &mut self,
        session: &Session,
        answers: Answers,
    ) -> Vec<(CaseVerdict, Vec<Exchange>)> {
        let mut shown = BTreeMap::new();
        let mut reasons = BTreeMap::new();
        for (plain, requests, again) in answers {
            let before = self.accepted.get(&plain).copied();
            match again.refused {
                None => {
                    // Between a refusal and an acceptance nobody knows.
                    reasons.extend(self.refused.remove(&plain).map(|reason| (plain.clone(), reason)));
                    self.accepted.insert(plain, requests);
                }
                Some(words) => {
                    let since =
                        before.map_or("at the beginning".to_owned(), |number| format!("at request {number}"));
                    let reason = self.refused.entry(plain.clone()).or_insert_with(|| {
                        format!(
                            "the target accepted the plain request {plain} {since} of this run, and no more at request {requests}, when it \
                             {words}: what it refuses since then says nothing"
                        )
                    });
                    reasons.insert(plain.clone(), reason.clone());
                    shown.insert(plain, again.exchanges);
                }
            }
        }
        let mut asked = std::mem::take(&mut self.asked);
        asked.sort_by(|(one, _), (other, _)| one.verdict.case.cmp(&other.verdict.case));
        let settled = asked.into_iter().map(|(done, role)| {
            let mut verdict = CaseVerdict { role, ..done.verdict.clone() };
            let mut exchanges = done.take_exchanges();
            let plain = session.plain(&verdict.case);
            if let Some(reason) = reasons.get(&plain) {
                unconfirm(&mut verdict, reason);
            }
            for exchange in shown.remove(&plain).into_iter().flatten() {
                exchanges.push(Exchange { case: verdict.case.clone(), ..exchange });
            }
            (verdict, exchanges)
        });
        settled.collect()
    }
}
