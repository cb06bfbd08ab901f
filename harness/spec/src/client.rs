//! What no reading of the document allows a client, as data: `fixtures/spec/client-rules.yaml`.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
};

use chrono::NaiveDateTime;
use indexmap::IndexMap;
use regex::Regex;
use serde::{Deserialize, Deserializer, de::Error as _};

use crate::{check_digits::CheckDigits, iban, problem::Problem, tree::Tree, yaml, yaml::At};

/// Where it stands in a tree.
pub const FILE: &str = "fixtures/spec/client-rules.yaml";

/// The structure of the IBANs of each country.
const IBANS: &str = "fixtures/tables/ibans.csv";

/// The place that stands for each header field.
const EACH_HEADER: &str = "header/*";

/// What a document says of clients; nothing where it has no such file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ClientRules {
    /// Clauses that a client breaks for certain, though a bank is only warned of them.
    #[serde(default)]
    pub denied: BTreeSet<String>,
    #[serde(default)]
    usual: Vec<Usual>,
    #[serde(default)]
    values: Vec<At<Rule>>,
    /// Ids of resources that earlier responses gave.
    pub ids: Option<IdRules>,
    /// Calls of a day that are counted.
    pub counted: Option<Counted>,
    /// What every path has.
    pub paths: Option<PathRules>,
    /// The clause of a certificate that is used before or after it is valid.
    pub validity: Option<String>,
    /// What codes of rejections say of their requests.
    #[serde(default)]
    rejections: Vec<RejectionRule>,
    /// What the reference bank calls its rules.
    #[serde(default)]
    pub bank: BankRules,
    /// How many characters an IBAN has, by country.
    #[serde(skip)]
    ibans: BTreeMap<String, usize>,
}

/// A regular expression.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

/// A value that each client chooses for itself.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Usual {
    at: String,
    matches: Pattern,
}

/// A form of values that no pattern says.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Form {
    IpAddress,
    HttpDate,
    Iban,
    Person,
}

/// A rule of the value of a place.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    at: String,
    #[serde(default)]
    only: Vec<String>,
    form: Option<Form>,
    matches: Option<Pattern>,
    unmatched: Option<Pattern>,
    most: Option<usize>,
    #[serde(default)]
    absent: bool,
    #[serde(default)]
    repeated: bool,
    #[serde(default)]
    r#where: IndexMap<String, Pattern>,
    clause: String,
    send: String,
    #[serde(default)]
    warn: bool,
}

/// Rules of ids.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct IdRules {
    /// Texts that no bank gives as an id.
    pub no_id: Pattern,
    /// The payment of a path.
    pub payment: IdClauses,
    /// The payments of a basket.
    pub in_basket: IdClauses,
    /// The account of a path.
    pub account: NamedId,
    /// The transaction of a path.
    pub transaction: NamedId,
    /// A payment that cannot be deleted.
    pub pending: Pending,
    /// Ids of requests.
    pub reused: Reused,
}

/// What the ids of a place break.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdClauses {
    /// The place, where it is not the path.
    pub at: Option<String>,
    /// The clause of an id that nothing has.
    pub clause: String,
    /// The clause of an id of another PSU.
    pub another: String,
    /// The clause of an id of what was deleted.
    pub deleted: Option<String>,
}

/// An id that paths have under a name of the profile.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedId {
    /// The end of the name.
    pub name: String,
    /// The clause of an id that nothing has.
    pub clause: String,
}

/// A status in which a payment cannot be deleted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pending {
    /// The field of responses that has the status.
    pub member: String,
    /// The status.
    pub is: String,
    /// The clause of its deletion.
    pub clause: String,
}

/// An id of a request that an earlier one had.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reused {
    /// The clause.
    pub clause: String,
    /// What a client sends instead.
    pub send: String,
}

/// Calls without a header that are counted by account and day.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counted {
    /// The operation.
    pub operation: String,
    /// The header.
    pub header: String,
    /// How many a day has.
    pub most: usize,
    /// The clause of one more.
    pub clause: String,
}

/// What a code of a rejection says of its request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RejectionRule {
    codes: BTreeSet<String>,
    #[serde(default)]
    only: Vec<String>,
    without: Option<String>,
    status: Option<u16>,
    /// The place that is wrong.
    #[serde(default)]
    pub at: String,
    /// The clause that is broken.
    pub clause: String,
    send: String,
    /// Whether it is a warning, since only the bank knows whether the code is right.
    #[serde(default)]
    pub warn: bool,
}

impl RejectionRule {
    /// Returns true if it is of a header that was not sent.
    pub fn is_of_a_header(&self) -> bool {
        self.without.is_some()
    }

    /// Returns what a client did by this rule.
    pub fn wrong(&self) -> Wrong {
        Wrong {
            at: self.at.clone(),
            clause: self.clause.clone(),
            send: self.send.clone(),
            value: None,
            is_warning: self.warn,
        }
    }
}

