//! Rules for clients that every reading of the document implies, from `fixtures/spec/client-rules.yaml`.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
};

use chrono::NaiveDateTime;
use indexmap::IndexMap;
use regex::Regex;
use serde::{Deserialize, Deserializer, de::Error as _};

use crate::{check_digits::CheckDigits, iban, problem::Problem, tree::Tree, yaml, yaml::At};

/// Path of the file in a tree.
pub const FILE: &str = "fixtures/spec/client-rules.yaml";

/// Path of the table of IBAN structures by country.
const IBANS: &str = "fixtures/tables/ibans.csv";

/// The place that matches every header.
const EACH_HEADER: &str = "header/*";

/// The document's rules for clients. Empty if a tree has no such file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ClientRules {
    /// Clauses whose violation by a client is certain, though a bank only gets a warning.
    #[serde(default)]
    pub denied: BTreeSet<String>,
    #[serde(default)]
    usual: Vec<Usual>,
    #[serde(default)]
    values: Vec<At<Rule>>,
    /// Rules for the ids of resources that earlier responses returned.
    pub ids: Option<IdRules>,
    /// Calls that are counted per day.
    pub counted: Option<Counted>,
    /// Rules for every path.
    pub paths: Option<PathRules>,
    /// The clause for a certificate that is used outside its validity period.
    pub validity: Option<String>,
    /// Conclusions from the error codes of rejections.
    #[serde(default)]
    rejections: Vec<RejectionRule>,
    /// Names of the reference bank's rules.
    #[serde(default)]
    pub bank: BankRules,
    /// Number of characters of an IBAN, by country.
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

/// A value format that no pattern can express.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Form {
    IpAddress,
    HttpDate,
    Iban,
    Person,
}

/// A rule for the value of a place.
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

/// Rules for ids.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct IdRules {
    /// Strings that no bank uses as an id.
    pub no_id: Pattern,
    /// The payment in a path.
    pub payment: IdClauses,
    /// The payments in a basket.
    pub in_basket: IdClauses,
    /// The account in a path.
    pub account: NamedId,
    /// The transaction in a path.
    pub transaction: NamedId,
    /// A payment that cannot be deleted.
    pub pending: Pending,
    /// A request id that was used before.
    pub reused: Reused,
}

/// The clauses that the ids at a place can violate.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdClauses {
    /// The place, if it is not the path.
    pub at: Option<String>,
    /// The clause for an id that does not exist.
    pub clause: String,
    /// The clause for an id that belongs to another PSU.
    pub another: String,
    /// The clause for the id of a deleted resource.
    pub deleted: Option<String>,
}

/// An id in a path, recognized by the name of a profile value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedId {
    /// The end of the name.
    pub name: String,
    /// The clause for an id that does not exist.
    pub clause: String,
}

/// A status in which a payment cannot be deleted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pending {
    /// The response field with the status.
    pub member: String,
    /// The status.
    pub is: String,
    /// The clause for deleting such a payment.
    pub clause: String,
}

/// A request id that an earlier request had.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reused {
    /// The violated clause.
    pub clause: String,
    /// Advice on what to send instead.
    pub send: String,
}

/// Calls without a header, counted by account and day.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counted {
    /// The operation.
    pub operation: String,
    /// The header.
    pub header: String,
    /// Maximum number per day.
    pub most: usize,
    /// The clause for a call beyond that number.
    pub clause: String,
}

/// A conclusion from the error code of a rejection.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RejectionRule {
    codes: BTreeSet<String>,
    #[serde(default)]
    only: Vec<String>,
    without: Option<String>,
    status: Option<u16>,
    /// The place of the violation.
    #[serde(default)]
    pub at: String,
    /// The violated clause.
    pub clause: String,
    send: String,
    /// True for a warning, since only the bank knows if the code is right.
    #[serde(default)]
    pub warn: bool,
}

impl RejectionRule {
    /// Returns true if the rule is about a header that was not sent.
    pub fn is_of_a_header(&self) -> bool {
        self.without.is_some()
    }

