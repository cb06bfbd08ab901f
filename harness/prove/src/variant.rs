//! Variants of the reference bank: unchanged, with one fault, with one variation, or in a style (many
//! variations), with or without a fault.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, Utc};
use http::{HeaderValue, Request};
use xs2aspec_judge::{Profile, fill::WireRequest, profile::AuthorizedProfile};
use xs2aspec_reference::{Clock, Config, Declaration, Fault, InProcessBank, Style, Variation};
use xs2aspec_runner::exchange::{Answer, InProcess};
use xs2aspec_suite::{Clause, Shard, Strength, Suite};

use crate::{Kind, ProveError, declare, draw};

/// The reference bank, unchanged or with a difference.
#[derive(Debug, Clone, Copy)]
pub enum BankVariant {
    /// Unchanged: it conforms to the whole document.
    Clean,
    /// It violates one clause in one way.
    Fault(Fault),
    /// It uses one freedom of the document.
    Variation(Variation),
    /// It uses many freedoms.
    Style(Style),
    /// It uses many freedoms, and violates one clause in one way.
    FaultIn(Style, Fault),
    /// It violates two clauses, each in one way.
    Pair(Fault, Fault),
}

/// Time limit of one exchange with a bank in this process.
const DEADLINE: Duration = Duration::from_secs(60);

/// Variations and styles, by the beginning of their names, that use further freedoms, with the clauses of
/// these freedoms.
const FREEDOMS: &str = include_str!("../../../fixtures/kill-matrix/freedoms.tsv");

impl BankVariant {
    /// Returns the clean bank, one bank for each fault and each variation, and one for each named style.
    pub fn all() -> impl Iterator<Item = Self> {
        let faults = Fault::all().map(Self::Fault);
        let styles = Style::named().filter(|style| !style.variations().is_empty()).map(Self::Style);
        let variations = Variation::all().map(Self::Variation);
        [Self::Clean].into_iter().chain(faults).chain(variations).chain(styles)
    }

    /// Returns the same banks, with all variations combined in as few banks as possible.
    pub fn all_together() -> impl Iterator<Item = Self> {
        Self::all()
            .filter(|bank| !matches!(bank, Self::Variation(_)))
            .chain(Style::together().into_iter().map(Self::Style))
    }

    /// Returns its share of the cases, if the banks with combined variations divide them into `of` shares.
    pub fn share(self, of: u32) -> Option<Shard> {
        let Self::Style(style) = self else { return None };
        let number = style.number_together()? % of + 1;
        (of > 1).then_some(Shard { number, of })
    }

    /// Returns a bank for each of its variations.
    pub fn apart(self) -> impl Iterator<Item = Self> {
        self.variations().into_iter().map(Self::Variation)
    }

    /// Returns the clean bank, and `count` random styles, starting with this seed.
    pub fn drawn(count: u64, seed: u64) -> impl Iterator<Item = Self> {
        let drawn = (0..count).map(move |number| Self::Style(Style::drawn(seed.wrapping_add(number))));
        [Self::Clean].into_iter().chain(drawn)
    }

    /// Returns banks with a fault that depends on a combination of two things, which no handwritten case has.
    pub fn interactions() -> impl Iterator<Item = Self> {
        Fault::interactions().map(Self::Fault)
    }

    /// Returns the clean bank, and `count` of the faults that operators derive from the bank's tables, spread
    /// evenly over operators and places.
    pub fn derived(count: usize, seed: u64) -> Vec<Self> {
        let mut by_operator = BTreeMap::<&str, Vec<Fault>>::new();
        for fault in Fault::derived() {
            by_operator.entry(fault.operator().unwrap_or_default()).or_default().push(fault);
        }
        let sizes: Vec<usize> = by_operator.values().map(Vec::len).collect();
        let shares = shares(count, &sizes);
        let drawn = by_operator
            .values()
            .zip(shares)
            .flat_map(|(all, share)| draw::positions(all.len(), seed).take(share).map(|at| all[at]));
        [Self::Clean].into_iter().chain(drawn.map(Self::Fault)).collect()
    }

    /// Returns the kind of bank.
    pub fn kind(self) -> Kind {
        match self {
            Self::Clean => Kind::Clean,
            Self::Fault(_) | Self::FaultIn(..) | Self::Pair(..) => Kind::Fault,
            Self::Variation(_) => Kind::Variation,
            Self::Style(_) => Kind::Style,
        }
    }

