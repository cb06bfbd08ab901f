//! The values that a bank profile holds for requests, and the features that a bank may lack.
//!
//! The spec defines all their names. A misspelled name in a case file is an error, since the case would
//! otherwise never apply.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use serde::Deserialize;

use crate::{check_digits::CheckDigits, problem::Problem, tree::Tree, yaml};

/// Path of the file in a tree.
pub const FILE: &str = "fixtures/spec/profile.yaml";

/// Path of the test values for a target with nothing known but its URL.
const ANY_BANK: &str = "fixtures/spec/any-bank.toml";

/// Path of the commented template for a new profile.
pub const TEMPLATE: &str = "fixtures/spec/template.toml";

/// The values and capabilities of bank profiles.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ProfileSpec {
    /// Description of each table of values, by name.
    pub tables: BTreeMap<String, String>,
    /// Tables that a profile may repeat, and how many of their entries have cases in every plan.
    pub lists: BTreeMap<String, u32>,
    /// Values that requests use.
    pub values: Vec<ValueSpec>,
    /// Replacements for values that may be wrong.
    pub instead: Vec<InsteadSpec>,
    /// Features that a bank may lack.
    pub capabilities: Vec<CapabilitySpec>,
    /// Likely causes of a rejected baseline request.
    pub hints: Vec<HintSpec>,
    /// Keys of choices that no case tests on its own, since every request follows them.
    pub decided_by_profile: Vec<String>,
    /// Name and TOML of the file with test values for a target with nothing known but its URL. `None` if the
    /// spec has no such file.
    #[serde(skip)]
    pub any_bank: Option<(String, String)>,
}

/// A value of a bank profile.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ValueSpec {
    /// Dotted name: `psu.corporate.id`, used as `${target.psu.corporate.id}`.
    pub name: String,
    /// The line to add to a profile that lacks it.
    pub add: String,
    /// The value used if a profile has none.
    pub usual: Option<String>,
    /// The capability that a profile declares absent if the target has no such value.
    pub with: Option<String>,
    /// True if reports may show it.
    #[serde(default)]
    pub public: bool,
    /// The kind of its check digits.
    pub check_digits: Option<CheckDigits>,
    /// The value whose end it is: an IBAN ends with its account number.
    pub ends: Option<String>,
    /// A value that it must differ from.
    pub unlike: Option<String>,
    /// True if further entries of its table have it too: `transaction.2.account-id`.
    #[serde(default)]
    pub listed: bool,
    /// The table, if the value belongs to a further entry.
    #[serde(skip)]
    pub entry_of: Option<String>,
}

impl ValueSpec {
    /// Returns this value for an entry of its table, numbered from 2.
    fn of_entry(&self, number: u32) -> Option<Self> {
        let (table, key) = self.name.split_once('.').filter(|_| self.listed)?;
        Some(Self {
            name: format!("{table}.{number}.{key}"),
            add: format!("[[{table}]] {key} = \"..\" (in one more entry)"),
            usual: None,
            entry_of: Some(table.to_owned()),
            ..self.clone()
        })
    }
}

/// A replacement for a value that may be wrong.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InsteadSpec {
    /// The value to replace.
    pub of: String,
    /// Another value of the same kind.
    pub take: String,
    /// Values to replace along with it, each with its replacement.
    #[serde(default)]
    pub along: BTreeMap<String, String>,
}

/// A feature that a bank may lack.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapabilitySpec {
    /// Name, as used in `needs` of cases and in `[capabilities]` of profiles.
    pub name: String,
    /// The line to add to a profile that lacks it.
    pub add: String,
    /// The request that shows if a target has it.
    pub ask: Option<Ask>,
    /// The capability that this one is part of. A profile that declares that one absent declares this one
    /// absent too.
    #[serde(rename = "part-of")]
    pub part_of: Option<String>,
    /// Two values that differ if and only if a bank has this feature.
    pub differ: Option<[String; 2]>,
}

impl CapabilitySpec {
    /// Returns true if the two values of a profile differ, so the bank has this feature. Returns `None` if
    /// the profile lacks one of them, or if no values decide about the capability.
    pub fn told_by<T: PartialEq>(&self, value: impl Fn(&str) -> Option<T>) -> Option<bool> {
        let [one, other] = self.differ.as_ref()?.each_ref().map(|name| value(name));
        Some(one? != other?)
    }
}

/// The request that shows if a target has a capability.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// Baseline of the request.
    pub request: String,
    /// Statuses of a response that shows that the target lacks it.
    pub absent: Vec<u16>,
}

/// A likely cause of a rejection.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HintSpec {
    /// Lowercase strings. The response must contain one of them. Empty matches any response.
    pub says: Vec<String>,
    /// Statuses. The response must have one of them. Empty matches any status.
    pub status: Vec<u16>,
    /// Operations. The request must be for one of them. Empty matches any operation.
    pub operations: Vec<String>,
    /// The advice. `{operation}` is replaced with the operation.
    pub hint: String,
}

