//! How a session comes to be: with a target of its own, beside another session, or going on where an earlier
//! one was; or with the record of a run in place of a target.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize},
    },
    time::Instant,
};

use chrono::{DateTime, Utc};
use futures_util::lock::Mutex as AsyncMutex;
use xs2aspec_record::{CaseEvents, CaseVerdict, Exchange, LevelRule, TargetProfile};
use xs2aspec_suite::{Case, Suite};

use super::{Done, Session, SessionError, suspect};
use crate::{
    answer::ExchangeError,
    certificate_encoding::CertificateEncoding,
    identity::Identity,
    judge::{self, Outcome},
    levels::Levels,
    mask::{MaskKey, Masker},
    profile::{AuthorizedProfile, Profile, validate},
    request_signer::{RequestSigner, RequestSignerError},
    transport::{self, Append, Replay, RequestCache, Target, Transport, Values},
};

impl Session {
    /// A session; nothing is sent yet, and never what the profile is not authorized for. A key that does not
    /// belong to its certificate is found here. `target` asks what the profile names.
    pub fn new(
        suite: Arc<Suite>,
        profile: AuthorizedProfile,
        identity: Identity,
        now: DateTime<Utc>,
        target: Arc<dyn Target>,
    ) -> Result<Self, SessionError> {
        let profile = profile.into_profile();
        Self::of(suite, profile, (identity, now), Transport::Live(target))
    }

    /// A session of the same suite, key, identity and clock with another target: what this one has signed is
    /// not signed again. The key and certificate of `profile` are not looked at, and only verdicts are kept,
    /// no exchanges. The profiles of all that share `requests` differ in their base URL and choices alone.
    /// `target` makes who asks it with these requests.
    pub fn for_target(
        &self,
        profile: AuthorizedProfile,
        requests: &Arc<RequestCache>,
        target: impl FnOnce(Arc<RequestCache>) -> Result<Arc<dyn Target>, ExchangeError>,
    ) -> Result<Self, SessionError> {
        let profile = profile.into_profile();
        let encoding = CertificateEncoding::of(&profile.choices, &self.suite.spec().signing.choices)
            .map_err(RequestSignerError::from)?;
        let (request_signer, requests) = if encoding == *self.request_signer.encoding() {
            (Arc::clone(&self.request_signer), Arc::clone(requests))
        } else {
            (Arc::new(self.request_signer.with_encoding(encoding)?), Arc::default())
        };
        let transport = Transport::Live(target(requests)?);
        let own = (self.identity.clone(), self.now);
        Self::with_signer(Arc::clone(&self.suite), profile, own, request_signer, transport)
    }

    fn of(
        suite: Arc<Suite>,
        profile: Profile,
        own: (Identity, DateTime<Utc>),
        transport: Transport,
    ) -> Result<Self, SessionError> {
        validate::check(&suite, &profile)?;
        let signing = &suite.spec().signing;
        let encoding =
            CertificateEncoding::of(&profile.choices, &signing.choices).map_err(RequestSignerError::from)?;
        let signer = profile.signer().map_err(RequestSignerError::from)?;
        let request_signer = RequestSigner::new(signer, encoding, &signing.signed_headers)?;
        Self::with_signer(suite, profile, own, Arc::new(request_signer), transport)
    }

    fn with_signer(
        suite: Arc<Suite>,
        profile: Profile,
        (identity, now): (Identity, DateTime<Utc>),
        request_signer: Arc<RequestSigner>,
        transport: Transport,
    ) -> Result<Self, SessionError> {
        Ok(Self {
            levels: Levels::new(suite.clauses(), &profile)?,
            masker: Masker::new(&profile, &suite, MaskKey::random()),
            request_signer,
            transport,
            signed: None,
            running: None,
            asks_otherwise: true,
            is_hopeless: AtomicBool::new(false),
            is_weighed: AtomicBool::new(false),
            knows_key: AtomicBool::new(false),
            silence: OnceLock::new(),
            calls: AtomicUsize::new(0),
            shows_after: OnceLock::new(),
            done: Mutex::default(),
            asked: Mutex::default(),
            accepted: Mutex::default(),
            in_place: Mutex::default(),
            doubts: suspect::Doubts::default(),
            suite,
            profile,
            identity,
            now,
        })
    }

    /// Lets the clock go on from where it stands: dates are then those of the moment in which a request is
    /// made, as a target wants them that looks at its own clock.
    #[must_use]
    pub fn with_running_clock(self) -> Self {
        Self { running: Some(Instant::now()), ..self }
    }