    /// Returns the name of its fault, variation or style, or `clean`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Fault(fault) | Self::FaultIn(_, fault) | Self::Pair(fault, _) => fault.name(),
            Self::Variation(variation) => variation.name(),
            Self::Style(style) => style.name(),
        }
    }

    /// Returns the name, with the style of a fault if it has one.
    pub fn label(self) -> String {
        match self {
            Self::FaultIn(style, fault) => format!("{} on {}", fault.name(), style.name()),
            Self::Pair(one, other) => format!("{} and {}", one.name(), other.name()),
            other => other.name().to_owned(),
        }
    }

    /// Returns its style, if it has one.
    pub fn style(self) -> Option<Style> {
        if let Self::Style(style) | Self::FaultIn(style, _) = self { Some(style) } else { None }
    }

    /// Returns the clause that it violates, or that leaves the freedom. It is empty for the clean bank and
    /// for styles.
    pub fn clause(self) -> &'static str {
        match self {
            Self::Clean | Self::Style(_) => "",
            Self::Fault(fault) | Self::FaultIn(_, fault) | Self::Pair(fault, _) => fault.clause(),
            Self::Variation(variation) => variation.clause(),
        }
    }

    /// Returns the clauses with allowed warnings on this conforming bank: the one that leaves the freedom,
    /// and those of choices that its profile declares differently from the clean bank.
    pub fn may_warn(self, suite: &Suite) -> BTreeSet<String> {
        let variations = match self {
            Self::Variation(_) | Self::Style(_) => self.variations(),
            Self::Clean | Self::Fault(_) | Self::FaultIn(..) | Self::Pair(..) => return BTreeSet::new(),
        };
        let keys: Vec<&str> = variations
            .iter()
            .flat_map(|variation| variation.declares())
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
        let is_meant = |beginning: &str| {
            self.name() == beginning
                || variations.iter().any(|variation| variation.name().starts_with(beginning))
        };
        let too = lines.filter(|(beginning, _)| is_meant(beginning));
        let too = too.flat_map(|(_, clauses)| clauses.split(", ").map(str::to_owned));
        let own = variations.iter().map(|variation| variation.clause().to_owned());
        declared.chain(own).chain(too).collect()
    }

    /// Returns true if its name begins with one of these, or if there are none. The clean bank always
    /// matches, because a false alarm on it occurs on every bank.
    pub fn is_wanted(self, only: &[String]) -> bool {
        let named = |beginning: &String| self.name().starts_with(beginning.trim_end_matches('*'));
        matches!(self, Self::Clean) || only.is_empty() || only.iter().any(named)
    }

    /// Returns its faults.
    pub fn faults(self) -> Vec<Fault> {
        match self {
            Self::Fault(fault) | Self::FaultIn(_, fault) => vec![fault],
            Self::Pair(one, other) => vec![one, other],
            Self::Clean | Self::Variation(_) | Self::Style(_) => vec![],
        }
    }

    /// Returns its variations.
    pub fn variations(self) -> Vec<Variation> {
        match self {
            Self::Clean | Self::Fault(_) | Self::Pair(..) => vec![],
            Self::Variation(variation) => vec![variation],
            Self::Style(style) | Self::FaultIn(style, _) => style.variations().to_vec(),
        }
    }

    /// Returns the arguments of `xs2aspec run` that start the same bank.
    pub fn arguments(self) -> Vec<String> {
        let style = self.style().map(|style| ("--style", style.name()));
        let faults = self.faults().into_iter().map(|fault| ("--fault", fault.name()));
        let variation = if let Self::Variation(variation) = self {
            Some(("--variation", variation.name()))
        } else {
            None
        };
        let given = style.into_iter().chain(faults).chain(variation);
        given.flat_map(|(option, name)| [option.to_owned(), name.to_owned()]).collect()
    }

    /// Returns true if its difference is visible above HTTP/1.1, so that no socket is needed. The clean bank
    /// always uses a socket.
    pub fn is_above_http(self) -> bool {
        let is_clean = matches!(self, Self::Clean);
        let of_http = self.faults().into_iter().any(Fault::is_of_http)
            || self.variations().into_iter().any(Variation::is_of_http);
        !is_clean && !of_http
    }

    /// Returns the profile of this bank at this address.
    pub fn profile(self, base_url: &str) -> Result<AuthorizedProfile, ProveError> {
        let mut profile = Profile::reference(base_url)?;
        // A bank that is busy must be judged without retries.
        profile.limits.retries = 0;
        // It shares this process with others, so slow responses mean a busy machine.
        profile.deadline = DEADLINE;
        declare(&mut profile, &self.variations());
        profile.authorize(false).map_err(ProveError::NotAuthorized)
    }

    /// Returns the configuration of the bank, with its clock at this time.
    pub fn config(self, now: DateTime<Utc>) -> Config {
        let (faults, variations) = (self.faults(), self.variations());
        Config { faults, variations, now: Clock::at(Some(now)), ..Config::default() }
    }

    /// Returns the bank in this process, without a socket.
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

