//! Maps a failed keyword of a schema to its clause.
//!
//! An evaluation path leads from the root of a schema, through keywords, fields and references, to the
//! keyword that failed.

use serde_json::Value;

use crate::date;

/// The schema nodes on a path, outermost first.
#[derive(Debug)]
pub(super) struct Path<'a> {
    steps: Vec<Step<'a>>,
}

#[derive(Debug)]
struct Step<'a> {
    /// The node reached.
    node: &'a Value,
    /// The path segment that led here.
    token: &'a str,
}

impl<'a> Path<'a> {
    /// Follows an evaluation path (`/properties/_links/$ref/type`) from `root`. References point into `root`
    /// or `types`.
    pub(super) fn walk(path: &'a str, root: &'a Value, types: &'a Value) -> Self {
        let mut document = root;
        let mut node = root;
        let mut steps = vec![Step { node, token: "" }];
        let keyword = path.rfind('/').unwrap_or_default();
        for token in path[..keyword].split('/').skip(1) {
            let next = match (token, node.get(token).and_then(Value::as_str)) {
                ("$ref", Some(reference)) => {
                    let (file, pointer) = reference.split_once('#').unwrap_or((reference, ""));
                    document = if file.is_empty() { document } else { types };
                    document.pointer(pointer)
                }
                _ => node.get(token),
            };
            let Some(next) = next else { break };
            node = next;
            steps.push(Step { node, token });
        }
        Self { steps }
    }

    /// Returns the clause for `keyword`, or for the absent field `missing`. Returns None if no node on the
    /// path names one.
    pub(super) fn clause(&self, keyword: &str, missing: Option<&str>) -> Option<&'a str> {
        let member = missing.and_then(|name| self.last().get("properties")?.get(name)?.get("x-clause"));
        if let Some(clause) = member.and_then(|clause| named(clause, Some("required"))) {
            return Some(clause);
        }
        // An annotation for a keyword covers its node and the nodes that reach it by reference alone. Nodes
        // further out contribute only annotations for all keywords.
        let mut keyword = missing.is_none().then_some(keyword);
        for step in self.steps.iter().rev() {
            if let Some(clause) = step.node.get("x-clause").and_then(|clause| named(clause, keyword)) {
                return Some(clause);
            }
            if step.token != "$ref" {
                keyword = None;
            }
        }
        None
    }

    /// Returns true if the node is an optional field of its object.
    pub(super) fn is_optional(&self) -> bool {
        let own = self.steps.iter().rposition(|step| step.token != "$ref").unwrap_or_default();
        own >= 2
            && self.steps[own - 1].token == "properties"
            && !self.steps[own - 2]
                .node
                .get("required")
                .and_then(Value::as_array)
                .is_some_and(|names| names.iter().any(|name| name == self.steps[own].token))
    }

    /// Returns the clause that allows this value despite the failure of `keyword`, and the text to record.
    /// Returns None if the failure is a violation.
    pub(super) fn observed(&self, keyword: &str, value: &Value) -> Option<(&'a str, &'static str)> {
        let rule = self.last().get("x-observed")?.get(keyword)?;
        let why = match (rule["when"].as_str()?, value) {
            ("always", _) => Some("is not in the document's list"),
            ("one-of", value) => {
                let values = rule["values"].as_array().map(Vec::as_slice).unwrap_or_default();
                values.contains(value).then_some("is not in the document's list")
            }
            ("integer-as-string", Value::String(text)) => {
                text.parse::<u64>().is_ok().then_some("is an integer serialized as a string")
            }
            ("other-date", Value::String(text)) => {
                date::is_other_date(text).then_some("is a date in another form of ISO 8601")
            }
            _ => None,
        }?;
        Some((rule["clause"].as_str().or_else(|| self.clause(keyword, None))?, why))
    }

    fn last(&self) -> &'a Value {
        self.steps.last().map_or(&Value::Null, |step| step.node)
    }
}

