//! The judge and its constructors: for a target, for another target next to it, or for a history.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use xs2aspec_record::{LevelRule, Request, TargetProfile};
use xs2aspec_suite::Suite;

use crate::{
    answer::ExchangeError,
    certificate_encoding::CertificateEncoding,
    fill::WireRequest,
    identity::Identity,
    levels::{LevelError, Levels},
    mask::{MaskKey, Masker},
    profile::{
        AuthorizedProfile, Permission, Profile,
        validate::{self, ProfileMismatch},
    },
    request_signer::{RequestSigner, RequestSignerError},
};

/// A judge for one suite, one profile and one identity.
#[derive(Debug)]
pub struct Judge {
    pub(crate) suite: Arc<Suite>,
    pub(crate) profile: Profile,
    pub(crate) levels: Levels,
    pub(crate) identity: Identity,
    /// The signer, or None for a judge that needs no requests.
    pub(crate) signer: Option<Arc<RequestSigner>>,
    pub(crate) masker: Masker,
    pub(crate) permission: Permission,
    /// True if exchanges are kept, and suspicious results are retried. Runs against many targets compare only
    /// verdicts.
    asks_again: bool,
    /// True if other valid requests replace a rejected baseline request.
    asks_otherwise: bool,
    /// Positions of the valid cases by profile value, computed on first use.
    pub(crate) valid: OnceLock<BTreeMap<String, Vec<usize>>>,
}

/// A reason why nothing can be judged (exit code 2).
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// The key or certificate is wrong.
    #[error(transparent)]
    RequestSigner(#[from] RequestSignerError),
    /// TLS cannot be set up.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// The profile names something that the suite does not know.
    #[error(transparent)]
    ProfileMismatch(#[from] ProfileMismatch),
    /// A level names a clause that the suite does not know.
    #[error(transparent)]
    Level(#[from] LevelError),
}

/// The signer of the requests to a target.
type Signer = Option<Arc<RequestSigner>>;

impl Judge {
    /// Returns a judge for a target that needs only what the profile permits. Returns an error if the key
    /// does not belong to the certificate.
    pub fn new(
        suite: Arc<Suite>,
        profile: AuthorizedProfile,
        identity: Identity,
    ) -> Result<Self, JudgeError> {
        let permission = profile.permission();
        let profile = profile.into_profile();
        validate::check(&suite, &profile)?;
        let signing = &suite.spec().signing;
        let encoding =
            CertificateEncoding::of(&profile.choices, &signing.choices).map_err(RequestSignerError::from)?;
        let signer = profile.signer().map_err(RequestSignerError::from)?;
        let signer = RequestSigner::new(signer, encoding, &signing.signed_headers)?;
        Self::of(suite, (profile, permission), identity, Some(Arc::new(signer)))
    }

    /// Returns a judge with the same suite, key and identity for another target. It reuses existing
    /// signatures, ignores the key and certificate of `profile`, and keeps only verdicts, no exchanges.
    pub fn for_target(&self, profile: AuthorizedProfile) -> Result<Self, JudgeError> {
        let permission = profile.permission();
        let profile = profile.into_profile();
        let encoding = CertificateEncoding::of(&profile.choices, &self.suite.spec().signing.choices)
            .map_err(RequestSignerError::from)?;
        let signer = match &self.signer {
            Some(signer) if *signer.encoding() != encoding => Some(Arc::new(signer.with_encoding(encoding)?)),
            signer => signer.clone(),
        };
        let own = Self::of(Arc::clone(&self.suite), (profile, permission), self.identity.clone(), signer)?;
        Ok(Self { asks_again: false, ..own })
    }

    /// Returns a judge for a history that was recorded with this profile, with these levels. It sends
    /// nothing.
    pub(crate) fn of_record(
        suite: Arc<Suite>,
        recorded: &TargetProfile,
        levels: Vec<LevelRule>,
    ) -> Result<Self, JudgeError> {
        let profile = Profile { levels, ..Profile::recorded(recorded, &suite.spec().profile) };
        Ok(Self { masker: Masker::of_record(), ..Self::of_traffic(suite, profile)? })
    }

    /// Returns a judge for recorded traffic of others. It sends nothing.
    pub fn of_traffic(suite: Arc<Suite>, profile: Profile) -> Result<Self, JudgeError> {
        validate::check(&suite, &profile)?;
        // This judge sends nothing, so any identity will do.
        Self::of(suite, (profile, Permission::Nothing), Identity::random(0), None)
    }

    fn of(
        suite: Arc<Suite>,
        (profile, permission): (Profile, Permission),
        identity: Identity,
        signer: Signer,
    ) -> Result<Self, JudgeError> {
        Ok(Self {
            levels: Levels::new(suite.clauses(), &profile)?,
            masker: Masker::new(&profile, &suite, MaskKey::random()),
            asks_again: true,
            asks_otherwise: true,
            valid: OnceLock::new(),
            suite,
            profile,
            identity,
            signer,
            permission,
        })
    }

    /// Returns the judge with this key for its pseudonyms. By default each judge has a random key.
    #[must_use]
    pub fn with_mask_key(self, key: MaskKey) -> Self {
        Self { masker: self.masker.with_key(key), ..self }
    }

    /// Returns the judge without replacing rejected baseline requests with other valid ones.
    #[must_use]
    pub fn without_alternatives(self) -> Self {
        Self { asks_otherwise: false, ..self }
    }

    /// Returns the judge with a new identity, so that further requests have other ids and amounts than the
    /// first part of the run.
    #[must_use]
    pub fn resumed(self) -> Self {
        Self { identity: self.identity.clone().resumed(), ..self }
    }

    /// Returns true if both judges encode certificates alike.
    pub fn signs_like(&self, other: &Self) -> bool {
        let encoding = |judge: &Self| judge.signer.as_ref().map(|signer| signer.encoding().clone());
        encoding(self) == encoding(other)
    }

    /// Returns the suite.
    pub fn suite(&self) -> &Suite {
        &self.suite
    }

    /// Returns the bank profile.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Returns the level of each clause.
    pub fn levels(&self) -> &Levels {
        &self.levels
    }

    /// Returns the identity of the run.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Returns the masker for everything that is recorded.
    pub fn masker(&self) -> &Masker {
        &self.masker
    }

    /// Returns the part of the profile that the history keeps.
    pub fn recorded_profile(&self) -> TargetProfile {
        self.profile.seen(|name, text| self.masker.value(name, text))
    }

    /// Returns a request with secrets and personal data masked.
    pub fn masked(&self, request: &WireRequest) -> Request {
        self.masker.request(request)
    }

    pub(crate) fn asks_otherwise(&self) -> bool {
        self.asks_again && self.asks_otherwise
    }

    /// Returns true if exchanges are kept, and valid requests are retried.
    pub fn asks_again(&self) -> bool {
        self.asks_again
    }
}
