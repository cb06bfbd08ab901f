//! How a session comes to be: with a target of its own, beside another session, or going on where an earlier
//! one was.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicU64},
    time::Instant,
};

use chrono::{DateTime, Utc};
use tokio::sync::OnceCell;
use xs2aspec_record::{CaseVerdict, Exchange, Journal};
use xs2aspec_suite::Suite;

use super::{Done, Requests, Session, SessionError, gate::Gate, recorded};
use crate::{
    exchange::{Exchanger, Inside},
    fit,
    forms::Forms,
    judge,
    mask::Masker,
    pace::Pace,
    profile::{AuthorizedProfile, Profile},
    seal::{Seal, SealError},
};

impl Session {
    /// A session; nothing is sent yet, and never what the profile is not authorized for. A key that does not
    /// belong to its certificate is found here.
    pub fn new(
        suite: Arc<Suite>,
        profile: AuthorizedProfile,
        seed: u64,
        now: DateTime<Utc>,
    ) -> Result<Self, SessionError> {
        let (profile, permission) = profile.into_parts();
        fit::check(&suite, &profile)?;
        let signing = &suite.spec().signing;
        let forms = Forms::of(&profile.choices, &signing.choices).map_err(SealError::from)?;
        let signer = profile.signer().map_err(SealError::from)?;
        let seal = Seal::new(signer, forms, &signing.signed_headers)?;
        let gate = Gate::new(Exchanger::new(&profile)?, permission);
        Ok(Self::of(suite, profile, (seed, now), Arc::new(seal), gate))
    }

    /// A session of the same suite, key, seed and clock with another target: what this one has signed is not
    /// signed again. The key and certificate of `profile` are not looked at, and only verdicts are kept, no
    /// exchanges. The profiles of all that share `requests` differ in their base URL and choices alone. A
    /// target that is `inside` this process is asked there.
    pub fn beside(
        &self,
        profile: AuthorizedProfile,
        requests: &Arc<Requests>,
        inside: Option<Inside>,
    ) -> Result<Self, SessionError> {
        let (mut profile, permission) = profile.into_parts();
        let forms =
            Forms::of(&profile.choices, &self.suite.spec().signing.choices).map_err(SealError::from)?;
        let (seal, requests) = if forms == *self.seal.forms() {
            (Arc::clone(&self.seal), Arc::clone(requests))
        } else {
            (Arc::new(self.seal.in_forms(forms)?), Arc::default())
        };
        let exchanger = match inside {
            Some(inside) => Exchanger::inside(&profile, inside)?,
            None => Exchanger::new(&profile)?,
        };
        let suite = Arc::clone(&self.suite);
        if exchanger.is_inside() {
            // In this process nobody is ever too busy: who says so says it by rule.
            profile.limits.retries = 0;
        }
        let gate = Gate::new(exchanger, permission);
        let session = Self::of(suite, profile, (self.seed, self.now), seal, gate);
        Ok(Self { beside: Some(requests), ..session })
    }

    fn of(
        suite: Arc<Suite>,
        profile: Profile,
        (seed, now): (u64, DateTime<Utc>),
        seal: Arc<Seal>,
        gate: Gate,
    ) -> Self {
        Self {
            strict: fit::strict(&suite, &profile),
            pace: Pace::new(profile.limits.clone()),
            masker: Masker::new(&profile, suite.spec().masks.clone(), seed),
            seal,
            gate,
            running: None,
            beside: None,
            journal: None,
            started: BTreeMap::new(),
            recorded: None,
            began: Instant::now(),
            retries: AtomicU64::new(0),
            asked_again: AtomicU64::new(0),
            done: Mutex::default(),
            asked: Mutex::default(),
            accepted: Mutex::default(),
            suite,
            profile,
            seed,
            now,
        }
    }

    /// Lets the clock go on from where it stands: dates are then those of the moment in which a request is
    /// made, as a target wants them that looks at its own clock.
    #[must_use]
    pub fn with_running_clock(self) -> Self {
        Self { running: Some(Instant::now()), ..self }
    }

    /// Notes what could make a payment before it is sent.
    #[must_use]
    pub fn with_journal(self, journal: Journal) -> Self {
        Self { journal: Some(Arc::new(journal)), ..self }
    }

    /// Goes on with a run: so many exchanges took place, and these cases had begun to send, each so often.
    #[must_use]
    pub fn resumed(self, exchanges: u64, started: &BTreeMap<String, u32>) -> Self {
        let spread = |times: u32| u64::from(times).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let started = started.iter().map(|(case, times)| (case.clone(), spread(*times))).collect();
        Self { started, gate: self.gate.after(exchanges), ..self }
    }

    /// Takes a verdict of an earlier part of the run for that of its case, which is not run then. `judged` is
    /// its judged exchange.
    pub fn keep(&self, verdict: &CaseVerdict, judged: Option<&Exchange>) {
        let answered = self.suite.case(&verdict.case).and_then(|case| {
            let answer = recorded::answer(judged?)?;
            let operation = &case.request.operation;
            let examined = judge::examine(operation, &answer, self.suite.answers(), &self.strict);
            Some((examined.outcome, examined.words))
        });
        let done = Done {
            verdict: verdict.clone(),
            exchanges: std::sync::Mutex::default(),
            answered,
            failure: None,
            is_held_back: false,
        };
        let cell = Arc::new(OnceCell::new_with(Some(Arc::new(done))));
        self.done.lock().unwrap_or_else(PoisonError::into_inner).insert(verdict.case.clone(), cell);
    }
}