/// Divides `count` as evenly as groups of these sizes allow.
fn shares(count: usize, sizes: &[usize]) -> Vec<usize> {
    let mut shares = vec![0; sizes.len()];
    let mut left = count.min(sizes.iter().sum());
    while left > 0 {
        for (share, size) in shares.iter_mut().zip(sizes) {
            if left > 0 && *share < *size {
                *share += 1;
                left -= 1;
            }
        }
    }
    shares
}

/// The base URL of banks without an address. It has letters and no port, like the addresses of most banks.
pub const NOWHERE: &str = "http://localhost";

/// Returns a request without its base URL. A request that HTTP does not allow becomes one for an unknown
/// path.
fn bare(request: &WireRequest) -> Request<Vec<u8>> {
    let target = request.url.strip_prefix(NOWHERE).unwrap_or(&request.url);
    let mut bare = Request::builder().method(request.method.as_str()).uri(target);
    for (name, value) in &request.headers {
        bare = bare.header(name.as_str(), value.as_bytes());
    }
    bare.body(request.body.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_in_a_style_is_named_and_started_with_both() {
        let (style, fault): (Style, Fault) =
            ("strict".parse().unwrap(), "basket.mix/first-payment-only".parse().unwrap());
        let bank = BankVariant::FaultIn(style, fault);
        assert_eq!(bank.label(), "basket.mix/first-payment-only on strict");
        assert_eq!(bank.arguments(), ["--style", "strict", "--fault", "basket.mix/first-payment-only"]);
        assert_eq!((bank.kind(), bank.clause()), (Kind::Fault, "basket.mix"));
        assert_eq!(bank.variations().len(), style.variations().len());
        assert_eq!(
            BankVariant::drawn(3, 5).map(BankVariant::name).collect::<Vec<_>>(),
            ["clean", "drawn-5", "drawn-6", "drawn-7"]
        );
    }

    #[test]
    fn each_share_of_the_cases_has_banks() {
        let banks: Vec<BankVariant> = BankVariant::all_together().collect();
        for of in [2, 3, 6] {
            let numbers = banks.iter().filter_map(|bank| bank.share(of)).map(|share| share.number);
            assert_eq!(numbers.collect::<BTreeSet<u32>>(), (1..=of).collect());
        }
        assert!(banks.iter().all(|bank| bank.share(1).is_none()));
        let strict = BankVariant::Style("strict".parse().unwrap());
        assert_eq!((strict.share(3), BankVariant::Clean.share(3)), (None, None));
    }

    #[test]
    fn what_is_drawn_is_shared_out_evenly() {
        assert_eq!(shares(7, &[1, 5, 9]), [1, 3, 3]);
        assert_eq!(shares(usize::MAX, &[1, 0, 2]), [1, 0, 2]);
        let drawn = BankVariant::derived(300, 1);
        let names: BTreeSet<&str> = drawn.iter().map(|bank| bank.name()).collect();
        assert_eq!((drawn.len(), names.len()), (301, 301), "a style occurs twice");
        let operators = |banks: &[BankVariant]| -> BTreeSet<&str> {
            banks.iter().filter_map(|bank| bank.faults().first()?.operator()).collect()
        };
        assert_eq!(operators(&drawn), operators(&BankVariant::derived(usize::MAX, 1)));
    }
}
