//! What a run says: typed events, one JSON line each, from which every report is drawn.
//!
//! The record carries the clause texts and the case sources it speaks of, so that a report is a pure function
//! of it and can be drawn again later, by another version, from the file alone. The types here are small and
//! stable: other tools parse them.
//!
//! - [`event`]: the events in the order in which a run writes them.
//! - [`changes`]: what differs from an earlier run.
//! - [`verdict`]: the verdict of one case and what it rests on.
//! - [`clauses`]: which demanded clauses were kept, broken, not asked or left out.
//! - [`digest`]: SHA-256 as text.
//! - [`finding_id`]: what tells findings apart.
//! - [`level`]: what a breach of a clause does, and who says so.
//! - [`times`]: how long the target took; [`stopwatch`]: taking it.
//! - [`order_of_time`]: what depends on what else was asked.
//! - [`totals`]: the one count of verdicts from which exit code, `JUnit` and summaries are taken.
//! - [`waiver`]: what has come of a waiver.
//! - [`writer`]: writing `record.jsonl`, in order, with its hash [`chain`]; [`reader`]: reading it, entry by
//!   entry.
//! - [`case_events`]: the order of a record; [`part`]: the record of a run that goes on.
//! - [`outputs`]: which files a command may write, and how.
//! - [`journal`]: what was about to be sent, for a run that is killed.

pub mod case_events;
pub mod chain;
pub mod changes;
pub mod clauses;
pub mod counts;
pub mod culprit;
pub mod digest;
pub mod event;
pub mod exit;
pub mod finding_id;
pub mod journal;
pub mod level;
pub mod order_of_time;
pub mod outputs;
pub mod part;
pub mod reader;
pub mod stopwatch;
pub mod times;
pub mod totals;
pub mod verdict;
pub mod waiver;
pub mod writer;

pub use case_events::{CaseEvents, Entry, Grouping, Numbering, OutOfOrder};
pub use chain::HashChain;
pub use changes::Changes;
pub use clauses::{AnswerCheck, AnswerChecks, ClauseState, Demanded, DemandedClauses};
pub use counts::Counts;
pub use culprit::{Culprit, RefusedForm};
pub use event::{
    Body, CaseSource, ClauseText, DocumentText, Event, Exchange, Header, Reading, Request, Response, Resumed,
    RunFinished, RunStarted, TargetProfile, Traffic,
};
pub use exit::Exit;
pub use journal::Journal;
pub use level::{ClauseLevel, Level, LevelRule, LevelSource};
pub use order_of_time::{AskedAlone, Earlier, OrderOfTime, RefusedSince, Repeated};
pub use reader::{ReadError, RecordReader, read};
pub use stopwatch::Stopwatch;
pub use times::{OperationTimes, Times};
pub use totals::Totals;
pub use verdict::{Absence, CaseVerdict, ControlSeen, End, Finding, Place, Role, Strength, Verdict};
pub use waiver::{WaiverSeen, WaiverState};
pub use writer::RecordWriter;
