//! Judges what a target answered, and says what to ask next. It sends nothing: whoever asks a target hands
//! the answers over ([`transport::Target`]), or the record of a run does.
//!
//! - [`profile`]: what must be known of a target; [`profile::validate`]: whether the suite knows what it
//!   names.
//! - [`fill`] and [`request_signer`]: the request as bytes, digested and signed.
//! - [`identity`]: what makes its ids and amounts unlike those of other runs.
//! - [`judge`]: what a case comes to; [`levels`]: what a breach of a clause does.
//! - [`session`]: one case with its set-up and control, and each further look at a target.
//! - [`turns`], [`window`], [`hopeless`], [`culprits`] and [`timeline`]: what cases say of one another.
//! - [`tally`]: the numbers of a run; [`waived`]: what its waivers cover.
//! - [`doctor`]: what a profile may have wrong, where a target accepts nothing.
//! - [`rejudge`](mod@rejudge): recorded answers judged again.

pub mod answer;
mod answer_checks;
pub mod certificate_encoding;
mod codes;
pub mod culprits;
pub mod doctor;
pub mod fill;
pub mod hopeless;
pub mod identity;
pub mod introduction;
pub mod judge;
pub mod levels;
pub mod mask;
pub mod profile;
pub mod rejudge;
pub mod request_signer;
pub mod scope;
mod search;
pub mod session;
mod signature_cache;
mod strength;
pub mod tally;
pub mod timeline;
pub mod transport;
pub mod turns;
mod unconfirmed;
pub mod waived;
pub mod waiver;
pub mod window;

pub use futures_util::future::BoxFuture;
pub use identity::Identity;
pub use levels::{LevelError, Levels};
pub use profile::{Profile, ProfileError};
pub use rejudge::{Rejudged, rejudge};
pub use session::{Done, Session, SessionError};
