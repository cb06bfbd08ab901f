//! What a run says: typed events, one JSON line each, from which every report is drawn.
//!
//! The record carries the clause texts and the case sources it speaks of, so that a report is a pure function
//! of it and can be drawn again later, by another version, from the file alone. The types here are small and
//! stable: other tools parse them.
//!
//! - [`event`]: the events in the order in which a run writes them; [`exchange`]: those of a request.
//! - [`changes`]: what differs from an earlier run.
//! - [`verdict`]: the verdict of one case and what it rests on.
//! - [`clauses`]: which demanded clauses were kept, broken, not asked or left out.
//! - [`digest`]: SHA-256 as text.
//! - [`finding_id`]: what tells findings apart.
//! - [`reason`]: why a verdict is what it is, as a code with its data; [`got`]: a response in short.
//! - [`level`]: what a breach of a clause does, and who says so.
//! - [`mismatch`]: what a finding is, as data.
//! - [`times`]: how long the target took; [`stopwatch`]: taking it.
//! - [`asked_again`]: what was asked again, and is not as it was.
//! - [`totals`]: the one count of verdicts from which exit code, `JUnit` and summaries are taken.
//! - [`waiver`]: what has come of a waiver.
//! - [`lines`]: reading lines of a bounded length.
//! - [`writer`]: writing `record.jsonl`, in the order of time, with its hash [`chain`]; [`reader`]: reading
//!   it, event by event or case by case; [`read_error`]: why it is not read.
//! - [`parts`]: the records of shards, one after the other, as one run.
//! - [`case_events`]: what reports take from a record, case by case.
//! - [`outputs`]: which files a command may write, and how; [`inputs`]: reading small files whole.
//! - [`run_folder`]: one command at a time writes into the folder of a run.
//! - [`doubt`]: the cases of a run that was killed, of which nobody knows what they made.

pub mod asked_again;
pub mod case_events;
pub mod chain;
pub mod changes;
pub mod clauses;
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
pub mod inputs;
pub mod level;
pub mod lines;
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