    /// Returns the client's violation according to this rule.
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

/// Rules for every path.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PathRules {
    /// The first path segment after the base address.
    pub prefix: String,
    /// The clause for a path without this segment.
    pub clause: String,
    /// The clause for an unsigned request.
    pub signed: String,
    /// Operations that the document mentions without their headers.
    pub mentioned: Vec<Mentioned>,
    /// Operations whose paths the document does not show. Each bank chooses its own.
    #[serde(default)]
    pub not_shown: BTreeSet<String>,
    /// The clause for a call outside the sandbox.
    pub sandbox: String,
}

/// An operation that the document mentions. `*` in its path matches any segment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mentioned {
    /// Method.
    pub method: String,
    /// Path.
    pub path: String,
    /// True if it lists the transactions of an account. Otherwise it is about a payment.
    #[serde(default)]
    pub lists: bool,
}

/// Names of the reference bank's rules.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BankRules {
    /// Rules that reject what a client could not know in advance.
    #[serde(default)]
    pub warned: BTreeSet<String>,
    /// Rules that reject requests of clients that did nothing wrong.
    #[serde(default)]
    pub not_of_the_client: BTreeSet<String>,
    /// Clauses by the names of the rules.
    #[serde(default)]
    pub clauses: BTreeMap<String, String>,
}

/// A value that is wrong under every reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// Its place in the request.
    pub at: String,
    /// The violated clause.
    pub clause: String,
    /// Advice on what to send instead.
    pub send: String,
    /// The value, or `None` if it is absent.
    pub value: Option<String>,
    /// True for a warning.
    pub is_warning: bool,
}

impl Pattern {
    /// Returns true if a string matches.
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Regex::new(&text)
            .map(Self)
            .map_err(|_| D::Error::custom(format!("`{text}` is not a valid regular expression")))
    }
}

impl ClientRules {
    /// Reads the rules of a tree.
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

    /// Returns the clauses that the file names literally, without a placeholder such as `<name>`.
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

    /// Returns the rule for a rejection with this status and these codes. `has` returns true for a header
    /// that the request has.
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

    /// Returns true if an error code alone proves a violation of this clause.
    pub fn is_of_a_code(&self, clause: &str) -> bool {
        self.rejections.iter().any(|rule| !rule.warn && rule.clause == clause)
    }

    /// Returns true if this is a value that each client chooses for itself.
    pub fn is_usual(&self, at: &str, text: &str) -> bool {
        self.usual.iter().any(|usual| usual.at == at && usual.matches.is_match(text))
    }

    /// Returns the values of a request that are wrong under every reading, one per place. `values` returns
    /// the values of a place, and `headers` holds the lowercase names of its headers.
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

/// Reads the lengths of IBANs by country.
fn lengths(table: &str) -> Result<BTreeMap<String, usize>, Problem> {
    #[derive(Deserialize)]
    struct Row {
        country: String,
        bban: String,
    }
    let wrong = |why: String| Problem::of_file(IBANS, format!("not a valid table: {why}"));
    let rows = csv::Reader::from_reader(table.as_bytes()).into_deserialize();
    rows.map(|row: csv::Result<Row>| {
        let Row { country, bban } = row.map_err(|error| wrong(error.to_string()))?;
        let length = iban::length(&bban);
        let length =
            length.ok_or_else(|| wrong(format!("`{bban}` of {country} is not a valid structure")))?;
        Ok((country, 4 + length))
    })
    .collect()
}

impl Rule {
    /// Returns the value that violates the rule, or `Some(None)` if it is absent.
    #[expect(clippy::option_option, reason = "a missing value can violate a rule too")]
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
        // A client may send an empty value instead of none.
        let says_nothing = |text: &String| self.warn && text.is_empty();
        values.iter().find(|text| !says_nothing(text) && is_broken(text)).map(|text| Some(text.clone()))
    }
}

impl Form {
    fn has(self, text: &str, ibans: &BTreeMap<String, usize>) -> bool {
        let text = text.trim();
        match self {
            // ISO 13616-1: check digits from 02 to 98, and the length in the registry for the country.
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
            // RFC 9110, section 5.6.7: the format to send, and two obsolete ones to accept.
            Self::HttpDate => {
                ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"]
                    .iter()
                    // The parser also accepts one-digit days.
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
