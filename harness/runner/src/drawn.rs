//! The record of a run whose cases are drawn as it goes on: the same events as those of any other run. How
//! many cases there will be is not known at its start, and the record carries each of them as a case file of
//! its own.

use std::time::Instant;

use xs2aspec_record::{
    CaseSource, CaseVerdict, Event, Exchange, Place, RunFinished, RunStarted, Stopwatch, Totals,
};
use xs2aspec_suite::{Case, Plan};

use crate::{
    answer_checks::AnswerTally,
    run::{self, Options},
    session::{Done, Session, micros},
    strength::strength,
    waiver::Waivers,
};

/// A run whose cases are drawn, as far as it has come.
#[derive(Debug)]
pub struct DrawnRun<'a> {
    session: &'a Session,
    totals: Totals,
    answers: AnswerTally<'a>,
    stopwatch: Stopwatch,
    start: Instant,
    /// Exchanges in the record.
    recorded: u64,
}

impl<'a> DrawnRun<'a> {
    /// Begins the record. `bases` are the plain requests on which drawn ones will lean.
    pub fn begin(
        session: &'a Session,
        options: &Options,
        bases: &[&Case],
        mut sink: impl FnMut(&Event),
    ) -> Self {
        let plan = Plan { selected: bases.to_vec(), controls: vec![], left_out: vec![] };
        let mut totals = Totals::default();
        let started = RunStarted { drawn: true, cases: 0, ..run::started(session, &plan, options) };
        totals.start(&started);
        sink(&Event::RunStarted(started));
        sink(&Event::Profile(session.recorded_profile()));
        run::introduce(session, &plan, &mut |event| {
            if let Event::Clause(clause) = event {
                totals.clause(clause);
            }
            sink(event);
        });
        let answers = AnswerTally::new(session.suite());
        let stopwatch = Stopwatch::new(session.profile().limits.slow_ms);
        Self { session, totals, answers, stopwatch, start: Instant::now(), recorded: 0 }
    }

    /// Records a plain request: a case of the suite.
    pub fn plain(&mut self, case: &Case, done: &Done, sink: impl FnMut(&Event)) {
        self.record(case, done.verdict.clone(), done.take_exchanges(), sink);
    }

    /// Records a drawn case under the id and the place that it has now, whatever they were when it ran.
    /// `source` is the text of a case file that has it alone.
    pub fn case(&mut self, case: &Case, source: Option<String>, done: &Done, mut sink: impl FnMut(&Event)) {
        if let Some(text) = source {
            sink(&Event::Source(CaseSource { file: case.file.clone(), text }));
        }
        let ran = &done.verdict;
        let verdict = CaseVerdict {
            case: case.id.clone(),
            area: case.area.clone(),
            place: Place { file: case.file.clone(), line: case.line, column: case.column },
            ..ran.clone()
        };
        let mut exchanges = done.take_exchanges();
        for exchange in exchanges.iter_mut().filter(|exchange| exchange.case == ran.case) {
            exchange.case.clone_from(&case.id);
        }
        self.record(case, verdict, exchanges, sink);
    }

    /// Records what no case file can say: its verdict, and the exchanges that led to it. `case` says to which
    /// operations its requests went.
    pub fn record(
        &mut self,
        case: &Case,
        verdict: CaseVerdict,
        exchanges: Vec<Exchange>,
        mut sink: impl FnMut(&Event),
    ) {
        self.stopwatch.add(&exchanges);
        for exchange in exchanges {
            self.recorded += 1;
            self.answers.add_of(case, &exchange);
            sink(&Event::Exchange(exchange));
        }
        if let Some(clause) = self.session.suite().clauses().get(&verdict.clause) {
            self.totals.add(&verdict, strength(clause).0);
        }
        sink(&Event::Verdict(verdict));
    }

    /// Ends the record. Exchanges that are not in it only asked again what others had shown.
    pub fn finish(mut self, mut sink: impl FnMut(&Event)) -> RunFinished {
        let checks = self.answers.finish();
        checks.checks.iter().for_each(|check| self.totals.check(check));
        sink(&Event::AnswerChecks(checks));
        let times = self.stopwatch.finish();
        self.totals.times(&times);
        let waivers = Waivers::new(vec![], self.session.now().date_naive());
        let finished =
            run::finished(self.session, &self.totals, &waivers, micros(self.start.elapsed()), (false, false));
        let finished = RunFinished {
            times,
            exchanges: self.recorded,
            asked_again: self.session.exchanges().saturating_sub(self.recorded),
            ..finished
        };
        sink(&Event::RunFinished(finished.clone()));
        finished
    }
}
