//! The rest of a run that was killed or lost its target. Completed cases are kept.

use std::{
    collections::{BTreeSet, HashSet},
    io::BufReader,
    path::{Path, PathBuf},
};

use xs2aspec_judge::{tally::Tally, waiver::WaiversFile};
use xs2aspec_record::{
    CaseEvents, CaseVerdict, Entry, Event, ReadError, RecordReader, RunStarted, Sending, TargetProfile,
    Verdict, compressed, doubt::Doubt,
};
use xs2aspec_suite::Plan;

use crate::{conclusions::Conclusions, runner::Runner};

/// The earlier part of a run. Its record stays in its file, to which the resumed run appends.
#[derive(Debug, Clone)]
pub struct PreviousRun {
    path: PathBuf,
    start: RunStarted,
    /// The masked profile.
    profile: TargetProfile,
    /// Cases whose verdicts are kept. Errors and unconfirmed verdicts are not kept.
    kept: BTreeSet<String>,
    /// Cases without a kept verdict that may have created a payment.
    doubt: Doubt,
    /// True if the run is finished, so its mask key is gone.
    has_ended: bool,
    /// Highest number of a request.
    exchanges: u64,
    /// Duration according to the exchanges, in microseconds.
    micros: u64,
}

/// The reason why a run cannot be resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// The record cannot be read.
    #[error(transparent)]
    Record(#[from] ReadError),
    /// The record consists of several shards.
    #[error("the record is that of several shards: resume each shard in its own folder")]
    Merged,
    /// The resumed run differs from the earlier part.
    #[error("cannot resume: the {what} changed from `{before}` to `{now}`")]
    Differs {
        /// The property that differs.
        what: &'static str,
        /// Its value in the record.
        before: String,
        /// Its value now.
        now: String,
    },
}

impl PreviousRun {
    /// Reads the record of the earlier part.
    pub fn read(path: &Path) -> Result<Self, ResumeError> {
        let file = BufReader::new(compressed::open_record(path).map_err(ReadError::Io)?);
        let mut previous = Self {
            path: path.to_owned(),
            start: RunStarted::default(),
            profile: TargetProfile::default(),
            kept: BTreeSet::new(),
            doubt: Doubt::default(),
            exchanges: 0,
            micros: 0,
            has_ended: false,
        };
        for event in xs2aspec_record::events(file) {
            let event = event?;
            if matches!(event, Event::RunStarted(_)) && previous.start.format > 0 {
                return Err(ResumeError::Merged);
            }
            previous.doubt.add(&event);
            previous.add(event);
        }
        Ok(previous)
    }

    fn add(&mut self, event: Event) {
        match event {
            Event::RunStarted(start) => self.start = start,
            Event::Profile(profile) => self.profile = profile,
            Event::Resumed(_) => self.has_ended = false,
            Event::RunFinished(finished) => self.has_ended = !finished.stopped_early,
            Event::Sending(Sending { number, .. }) => self.exchanges = self.exchanges.max(number),
            Event::Exchange(exchange) => {
                self.exchanges = self.exchanges.max(exchange.number);
                self.micros = self.micros.max(exchange.at + exchange.micros);
            }
            Event::Verdict(verdict) if is_final(&verdict) => drop(self.kept.insert(verdict.case)),
            Event::Verdict(verdict) => drop(self.kept.remove(&verdict.case)),
            _ => {}
        }
    }

    /// Returns the start of the run.
    pub fn start(&self) -> &RunStarted {
        &self.start
    }

    /// Returns the cases that are not run again.
    pub(crate) fn kept(&self) -> &BTreeSet<String> {
        &self.kept
    }

    /// Returns the duration of the earlier part according to its exchanges, in microseconds.
    pub(crate) fn micros(&self) -> u64 {
        self.micros
    }

    /// Returns the cases without a known result that may have created a payment.
    pub fn in_doubt(&self) -> Vec<String> {
        self.doubt.cases().iter().cloned().collect()
    }

