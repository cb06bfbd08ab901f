//! Defines the events of a run, one JSON line each. Every report is rendered from them.
//!
//! The record contains the clause texts and case sources that it refers to. A report is therefore a pure
//! function of the record, and another version can render it later from the file alone. The types are small
//! and stable because other tools parse them.
//!
//! - [`event`]: the events in the order in which a run writes them. [`exchange`]: those of a request.
//! - [`changes`]: the differences from an earlier run.
//! - [`verdict`]: the verdict of one case and its evidence.
//! - [`clauses`]: the required clauses that were kept, broken, not tested or skipped.
//! - [`digest`]: SHA-256 in hexadecimal.
//! - [`finding_id`]: the ids of findings.
//! - [`reason`]: the reason for a verdict, as a code with its data. [`got`]: a summary of a response.
//! - [`level`]: the effect of a violation of a clause, and who set it.
//! - [`mismatch`]: the kind of a finding, as data.
//! - [`times`]: the response times of the target. [`stopwatch`]: measuring them.
//! - [`asked_again`]: the requests that were sent again and had another result.
//! - [`totals`]: the one count of verdicts, for the exit code, `JUnit` and summaries.
//! - [`waiver`]: the outcome of a waiver.
//! - [`lines`]: reading lines of bounded length.
//! - [`writer`]: writing `record.jsonl` in order of time, with its hash [`chain`].
//! - [`reader`]: reading a record event by event or case by case. [`read_error`]: the reasons for a failure.
//! - [`parts`]: reading the concatenated records of shards as one run.
//! - [`case_events`]: the entries of a record, case by case.
//! - [`outputs`]: the rules for files that a command may write. [`inputs`]: reading small files whole.
//! - [`compressed`]: the compressed record of a finished run.
//! - [`latest`]: the link to the folder of the last run.
//! - [`run_folder`]: the lock on the folder of a run.
//! - [`doubt`]: the cases of a killed run that may have created resources.

pub mod asked_again;
pub mod case_events;
pub mod chain;
pub mod changes;
pub mod clauses;
pub mod compressed;
pub mod counts;
pub mod culprit;
pub mod digest;
pub mod doubt;
pub mod event;
mod events;
pub mod exchange;
pub mod exit;
pub mod finding_id;
pub mod got;
mod gzip;
pub mod inputs;
pub mod latest;
pub mod level;
pub mod lines;
pub mod located;
pub mod mismatch;
pub mod outputs;
pub mod parts;
pub mod read_error;
pub mod reader;
pub mod reason;
pub mod run_folder;
pub mod stopwatch;
pub mod times;
pub mod totals;
pub mod verdict;
pub mod waiver;
pub mod writer;

pub use asked_again::{AskedAlone, Earlier, RefusedSince, Repeated};
pub use case_events::{CaseEvents, Entry, entries};
pub use chain::HashChain;
pub use changes::Changes;
pub use clauses::{AnswerCheck, AnswerChecks, ClauseState, Demanded, DemandedClauses};
pub use counts::Counts;
pub use culprit::{Culprit, RefusedForm};
pub use event::{
    CaseSource, ClauseText, DocumentText, Event, Reading, Resumed, RunFinished, RunStarted, TargetProfile,
    Traffic,
};
pub use exchange::{Body, Exchange, Header, Look, MALFORMED, Request, Response, Sending};
pub use exit::Exit;
pub use got::{Foreign, Got};
pub use level::{ClauseLevel, Level, LevelRule, LevelSource};
pub use located::Located;
pub use mismatch::{Difference, Mismatch};
pub use parts::PartsError;
pub use read_error::ReadError;
pub use reader::{RecordReader, Source, events, read};
pub use reason::{Came, Changed, Excuse, Hint, PlainRejected, Reason, Suspicion, Untold};
pub use run_folder::RunFolder;
pub use stopwatch::Stopwatch;
pub use times::{OperationTimes, Times};
pub use totals::Totals;
pub use verdict::{
    Absence, CaseVerdict, ControlSeen, End, Finding, NotTold, Observation, Place, Role, Strength, Verdict,
};
pub use waiver::{WaiverSeen, WaiverState};
pub use writer::RecordWriter;