impl HintSpec {
    /// Returns the advice if it fits a rejection with this lowercase text.
    fn of(&self, operation: &str, status: u16, said: &str) -> Option<String> {
        let fits = (self.says.is_empty() || self.says.iter().any(|word| said.contains(word)))
            && (self.status.is_empty() || self.status.contains(&status))
            && (self.operations.is_empty() || self.operations.iter().any(|known| known == operation));
        fits.then(|| self.hint.replace("{operation}", operation))
    }
}

/// Splits the name of a value of a further entry into table, number and key (`transaction.2.account-id`).
fn entry(name: &str) -> Option<(&str, u32, &str)> {
    let (table, rest) = name.split_once('.')?;
    let (digits, key) = rest.split_once('.')?;
    let number: u32 = digits.parse().ok().filter(|number: &u32| number.to_string() == digits)?;
    Some((table, number, key))
}

impl ProfileSpec {
    /// Reads the file of a tree. Returns an empty spec if the tree has none.
    pub fn load(tree: &Tree) -> Result<Self, Problem> {
        let read = tree.text(FILE).map(|text| yaml::read(FILE, text)).transpose()?;
        let mut spec: Self = read.unwrap_or_default();
        for value in &spec.values {
            let message = |what: &str, name: &str| {
                format!("value `{}` has {what} `{name}`, which does not exist", value.name)
            };
            if let Some(name) = value.with.as_deref().filter(|name| spec.capability(name).is_none()) {
                let known = spec.capabilities.iter().map(|one| one.name.as_str());
                return Err(Problem::of_file(FILE, message("capability", name)).nearest(name, known));
            }
            if let Some((table, _)) = value.name.split_once('.')
                && !spec.tables.contains_key(table)
            {
                let known = spec.tables.keys().map(String::as_str);
                return Err(Problem::of_file(FILE, message("table", table)).nearest(table, known));
            }
        }
        let along =
            |instead: &InsteadSpec| instead.along.clone().into_iter().flat_map(|(one, other)| [one, other]);
        let others =
            spec.values.iter().flat_map(|value| [value.ends.clone(), value.unlike.clone()]).flatten();
        let swapped = spec.instead.iter();
        let swapped = swapped.flat_map(|row| along(row).chain([row.of.clone(), row.take.clone()]));
        if let Some(name) = others.chain(swapped).find(|name| spec.value(name).is_none()) {
            let message = format!("value `{name}` does not exist");
            return Err(Problem::of_file(FILE, message).nearest(&name, spec.value_names()));
        }
        for capability in &spec.capabilities {
            if let Some(whole) = capability.part_of.as_deref().filter(|name| spec.capability(name).is_none())
            {
                let message =
                    format!("capability `{}` is part of `{whole}`, which does not exist", capability.name);
                return Err(Problem::of_file(FILE, message).nearest(whole, spec.capability_names()));
            }
            let unknown = |name: &&String| spec.value(name).is_none();
            if let Some(name) = capability.differ.iter().flatten().find(unknown) {
                let message =
                    format!("capability `{}` has value `{name}`, which does not exist", capability.name);
                return Err(Problem::of_file(FILE, message).nearest(name, spec.value_names()));
            }
        }
        let known = |value: &ValueSpec| spec.lists.get(value.name.split('.').next()?).copied();
        let further = spec.values.iter().flat_map(|value| {
            (2..=known(value).unwrap_or_default()).filter_map(|number| value.of_entry(number))
        });
        let further: Vec<ValueSpec> = further.collect();
        spec.values.extend(further);
        let any_bank = tree.text(ANY_BANK).map(|text| (tree.shown(ANY_BANK), text.to_owned()));
        Ok(Self { any_bank, ..spec })
    }

