//! The record of a run whose cases are drawn as it goes on: the same events as those of any other run. How
//! many cases there will be is not known at its start, and the record carries each of them as a case file of
//! its own.

use std::time::Instant;

use xs2aspec_judge::{Done, Judge, answer::micros, introduction::introduce, tally::Tally, waived::Waivers};
use xs2aspec_record::{CaseSource, CaseVerdict, Event, Exchange, Place, RunFinished, RunStarted};
use xs2aspec_suite::{Case, Plan};

use crate::{
    clock::Clock,
    run::{self, Options},
};

/// A run whose cases are drawn, as far as it has come.
#[derive(Debug)]
pub struct DrawnRun<'a> {
    judge: &'a Judge,
    clock: Clock,
    tally: Tally<'a>,
    start: Instant,
}

impl<'a> DrawnRun<'a> {
    /// Begins the record. `bases` are the plain requests on which drawn ones will lean.
    pub fn begin(
        judge: &'a Judge,
        clock: Clock,
        options: &Options,
        bases: &[&Case],
        mut sink: impl FnMut(&Event),
    ) -> Self {
        let plan = Plan { selected: bases.to_vec(), controls: vec![], left_out: vec![] };
        let mut tally = Tally::new(judge.suite(), judge.profile().limits.slow_ms);
        let started = RunStarted { drawn: true, cases: 0, ..run::started(judge, clock, &plan, options) };
        let mut tell = |event: &Event| {
            tally.add(event);
            sink(event);
        };
        tell(&Event::RunStarted(started));
        tell(&Event::Profile(judge.recorded_profile()));
        introduce(judge, &plan, &mut tell);
        Self { judge, clock, tally, start: Instant::now() }
    }

    /// Records a plain request: a case of the suite.
    pub fn plain(&mut self, case: &Case, done: &Done, sink: impl FnMut(&Event)) {
        self.record(case, done.verdict.clone(), done.exchanges.clone(), sink);
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
        let mut exchanges = done.exchanges.clone();
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
        for exchange in exchanges {
            self.tally.add_of(case, &exchange);
            sink(&Event::Exchange(exchange));
        }
        let verdict = Event::Verdict(verdict);
        self.tally.add(&verdict);
        sink(&verdict);
    }

    /// Ends the record. So many exchanges sent a request once more.
    pub fn finish(mut self, retries: u64, mut sink: impl FnMut(&Event)) -> RunFinished {
        let (checks, times) = self.tally.end();
        sink(&Event::AnswerChecks(checks));
        let waivers = Waivers::new(vec![], self.clock.start);
        let totals = self.tally.totals();
        let finished =
            run::finished(self.judge, totals, &waivers, micros(self.start.elapsed()), (false, false));
        let finished = RunFinished { times, retries, exchanges: self.tally.exchanges(), ..finished };
        sink(&Event::RunFinished(finished.clone()));
        finished
    }
}