/// Returns the clauses in a node's own annotations, including those that are only observed.
pub(super) fn own(node: &Value) -> Vec<&str> {
    let mut found = match node.get("x-clause") {
        Some(Value::Object(ids)) => ids.values().filter_map(Value::as_str).collect(),
        Some(Value::String(id)) => vec![id.as_str()],
        _ => Vec::new(),
    };
    let observed = node.get("x-observed").and_then(Value::as_object).into_iter().flatten();
    found.extend(observed.filter_map(|(_, rule)| rule["clause"].as_str()));
    found
}

/// Returns the id in an annotation. A string covers every keyword. An object lists keywords, with `*` for all
/// others.
fn named<'a>(annotation: &'a Value, keyword: Option<&str>) -> Option<&'a str> {
    match annotation {
        Value::String(clause) => Some(clause),
        Value::Object(clauses) => {
            keyword.and_then(|keyword| clauses.get(keyword)).or_else(|| clauses.get("*"))?.as_str()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn clause(path: &str, missing: Option<&str>) -> String {
        let root = json!({
            "x-clause": "root",
            "required": ["a", "b"],
            "properties": {
                "a": {"$ref": "types.json#/$defs/word", "x-clause": {"type": "a.type", "*": "a"}},
                "b": {"x-clause": {"maxLength": "b.length"}},
                "c": {"$ref": "#/properties/b"}
            }
        });
        let types = json!({"$defs": {
            "word": {"x-clause": {"enum": "word.listed"}, "items": {"$ref": "#/$defs/letter"}},
            "letter": {"x-clause": {"pattern": "letter.pattern"}}
        }});
        let keyword = path.rsplit('/').next().unwrap_or_default();
        Path::walk(path, &root, &types).clause(keyword, missing).unwrap().to_owned()
    }

    #[test]
    fn the_nearest_clause_outward_is_taken() {
        let rows = [
            ("/type", None, "root"),
            ("/properties/a/$ref/type", None, "a.type"),
            ("/properties/a/$ref/enum", None, "word.listed"),
            ("/properties/a/$ref/minLength", None, "a"),
            ("/properties/a/$ref/items/$ref/pattern", None, "letter.pattern"),
            // The clause for the type of a field does not cover the types of its items.
            ("/properties/a/$ref/items/$ref/type", None, "a"),
            ("/properties/b/maxLength", None, "b.length"),
            ("/properties/b/type", None, "root"),
            ("/properties/c/$ref/maxLength", None, "b.length"),
            ("/required", Some("a"), "a"),
            ("/required", Some("b"), "root"),
            ("", None, "root"),
            ("/no/such/path", None, "root"),
        ];
        for (path, missing, expected) in rows {
            assert_eq!(clause(path, missing), expected, "{path} {missing:?}");
        }
    }

    #[test]
    fn only_a_member_that_is_not_required_is_optional() {
        let types = json!({"$defs": {"word": {"type": "string"}}});
        let root = json!({
            "required": ["a"],
            "properties": {"a": {}, "b": {"$ref": "types.json#/$defs/word"}, "c": {"items": {"type": "string"}}}
        });
        for (path, optional) in [
            ("/type", false),
            ("/properties/a/type", false),
            ("/properties/b/$ref/type", true),
            ("/properties/c/type", true),
            ("/properties/c/items/type", false),
        ] {
            assert_eq!(Path::walk(path, &root, &types).is_optional(), optional, "{path}");
        }
    }

    #[test]
    fn only_the_named_failures_are_recorded() {
        let root = json!({
            "x-clause": "a",
            "x-observed": {
                "enum": {"when": "always"},
                "type": {"when": "integer-as-string", "clause": "a.string"},
                "format": {"when": "other-date"}
            }
        });
        let path = Path::walk("/type", &root, &Value::Null);
        assert_eq!(path.observed("enum", &json!(5)).unwrap().0, "a");
        assert!(path.observed("pattern", &json!(5)).is_none());
        assert_eq!(path.observed("type", &json!("12")).unwrap().0, "a.string");
        for other in [json!("12.0"), json!(""), json!("-1"), json!("twelve"), json!(true)] {
            assert!(path.observed("type", &other).is_none(), "{other}");
        }
        assert!(path.observed("format", &json!("20240229")).is_some());
        assert!(path.observed("format", &json!("20230229")).is_none());
    }
}
