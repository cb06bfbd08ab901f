//! The rest of a run that was killed, or that lost its target: what is done stays done.

use std::{
    collections::{BTreeSet, HashSet},
    fs::File,
    io::BufReader,
    path::{Path, PathBuf},
};

use xs2aspec_judge::{tally::Tally, waiver::WaiversFile};
use xs2aspec_record::{
    CaseEvents, CaseVerdict, Entry, Event, ReadError, RecordReader, RunStarted, Sending, TargetProfile,
    Verdict, doubt::Doubt,
};
use xs2aspec_suite::Plan;

use crate::{conclusions::Conclusions, runner::Runner};

/// What an earlier part of a run left behind. Its record stays in its file, and the run goes on there.
#[derive(Debug, Clone)]
pub struct PreviousRun {
    path: PathBuf,
    start: RunStarted,
    /// The masked profile.
    profile: TargetProfile,
    /// Cases whose verdicts stay; one that says that the target was not there, or had begun to refuse
    /// everything, does not.
    kept: BTreeSet<String>,
    /// Cases without a verdict that stays, which had begun to send something that could make a payment.
    doubt: Doubt,
    /// True if it came to its end, so that its mask key is gone.
    has_ended: bool,
    /// The highest number of a request.
    exchanges: u64,
    /// How long it took, as far as its exchanges tell, in microseconds.
    micros: u64,
}

/// Why a run does not go on.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// The record cannot be read.
    #[error(transparent)]
    Record(#[from] ReadError),
    /// The records of several shards.
    #[error("the record is that of several shards: resume each shard in its own folder")]
    Merged,
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

impl PreviousRun {
    /// Reads the record of the earlier part.
    pub fn read(path: &Path) -> Result<Self, ResumeError> {
        let file = BufReader::new(File::open(path).map_err(ReadError::Io)?);
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

    /// How the run began.
    pub fn start(&self) -> &RunStarted {
        &self.start
    }

    /// Cases that are not run any more.
    pub(crate) fn kept(&self) -> &BTreeSet<String> {
        &self.kept
    }

    /// How long the earlier part took, as far as its exchanges tell, in microseconds.
    pub(crate) fn micros(&self) -> u64 {
        self.micros
    }

    /// Cases that had begun to send something that could make a payment, and whose end is not known.
    pub fn in_doubt(&self) -> Vec<String> {
        self.doubt.cases().iter().cloned().collect()
    }

    /// The runner, as it goes on from here.
    pub fn resume(&self, runner: Runner) -> Runner {
        runner.resumed(self.exchanges)
    }

    /// Tells what was recorded to somebody who shows it: how the run began, what was sent, and what stays.
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

    /// Gives the runner what it needs of the kept cases that others rest on, and counts what was recorded.
    /// Returns the kept verdicts that are others by now.
    pub(crate) fn restore(
        &self,
        runner: &Runner,
        rested_on: &HashSet<&str>,
        conclusions: &mut Conclusions<'_>,
        tally: &mut Tally<'_>,
    ) -> Vec<CaseVerdict> {
        let mut changed = Vec::new();
        // What cannot be read any more is asked again.
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

    /// Returns true if it came to its end. What could not be told is asked again.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Fails unless the runner and the plan are those of the earlier part.
    pub fn fits(&self, runner: &Runner, plan: &Plan<'_>, waivers: &WaiversFile) -> Result<(), ResumeError> {
        let (start, judge) = (&self.start, runner.judge());
        // The built-in bank has another address each time.
        let address = start.named_address().map(|before| (before, judge.profile().base_url.as_str()));
        let (before, now) = address.unwrap_or_default();
        let same = [
            ("address of the target", before.to_owned(), now.to_owned()),
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

    /// Fails if a masked value differs from the runner's, whose key is that of the run: the same value has
    /// the same pseudonym.
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

/// Returns true if a verdict says something that no later part of the run says anew.
fn is_final(verdict: &CaseVerdict) -> bool {
    verdict.verdict != Verdict::Error && !verdict.unconfirmed
}
