//! Banks of which it is known what is special about them: the clean one, and one for each fault and each variation.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use http::{HeaderValue, Request};
use xs2aspec_reference::{Clock, Config, Fault, Indoors, Variation};
use xs2aspec_report::kill_matrix::Kind;
use xs2aspec_runner::{
    Profile,
    exchange::{Answer, Inside},
    fill::Filled,
    profile::AuthorizedProfile,
};

use crate::{Failure, target};

/// A bank of which it is known what is special about it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Special {
    Clean,
    Fault(Fault),
    Variation(Variation),
}

impl Special {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let faults = Fault::all().map(Self::Fault);
        [Self::Clean].into_iter().chain(faults).chain(Variation::all().map(Self::Variation))
    }

    /// Faults that take two things of a request, which no written case has together.
    pub(crate) fn interactions() -> impl Iterator<Item = Self> {
        Fault::interactions().map(Self::Fault)
    }

    pub(crate) fn name(self) -> &'static str {
        self.of().1
    }

    pub(crate) fn of(self) -> (Kind, &'static str, &'static str) {
        match self {
            Self::Clean => (Kind::Clean, "clean", ""),
            Self::Fault(fault) => (Kind::Fault, fault.name(), fault.clause()),
            Self::Variation(variation) => (Kind::Variation, variation.name(), variation.clause()),
        }
    }

    /// The clean bank always is: what fires there fires everywhere.
    pub(crate) fn is_wanted(self, only: &[String]) -> bool {
        let named = |beginning: &String| self.name().starts_with(beginning.trim_end_matches('*'));
        matches!(self, Self::Clean) || only.is_empty() || only.iter().any(named)
    }

    pub(crate) fn fault(self) -> Option<Fault> {
        if let Self::Fault(fault) = self { Some(fault) } else { None }
    }

    pub(crate) fn variations(self) -> Vec<Variation> {
        if let Self::Variation(variation) = self { vec![variation] } else { vec![] }
    }

    /// Arguments of `xs2aspec run` that start the same bank.
    pub(crate) fn arguments(self) -> Vec<String> {
        match self {
            Self::Clean => vec![],
            Self::Fault(fault) => vec!["--fault".to_owned(), fault.name().to_owned()],
            Self::Variation(variation) => vec!["--variation".to_owned(), variation.name().to_owned()],
        }
    }

    /// Whether what is special happens above HTTP/1.1, so that no socket is needed to see it.
    pub(crate) fn is_above_http(self) -> bool {
        match self {
            Self::Clean => false,
            Self::Fault(fault) => !fault.is_of_http(),
            Self::Variation(variation) => !variation.is_of_http(),
        }
    }

    pub(crate) fn profile(self, base_url: &str) -> Result<AuthorizedProfile, Failure> {
        let mut profile = Profile::reference(base_url).map_err(Failure::input)?;
        // A bank that is busy is one of those to be judged, not to be waited for.
        profile.limits.retries = 0;
        target::declare(&mut profile, &self.variations());
        profile.authorize(false).map_err(Failure::input)
    }

    pub(crate) fn config(self, now: DateTime<Utc>) -> Config {
        let (fault, variations) = (self.fault(), self.variations());
        Config { fault, variations, now: Clock::at(Some(now)), ..Config::default() }
    }

    /// The bank in this process, without a socket.
    pub(crate) fn inside(self, now: DateTime<Utc>) -> Inside {
        let opened = Indoors::open(&self.config(now));
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

/// The base URL of banks without an address. It has letters and names no port, as the addresses of most banks do.
pub(crate) const NOWHERE: &str = "http://localhost";

/// A request without its base URL. One that HTTP does not allow becomes one that no bank knows.
fn bare(request: &Filled) -> Request<Vec<u8>> {
    let target = request.url.strip_prefix(NOWHERE).unwrap_or(&request.url);
    let mut bare = Request::builder().method(request.method.as_str()).uri(target);
    for (name, value) in &request.headers {
        bare = bare.header(name.as_str(), value.as_bytes());
    }
    bare.body(request.body.clone()).unwrap_or_default()
}
