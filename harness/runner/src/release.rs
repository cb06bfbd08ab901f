//! The events of a run in the order of its record. Cases end in whatever order the target answers; what a
//! case came to is told once all cases before it were told.

use std::collections::BTreeMap;

use xs2aspec_record::{
    AskedAlone, CaseEvents, CaseVerdict, Event, Exchange, Numbering, OrderOfTime, Role, RunFinished,
    Stopwatch, Totals, Verdict,
};
use xs2aspec_suite::Case;

use crate::{
    answer_checks::AnswerTally,
    culprits::Culprits,
    resume::PreviousCases,
    session::{Narrowed, Session, left_in_doubt},
    strength::strength,
    timeline::Timeline,
    waiver::Waivers,
};

/// Who hears of each event.
pub type Tell<'a> = &'a mut (dyn FnMut(&Event) + Send);

/// How many cases may wait to be told, those under way included. Further ones begin when the oldest of them
/// was told, so that one slow case does not fill the memory.
const WAITING: usize = 500;

/// Tells what cases came to in the order of their ids, and counts it.
pub(crate) struct Release<'a> {
    session: &'a Session,
    /// All cases of the run, by id.
    order: &'a [(&'a Case, Role)],
    /// The first one that was not told yet.
    next: usize,
    /// What later ones came to.
    landed: BTreeMap<usize, CaseEvents>,
    culprits: Culprits<'a>,
    previous: Option<PreviousCases<'a>>,
    numbering: Numbering,
    waivers: Waivers,
    totals: Totals,
    answers: AnswerTally<'a>,
    stopwatch: Stopwatch,
    timeline: Timeline,
    /// Whether the answers are those of no bank, so that nothing was checked on them.
    are_foreign: bool,
    tell: Tell<'a>,
}