/// What every path has.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PathRules {
    /// The first segment below the base address.
    pub prefix: String,
    /// The clause of a path without it.
    pub clause: String,
    /// The clause of a request that is not signed.
    pub signed: String,
    /// Operations that the document mentions, without headers.
    pub mentioned: Vec<Mentioned>,
    /// Operations whose paths the document does not show: each bank has its own.
    #[serde(default)]
    pub not_shown: BTreeSet<String>,
    /// The clause of a call outside the sandbox.
    pub sandbox: String,
}

/// An operation that the document mentions. `*` in its path is any segment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mentioned {
    /// Method.
    pub method: String,
    /// Path.
    pub path: String,
    /// Whether it lists the transactions of an account; else it is about a payment.
    #[serde(default)]
    pub lists: bool,
}

/// What the reference bank calls its rules.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BankRules {
    /// Rules by which it rejects what a client could not know before.
    #[serde(default)]
    pub warned: BTreeSet<String>,
    /// Rules by which it rejects requests of clients that did nothing wrong.
    #[serde(default)]
    pub not_of_the_client: BTreeSet<String>,
    /// Clauses by its names for them.
    #[serde(default)]
    pub clauses: BTreeMap<String, String>,
}

/// A value that is right under no reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// Its place in the request.
    pub at: String,
    /// The clause.
    pub clause: String,
    /// What a client sends instead.
    pub send: String,
    /// The value; `None` where there is none.
    pub value: Option<String>,
    /// Returns true if it is a warning only.
    pub is_warning: bool,
}

impl Pattern {
    /// Returns true if a text matches.
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Regex::new(&text)
            .map(Self)
            .map_err(|_| D::Error::custom(format!("`{text}` is no regular expression")))
    }
}

impl ClientRules {
    /// Reads them from a tree.
    pub fn load(tree: &Tree) -> Result<Self, Problem> {
        let Some(text) = tree.text(FILE) else { return Ok(Self::default()) };
        let mut rules: Self = yaml::read(FILE, text)?;
        rules.ibans = tree.text(IBANS).map_or_else(|| Ok(BTreeMap::new()), lengths)?;
        for row in &rules.values {
            let Rule { form, matches, unmatched, most, absent, repeated, at, .. } = &row.value;
            let tests = [matches.is_some() || unmatched.is_some(), form.is_some(), most.is_some()];
            let tests = tests.into_iter().chain([*absent, *repeated]).filter(|is_there| *is_there).count();
            if tests != 1 {
                let message =
                    format!("`{at}`: expected one of a pattern, `form`, `most`, `absent` and `repeated`");
                return Err(row.problem(FILE, message));
            }
        }
        Ok(rules)
    }

    /// Returns the clauses that are named as they are.
    pub fn clauses(&self) -> impl Iterator<Item = &str> {
        let values =
            self.values.iter().map(|row| row.value.clause.as_str()).filter(|clause| !clause.contains('<'));
        let ids = self.ids.iter().flat_map(|ids| {
            let more =
                [&ids.account.clause, &ids.transaction.clause, &ids.pending.clause, &ids.reused.clause];
            let of = [&ids.payment, &ids.in_basket].into_iter();
            let of = of.flat_map(|id| [Some(&id.clause), Some(&id.another), id.deleted.as_ref()]).flatten();
            of.chain(more).map(String::as_str)
        });
        let paths = self.paths.iter().flat_map(|paths| [&paths.clause, &paths.signed, &paths.sandbox]);
        let counted = self.counted.iter().map(|counted| &counted.clause);
        let others = self
            .denied
            .iter()
            .chain(paths)
            .chain(counted)
            .chain(&self.validity)
            .chain(self.rejections.iter().map(|rule| &rule.clause));
        values.chain(ids).chain(others.chain(self.bank.clauses.values()).map(String::as_str))
    }

    /// Returns the rule of a rejection with this status and these codes. `has` returns true for a header of
    /// the request.
    pub fn rejection(
        &self,
        operation: &str,
        (status, codes): (u16, &[String]),
        has: &dyn Fn(&str) -> bool,
    ) -> Option<&RejectionRule> {
        self.rejections.iter().find(|rule| {
            codes.iter().any(|code| rule.codes.contains(code))
                && (rule.only.is_empty() || rule.only.iter().any(|only| only == operation))
                && rule.status.is_none_or(|own| own == status)
                && !rule.without.as_deref().is_some_and(has)
        })
    }

    /// Returns true if a clause is that of a code which stands for it alone.
    pub fn is_of_a_code(&self, clause: &str) -> bool {
        self.rejections.iter().any(|rule| !rule.warn && rule.clause == clause)
    }

