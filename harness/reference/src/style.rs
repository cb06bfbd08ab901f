//! Styles: whole conforming banks. A style uses each freedom through a [`Variation`] of its own, so that each
//! can also be tested alone.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use serde::Deserialize;
use xs2aspec_spec::yaml;

use crate::rules::{UnknownName, near};
use crate::variation::Variation;

/// The prefix of the names of random styles. The seed follows.
const DRAWN: &str = "drawn-";

/// The prefix of the names of the styles that together have every variation. The number follows, from 1.
const TOGETHER: &str = "together-";

/// The name of the style that gives the reason for its rejections.
const STRICT_NAME: &str = "strict";

/// A named style.
#[derive(Deserialize)]
struct Named {
    name: String,
    /// One sentence about the bank.
    says: String,
    /// The names of its variations.
    variations: Vec<String>,
}

/// The named styles, in the order of their rows.
static NAMED: LazyLock<Vec<Named>> = LazyLock::new(|| {
    let styles = yaml::read("styles.yaml", include_str!("../styles.yaml"));
    styles.unwrap_or_else(|problem| panic!("{problem}"))
});

/// A whole conforming bank.
#[derive(Clone, Copy)]
pub struct Style {
    name: &'static str,
    variations: &'static [Variation],
}

impl Style {
    /// Returns `plain`, `strict`, `lenient` and `other`.
    pub fn named() -> impl Iterator<Item = Self> {
        NAMED.iter().map(|style| {
            let is_named = |one: &Variation| style.variations.iter().any(|name| name == one.name());
            let variations = Variation::all().filter(is_named);
            Self { name: &style.name, variations: variations.collect::<Vec<_>>().leak() }
        })
    }

    /// Returns the random style of this seed: some, half, most or all of the variations, without those that
    /// contradict an earlier one.
    pub fn drawn(seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut rest: Vec<Variation> = Variation::all().collect();
        let quarters = 1 + random.usize(..4);
        let (mut drawn, mut decided) = (Vec::new(), BTreeSet::new());
        while !rest.is_empty() {
            let variation = rest.swap_remove(random.usize(..rest.len()));
            let own = variation.decides();
            if random.usize(..4) < quarters && decided.is_disjoint(&own) {
                decided.extend(own);
                drawn.push(variation);
            }
        }
        drawn.sort_by_key(|variation| variation.name());
        // Leaked, so that styles are `Copy`.
        Self { name: format!("{DRAWN}{seed}").leak(), variations: drawn.leak() }
    }

    /// Returns the styles that together have every variation, assigned by first fit. Each has variations that
    /// do not contradict each other.
    pub fn together() -> Vec<Self> {
        let mut banks: Vec<(BTreeSet<String>, Vec<Variation>)> = Vec::new();
        for variation in Variation::all() {
            let own = variation.decides();
            let at = banks.iter().position(|(decided, _)| decided.is_disjoint(&own)).unwrap_or_else(|| {
                banks.push(Default::default());
                banks.len() - 1
            });
            banks[at].0.extend(own);
            banks[at].1.push(variation);
        }
        let styles = banks.into_iter().zip(1..);
        let style = |((_, of), number): ((_, Vec<Variation>), u32)| Self {
            name: format!("{TOGETHER}{number}").leak(),
            variations: of.leak(),
        };
        styles.map(style).collect()
    }

    /// Returns `plain`, `strict`, `lenient`, `other`, `drawn-` with the seed, or `together-` with the number.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Returns one sentence about the bank.
    pub fn says(self) -> &'static str {
        let named = NAMED.iter().find(|style| style.name == self.name);
        let other = if self.number_together().is_some() {
            "The bank uses as many freedoms as possible without a contradiction, each differently from `plain`."
        } else {
            "The bank uses a random set of freedoms, chosen by the seed."
        };
        named.map_or(other, |style| &style.says)
    }

    /// Returns the variations.
    pub fn variations(self) -> &'static [Variation] {
        self.variations
    }

    /// Returns the number of a `together-` style, from 1.
    pub fn number_together(self) -> Option<u32> {
        self.name.strip_prefix(TOGETHER)?.parse().ok()
    }

    /// Returns true if each rejection names the violated rule ([`REASON`](crate::REASON)).
    pub fn gives_reasons(self) -> bool {
        self.name == STRICT_NAME
    }
}

