//! The record of a run whose cases are generated during the run, with the same events as any other run. The
//! number of cases is not known at the start, and the record contains each of them as a case file of its own.

use std::time::Instant;

use xs2aspec_judge::{Done, Judge, answer::micros, introduction::introduce, tally::Tally, waived::Waivers};
use xs2aspec_record::{CaseSource, CaseVerdict, Event, Exchange, Place, RunFinished, RunStarted};
use xs2aspec_suite::{Case, Plan};

use crate::{
    clock::Clock,
    run::{self, Options},
};

/// The record of a run with generated cases, in progress.
#[derive(Debug)]
pub struct DrawnRun<'a> {
    judge: &'a Judge,
    clock: Clock,
    tally: Tally<'a>,
    start: Instant,
}

impl<'a> DrawnRun<'a> {
    /// Starts the record. `bases` are the baseline requests that generated cases depend on.
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

    /// Records a baseline request, which is a case of the suite.
    pub fn plain(&mut self, case: &Case, done: &Done, sink: impl FnMut(&Event)) {
        self.record(case, done.verdict.clone(), done.exchanges.clone(), sink);
    }

    /// Records a generated case under its current id and place, which may differ from those when it ran.
    /// `source` is the text of a case file with only this case.
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

    /// Records a verdict and its exchanges for a test that no case file can express. `case` names the
    /// operations of its requests.
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

    /// Ends the record. `retries` is the number of exchanges that resent a request.
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
