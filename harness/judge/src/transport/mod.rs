//! The way from a session to the answers that it judges: a target, which somebody else asks, or the record of
//! a run.

mod cache;
mod replay;
mod stop;

use std::{fmt::Debug, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use xs2aspec_record::{Exchange, Sending};

pub(crate) use self::replay::{Replay, answer};
pub use self::{
    cache::RequestCache,
    stop::{Held, Stop, Trail, Values},
};
use crate::{answer::Answer, fill::WireRequest, mask::Masker, profile::Permission};

/// Whoever asks a target: sends requests, and gives what came back. It decides nothing.
pub trait Target: Debug + Send + Sync {
    /// Asks a step. What was sent and came back is left on the trail.
    fn ask<'a>(&'a self, asked: &'a Asked<'a>, trail: &'a mut Trail) -> BoxFuture<'a, Result<Answer, Stop>>;

    /// Requests that are shared with sessions of other targets.
    fn cache(&self) -> Option<&RequestCache>;

    /// What may be sent.
    fn permission(&self) -> Permission;

    /// Whether a target that had no time for a request is asked again.
    fn waits_for(&self, answer: &Answer) -> bool;

    /// Whether an answer that is not yet what a case demands is asked for again, after a pause.
    fn may_change(&self) -> bool;

    /// From now on such an answer is asked for again, or taken as it is.
    fn wait_for_answers(&self, waits: bool);

    /// Waits.
    fn pause(&self, time: Duration) -> BoxFuture<'_, ()>;

    /// Tells this history what is sent from now on, if no other one is told.
    fn tell(&self, history: Box<dyn Append>);

    /// Goes on counting requests from here.
    fn go_on_after(&self, sent: u64);

    /// From now on no more than so many requests are sent in all.
    fn limit(&self, most: u64);

    /// So many of them are only for requests that confirm verdicts.
    fn reserve(&self, reserve: u64);

    /// How many requests there may still be.
    fn left(&self) -> u64;

    /// How many requests were sent.
    fn sent(&self) -> u64;

    /// How many of them sent a request once more.
    fn retries(&self) -> u64;

    /// How many answers came.
    fn answered(&self) -> u64;

    /// The shortest time between two requests, as it is kept now.
    fn interval(&self) -> Option<Duration>;
}

/// Whoever appends to the history of a run.
pub trait Append: Debug + Send + Sync {
    /// Tells what is about to be sent. Gives true once it is written, and false where it cannot be.
    fn sending(&self, sending: Sending) -> BoxFuture<'static, bool>;

    /// Tells what came back.
    fn exchange(&self, exchange: Exchange);
}

/// Where answers come from.
#[derive(Debug)]
pub(crate) enum Transport {
    /// A target.
    Live(Arc<dyn Target>),
    /// The record of a run.
    Replay(Box<Replay>),
}

/// A step of a case that is asked.
pub struct Asked<'a> {
    /// Id of the case.
    pub case: &'a str,
    /// Name of the step.
    pub step: &'a str,
    /// Operation of the request.
    pub operation: &'a str,
    /// The request, made anew for each attempt.
    pub make: &'a (dyn Fn() -> Result<WireRequest, Stop> + Sync),
    /// Whether an answer is not asked for again, however busy the target says it is.
    pub is_final: &'a (dyn Fn(&Answer) -> bool + Sync),
    /// Masks what is recorded.
    pub masker: &'a Masker,
}

impl Transport {
    /// The answer to a step.
    pub(crate) async fn ask(&self, asked: &Asked<'_>, trail: &mut Trail) -> Result<Answer, Stop> {
        match self {
            Self::Live(live) => live.ask(asked, trail).await,
            Self::Replay(replay) => replay.answer(asked.case, asked.step, trail),
        }
    }

    /// The target, where there is one.
    pub(crate) fn live(&self) -> Option<&dyn Target> {
        if let Self::Live(live) = self { Some(live.as_ref()) } else { None }
    }

    /// The record, where there is no target.
    pub(crate) fn replay(&self) -> Option<&Replay> {
        if let Self::Replay(replay) = self { Some(replay) } else { None }
    }

    /// Requests that are shared with sessions of other targets.
    pub(crate) fn cache(&self) -> Option<&RequestCache> {
        self.live()?.cache()
    }

    /// Whether exchanges are kept and shown: what is asked beside another session is compared, and never
    /// shown.
    pub(crate) fn is_shown(&self) -> bool {
        self.cache().is_none()
    }

    /// Whether valid requests are asked again: there is a target, and nobody else asks it.
    pub(crate) fn asks_again(&self) -> bool {
        self.replay().is_none() && self.is_shown()
    }

    /// Whether a step of a case can be asked: a record may not have it.
    pub(crate) fn can_ask(&self, case: &str, step: &str) -> bool {
        self.replay().is_none_or(|replay| replay.has(case, step))
    }

    /// Whether a target that had no time for a request is asked again, as one of a record may have been.
    pub(crate) fn waits_for(&self, answer: &Answer) -> bool {
        self.live().is_none_or(|live| live.waits_for(answer))
    }

    /// Whether the answer to a step may come to be another one when it is asked again, as one of a record may
    /// have.
    pub(crate) fn may_change(&self) -> bool {
        self.live().is_none_or(Target::may_change)
    }

    /// Waits for a target, which a record does not need.
    pub(crate) async fn pause(&self, time: Duration) {
        if let Some(live) = self.live() {
            live.pause(time).await;
        }
    }
}
