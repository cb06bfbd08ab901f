//! Sessions whose target is asked: over HTTP, or in this process.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use xs2aspec_judge::{
    Identity, Session, SessionError,
    profile::AuthorizedProfile,
    transport::{RequestCache, Target},
};
use xs2aspec_suite::Suite;

use crate::{
    exchange::{Exchanger, InProcess},
    transport::{Gate, Live, Pace},
};

/// A session with the target of a profile; nothing is sent yet, and never what the profile is not authorized
/// for. A key that does not belong to its certificate is found here.
pub fn session(
    suite: Arc<Suite>,
    profile: AuthorizedProfile,
    identity: Identity,
    now: DateTime<Utc>,
) -> Result<Session, SessionError> {
    let gate = Gate::new(Exchanger::new(&profile)?, profile.permission(), identity.shard());
    let live = Live::new(gate, Pace::new(profile.limits.clone()), None);
    Session::new(suite, profile, identity, now, Arc::new(live))
}

/// A session of the same suite, key, identity and clock as another one, with a target of its own
/// ([`Session::for_target`]). A target that is `inside` this process is asked there.
pub fn for_target(
    session: &Session,
    mut profile: AuthorizedProfile,
    requests: &Arc<RequestCache>,
    inside: Option<InProcess>,
) -> Result<Session, SessionError> {
    let is_inside = inside.is_some();
    if is_inside {
        // In this process nobody is ever too busy: who says so says it by rule.
        profile.is_never_busy();
    }
    let exchanger = match inside {
        Some(inside) => Exchanger::inside(&profile, inside)?,
        None => Exchanger::new(&profile)?,
    };
    let (permission, limits) = (profile.permission(), profile.limits.clone());
    session.for_target(profile, requests, |requests| {
        let pace = if is_inside { Pace::inside(limits) } else { Pace::new(limits) };
        let live = Live::new(Gate::new(exchanger, permission, None), pace, Some(requests));
        // Such a target changes by requests, and not with time.
        live.wait_for_answers(!is_inside);
        Ok(Arc::new(live))
    })
}