impl<'a> Release<'a> {
    /// Tells cases in this order.
    pub(crate) fn new(
        session: &'a Session,
        order: &'a [(&'a Case, Role)],
        previous: Option<PreviousCases<'a>>,
        waivers: Waivers,
        tell: Tell<'a>,
    ) -> Self {
        Self {
            session,
            order,
            next: 0,
            landed: BTreeMap::new(),
            culprits: Culprits::new(session),
            previous,
            numbering: Numbering::default(),
            waivers,
            totals: Totals::default(),
            answers: AnswerTally::new(session.suite()),
            stopwatch: Stopwatch::new(session.profile().limits.slow_ms),
            timeline: Timeline::default(),
            are_foreign: false,
            tell,
        }
    }

    /// Tells an event of the run as a whole.
    pub(crate) fn event(&mut self, event: &Event) {
        match event {
            Event::RunStarted(start) => self.totals.start(start),
            Event::Clause(clause) => self.totals.clause(clause),
            _ => {}
        }
        (self.tell)(event);
    }

    /// Whether the case at this position may begin.
    pub(crate) fn may_begin(&self, position: usize) -> bool {
        position < self.next + WAITING
    }

    /// Takes what a case came to. Whether that is a violation of which all is known: of a row that is refused
    /// it is told when it was narrowed.
    pub(crate) fn land(&mut self, verdict: CaseVerdict, exchanges: Vec<Exchange>) -> bool {
        let Ok(at) = self.order.binary_search_by(|(case, _)| case.id.cmp(&verdict.case)) else {
            return false;
        };
        self.timeline.add(at, &verdict, &exchanges);
        let is_violation = self.is_violation(&verdict);
        let case = verdict.case.clone();
        let events = CaseEvents { case, exchanges, verdict: Some(verdict) };
        let is_open = self.culprits.is_refused_row(self.order[at].0, &events);
        self.landed.insert(at, events);
        self.release();
        is_violation && !is_open
    }

    /// Whether a verdict makes the run one that does not conform.
    fn is_violation(&self, verdict: &CaseVerdict) -> bool {
        let is_red = match verdict.verdict {
            Verdict::Fail => verdict.role == Role::Selected || verdict.is_broken_control(),
            Verdict::Warn => verdict.role == Role::Selected && self.totals.denies_warnings(),
            _ => false,
        };
        is_red && !self.waivers.are_of(self.session.suite(), verdict)
    }

    /// From now on no answer counts as one that was checked: something else than a bank gives them.
    pub(crate) fn leave_out_answers(&mut self) {
        self.are_foreign = true;
    }

    /// The row that is to be narrowed now. What comes after it is told once it was.
    pub(crate) fn row_to_narrow(&mut self) -> Option<&'a Case> {
        self.culprits.row_to_narrow()
    }

    /// Takes what came of narrowing that row. Whether that is a violation.
    pub(crate) fn narrowed(&mut self, narrowed: Narrowed) -> bool {
        if let Some(events) = self.landed.get_mut(&self.next) {
            self.culprits.take(events, narrowed);
        }
        let verdict = self.landed.get(&self.next).and_then(|events| events.verdict.as_ref());
        let is_violation = verdict.is_some_and(|verdict| self.is_violation(verdict));
        self.release();
        is_violation
    }

    /// Tells what can be told.
    pub(crate) fn release(&mut self) {
        while let Some((case, role)) = self.order.get(self.next).copied() {
            let is_kept = self.previous.as_ref().is_some_and(|previous| previous.keeps(&case.id));
            if !is_kept {
                let Some(events) = self.landed.get_mut(&self.next) else { return };
                if self.culprits.holds(case, events) {
                    return;
                }
            }
            self.tell_next(case, role, is_kept);
        }
    }

    /// Asks again what was wrong, when nothing else is under way.
    pub(crate) fn ask_alone(&self) -> impl Future<Output = Vec<AskedAlone>> {
        let (session, timeline) = (self.session, &self.timeline);
        let order: Vec<&Case> = self.order.iter().map(|(case, _)| *case).collect();
        async move { timeline.ask(session, &order).await }
    }

    /// Tells all that is left; cases that did not come to their end have no verdict. `finished` makes the
    /// last event.
    pub(crate) fn finish(
        mut self,
        order_of_time: OrderOfTime,
        finished: impl FnOnce(&Totals, &Waivers) -> RunFinished,
    ) -> RunFinished {
        while let Some((case, role)) = self.order.get(self.next).copied() {
            let is_kept = self.previous.as_ref().is_some_and(|previous| previous.keeps(&case.id));
            self.tell_next(case, role, is_kept);
        }
        if !order_of_time.is_empty() {
            (self.tell)(&Event::OrderOfTime(order_of_time));
        }
        let checks = self.answers.finish();
        checks.checks.iter().for_each(|check| self.totals.check(check));
        (self.tell)(&Event::AnswerChecks(checks));
        let times = self.stopwatch.finish();
        self.totals.times(&times);
        let finished = RunFinished { times, ..finished(&self.totals, &self.waivers) };
        (self.tell)(&Event::RunFinished(finished.clone()));
        finished
    }

    /// Tells the next case: what was sent for it before the run was resumed, and what it came to.
    fn tell_next(&mut self, case: &Case, role: Role, is_kept: bool) {
        let earlier = self.previous.as_mut().and_then(|previous| previous.case(&case.id));
        let mut events = earlier.unwrap_or_default();
        if is_kept {
            // A waiver is applied anew, so that the run can say what has come of it.
            let mut verdict = events.verdict.take().unwrap_or_else(|| unreadable(case, role));
            if verdict.verdict == Verdict::Waived {
                verdict.verdict = verdict.by_findings().unwrap_or(Verdict::Fail);
                verdict.reason = None;
            }
            self.waivers.apply(self.session.suite(), &mut verdict);
            self.culprits.keep(&verdict);
            events.verdict = Some(verdict);
        } else {
            let landed = self.landed.remove(&self.next).unwrap_or_default();
            events.exchanges.extend(landed.exchanges);
            events.verdict = landed.verdict;
            if let Some(verdict) = &mut events.verdict {
                self.waivers.apply(self.session.suite(), verdict);
            }
        }
        self.next += 1;
        self.numbering.apply(&mut events);
        for exchange in events.exchanges.iter().filter(|_| !self.are_foreign) {
            self.answers.add(exchange);
        }
        self.stopwatch.add(&events.exchanges);
        if let Some(verdict) = &events.verdict
            && let Some(clause) = self.session.suite().clauses().get(&verdict.clause)
        {
            self.totals.add(verdict, strength(clause).0);
        }
        events.into_events().for_each(|event| (self.tell)(&event));
    }
}