impl FromStr for Style {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        // Accept the seed in one spelling only, so that a style has one name.
        let seed = name.strip_prefix(DRAWN).and_then(|seed| seed.parse::<u64>().ok());
        if let Some(seed) = seed.filter(|seed| name[DRAWN.len()..] == seed.to_string()) {
            return Ok(Self::drawn(seed));
        }
        let candidates = NAMED.iter().map(|style| style.name.as_str()).chain(["drawn-1", "together-1"]);
        let together = if name.starts_with(TOGETHER) { Self::together() } else { Vec::new() };
        Self::named().chain(together).find(|style| style.name == name).ok_or_else(|| UnknownName {
            kind: "style",
            name: name.to_owned(),
            near: near(name, candidates),
        })
    }
}

impl fmt::Debug for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Style({:?})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_styles_have_variations_that_are_there_and_do_not_contradict_each_other() {
        assert_eq!(NAMED.len(), 4);
        for (style, Named { name, says, variations }) in Style::named().zip(&*NAMED) {
            let found: Vec<&str> = style.variations().iter().map(|variation| variation.name()).collect();
            let missing: Vec<&String> =
                variations.iter().filter(|name| !found.contains(&name.as_str())).collect();
            assert!(missing.is_empty(), "{name}: {missing:?}");
            assert_eq!(found.len(), variations.len(), "{name}: one variation is listed twice");
            assert_eq!((style.name(), style.says()), (name.as_str(), says.as_str()));
            assert_eq!(name.parse::<Style>().unwrap().name(), name);
        }
    }

    #[test]
    fn each_variation_is_in_one_of_few_banks_that_contradict_nothing() {
        let banks = Style::together();
        assert!(banks.len() < Variation::all().count() / 4, "{}", banks.len());
        let mut seen: Vec<&str> =
            banks.iter().flat_map(|bank| bank.variations()).map(|variation| variation.name()).collect();
        seen.sort_unstable();
        let mut all: Vec<&str> = Variation::all().map(Variation::name).collect();
        all.sort_unstable();
        assert_eq!(seen, all);
        for bank in banks {
            assert_eq!(bank.name().parse::<Style>().unwrap().variations().len(), bank.variations().len());
            let decided = bank.variations().iter().flat_map(|variation| variation.decides());
            let decided: Vec<String> = decided.collect();
            assert_eq!(decided.iter().collect::<BTreeSet<_>>().len(), decided.len(), "{}", bank.name());
        }
    }

    #[test]
    fn a_drawn_style_is_the_same_again_and_decides_nothing_twice() {
        let names = |seed| -> Vec<&str> {
            Style::drawn(seed).variations().iter().map(|variation| variation.name()).collect()
        };
        assert_eq!(names(7), names(7));
        assert_ne!(names(7), names(8));
        assert_eq!("drawn-7".parse::<Style>().unwrap().name(), "drawn-7");
        for seed in 0..50 {
            let mut decided = BTreeSet::new();
            for variation in Style::drawn(seed).variations() {
                for one in variation.decides() {
                    assert!(decided.insert(one.clone()), "{seed}: {one} twice");
                }
            }
            assert!(!decided.is_empty());
        }
        let drawn: BTreeSet<&str> = (0..200).flat_map(names).collect();
        let never: Vec<&str> =
            Variation::all().map(Variation::name).filter(|name| !drawn.contains(name)).collect();
        assert!(never.is_empty(), "never drawn: {never:?}");
    }

    #[test]
    fn a_name_that_is_none_suggests_a_near_one() {
        let error = |name: &str| name.parse::<Style>().unwrap_err().to_string();
        assert_eq!(
            error("strikt"),
            "expected the name of a style, found \"strikt\"; did you mean \"strict\"?"
        );
        assert_eq!(error("PLAIN"), "expected the name of a style, found \"PLAIN\"; did you mean \"plain\"?");
        assert!(error("xyz").ends_with("; styles are plain, strict, lenient, other and drawn-N"));
        assert!(error("drawn-x").contains("did you mean \"drawn-1\"?"), "{}", error("drawn-x"));
        assert!("drawn-007".parse::<Style>().is_err() && "".parse::<Style>().is_err());
    }
}
