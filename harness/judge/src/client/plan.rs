//! The plan: a list of items, from `fixtures/spec/client-plan.yaml`.

use serde::Deserialize;
use serde_json::Value;
use xs2aspec_spec::{At, Problem, Tree, yaml};

use crate::client::condition::Condition;

/// Where it stands in a tree.
pub const FILE: &str = "fixtures/spec/client-plan.yaml";

/// What stands for an item of `each`.
const ITEM: &str = "<item>";

/// What a client should have shown.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The items, in the order of the file.
    pub items: Vec<Item>,
    /// Header fields that are others each time, in small letters: requests that differ in nothing else are
    /// the same one.
    pub fresh: Vec<String>,
    /// Clauses that requests can break and that no plan can show, by pattern, each with the reason.
    pub left_out: Vec<(String, String)>,
}

/// One thing that a client should have shown.
#[derive(Debug, Clone)]
pub struct Item {
    /// Its id, such as `refusal.handled`.
    pub id: String,
    /// What it is, in words.
    pub says: String,
    /// Clauses that it is about.
    pub clauses: Vec<String>,
    /// Whether a client that never shows it has shown everything all the same.
    pub is_optional: bool,
    /// What shows it.
    pub shown_by: ShownBy,
    /// Arguments of `serve` with which the bank lets a client meet it.
    pub meet: Option<String>,
    /// Where it stands in the file; line and column count from 1.
    pub place: (u32, u32),
}

/// What shows an item.
#[derive(Debug, Clone)]
pub enum ShownBy {
    /// An exchange of which this holds.
    Exchange(Condition),
    /// What the client does after an exchange of which this holds.
    After(Condition, Then),
    /// Requests no two of which have the same value in this header field.
    Unique(String),
    /// Requests for this operation, none of which breaks anything.
    NoBreach(String),
}

/// What a client should do after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Then {
    /// It sends another request. The same one again, with the same outcome, breaks the item.
    GoesOn,
    /// It sends the same request again, and not before the time that Retry-After says (RFC 9110 section
    /// 10.2.3).
    AgainLater,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    fresh: Vec<String>,
    items: Vec<At<Entry>>,
    #[serde(default)]
    left_out: Vec<LeftOut>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LeftOut {
    clauses: Vec<String>,
    why: String,
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
    shown: Option<Value>,
    after: Option<Value>,
    then: Option<Then>,
    unique: Option<String>,
    no_breach: Option<String>,
    meet: Option<String>,
}

impl Plan {
    /// Reads it from a tree; nothing where the tree has no such file.
    pub fn load(tree: &Tree) -> Result<Option<Self>, Problem> {
        let Some(text) = tree.text(FILE) else { return Ok(None) };
        let file: File = yaml::read(FILE, text)?;
        let mut plan = Self {
            fresh: file.fresh.iter().map(|name| name.to_ascii_lowercase()).collect(),
            ..Self::default()
        };
        for entry in &file.items {
            plan.add(entry)?;
        }
        for LeftOut { clauses, why } in file.left_out {
            plan.left_out.extend(clauses.into_iter().map(|clause| (clause, why.clone())));
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

    /// Whether an item speaks of a clause, or the plan says why none does.
    pub fn speaks_of(&self, clause: &str) -> bool {
        let items = self.items.iter().flat_map(|item| item.clauses.iter());
        items.chain(self.left_out.iter().map(|(pattern, _)| pattern)).any(|pattern| matches(pattern, clause))
    }
}

/// Whether a pattern, in which `*` stands for anything at its end, is for this text.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == text, |start| text.starts_with(start))
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
                "`{}` has to say either `shown`, `after` with `then`, `unique` or `no-breach`",
                written.id
            )));
        }
    };
    Ok(Item {
        id: text(&written.id),
        says: text(&written.says),
        clauses: written.clauses.iter().map(text).collect(),
        is_optional: written.optional,
        shown_by,
        meet: written.meet.as_ref().map(text),
        place: (entry.line, entry.column),
    })
}

/// The value with a word wherever `<item>` stands.
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
            ("{ id: a, says: b }", "has to say either"),
            ("{ id: a, says: b, after: {} }", "has to say either"),
            ("{ id: a, says: b, shown: { statsu: 2xx } }", "unknown field `statsu`"),
            ("{ id: a, says: b, each: [c, d], shown: {} }", "two items have the id `a`"),
            ("{ id: a, says: b, shown: { header: { A: { starts: 3 } } } }", "`a`:"),
        ] {
            let error = load(&format!("  - {item}\n")).unwrap_err();
            assert!(error.starts_with(&format!("{FILE}:3:5: ")) && error.contains(expected), "{error}");
        }
    }

    #[test]
    fn patterns_end_with_anything() {
        assert!(
            matches("a.b", "a.b")
                && matches("a.*", "a.b")
                && !matches("a.b", "a.b.c")
                && !matches("a.*", "ab")
        );
    }
}