/// The verdict of a case that had one when the record was read first, and has none now.
fn unreadable(case: &Case, role: Role) -> CaseVerdict {
    let reason = "its verdict of the earlier part of the run cannot be read any more".to_owned();
    CaseVerdict { role, verdict: Verdict::Error, reason: Some(reason), ..left_in_doubt(case) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chrono::{DateTime, Utc};
    use xs2aspec_suite::{Suite, Tree};

    use super::*;
    use crate::Profile;

    fn session() -> Session {
        let suite = Arc::new(Suite::load(Tree::embedded()).unwrap());
        let profile = Profile::of_url("http://127.0.0.1:1", xs2aspec_suite::ProfileSpec::embedded())
            .unwrap()
            .for_show();
        Session::new(suite, profile, 1, DateTime::<Utc>::UNIX_EPOCH).unwrap()
    }

    fn order(suite: &Suite) -> Vec<(&Case, Role)> {
        let mut cases: Vec<_> = suite.cases().iter().map(|case| (case, Role::Selected)).collect();
        cases.sort_by(|(one, _), (other, _)| one.id.cmp(&other.id));
        cases
    }

    fn exchange(case: &str, number: u64) -> Exchange {
        serde_json::from_value(serde_json::json!({
            "number": number, "case": case, "step": "request", "micros": 1,
            "request": {"method": "GET", "url": "/", "headers": []},
        }))
        .unwrap()
    }

    #[test]
    fn cases_are_told_in_their_order_and_wait_for_a_slow_one() {
        let session = session();
        let order = order(session.suite());
        let mut told = Vec::new();
        let waivers = Waivers::new(Vec::new(), session.now().date_naive());
        let mut tell = |event: &Event| told.push(event.clone());
        let mut release = Release::new(&session, &order, None, waivers, &mut tell);
        let land = |release: &mut Release<'_>, at: usize| {
            let case = order[at].0;
            let number = 1_000 - at as u64;
            let verdict = CaseVerdict {
                verdict: if at == 7 { Verdict::Fail } else { Verdict::Pass },
                exchange: Some(number),
                ..left_in_doubt(case)
            };
            release.land(verdict, vec![exchange(&case.id, number)])
        };
        // The first one is slow.
        for at in (1..WAITING).rev() {
            assert!(release.may_begin(at));
            assert_eq!(land(&mut release, at), at == 7, "a violation is known before it is told");
        }
        assert!(!release.may_begin(WAITING), "nothing was told, and no more may wait");
        assert_eq!(release.next, 0);
        land(&mut release, 0);
        assert_eq!((release.next, release.landed.len()), (WAITING, 0));
        assert!(release.may_begin(2 * WAITING - 1) && !release.may_begin(2 * WAITING));
        // The run is interrupted: what came after a gap is told all the same.
        land(&mut release, WAITING + 1);
        let finished = release.finish(OrderOfTime::default(), |totals, _| {
            let counts = totals.counts();
            RunFinished { counts, ..RunFinished::default() }
        });
        assert_eq!((finished.counts.pass, finished.counts.fail), (WAITING, 1));
        let exchanges = told.iter().filter_map(|event| match event {
            Event::Exchange(exchange) => Some(exchange.number),
            _ => None,
        });
        assert!(exchanges.eq(1..=WAITING as u64 + 1));
        let verdicts: Vec<&CaseVerdict> = told
            .iter()
            .filter_map(|event| if let Event::Verdict(verdict) = event { Some(verdict) } else { None })
            .collect();
        assert!(verdicts.is_sorted_by(|one, other| one.case < other.case));
        assert!(verdicts.iter().zip(1..).all(|(verdict, number)| verdict.exchange == Some(number)));
        assert!(matches!(told.last(), Some(Event::RunFinished(_))));
    }
}