    /// Returns true if a value of a place is one that each client chooses for itself.
    pub fn is_usual(&self, at: &str, text: &str) -> bool {
        self.usual.iter().any(|usual| usual.at == at && usual.matches.is_match(text))
    }

    /// Returns the values of a request that are right under no reading, one for each place. `values` returns
    /// the values of a place, `headers` are the names of its header fields in small letters.
    pub fn wrong(
        &self,
        operation: &str,
        headers: &BTreeSet<String>,
        values: &dyn Fn(&str) -> Vec<String>,
    ) -> Vec<Wrong> {
        let mut found: Vec<Wrong> = Vec::new();
        for rule in self.values.iter().map(|row| &row.value) {
            let is_for = rule.only.is_empty() || rule.only.iter().any(|only| only == operation);
            let holds =
                |(at, pattern): (&String, &Pattern)| values(at).iter().any(|text| pattern.is_match(text));
            if !is_for || !rule.r#where.iter().all(holds) {
                continue;
            }
            let each = || headers.iter().map(|name| format!("header/{name}")).collect();
            let places: Vec<String> = if rule.at == EACH_HEADER { each() } else { vec![rule.at.clone()] };
            for at in places {
                let name = at.strip_prefix("header/").unwrap_or_default().to_ascii_lowercase();
                let is_known = found.iter().any(|known| known.at.eq_ignore_ascii_case(&at));
                if let Some(value) = rule.broken(&values(&at), &self.ibans).filter(|_| !is_known) {
                    let clause = rule.clause.replace("<name>", &name).replace("<operation>", operation);
                    found.push(Wrong { at, clause, send: rule.send.clone(), value, is_warning: rule.warn });
                }
            }
        }
        found
    }
}

/// Reads how many characters the IBANs of each country have.
fn lengths(table: &str) -> Result<BTreeMap<String, usize>, Problem> {
    #[derive(Deserialize)]
    struct Row {
        country: String,
        bban: String,
    }
    let wrong = |why: String| Problem::of_file(IBANS, format!("is no table: {why}"));
    let rows = csv::Reader::from_reader(table.as_bytes()).into_deserialize();
    rows.map(|row: csv::Result<Row>| {
        let Row { country, bban } = row.map_err(|error| wrong(error.to_string()))?;
        let length = iban::length(&bban);
        let length = length.ok_or_else(|| wrong(format!("`{bban}` of {country} is no structure")))?;
        Ok((country, 4 + length))
    })
    .collect()
}

impl Rule {
    /// Returns the value that breaks it.
    #[expect(clippy::option_option, reason = "what is missing breaks a rule as well")]
    fn broken(&self, values: &[String], ibans: &BTreeMap<String, usize>) -> Option<Option<String>> {
        if self.absent {
            return values.iter().all(|text| text.trim().is_empty()).then_some(None);
        }
        if let Some(most) = self.most {
            return (values.len() > most).then(|| Some(format!("{} lines", values.len())));
        }
        if self.repeated {
            let twice = values.iter().enumerate().find(|(at, text)| values[..*at].contains(text));
            return twice.map(|(_, text)| Some(format!("{text} twice")));
        }
        let is_broken = |text: &String| match self.form {
            Some(form) => !form.has(text, ibans),
            None => {
                self.matches.as_ref().is_none_or(|pattern| pattern.is_match(text))
                    && self.unmatched.as_ref().is_none_or(|pattern| !pattern.is_match(text))
            }
        };
        // An empty value may stand for none.
        let says_nothing = |text: &String| self.warn && text.is_empty();
        values.iter().find(|text| !says_nothing(text) && is_broken(text)).map(|text| Some(text.clone()))
    }
}

impl Form {
    fn has(self, text: &str, ibans: &BTreeMap<String, usize>) -> bool {
        let text = text.trim();
        match self {
            // ISO 13616-1: check digits from 02 to 98, and the length that the registry has for the country.
            Self::Iban => {
                let digits = text.get(2..4).and_then(|digits| digits.parse::<u32>().ok());
                let length = text.get(..2).and_then(|country| ibans.get(country));
                digits.is_none_or(|digits| (2..=98).contains(&digits))
                    && length.is_none_or(|length| text.chars().count() == *length)
            }
            Self::Person => {
                let has_digits = text.len() == 11 && text.bytes().all(|byte| byte.is_ascii_digit());
                !has_digits || CheckDigits::Person.fit(text)
            }
            Self::IpAddress => text.parse::<IpAddr>().is_ok(),
            // RFC 9110, section 5.6.7: the form that is sent, and the two that are only read.
            Self::HttpDate => {
                ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"]
                    .iter()
                    // The parser takes a day of one digit as well.
                    .any(|form| {
                        let date = NaiveDateTime::parse_from_str(text, form);
                        date.is_ok_and(|date| date.format(form).to_string() == text)
                    })
            }
        }
    }
}

#[cfg(test)]
mod tests;
