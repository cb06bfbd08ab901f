//! The rest of a run that was killed, or that lost its target: what is done stays done.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fs::File,
    io::BufReader,
    path::{Path, PathBuf},
};

use xs2aspec_record::{CaseEvents, Entry, Event, ReadError, RecordReader, Resumed, RunStarted, Verdict};
use xs2aspec_suite::Plan;

use crate::{session::Session, waiver::WaiversFile};

/// What an earlier part of a run left behind. Its record stays in its file.
#[derive(Debug, Clone)]
pub struct PreviousRun {
    path: PathBuf,
    start: RunStarted,
    /// Cases whose verdicts stay; one that says that the target was not there, or had begun to refuse
    /// everything, does not.
    kept: BTreeSet<String>,
    resumed: Vec<Resumed>,
    /// How often each case without a verdict had begun to send something that could make a payment, in all
    /// earlier parts.
    started: BTreeMap<String, u32>,
    /// The highest number of an exchange.
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
    /// Reads the record of the earlier part. `noted` are the cases that had been about to send something
    /// ([`xs2aspec_record::journal`]).
    pub fn read(path: &Path, noted: &[String]) -> Result<Self, ResumeError> {
        let mut record = RecordReader::open(path).map_err(ReadError::Io)?;
        let Some(Entry::Run(Event::RunStarted(start))) = record.next().transpose()? else {
            return Err(ReadError::NoStart.into());
        };
        let mut previous = Self {
            path: path.to_owned(),
            start,
            kept: BTreeSet::new(),
            resumed: Vec::new(),
            started: noted.iter().map(|case| (case.clone(), 1)).collect(),
            exchanges: 0,
            micros: 0,
        };
        for entry in record {
            match entry? {
                Entry::Run(Event::Resumed(resumed)) => previous.resumed.push(resumed),
                Entry::Run(_) => {}
                Entry::Case(case) => previous.add(case),
            }
        }
        // A case that was resumed before has been noted in more than one part of the run.
        for case in previous.resumed.iter().flat_map(|resumed| &resumed.in_doubt) {
            *previous.started.entry(case.clone()).or_default() += 1;
        }
        previous.started.retain(|case, _| !previous.kept.contains(case));
        Ok(previous)
    }

    fn add(&mut self, case: CaseEvents) {
        for exchange in &case.exchanges {
            self.exchanges = self.exchanges.max(exchange.number);
            self.micros = self.micros.max(exchange.at + exchange.micros);
        }
        let is_kept = case.verdict.is_some_and(|one| one.verdict != Verdict::Error && !one.unconfirmed);
        if is_kept {
            self.kept.insert(case.case);
        } else if case.exchanges.iter().any(|exchange| exchange.request.method != "GET") {
            self.started.insert(case.case, 1);
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

    /// Where the run went on before.
    pub(crate) fn resumed(&self) -> &[Resumed] {
        &self.resumed
    }

    /// How long the earlier part took, as far as its exchanges tell, in microseconds.
    pub(crate) fn micros(&self) -> u64 {
        self.micros
    }

    /// Cases that had begun to send something that could make a payment, and whose end is not known.
    pub fn in_doubt(&self) -> Vec<String> {
        self.started.keys().cloned().collect()
    }

    /// The session, as it goes on from here.
    pub fn resume(&self, session: Session) -> Session {
        session.resumed(self.exchanges, &self.started)
    }

    /// Gives the session what it needs of the kept cases that others rest on.
    pub(crate) fn restore(&self, session: &Session, rested_on: &HashSet<&str>) {
        let Ok(record) = RecordReader::open(&self.path) else { return };
        // What cannot be read any more is asked again.
        for entry in record.map_while(Result::ok) {
            let Entry::Case(CaseEvents { case, exchanges, verdict: Some(verdict) }) = entry else { continue };
            if self.kept.contains(&case) && rested_on.contains(case.as_str()) {
                let judged = exchanges.iter().find(|exchange| Some(exchange.number) == verdict.exchange);
                session.keep(&verdict, judged);
            }
        }
    }

    /// What the record says of each case, to be told again.
    pub(crate) fn cases(&self) -> PreviousCases<'_> {
        PreviousCases { kept: &self.kept, record: RecordReader::open(&self.path).ok(), next: None }
    }

    /// Whether the session and the plan are those of the earlier part.
    pub fn fits(&self, session: &Session, plan: &Plan<'_>, waivers: &WaiversFile) -> Result<(), ResumeError> {
        let start = &self.start;
        // The built-in bank has another address each time.
        let address = start.named_address().map(|before| (before, session.profile().base_url.as_str()));
        let (before, now) = address.unwrap_or_default();
        let same = [
            ("address of the target", before.to_owned(), now.to_owned()),
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
}

/// The cases of an earlier part of a run, one after the other.
pub(crate) struct PreviousCases<'a> {
    kept: &'a BTreeSet<String>,
    record: Option<RecordReader<BufReader<File>>>,
    next: Option<CaseEvents>,
}

impl PreviousCases<'_> {
    /// Whether the verdict of a case stays.
    pub(crate) fn keeps(&self, case: &str) -> bool {
        self.kept.contains(case)
    }

    /// What was recorded of a case. Cases are asked for in the order of the record.
    pub(crate) fn case(&mut self, case: &str) -> Option<CaseEvents> {
        while self.next.as_ref().is_none_or(|next| next.case.as_str() < case) {
            match self.record.as_mut()?.next()? {
                Ok(Entry::Case(next)) => self.next = Some(next),
                Ok(Entry::Run(_)) => {}
                Err(_) => self.record = None,
            }
        }
        self.next.take_if(|next| next.case == case)
    }
}
