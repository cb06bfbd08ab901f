//! Variants of the reference bank: the bank as it is, with one fault, or with one variation.

use std::{collections::BTreeSet, sync::Arc};

use chrono::{DateTime, Utc};
use http::{HeaderValue, Request};
use xs2aspec_reference::{Clock, Config, Declaration, Fault, InProcessBank, Variation};
use xs2aspec_runner::{
    Profile,
    exchange::{Answer, InProcess},
    fill::WireRequest,
    profile::AuthorizedProfile,
};
use xs2aspec_suite::{Clause, Strength, Suite};

use crate::{Kind, ProveError, declare};

/// The reference bank as it is, or with the one thing that makes it another.
#[derive(Debug, Clone, Copy)]
pub enum BankVariant {
    /// As it is: it keeps the whole document.
    Clean,
    /// It breaks one clause in one way.
    Fault(Fault),
    /// It uses one freedom that the document leaves.
    Variation(Variation),
}

/// Variations, by the beginning of their names, that use other freedoms as well, with the clauses that leave
/// them.
const FREEDOMS: &str = include_str!("../../../fixtures/kill-matrix/freedoms.tsv");

impl BankVariant {
    /// The clean bank, one for each fault, and one for each variation.
    pub fn all() -> impl Iterator<Item = Self> {
        let faults = Fault::all().map(Self::Fault);
        [Self::Clean].into_iter().chain(faults).chain(Variation::all().map(Self::Variation))
    }

    /// Banks with a fault that takes two things of a request, which no written case has together.
    pub fn interactions() -> impl Iterator<Item = Self> {
        Fault::interactions().map(Self::Fault)
    }

    /// The clean bank, and so many of the faults that operators make of the bank's tables, evenly drawn.
    pub fn derived(count: usize, seed: u64) -> Vec<Self> {
        let all: Vec<Fault> = Fault::derived().collect();
        let count = count.min(all.len());
        let first = usize::try_from(seed % (all.len().max(1) as u64)).unwrap_or_default();
        let drawn = (0..count).map(|number| all[(first + number * all.len() / count) % all.len()]);
        [Self::Clean].into_iter().chain(drawn.map(Self::Fault)).collect()
    }

    /// What makes it another bank.
    pub fn kind(self) -> Kind {
        match self {
            Self::Clean => Kind::Clean,
            Self::Fault(_) => Kind::Fault,
            Self::Variation(_) => Kind::Variation,
        }
    }

    /// The name of its fault or variation, or `clean`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Fault(fault) => fault.name(),
            Self::Variation(variation) => variation.name(),
        }
    }

    /// The clause that it breaks, or that leaves it the freedom; empty for the clean bank.
    pub fn clause(self) -> &'static str {
        match self {
            Self::Clean => "",
            Self::Fault(fault) => fault.clause(),
            Self::Variation(variation) => variation.clause(),
        }
    }

    /// Clauses of which this bank may be warned though it keeps the document: the one that leaves it the
    /// freedom, and those of the choices that its profile declares in another way than that of the clean bank.
    pub fn may_warn(self, suite: &Suite) -> BTreeSet<String> {
        let Self::Variation(variation) = self else { return BTreeSet::new() };
        let keys: Vec<&str> = variation
            .declares()
            .iter()
            .filter_map(|declaration| match declaration {
                Declaration::Choice(key, _) | Declaration::NoChoice(key) => Some(*key),
                _ => None,
            })
            .collect();
        let is_declared = |clause: &&Clause| match &clause.strength {
            Strength::Choice(choice) => keys.contains(&choice.key.as_str()),
            _ => false,
        };
        let declared = suite.clauses().values().filter(is_declared).map(|clause| clause.id.clone());
        let lines = FREEDOMS.lines().filter_map(|line| line.split_once('\t'));
        let too = lines.filter(|(beginning, _)| variation.name().starts_with(beginning));
        let too = too.flat_map(|(_, clauses)| clauses.split(", ").map(str::to_owned));
        declared.chain([variation.clause().to_owned()]).chain(too).collect()
    }

    /// Whether its name begins as one of these says, if there are any. The clean bank always counts: what
    /// fires there fires everywhere.
    pub fn is_wanted(self, only: &[String]) -> bool {
        let named = |beginning: &String| self.name().starts_with(beginning.trim_end_matches('*'));
        matches!(self, Self::Clean) || only.is_empty() || only.iter().any(named)
    }

    /// Its fault, if it has one.
    pub fn fault(self) -> Option<Fault> {
        if let Self::Fault(fault) = self { Some(fault) } else { None }
    }

    /// Its variations: one at most.
    pub fn variations(self) -> Vec<Variation> {
        if let Self::Variation(variation) = self { vec![variation] } else { vec![] }
    }

    /// Arguments of `xs2aspec run` that start the same bank.
    pub fn arguments(self) -> Vec<String> {
        match self {
            Self::Clean => vec![],
            Self::Fault(fault) => vec!["--fault".to_owned(), fault.name().to_owned()],
            Self::Variation(variation) => vec!["--variation".to_owned(), variation.name().to_owned()],
        }
    }

    /// Whether what makes it another bank happens above HTTP/1.1, so that no socket is needed to see it. The
    /// clean bank is asked over one all the same.
    pub fn is_above_http(self) -> bool {
        match self {
            Self::Clean => false,
            Self::Fault(fault) => !fault.is_of_http(),
            Self::Variation(variation) => !variation.is_of_http(),
        }
    }

    /// The profile of this bank at this address.
    pub fn profile(self, base_url: &str) -> Result<AuthorizedProfile, ProveError> {
        let mut profile = Profile::reference(base_url)?;
        // A bank that is busy is one of those to be judged, not to be waited for.
        profile.limits.retries = 0;
        declare(&mut profile, &self.variations());
        profile.authorize(false).map_err(ProveError::NotAuthorized)
    }

    /// How the bank is started, with its clock at this time.
    pub fn config(self, now: DateTime<Utc>) -> Config {
        let (fault, variations) = (self.fault(), self.variations());
        Config { fault, variations, now: Clock::at(Some(now)), ..Config::default() }
    }

    /// The bank in this process, without a socket.
    pub fn in_process(self, now: DateTime<Utc>) -> InProcess {
        let opened = InProcessBank::open(&self.config(now));
        Arc::new(move |request| {
            let (opened, request) = (opened.clone(), bare(request));
            Box::pin(async move {
                let (head, body) = opened.answer(request).await.into_parts();
                let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
                let headers = head.headers.iter();
                let headers = headers.map(|(name, value)| (name.as_str().to_owned(), text(value)));
                Answer { status: head.status.as_u16(), headers: headers.collect(), body: body.into() }
            })
        })
    }
}

/// The base URL of banks without an address. It has letters and names no port, as the addresses of most banks
/// do.
pub const NOWHERE: &str = "http://localhost";

/// A request without its base URL. One that HTTP does not allow becomes one that no bank knows.
fn bare(request: &WireRequest) -> Request<Vec<u8>> {
    let target = request.url.strip_prefix(NOWHERE).unwrap_or(&request.url);
    let mut bare = Request::builder().method(request.method.as_str()).uri(target);
    for (name, value) in &request.headers {
        bare = bare.header(name.as_str(), value.as_bytes());
    }
    bare.body(request.body.clone()).unwrap_or_default()
}
