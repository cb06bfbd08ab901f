//! The plan: a list of items from `fixtures/spec/client-plan.yaml`.

use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;
use xs2aspec_spec::{At, Problem, Tree, yaml};

use crate::client::condition::Condition;

/// The path of the plan in a tree.
pub const FILE: &str = "fixtures/spec/client-plan.yaml";

/// The placeholder for an entry of `each`.
const ITEM: &str = "<item>";

/// The placeholder in `advice` for the name of a place.
const NAME: &str = "<name>";

/// The operation of the `no-breach` item for requests that no other such item covers.
pub(crate) const OTHER: &str = "other";

/// The list of items that a client should show.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The items, in the order of the file.
    pub items: Vec<Item>,
    /// Headers, in lowercase, with a new value in each request. Requests that differ only in these count as
    /// equal.
    pub fresh: Vec<String>,
    /// Parts of the document that a client may not need.
    pub parts: Vec<Part>,
    /// Patterns of clauses that requests can violate but no plan can show.
    pub left_out: Vec<String>,
    /// Advice for clients, by violated clause.
    advice: Vec<Advice>,
}

/// A part of the document that a client may not need. `--without` declares it absent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Name, such as `corporate`.
    pub name: String,
    /// Description of what a client without this part does not do.
    pub says: String,
    /// Patterns of the items that a client without this part does not have to show.
    pub items: Vec<String>,
}

/// Advice on what a client should send instead.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Advice {
    /// Patterns of clauses.
    clauses: Vec<String>,
    /// The advice, in which `<name>` is replaced with the name of the place.
    says: String,
}

/// An item that a client should show.
#[derive(Debug, Clone)]
pub struct Item {
    /// Id, such as `refusal.handled`.
    pub id: String,
    /// Description of what the client has to do.
    pub says: String,
    /// Related clauses.
    pub clauses: Vec<String>,
    /// True if a client that does not show the item is still complete.
    pub is_optional: bool,
    /// Name of a group of alternatives. One of them is enough.
    pub one_of: Option<String>,
    /// The evidence that shows the item.
    pub shown_by: ShownBy,
    /// Arguments of `serve` that give a client the opportunity to show the item.
    pub meet: Option<String>,
    /// Line and column in the file, counted from 1.
    pub place: (u32, u32),
}

/// The evidence that shows an item.
#[derive(Debug, Clone)]
pub enum ShownBy {
    /// An exchange for which the condition holds.
    Exchange(Condition),
    /// The client's behavior after an exchange for which the condition holds.
    After(Condition, Then),
    /// Requests with different values in this header.
    Unique(String),
    /// An accepted request for this operation without violations.
    NoBreach(String),
}

/// The behavior expected of a client after a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Then {
    /// The client sends another request.
    GoesOn,
    /// The client sends another request. Sending the same one again with the same outcome is a violation.
    CorrectsIt,
    /// The client sends the same request again, but not before the time that Retry-After gives (RFC 9110
    /// section 10.2.3).
    AgainLater,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    fresh: Vec<String>,
    items: Vec<At<Entry>>,
    #[serde(default)]
    parts: Vec<Part>,
    #[serde(default)]
    left_out: Vec<LeftOut>,
    #[serde(default)]
    advice: Vec<Advice>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LeftOut {
    clauses: Vec<String>,
    #[serde(rename = "why")]
    _why: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Entry {
    id: String,
    says: String,
    #[serde(default)]
    each: Vec<String>,
    #[serde(default)]
    clauses: Vec<String>,
    #[serde(default)]
    optional: bool,
    one_of: Option<String>,
    shown: Option<Value>,
    after: Option<Value>,
    then: Option<Then>,
    unique: Option<String>,
    no_breach: Option<String>,
    meet: Option<String>,
}

impl Plan {
    /// Reads the plan from a tree. Returns None if the tree has no such file.
    pub fn load(tree: &Tree) -> Result<Option<Self>, Problem> {
        let Some(text) = tree.text(FILE) else { return Ok(None) };
        let file: File = yaml::read(FILE, text)?;
        let mut plan = Self {
            fresh: file.fresh.iter().map(|name| name.to_ascii_lowercase()).collect(),
            parts: file.parts,
            advice: file.advice,
            left_out: file.left_out.into_iter().flat_map(|left_out| left_out.clauses).collect(),
            ..Self::default()
        };
        for entry in &file.items {
            plan.add(entry)?;
        }
        Ok(Some(plan))
    }

    fn add(&mut self, entry: &At<Entry>) -> Result<(), Problem> {
        let one = [String::new()];
        let each = if entry.value.each.is_empty() { one.as_slice() } else { entry.value.each.as_slice() };
        for word in each {
            let item = item(entry, word)?;
            if self.items.iter().any(|known| known.id == item.id) {
                return Err(entry.problem(FILE, format!("two items have the id `{}`", item.id)));
            }
            self.items.push(item);
        }
        Ok(())
    }

    /// Returns the advice for a client that violated a clause at a place of its request.
    pub fn advice(&self, clause: &str, at: &str) -> Option<String> {
        let is_for = |advice: &&Advice| advice.clauses.iter().any(|pattern| matches(pattern, clause));
        let is_name = |part: &&str| !part.is_empty() && part.parse::<usize>().is_err();
        let name = at.strip_prefix("request/").and_then(|at| at.rsplit('/').find(is_name));
        Some(self.advice.iter().find(is_for)?.says.replace(NAME, name.unwrap_or("it")))
    }

    /// Returns the parts with these names, or the first name that no part has.
    pub fn parts<'a>(&self, names: &'a [String]) -> Result<Vec<&Part>, &'a str> {
        let part = |name: &'a String| self.parts.iter().find(|part| part.name == *name).ok_or(name.as_str());
        names.iter().map(part).collect()
    }
}

