//! Judges the responses of a target, and asks for further requests where it needs them. It sends nothing: it
//! is a pure function of the history. The caller sends the requests, adds the responses to a [`View`], and
//! calls the [`Judge`] again.
//!
//! ```text
//! judge.case(&case, &view, &known)  ->  Ok(Done)                     the verdict
//!                                   or  Err(Need::Requests(probes))  send these, and add them to the view
//!                                   or  Err(Need::Answer(question))  run this, and add the result to `known`
//! ```
//!
//! - [`profile`]: a bank profile; [`profile::validate`]: its check against the suite
//! - [`case`](mod@case): the judging of one case; [`view`], [`known`]: its input
//! - [`probe`], [`question`]: the needs of the judge
//! - [`probes`]: second looks, one per file
//! - [`fill`] and [`request_signer`]: the bytes of a probe's request, digested and signed
//! - [`identity`]: the source of ids and amounts that differ between runs
//! - [`judge`]: the outcome of a response; [`levels`]: the level of each clause
//! - [`phases`]: the order of cases
//! - [`confirmation`], [`hopeless`] and [`culprits`]: conclusions from several cases
//! - [`tally`]: the totals of a run; [`waived`]: its waivers
//! - [`doctor`]: likely errors in the profile of a target that rejects everything
//! - [`traffic`]: judging the traffic of others; [`client`]: comparing a client with its plan
//! - [`rejudge`](mod@rejudge): judging recorded responses again

pub mod answer;
mod blank;
pub mod case;
pub mod certificate_encoding;
pub mod client;
mod codes;
pub mod confirmation;
pub mod culprits;
pub mod doctor;
mod done;
pub mod fill;
pub mod hopeless;
pub mod identity;
pub mod introduction;
pub mod judge;
pub mod known;
pub mod levels;
pub mod mask;
pub mod phases;
pub mod probe;
pub mod probes;
pub mod profile;
pub mod question;
mod quota;
pub mod rejudge;
mod request_cache;
pub mod request_signer;
pub mod scope;
mod step;
pub mod stop;
mod substitute;
pub mod tally;
pub mod traffic;
mod trail;
pub mod view;
pub mod waived;
pub mod waiver;
mod wire_request;

pub use blank::left_in_doubt;
pub use done::Done;
pub use identity::Identity;
pub use judge::{Judge, JudgeError};
pub use known::Known;
pub use levels::{LevelError, Levels};
pub use probe::{Need, Probe};
pub use profile::{Profile, ProfileError};
pub use question::Question;
pub use rejudge::{Rejudged, rejudge};
pub use request_cache::RequestCache;
pub use step::Kept;
pub use view::{Seen, View};
