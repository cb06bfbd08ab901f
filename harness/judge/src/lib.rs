//! Judges what a target answered, and says what is needed first. It sends nothing, and it is a pure function
//! of what the history has: whoever asks a target adds what came back to a [`View`], and asks the [`Judge`]
//! again.
//!
//! ```text
//! judge.case(&case, &view, &known)  ->  Ok(Done)                     the verdict
//!                                   or  Err(Need::Requests(probes))  send these, and add them to the view
//!                                   or  Err(Need::Answer(question))  answer it, and add that to `known`
//! ```
//!
//! - [`profile`]: what must be known of a target; [`profile::validate`]: whether the suite knows what it
//!   names.
//! - [`case`](mod@case): the way of a case; [`view`], [`known`]: what it reads; [`probe`], [`question`]: what
//!   it needs.
//! - [`probes`]: second looks, one in a file.
//! - [`fill`] and [`request_signer`]: the request of a probe as bytes, digested and signed.
//! - [`identity`]: what makes its ids and amounts unlike those of other runs.
//! - [`judge`]: what a response comes to; [`levels`]: what a breach of a clause does.
//! - [`phases`]: which cases come first; [`confirmation`], [`hopeless`] and [`culprits`]: what cases say of
//!   one another.
//! - [`tally`]: the numbers of a run; [`waived`]: what its waivers cover.
//! - [`doctor`]: what a profile may have wrong, where a target accepts nothing.
//! - [`traffic`]: what others send; [`client`]: what a client should have shown.
//! - [`rejudge`](mod@rejudge): recorded responses judged again.

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