impl Part {
    /// Returns true if a client without this part does not have to show an item.
    pub fn covers(&self, item: &Item) -> bool {
        self.items.iter().any(|pattern| matches(pattern, &item.id))
    }
}

/// Returns true if `text` matches a pattern, in which one `*` matches any characters.
pub fn matches(pattern: &str, text: &str) -> bool {
    pattern.split_once('*').map_or(pattern == text, |(start, end)| {
        text.len() >= start.len() + end.len() && text.starts_with(start) && text.ends_with(end)
    })
}

fn item(entry: &At<Entry>, word: &str) -> Result<Item, Problem> {
    let wrong = |message: String| entry.problem(FILE, message);
    let written = &entry.value;
    let text = |text: &String| text.replace(ITEM, word);
    let condition = |value: &Value| {
        let value = replaced(value, word);
        serde_json::from_value::<Condition>(value)
            .map_err(|error| wrong(format!("`{}`: {error}", written.id)))
    };
    let shown_by = match (&written.shown, &written.after, written.then, &written.unique, &written.no_breach) {
        (Some(shown), None, None, None, None) => ShownBy::Exchange(condition(shown)?),
        (None, Some(after), Some(then), None, None) => ShownBy::After(condition(after)?, then),
        (None, None, None, Some(header), None) => ShownBy::Unique(header.clone()),
        (None, None, None, None, Some(operation)) => ShownBy::NoBreach(text(operation)),
        _ => {
            return Err(wrong(format!(
                "`{}` needs exactly one of `shown`, `after` with `then`, `unique` or `no-breach`",
                written.id
            )));
        }
    };
    Ok(Item {
        id: text(&written.id),
        says: text(&written.says),
        clauses: written.clauses.iter().map(text).collect(),
        is_optional: written.optional,
        one_of: written.one_of.clone(),
        shown_by,
        meet: written.meet.as_ref().map(text),
        place: (entry.line, entry.column),
    })
}

/// Returns the value with each `<item>` replaced with `word`.
fn replaced(value: &Value, word: &str) -> Value {
    match value {
        Value::String(text) => text.replace(ITEM, word).into(),
        Value::Array(items) => items.iter().map(|item| replaced(item, word)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.replace(ITEM, word), replaced(value, word))).collect()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(items: &str) -> Result<Plan, String> {
        let tree = Tree::of(&[(FILE, &format!("fresh: [Date]\nitems:\n{items}"))]);
        Plan::load(&tree).map(Option::unwrap).map_err(|problem| problem.to_string())
    }

    #[test]
    fn an_item_of_each_word() {
        let plan = load(
            "  - { id: call/<item>, says: calls <item>, each: [one, two], shown: { operation: <item> } }\n",
        )
        .unwrap();
        let ids: Vec<_> = plan.items.iter().map(|item| (item.id.as_str(), item.says.as_str())).collect();
        assert_eq!(ids, [("call/one", "calls one"), ("call/two", "calls two")]);
        assert_eq!(plan.items[1].place, (3, 5));
    }

    #[test]
    fn mistakes_have_their_place() {
        for (item, expected) in [
            ("{ id: a, says: b }", "needs exactly one of"),
            ("{ id: a, says: b, after: {} }", "needs exactly one of"),
            ("{ id: a, says: b, shown: { statsu: 2xx } }", "unknown field `statsu`"),
            ("{ id: a, says: b, each: [c, d], shown: {} }", "two items have the id `a`"),
            ("{ id: a, says: b, shown: { header: { A: { starts: 3 } } } }", "`a`:"),
        ] {
            let error = load(&format!("  - {item}\n")).unwrap_err();
            assert!(error.starts_with(&format!("{FILE}:3:5: ")) && error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_star_in_a_pattern_stands_for_anything() {
        for (pattern, text, expected) in [
            ("a.b", "a.b", true),
            ("a.b", "a.b.c", false),
            ("a.*", "a.b", true),
            ("a.*", "ab", false),
            ("*.b", "a.b", true),
            ("*.b", "a.b.c", false),
            ("a.*.c", "a.b.c", true),
            ("a.*.a", "a.a", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn advice_names_the_place() {
        let text = "items: []\nfresh: []\nadvice:\n  - { clauses: [\"*.required\"], says: send <name> }\n";
        let plan = Plan::load(&Tree::of(&[(FILE, text)])).unwrap().unwrap();
        for (at, expected) in
            [("request/body/a/b", "send b"), ("request/body/ids/0", "send ids"), ("", "send it")]
        {
            assert_eq!(plan.advice("x.required", at).as_deref(), Some(expected));
        }
        assert_eq!(plan.advice("x.length", "request"), None);
    }
}