    /// Returns the runner, set up to continue from here.
    pub fn resume(&self, runner: Runner) -> Runner {
        runner.resumed(self.exchanges)
    }

    /// Passes the recorded events to `show`: the start of the run, the exchanges, and the kept verdicts.
    pub fn tell(&self, show: &mut dyn FnMut(&Event)) {
        for entry in RecordReader::open(&self.path).into_iter().flatten().map_while(Result::ok) {
            match entry {
                Entry::Run(event @ Event::RunStarted(_)) => show(&event),
                Entry::Run(_) => {}
                Entry::Case(mut case) => {
                    case.verdict.take_if(|verdict| !is_final(verdict));
                    case.into_events().for_each(|event| show(&event));
                }
            }
        }
    }

    /// Restores the kept cases that other cases depend on, and counts the recorded events. Returns the kept
    /// verdicts that have changed.
    pub(crate) fn restore(
        &self,
        runner: &Runner,
        rested_on: &HashSet<&str>,
        conclusions: &mut Conclusions<'_>,
        tally: &mut Tally<'_>,
    ) -> Vec<CaseVerdict> {
        let mut changed = Vec::new();
        // Whatever cannot be read is sent again.
        for entry in RecordReader::open(&self.path).into_iter().flatten().map_while(Result::ok) {
            let CaseEvents { case, exchanges, verdict } = match entry {
                Entry::Run(event) => {
                    tally.add(&event);
                    continue;
                }
                Entry::Case(case) => case,
            };
            for exchange in &exchanges {
                tally.add_exchange(exchange);
            }
            let Some(verdict) = verdict else { continue };
            if !self.kept.contains(&case) {
                tally.add_open(verdict);
                continue;
            }
            if rested_on.contains(case.as_str()) {
                let judged = exchanges.iter().find(|exchange| Some(exchange.number) == verdict.exchange);
                runner.known_mut().keep(runner.judge(), &verdict, judged);
            }
            let now = conclusions.keep(verdict.clone());
            if now == verdict {
                tally.add(&Event::Verdict(now));
            } else {
                changed.push(now);
            }
        }
        changed
    }

    /// Returns true if the run is finished. Cases that could not be judged are run again.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Returns an error unless the runner and the plan are those of the earlier part.
    pub fn fits(&self, runner: &Runner, plan: &Plan<'_>, waivers: &WaiversFile) -> Result<(), ResumeError> {
        let (start, judge) = (&self.start, runner.judge());
        // The reference bank has another address each time.
        let address = start.named_address().map(|before| (before, judge.profile().base_url.as_str()));
        let (before, now) = address.unwrap_or_default();
        let same = [
            ("target address", before.to_owned(), now.to_owned()),
            ("version of xs2aspec", start.tool.clone(), RunStarted::tool()),
            ("document", start.document_sha256.clone(), judge.suite().spec().document.sha256()),
            ("case files", start.suite_sha256.clone(), judge.suite().tree().sha256()),
            ("target profile", start.profile_sha256.clone(), judge.profile().sha256()),
            ("seed", start.seed.to_string(), judge.identity().seed().to_string()),
            ("run id", start.run_id.clone(), judge.identity().run_id().to_string()),
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

    /// Returns an error if a masked value differs from that of the runner, whose mask key is that of the run.
    /// Equal values have equal pseudonyms.
    pub fn has_values_of(&self, runner: &Runner) -> Result<(), ResumeError> {
        let now = runner.judge().recorded_profile().values;
        let mut values = self.profile.values.iter().map(|(name, before)| (name, before, now.get(name)));
        let Some((name, before, now)) = values.find(|(_, before, now)| Some(*before) != *now) else {
            return Ok(());
        };
        let shown = |text: &str| format!("{name} = {text}");
        Err(ResumeError::Differs {
            what: "profile values and mask key",
            before: shown(before),
            now: shown(now.map_or("", String::as_str)),
        })
    }
}

/// Returns true if a later part of the run does not replace the verdict.
fn is_final(verdict: &CaseVerdict) -> bool {
    verdict.verdict != Verdict::Error && !verdict.unconfirmed
}