    /// Returns the session with this key for its pseudonyms. Without one, each session has a random key.
    #[must_use]
    pub fn with_mask_key(self, key: MaskKey) -> Self {
        Self { masker: self.masker.with_key(key), ..self }
    }

    /// Leaves it at the plain requests where they are refused: no other lawful ones are asked in their place.
    #[must_use]
    pub fn without_alternatives(self) -> Self {
        Self { asks_otherwise: false, ..self }
    }

    /// Takes the signatures that this other session of the same suite, key, identity and clock shares, and
    /// adds its own. Where the target wants them written in another way it makes all of them itself.
    #[must_use]
    pub fn sharing_signatures(self, other: &Self, requests: &Arc<RequestCache>) -> Self {
        let is_same = self.request_signer.encoding() == other.request_signer.encoding();
        Self { signed: is_same.then(|| Arc::clone(requests)), ..self }
    }

    /// Tells the history of a run what is sent from now on, if exchanges are shown. A session has one run.
    pub fn tell(&self, history: Box<dyn Append>) {
        if let Some(live) = self.transport.live().filter(|_| self.transport.is_shown()) {
            live.tell(history);
        }
    }

    /// Goes on with a run that has sent so many requests, with new ids and amounts. The earlier part may have
    /// used up the daily calls.
    #[must_use]
    pub fn resumed(self, exchanges: u64) -> Self {
        if let Some(live) = self.transport.live() {
            live.go_on_after(exchanges);
        }
        let session = Self { identity: self.identity.clone().resumed(), ..self };
        session.share_quota();
        session
    }

    /// Takes a verdict of an earlier part of the run for that of its case, which is not run then. `judged` is
    /// its judged exchange.
    pub fn keep(&self, verdict: &CaseVerdict, judged: Option<&Exchange>) {
        let case = self.suite.case(&verdict.case);
        if let Some(plain) = case.filter(|case| case.is_plain) {
            self.go_on_with(plain, verdict.culprit.as_deref());
        }
        let answered = case.zip(judged).and_then(|(case, judged)| self.outcome(case, judged));
        let done = Done {
            verdict: verdict.clone(),
            exchanges: std::sync::Mutex::default(),
            answered,
            status: judged.and_then(|exchange| Some(exchange.response.as_ref()?.status)),
            values: Values::First,
            shows_it: false,
            failure: None,
            is_held_back: false,
            is_used_up: false,
        };
        let cell = Arc::new(AsyncMutex::new(Some(Arc::new(done))));
        self.done.lock().unwrap_or_else(PoisonError::into_inner).insert(verdict.case.clone(), cell);
    }

    /// The outcome that an exchange shows, and the answer in words.
    pub(crate) fn outcome(&self, case: &Case, judged: &Exchange) -> Option<(Outcome, String)> {
        let answer = transport::answer(judged)?;
        let operation = &case.request.operation;
        let field = |name: &str| judged.request.header(name).map(str::to_owned);
        let examined = judge::examine(operation, field, &answer, self.suite.answers(), &self.levels);
        Some((examined.outcome, examined.words))
    }

    /// A session that asks nobody: its answers are those of a record, which was made with this profile. They
    /// are judged with these levels. It
    /// has those of the cases that others rest on; those of any other case are given to it with
    /// [`Self::judge_recorded`].
    pub(crate) fn of_record(
        suite: Arc<Suite>,
        rested_on: HashMap<String, CaseEvents>,
        (recorded, levels): (&TargetProfile, Vec<LevelRule>),
    ) -> Result<Self, SessionError> {
        let profile = Profile { levels, ..Profile::recorded(recorded, &suite.spec().profile) };
        let transport = Transport::Replay(Box::new(Replay::new(rested_on)));
        let own = (Identity::random(0), DateTime::<Utc>::UNIX_EPOCH);
        let session = Self::of(suite, profile, own, transport)?;
        Ok(Self { masker: Masker::of_record(), ..session })
    }

    /// A session that asks nobody: what it records was sent by others.
    pub fn of_traffic(suite: Arc<Suite>, profile: Profile, now: DateTime<Utc>) -> Result<Self, SessionError> {
        // Nothing is sent, so that no identifier is fresh.
        let transport = Transport::Replay(Box::new(Replay::new(HashMap::new())));
        Self::of(suite, profile, (Identity::random(0), now), transport)
    }

    /// Judges the recorded answers of a case.
    pub(crate) async fn judge_recorded(&self, case: &Case, events: CaseEvents) -> Option<Arc<Done>> {
        let replay = self.transport.replay()?;
        if replay.is_rested_on(&case.id) {
            return self.case(&case.id).await;
        }
        replay.set_current(events);
        Some(Arc::new(self.run(case).await))
    }
}
