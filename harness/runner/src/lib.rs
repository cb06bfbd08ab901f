//! Asks a target and judges its answers.
//!
//! - [`profile`]: what must be known of a target; [`profile::validate`]: whether the suite knows what it
//!   names.
//! - [`fill`] and [`request_signer`]: the request as bytes, digested and signed.
//! - [`identity`]: what makes its ids and amounts unlike those of other runs.
//! - [`exchange`]: sending it, and reading the answer.
//! - [`judge`]: what a case comes to.
//! - `answer_checks`: how often the rules for answers had something to look at.
//! - [`doctor`]: what a profile may have wrong, where a target accepts nothing.
//! - [`drawn`]: the record of cases that are drawn as a run goes on.
//! - [`session`]: one case with its set-up and control; [`run`](mod@run): a whole plan, as events.
//! - [`resume`]: the rest of a run that was killed; [`rejudge`](mod@rejudge): recorded answers judged again.

mod answer_checks;
pub mod certificate_encoding;
mod codes;
mod conclusions;
mod culprits;
pub mod doctor;
pub mod drawn;
pub mod exchange;
pub mod fill;
mod history;
mod hopeless;
pub mod identity;
pub mod judge;
pub mod levels;
pub mod mask;
pub mod profile;
pub mod rejudge;
pub mod request_signer;
pub mod resume;
pub mod run;
mod scope;
mod search;
pub mod session;
mod signature_cache;
mod strength;
mod tally;
mod timeline;
mod transport;
mod turns;
mod unconfirmed;
mod waived;
pub mod waiver;
mod window;

pub use drawn::DrawnRun;
pub use futures_util::future::BoxFuture;
pub use history::Tell;
pub use identity::Identity;
pub use levels::{LevelError, Levels};
pub use profile::{Profile, ProfileError};
pub use rejudge::{Rejudged, rejudge};
pub use run::{Options, run};
pub use session::{Done, Session, SessionError};
