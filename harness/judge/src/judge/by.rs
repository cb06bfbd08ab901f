//! The judge, and how it is made: for a target, for another target next to it, or for a record.

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

/// A judge: one suite, one profile, one identity.
#[derive(Debug)]
pub struct Judge {
    pub(crate) suite: Arc<Suite>,
    pub(crate) profile: Profile,
    pub(crate) levels: Levels,
    pub(crate) identity: Identity,
    /// The signer. A judge that sends nothing has none.
    pub(crate) signer: Option<Arc<RequestSigner>>,
    pub(crate) masker: Masker,
    pub(crate) permission: Permission,
    /// True if exchanges are kept and shown, and what looks wrong is sent again. Runs against many targets
    /// only compare verdicts.
    asks_again: bool,
    /// True if other valid requests are sent instead of a plain one that is rejected.
    asks_otherwise: bool,
    /// Positions of the valid cases with each value of the profile, once they were looked for.
    pub(crate) valid: OnceLock<BTreeMap<String, Vec<usize>>>,
}

/// Why nothing can be judged. Exit code 2.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// Key or certificate.
    #[error(transparent)]
    RequestSigner(#[from] RequestSignerError),
    /// TLS.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// The profile names what the suite does not know.
    #[error(transparent)]
    ProfileMismatch(#[from] ProfileMismatch),
    /// A level of a clause that the suite does not know.
    #[error(transparent)]
    Level(#[from] LevelError),
}

/// The signer of the requests to a target.
type Signer = Option<Arc<RequestSigner>>;

impl Judge {
    /// A judge for a target. It needs nothing that the profile is not authorized for. A key that does not
    /// belong to its certificate is found here.
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

    /// A judge by the same suite, key and identity for another target: what this one has signed is not signed
    /// again. The key and certificate of `profile` are not looked at, and only verdicts are kept, no
    /// exchanges.
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

    /// A judge of a record, which was made with this profile, by these levels. Nobody is asked.
    pub(crate) fn of_record(
        suite: Arc<Suite>,
        recorded: &TargetProfile,
        levels: Vec<LevelRule>,
    ) -> Result<Self, JudgeError> {
        let profile = Profile { levels, ..Profile::recorded(recorded, &suite.spec().profile) };
        Ok(Self { masker: Masker::of_record(), ..Self::of_traffic(suite, profile)? })
    }

    /// A judge of what others sent. Nobody is asked.
    pub fn of_traffic(suite: Arc<Suite>, profile: Profile) -> Result<Self, JudgeError> {
        validate::check(&suite, &profile)?;
        // Nothing is sent, so that no identifier is fresh.
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

    /// Returns the judge with this key for its pseudonyms. Without one, each has a random key.
    #[must_use]
    pub fn with_mask_key(self, key: MaskKey) -> Self {
        Self { masker: self.masker.with_key(key), ..self }
    }

    /// Leaves it at the plain requests where they are rejected: no other lawful ones are asked in their
    /// place.
    #[must_use]
    pub fn without_alternatives(self) -> Self {
        Self { asks_otherwise: false, ..self }
    }

    /// Gives what is sent from now on other ids and amounts than the first part of the run had.
    #[must_use]
    pub fn resumed(self) -> Self {
        Self { identity: self.identity.clone().resumed(), ..self }
    }

    /// Returns true if this judge and another one have certificates written alike.
    pub fn signs_like(&self, other: &Self) -> bool {
        let encoding = |judge: &Self| judge.signer.as_ref().map(|signer| signer.encoding().clone());
        encoding(self) == encoding(other)
    }

    /// The suite.
    pub fn suite(&self) -> &Suite {
        &self.suite
    }

    /// The target.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// What a breach of each clause does.
    pub fn levels(&self) -> &Levels {
        &self.levels
    }

    /// What makes its ids and amounts unlike those of other runs.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Returns what masks everything that is recorded.
    pub fn masker(&self) -> &Masker {
        &self.masker
    }

    /// What a record keeps of the target's profile.
    pub fn recorded_profile(&self) -> TargetProfile {
        self.profile.seen(|name, text| self.masker.value(name, text))
    }

    /// A request as it may be shown: without what belongs to persons and keys.
    pub fn masked(&self, request: &WireRequest) -> Request {
        self.masker.request(request)
    }

    pub(crate) fn asks_otherwise(&self) -> bool {
        self.asks_again && self.asks_otherwise
    }

    /// Returns true if exchanges are kept and shown, and valid requests are asked again.
    pub fn asks_again(&self) -> bool {
        self.asks_again
    }
}
