//! What the document says of requests, as data: `fixtures/spec/requests.yaml` and the tables of headers,
//! currencies and countries.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use serde::Deserialize;
use xs2aspec_spec::{Problem, yaml};

use crate::{definition::Signing, suite::Suite};

/// Where the model stands.
const FILE: &str = "fixtures/spec/requests.yaml";

/// What is known of every operation's requests.
#[derive(Debug)]
pub struct Model {
    pub(super) operations: BTreeMap<String, Operation>,
    pub(super) signing: Vec<SigningClass>,
    /// Fraction digits of each listed currency (ISO 4217), where an amount in it is held to them.
    pub(super) digits: BTreeMap<String, usize>,
    /// Whole parts of amounts that any account can pay, by currency.
    pub(super) amounts: BTreeMap<String, String>,
    pub(super) currencies: BTreeSet<String>,
    pub(super) countries: BTreeSet<String>,
}

/// The requests of one operation.
#[derive(Debug, Default)]
pub struct Operation {
    pub(super) members: Vec<Member>,
    pub(super) queries: Vec<Query>,
    pub(super) headers: Vec<Header>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    operations: IndexMap<String, Shape>,
    signing: Vec<SigningClass>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Shape {
    members: Vec<Member>,
    queries: Vec<Query>,
}

/// A member of the body.
#[expect(clippy::struct_excessive_bools, reason = "each is a word of the file")]
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Member {
    pub at: String,
    pub kind: Kind,
    pub clause: String,
    #[serde(default)]
    pub required: bool,
    /// Fewest and most characters.
    #[serde(default)]
    pub least: Option<u32>,
    #[serde(default)]
    pub most: Option<usize>,
    /// Whether other characters than those of ASCII are accepted.
    #[serde(default, rename = "utf-8")]
    pub utf8: bool,
    #[serde(default)]
    pub words: Vec<String>,
    /// Words that may be taken or not.
    #[serde(default)]
    pub open: Vec<String>,
    /// The clause of the list of words.
    #[serde(default)]
    pub listed: Option<String>,
    /// Name of the account in the target profile.
    #[serde(default)]
    pub account: Option<String>,
    /// Its currency, where the profile does not say it.
    #[serde(default)]
    pub currency: Option<String>,
    /// Whether the account may be in any listed currency.
    #[serde(default)]
    pub any_currency: bool,
    /// Whether amounts in other currencies than NOK may be taken or not.
    #[serde(default)]
    pub domestic: bool,
    /// How many days ahead a date is.
    #[serde(default)]
    pub days: Option<u32>,
}

/// What the values of a member are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    Text,
    Words,
    Amount,
    Account,
    Address,
    Bic,
    Date,
    Months,
    Day,
    Ids,
}

/// A query parameter.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    pub at: String,
    pub words: Vec<String>,
    pub clause: String,
}

/// A way of signing.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SigningClass {
    pub name: String,
    pub clause: String,
    #[serde(default)]
    pub accepted: bool,
    pub signing: Signing,
}

/// A header field as the table has it.
#[expect(clippy::struct_field_names, reason = "columns of the table")]
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Header {
    operation: String,
    pub header: String,
    pub name: String,
    pub presence: String,
    pub group: String,
    pub sample: String,
}

#[derive(Deserialize)]
struct Currency {
    code: String,
    minor_units: Option<usize>,
    iso_4217: String,
}

#[derive(Deserialize)]
struct Amount {
    code: String,
    whole: String,
}

impl Model {
    /// The model of this suite's operations.
    pub fn load(suite: &Suite) -> Result<Self, Problem> {
        let rows = |path: &str| suite.tree().text(path).unwrap_or_default().to_owned();
        let file: File = yaml::read(FILE, &rows(FILE))?;
        let headers: Vec<Header> =
            table("fixtures/tables/headers.csv", &rows("fixtures/tables/headers.csv"))?;
        let currencies: Vec<Currency> =
            table("fixtures/tables/currencies.csv", &rows("fixtures/tables/currencies.csv"))?;
        let amounts: Vec<Amount> =
            table("fixtures/tables/amounts.csv", &rows("fixtures/tables/amounts.csv"))?;
        let mut operations = BTreeMap::new();
        for (name, Shape { members, queries }) in file.operations {
            let headers = headers.iter().filter(|header| header.operation == name).cloned().collect();
            operations.insert(name, Operation { members, queries, headers });
        }
        Ok(Self {
            operations,
            signing: file.signing,
            digits: currencies
                .iter()
                .filter(|currency| currency.iso_4217 == "active")
                .filter_map(|currency| Some((currency.code.clone(), currency.minor_units?)))
                .collect(),
            amounts: amounts.into_iter().map(|amount| (amount.code, amount.whole)).collect(),
            currencies: currencies.into_iter().map(|currency| currency.code).collect(),
            countries: suite
                .spec()
                .document
                .list_after("Country values")
                .into_iter()
                .map(str::to_owned)
                .collect(),
        })
    }

    /// Names of the operations.
    pub fn operations(&self) -> impl Iterator<Item = &str> {
        self.operations.keys().map(String::as_str)
    }
}

fn table<T: for<'de> Deserialize<'de>>(path: &str, text: &str) -> Result<Vec<T>, Problem> {
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize().collect::<Result<_, _>>();
    rows.map_err(|error| Problem::of_file(path, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use xs2aspec_spec::Tree;

    #[test]
    fn the_model_has_every_operation_and_names_clauses_of_the_ledger() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let model = Model::load(&suite).unwrap();
        assert_eq!(
            model.operations().collect::<Vec<_>>(),
            ["basket", "customers", "ncbct", "periodic", "transaction"]
        );
        assert_eq!((model.countries.len(), model.currencies.len()), (249, 162));
        assert!(model.countries.contains("NO") && model.digits["KWD"] == 3 && model.digits["JPY"] == 0);
        for operation in model.operations.values() {
            assert!(operation.headers.len() > 5);
            for member in &operation.members {
                let begins = |id: &&String| id.starts_with(&member.clause);
                assert!(suite.clauses().keys().any(|id| begins(&id)), "{}", member.clause);
            }
        }
        for class in &model.signing {
            assert!(suite.clauses().contains_key(&class.clause), "{}", class.clause);
        }
    }
}