    /// Returns the values and capabilities of the embedded spec, which the reference bank has too.
    pub fn embedded() -> &'static Self {
        static EMBEDDED: LazyLock<ProfileSpec> =
            LazyLock::new(|| ProfileSpec::load(&Tree::embedded()).expect("the embedded spec can be read"));
        &EMBEDDED
    }

    /// Returns the value with this name. Every further entry of a table has the values of its second one.
    pub fn value(&self, name: &str) -> Option<&ValueSpec> {
        let find = |name: &str| self.values.iter().find(|value| value.name == name);
        find(name).or_else(|| {
            let (table, number, key) = entry(name)?;
            (number > 2).then(|| find(&format!("{table}.2.{key}")))?
        })
    }

    /// Returns the replacements for the value with this name. `entries` returns the number of entries of a
    /// table that a profile may repeat.
    pub fn instead(&self, name: &str, entries: impl Fn(&str) -> u32) -> Vec<InsteadSpec> {
        let rows = self.instead.iter().filter(|row| row.of == name).cloned();
        let (table, number, key) = match entry(name) {
            Some(entry) => entry,
            None => name.split_once('.').map_or((name, 1, ""), |(table, key)| (table, 1, key)),
        };
        let of = |number: u32, key: &str| match number {
            1 => format!("{table}.{key}"),
            _ => format!("{table}.{number}.{key}"),
        };
        let is_listed = self.value(name).is_some_and(|value| value.listed);
        let most = if is_listed { entries(table) } else { 0 };
        let others = (1..=most).filter(|other| *other != number).map(|other| {
            let prefix = format!("{table}.");
            let keys = self.values.iter().filter(|value| value.listed && value.entry_of.is_none());
            let keys = keys.filter_map(|value| value.name.strip_prefix(&prefix));
            let along = keys.filter(|one| *one != key).map(|key| (of(number, key), of(other, key)));
            InsteadSpec { of: name.to_owned(), take: of(other, key), along: along.collect() }
        });
        rows.chain(others).collect()
    }

    /// Returns the names of values that reports may show, including those among `names`.
    pub fn public<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
        let own = self.values.iter().filter(|value| value.public).map(|value| value.name.clone());
        let names = names.into_iter().filter(|name| self.value(name).is_some_and(|value| value.public));
        own.chain(names.map(str::to_owned)).collect()
    }

    /// Returns the number of entries in each list to which these names of values belong.
    pub fn entries<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, u32> {
        let of_lists =
            names.into_iter().filter_map(entry).filter(|(table, ..)| self.lists.contains_key(*table));
        let numbers: BTreeSet<(&str, u32)> = of_lists.map(|(table, number, _)| (table, number)).collect();
        let mut entries = BTreeMap::new();
        for (table, _) in numbers {
            *entries.entry(table.to_owned()).or_insert(1) += 1;
        }
        entries
    }

    /// Returns the capability with this name.
    pub fn capability(&self, name: &str) -> Option<&CapabilitySpec> {
        self.capabilities.iter().find(|capability| capability.name == name)
    }

    /// Returns the likely cause of a rejected baseline request. `said` is the text of the response.
    pub fn hint(&self, operation: &str, status: u16, said: &str) -> Option<String> {
        let said = said.to_ascii_lowercase();
        self.hints.iter().find_map(|hint| hint.of(operation, status, &said))
    }

    /// Returns the names of all values.
    pub fn value_names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|value| value.name.as_str())
    }

    /// Returns the names of all capabilities.
    pub fn capability_names(&self) -> impl Iterator<Item = &str> {
        self.capabilities.iter().map(|capability| capability.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        let tree = Tree::of(&[(FILE, text)]);
        ProfileSpec::load(&tree).map_or_else(|problem| problem.to_string(), |_| String::new())
    }

    #[test]
    fn each_mistake_is_named() {
        let value = |more: &str| {
            format!(
                "tables: {{ psu: Persons. }}\nvalues:\n  - {{ add: x, {more} }}\ncapabilities:\n  - {{ name: basket, add: y }}\n"
            )
        };
        assert_eq!(problem(&value("name: psu.id, with: basket")), "");
        assert!(problem(&value("name: psu.id, with: baskets")).ends_with("did you mean `basket`?"));
        assert!(problem(&value("name: pus.id")).contains("has table `pus`"));
        assert!(problem(&value("name: psu.id, wiht: basket")).contains("did you mean `with`?"));
        let part = format!("{}  - {{ name: mixed, add: z, part-of: baskets }}\n", value("name: psu.id"));
        let said = problem(&part);
        assert!(said.contains("`mixed` is part of `baskets`") && said.contains("mean `basket`?"), "{said}");
        let differ = |other: &str| {
            format!("{}  - {{ name: mixed, add: z, differ: [psu.id, {other}] }}\n", value("name: psu.id"))
        };
        assert_eq!(problem(&differ("psu.id")), "");
        assert!(problem(&value("name: psu.id, ends: psu.ids")).contains("`psu.ids` does not exist"));
        let instead = format!("{}instead: [{{ of: psu.id, take: psu.ids }}]\n", value("name: psu.id"));
        assert!(problem(&instead).ends_with("did you mean `psu.id`?"));
        let said = problem(&differ("psu.ids"));
        assert!(said.contains("`mixed` has value `psu.ids`") && said.contains("mean `psu.id`?"), "{said}");
    }

    #[test]
    fn a_value_has_those_of_other_entries_instead() {
        let spec = ProfileSpec::embedded();
        let taken = |name: &str| -> Vec<(String, usize)> {
            let rows = spec.instead(name, |_| 3).into_iter();
            rows.map(|row| (row.take, row.along.len())).collect()
        };
        let row = |take: &str, along| (take.to_owned(), along);
        assert_eq!(taken("psu.private.id"), [row("psu.second.id", 1)]);
        assert_eq!(taken("psu.corporate.id"), [row("psu.private.id", 0)]);
        assert_eq!(taken("payment.id"), [row("payment.2.id", 2), row("payment.3.id", 2)]);
        let others = [row("transaction.account-id", 3), row("transaction.3.account-id", 3)];
        assert_eq!(taken("transaction.2.account-id"), others);
        assert_eq!(taken("redirect-uri"), []);
    }
}
