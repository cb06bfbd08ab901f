//! Ways of signing that deviate from the document, and the clauses that they violate.

use serde_json::{Map, Value, json};

use super::{definition, form::Form, outcome::Outcome, view::View};
use crate::{signing::SigningSpec, yaml::At};

/// Key for the problem that was found in a signature, instead of a way of signing.
const FOUND: &str = "found";

/// The clauses that ways of signing violate.
#[derive(Debug, Default)]
pub(super) struct Signing {
    file: definition::Signing,
    /// Line of the file, from 1.
    line: u32,
    /// The lowercase names of headers that are signed if they are sent, in this order.
    signed: Vec<String>,
}

impl Signing {
    pub(super) fn new(file: &At<definition::Signing>, spec: SigningSpec) -> Self {
        Self { file: file.value.clone(), line: file.line, signed: spec.signed_headers }
    }

    /// Returns the names of the headers to sign: those of the list that the request has.
    pub(super) fn signed(&self, request: &View<'_>) -> Vec<String> {
        self.signed.iter().filter(|name| request.header(name).is_some()).cloned().collect()
    }

    /// Returns a named way of signing, as in a case file.
    pub(super) fn way(&self, name: &str) -> Option<&Map<String, Value>> {
        self.file.ways.iter().find(|way| way.name == name).map(|way| &way.signing)
    }

    /// Returns the value that is signed instead of a header's.
    pub(super) fn instead(&self, header: &str) -> Option<&str> {
        let named = self.file.instead.get(header);
        named.or_else(|| self.file.instead.get("other")).map(String::as_str)
    }

    /// Returns the outcome of the way in which a request is signed, or None if it is signed as the document
    /// says.
    pub(super) fn judge(&self, request: &View<'_>, is_signed: bool) -> Option<Outcome> {
        let signing = request.signing;
        let refused = |clause: &str, conditions: &Map<String, Value>| {
            Some(Outcome::Breaks { clause: clause.to_owned(), conditions: conditions.clone() })
        };
        let breaks = |clause: &str| refused(clause, &self.file.refused);
        if signing.is_empty() {
            return None;
        }
        let open = || Some(Outcome::Open("the document does not define this way of signing".to_owned()));
        if !is_signed {
            return open();
        }
        if let Some(clause) = signing.get(FOUND).and_then(|name| self.file.found.get(name.as_str()?)) {
            return breaks(clause);
        }
        if let Some(way) = self.file.ways.iter().find(|way| way.signing == *signing) {
            return match &way.open {
                Some(why) => Some(Outcome::Open(why.clone())),
                None if way.accepted => Some(Outcome::Accepts(way.clause.clone())),
                None => refused(&way.clause, way.refused.as_ref().unwrap_or(&self.file.refused)),
            };
        }
        let due = self.signed(request);
        let list = |name: &str| -> Option<Vec<&str>> {
            signing.get(name)?.as_array()?.iter().map(Value::as_str).collect()
        };
        let known = ["headers", "stated-headers", "signed-as"];
        if signing.keys().any(|name| !known.contains(&name.as_str())) {
            return open();
        }
        let is_in_another_order = |list: &[&str]| {
            list != due && list.len() == due.len() && due.iter().all(|name| list.contains(&name.as_str()))
        };
        match (list("headers"), list("stated-headers"), signing.get("signed-as")) {
            (Some(list), None, None) if is_in_another_order(&list) => {
                self.file.order.as_deref().map_or_else(open, breaks)
            }
            (Some(list), None, None)
                if list.len() < due.len() && list.iter().all(|name| due.iter().any(|due| due == name)) =>
            {
                breaks(&self.file.missing)
            }
            (None, Some(list), None) if list.iter().any(|name| request.header(name).is_none()) => {
                breaks(&self.file.not_sent)
            }
            (Some(list), Some(stated), None) if stated == due && list.len() < due.len() => {
                breaks(&self.file.unsigned)
            }
            (None, None, Some(_)) => breaks(&self.file.altered),
            _ => open(),
        }
    }

    /// Returns the ways of signing to try with an operation that has this baseline request.
    pub(super) fn forms(&self, plain: &View<'_>) -> Vec<Form> {
        let form = |name: String, clause: &str, signing: Map<String, Value>| Form {
            name: String::new(),
            label: name.replace(' ', "-"),
            written: name.into(),
            place: "signing".to_owned(),
            clause: clause.to_owned(),
            edits: vec![],
            signing: Some(signing),
            before: vec![],
            needs: vec![],
            twin: None,
            about: None,
            is_written: false,
            is_exhaustive: false,
            alone: None,
            line: self.line,
        };
        let of = |value: Value| value.as_object().cloned().unwrap_or_default();
        let ways = self.file.ways.iter();
        let mut forms: Vec<Form> =
            ways.map(|way| form(way.name.clone(), &way.clause, way.signing.clone())).collect();
        let due = self.signed(plain);
        for name in &due {
            let rest: Vec<&String> = due.iter().filter(|other| *other != name).collect();
            let instead = self.file.instead.get(name).or_else(|| self.file.instead.get("other"));
            forms.push(form(format!("without {name}"), &self.file.missing, of(json!({"headers": rest}))));
            let unsigned = json!({"headers": rest, "stated-headers": due});
            forms.push(form(format!("states {name} unsigned"), &self.file.unsigned, of(unsigned)));
            forms.push(form(
                format!("another {name}"),
                &self.file.altered,
                of(json!({"signed-as": {name.as_str(): instead}})),
            ));
        }
        if let Some(clause) = self.file.order.as_deref().filter(|_| due.len() > 1) {
            let turned: Vec<&String> = due.iter().rev().collect();
            forms.push(form("in another order".to_owned(), clause, of(json!({"headers": turned}))));
        }
        if due.len() < self.signed.len() {
            // Stating all headers in their order includes those that another form sends.
            let stated = &self.signed;
            forms.push(form(
                "states what is not sent".to_owned(),
                &self.file.not_sent,
                of(json!({"stated-headers": stated})),
            ));
        }
        forms
    }

    /// Returns every clause that it names.
    pub(super) fn clauses(&self) -> impl Iterator<Item = &str> {
        let file = &self.file;
        let own = [&file.missing, &file.not_sent, &file.unsigned, &file.altered];
        let ways = file.ways.iter().map(|way| &way.clause);
        let clauses = own.into_iter().chain(&file.order).chain(ways);
        let clauses = clauses.chain(file.found.values());
        clauses.map(String::as_str).filter(|clause| !clause.is_empty())
    }
}
