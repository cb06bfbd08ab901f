//! The rest of a run that was killed, or that lost its target: what is done stays done.

use std::collections::{BTreeMap, BTreeSet};

use xs2aspec_record::{CaseVerdict, Event, Exchange, Resumed, Role, RunStarted, Verdict};
use xs2aspec_suite::Plan;

use crate::{
    session::{Session, left_in_doubt},
    waiver::WaiversFile,
};

/// What an earlier part of a run left behind.
#[derive(Debug, Clone)]
pub struct Earlier {
    start: RunStarted,
    exchanges: Vec<Exchange>,
    /// Verdicts that stay, by case; one that says that the target was not there, or had begun to refuse everything, does not.
    kept: BTreeMap<String, CaseVerdict>,
    resumed: Vec<Resumed>,
    /// How often each case without a verdict had begun to send something that could make a payment, in all earlier parts.
    begun: BTreeMap<String, u32>,
}

/// Why a run does not go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// The record is none.
    #[error("the record does not begin with `run-started`")]
    NoStart,
    /// Something is another one than it was.
    #[error("a run goes on with the same {what}: it began with `{before}`, and now it is `{now}`")]
    Differs {
        /// What.
        what: &'static str,
        /// In the record.
        before: String,
        /// Now.
        now: String,
    },
}

impl Earlier {
    /// Reads the record of the earlier part. `noted` are the cases that had been about to send something
    /// ([`xs2aspec_record::journal`]).
    pub fn of(events: Vec<Event>, noted: &[String]) -> Result<Self, ResumeError> {
        let mut events = events.into_iter();
        let Some(Event::RunStarted(start)) = events.next() else { return Err(ResumeError::NoStart) };
        let mut earlier = Self {
            start,
            exchanges: Vec::new(),
            kept: BTreeMap::new(),
            resumed: Vec::new(),
            begun: BTreeMap::new(),
        };
        for event in events {
            match event {
                Event::Exchange(exchange) => earlier.exchanges.push(exchange),
                Event::Verdict(verdict) if verdict.verdict != Verdict::Error && !verdict.unconfirmed => {
                    drop(earlier.kept.insert(verdict.case.clone(), verdict));
                }
                Event::Resumed(resumed) => earlier.resumed.push(resumed),
                _ => {}
            }
        }
        // A case that was resumed before has been noted in more than one part of the run.
        let sent = earlier.exchanges.iter().filter(|exchange| exchange.request.method != "GET");
        let sent = sent.map(|exchange| exchange.case.clone()).collect::<Vec<_>>();
        let again = earlier.resumed.iter().flat_map(|resumed| resumed.in_doubt.clone());
        let mut begun = BTreeMap::<String, u32>::new();
        for case in noted.iter().chain(&sent).collect::<BTreeSet<_>>() {
            begun.insert(case.clone(), 1);
        }
        for case in again {
            *begun.entry(case).or_default() += 1;
        }
        begun.retain(|case, _| !earlier.kept.contains_key(case));
        earlier.begun = begun;
        Ok(earlier)
    }

    /// How the run began.
    pub fn start(&self) -> &RunStarted {
        &self.start
    }

    /// How long the earlier part took, as far as its exchanges tell, in microseconds.
    pub(crate) fn micros(&self) -> u64 {
        self.exchanges.iter().map(|exchange| exchange.at + exchange.micros).max().unwrap_or_default()
    }

    /// Cases that had begun to send something that could make a payment, and whose end is not known.
    pub fn in_doubt(&self) -> Vec<String> {
        self.begun.keys().cloned().collect()
    }

    /// The session, as it goes on from here.
    pub fn resume(&self, session: Session) -> Session {
        let last = self.exchanges.iter().map(|exchange| exchange.number).max().unwrap_or_default();
        session.resumed(last, &self.begun)
    }

    /// Whether the session and the plan are those of the earlier part.
    pub fn fits(&self, session: &Session, plan: &Plan<'_>, waivers: &WaiversFile) -> Result<(), ResumeError> {
        let start = &self.start;
        let same = [
            ("version of xs2aspec", start.tool.clone(), crate::run::tool()),
            ("document", start.document_sha256.clone(), session.suite().spec().document.sha256()),
            ("case files", start.suite_sha256.clone(), session.suite().tree().sha256()),
            ("target profile", start.profile_sha256.clone(), session.profile().sha256()),
            ("seed", start.seed.to_string(), session.seed().to_string()),
            ("number of cases", start.cases.to_string(), plan.selected.len().to_string()),
            (
                "waivers",
                start.waivers_sha256.clone().unwrap_or_else(|| "none".to_owned()),
                waivers.sha256.clone().unwrap_or_else(|| "none".to_owned()),
            ),
        ];
        match same.into_iter().find(|(_, before, now)| before != now) {
            Some((what, before, now)) => Err(ResumeError::Differs { what, before, now }),
            None => Ok(()),
        }
    }

    /// Tells what is done already, in the order of a record, and gives the ids of cases that are not run any more. `leave` leaves
    /// cases in doubt alone: they are then inconclusive.
    pub(crate) fn tell(
        &self,
        session: &Session,
        plan: &Plan<'_>,
        leave: bool,
        mut sink: impl FnMut(&Event),
    ) -> BTreeSet<String> {
        let exchanges: BTreeMap<u64, &Exchange> =
            self.exchanges.iter().map(|exchange| (exchange.number, exchange)).collect();
        for exchange in &self.exchanges {
            sink(&Event::Exchange(exchange.clone()));
        }
        let mut done = BTreeSet::new();
        for verdict in self.kept.values() {
            let judged = verdict.exchange.and_then(|number| exchanges.get(&number).copied());
            session.keep(verdict, judged);
            // A waiver is applied anew, so that the run can say what has come of it.
            let mut verdict = verdict.clone();
            if verdict.verdict == Verdict::Waived {
                verdict.verdict = Verdict::Fail;
                verdict.reason = None;
            }
            done.insert(verdict.case.clone());
            sink(&Event::Verdict(verdict));
        }
        for id in self.begun.keys().filter(|_| leave) {
            let Some(case) = session.suite().case(id) else { continue };
            let is_selected = plan.selected.iter().any(|selected| selected.id == *id);
            let role = if is_selected { Role::Selected } else { Role::Control };
            let verdict = CaseVerdict { role, ..left_in_doubt(case) };
            session.keep(&verdict, None);
            done.insert(id.clone());
            sink(&Event::Verdict(verdict));
        }
        for resumed in &self.resumed {
            sink(&Event::Resumed(resumed.clone()));
        }
        done
    }

    /// How often the run went on before.
    pub fn times(&self) -> usize {
        self.resumed.len()
    }
}
