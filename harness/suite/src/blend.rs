//! Requests that nobody wrote: several cases of one operation in one request. Where all of them must be
//! accepted, so must the blend; where one of them must be refused, so must the blend, whatever else is in it.
//!
//! Rules of the document that concern several members at once would make that untrue, so that cases which
//! touch members of the same rule are never blended with each other ([`rule`]).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::Value;

use crate::{
    case::Case,
    definition::{Depth, Signing},
    expectation::{Expectation, Refusal},
    request::{BodySpec, RequestSpec},
    suite::Suite,
};

/// A case that can be blended with others of its operation: what it changes of the plain request.
#[derive(Debug, Clone)]
pub struct Ingredient<'a> {
    case: &'a Case,
    /// Header fields by name in lower case: name and value, or nothing where the case leaves the header out.
    headers: BTreeMap<String, Option<(String, Value)>>,
    query: BTreeMap<String, Value>,
    /// Members of the body.
    members: BTreeMap<String, Option<Value>>,
}

impl<'a> Ingredient<'a> {
    /// The case.
    pub fn case(&self) -> &'a Case {
        self.case
    }

    /// Whether the request must be refused because of it.
    pub fn is_refused(&self) -> bool {
        matches!(self.case.expect, Expectation::Refused(_))
    }

    /// What of the request it touches, by [`rule`].
    fn rules(&self) -> BTreeSet<String> {
        let headers = self.headers.keys().map(|name| format!("header/{name}"));
        let query = self.query.keys().map(|name| format!("query/{name}"));
        let members = self.members.keys().map(|name| format!("body/{name}"));
        headers.chain(query).chain(members).map(|place| rule(&place).to_owned()).collect()
    }
}

/// The rule that a place of the request belongs to: itself, but for places of which the document says what
/// one of them means for another.
pub fn rule(place: &str) -> &str {
    match place {
        // L215 and L216: from 100 000 NOK on the regulatory members are required.
        "body/instructedAmount" | "body/regulatoryReportingCode" | "body/regulatoryReportingInformation" => {
            "the amount"
        }
        // L208: the agent is required where the creditor's account is given by its bban.
        "body/creditorAccount" | "body/creditorAgent" => "the creditor's account",
        // L238 to L243: the months go with one frequency; start, end and day speak of the same days.
        "body/frequency"
        | "body/monthsOfExecution"
        | "body/dayOfExecution"
        | "body/startDate"
        | "body/endDate"
        | "body/executionRule" => "the days",
        // L168 to L172, L302: who the PSU is, in which context, and from which account it pays.
        "header/psu-id"
        | "header/x-psu-identity"
        | "header/psu-corporate-id"
        | "header/psu-context"
        | "body/debtorAccount" => "the PSU",
        other => other,
    }
}

impl Suite {
    /// The cases that can be blended with each other in a request of this operation. They differ from its
    /// plain request in header fields, query parameters and members of the body alone, and are accepted or
    /// refused by the document.
    pub fn ingredients(&self, operation: &str) -> Vec<Ingredient<'_>> {
        let Some(plain) = self.plain(operation) else { return Vec::new() };
        let of_it = self.cases().iter().filter(|case| case.request.operation == operation);
        of_it.filter_map(|case| ingredient(case, plain)).collect()
    }

    /// The case that shows the plain request of an operation accepted.
    fn plain(&self, operation: &str) -> Option<&Case> {
        let request = &self.baselines().get(operation)?.request;
        let is_plain = |case: &&Case| case.request == *request && case.expect.is_accepted();
        self.cases().iter().filter(is_plain).min_by_key(|case| case.before.len())
    }

    /// A case in which all of these are. `None` if two of them touch the same rule of the document, or there
    /// are none.
    pub fn blend(&self, operation: &str, parts: &[&Ingredient<'_>]) -> Option<Case> {
        let mut touched = BTreeSet::new();
        for part in parts {
            let rules = part.rules();
            if !touched.is_disjoint(&rules) {
                return None;
            }
            touched.extend(rules);
        }
        let mut case = parts.first()?.case.clone();
        let mut ids: Vec<&str> = parts.iter().map(|part| part.case.id.as_str()).collect();
        ids.sort_unstable();
        case.id = ids.join(" + ");
        case.request = self.plain(operation)?.request.clone();
        for part in parts {
            part.apply(&mut case.request);
        }
        let refused: Vec<&Ingredient<'_>> = parts.iter().copied().filter(|part| part.is_refused()).collect();
        let nothing_created = refused.iter().any(
            |part| matches!(&part.case.expect, Expectation::Refused(refusal) if refusal.nothing_created),
        );
        case.expect = if refused.is_empty() {
            Expectation::Accepted
        } else {
            Expectation::Refused(Refusal { nothing_created, ..Refusal::default() })
        };
        // The clause of a refused part decides.
        if let Some(part) = refused.first() {
            case.clause.clone_from(&part.case.clause);
        }
        case.changes = parts.iter().flat_map(|part| part.case.changes.clone()).collect();
        case.needs = parts.iter().flat_map(|part| part.case.needs.clone()).collect();
        case.control = None;
        case.about = None;
        Some(case)
    }
}

impl Ingredient<'_> {
    fn apply(&self, request: &mut RequestSpec) {
        let headers = Arc::make_mut(&mut request.headers);
        for (name, change) in &self.headers {
            let place = headers.iter().position(|(known, _)| known.eq_ignore_ascii_case(name));
            match (place, change) {
                (Some(place), Some(field)) => headers[place].clone_from(field),
                (Some(place), None) => drop(headers.remove(place)),
                (None, Some(field)) => headers.push(field.clone()),
                (None, None) => {}
            }
        }
        for (name, value) in &self.query {
            request.query.retain(|(known, _)| known != name);
            request.query.push((name.clone(), value.clone()));
        }
        let BodySpec::Json(body, _) = &mut request.body else { return };
        let Some(body) = Arc::make_mut(body).as_object_mut() else { return };
        for (name, change) in &self.members {
            match change {
                Some(value) => drop(body.insert(name.clone(), value.clone())),
                None => drop(body.shift_remove(name)),
            }
        }
    }
}

fn ingredient<'a>(case: &'a Case, plain_case: &Case) -> Option<Ingredient<'a>> {
    let (request, plain) = (&case.request, &plain_case.request);
    let is_asserted = match &case.expect {
        Expectation::Accepted => true,
        // A quota is used up by other requests than this one.
        Expectation::Refused(refusal) => !refusal.quota && !refusal.or_rejected,
        _ => false,
    };
    let alike = (&request.method, &request.path) == (&plain.method, &plain.path)
        && steps(case) == steps(plain_case)
        && request.signing == Signing::default()
        && !request.exact
        && case.depth != Depth::Exhaustive;
    if !is_asserted || !alike {
        return None;
    }
    let fields = |request: &RequestSpec| {
        let fields = request.headers.iter();
        fields.map(|field| (field.0.to_ascii_lowercase(), field.clone())).collect::<BTreeMap<_, _>>()
    };
    let mut ingredient = Ingredient {
        case,
        headers: changed(&fields(plain), &fields(request)),
        query: BTreeMap::new(),
        members: BTreeMap::new(),
    };
    for (name, value) in &request.query {
        if plain.query.contains(&(name.clone(), value.clone())) {
            continue;
        }
        if ingredient.query.insert(name.clone(), value.clone()).is_some() {
            return None;
        }
    }
    match (plain.members(), request.members()) {
        (None, None) if (&plain.body, &request.body) == (&BodySpec::None, &BodySpec::None) => {}
        (Some(plain), Some(body)) if request.repeats().is_empty() => {
            let members = |map: &serde_json::Map<String, Value>| {
                map.iter().map(|(name, value)| (name.clone(), value.clone())).collect::<BTreeMap<_, _>>()
            };
            ingredient.members = changed(&members(plain), &members(body));
        }
        _ => return None,
    }
    // L316: reads without the header are limited to four a day, so that a fifth is refused whatever is
    // blended.
    if request.operation == "transaction" && ingredient.headers.get("psu-ip-address") == Some(&None) {
        return None;
    }
    // The plain request itself adds nothing to a blend.
    let is_plain =
        ingredient.headers.is_empty() && ingredient.query.is_empty() && ingredient.members.is_empty();
    (!is_plain).then_some(ingredient)
}

/// What is sent before the judged request.
fn steps(case: &Case) -> Vec<(&str, &RequestSpec, Option<usize>)> {
    case.before.iter().map(|step| (step.name.as_str(), &step.request, step.times)).collect()
}

fn changed<T: Clone + PartialEq>(
    plain: &BTreeMap<String, T>,
    other: &BTreeMap<String, T>,
) -> BTreeMap<String, Option<T>> {
    let names: BTreeSet<&String> = plain.keys().chain(other.keys()).collect();
    let names = names.into_iter().filter(|name| plain.get(*name) != other.get(*name));
    names.map(|name| (name.clone(), other.get(name).cloned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use xs2aspec_spec::Tree;

    fn suite() -> Suite {
        Suite::load(Tree::embedded()).unwrap()
    }

    fn named<'a>(ingredients: &'a [Ingredient<'a>], id: &str) -> &'a Ingredient<'a> {
        ingredients.iter().find(|part| part.case.id == id).unwrap_or_else(|| panic!("{id}"))
    }

    #[test]
    fn every_operation_has_ingredients_of_both_kinds() {
        let suite = suite();
        for operation in ["basket", "ncbct", "periodic", "customers", "transaction"] {
            let ingredients = suite.ingredients(operation);
            assert!(ingredients.iter().any(Ingredient::is_refused), "{operation}");
            assert!(ingredients.iter().any(|part| !part.is_refused()), "{operation}");
        }
    }

    #[test]
    fn one_refused_part_makes_the_blend_refused() {
        let suite = suite();
        let all = suite.ingredients("periodic");
        let good = named(&all, "periodic.ultimate-debtor.length/70");
        let bad = named(&all, "periodic.creditor-name.length/71");
        assert_eq!(suite.blend("periodic", &[good]).unwrap().expect, Expectation::Accepted);
        let both = suite.blend("periodic", &[good, bad]).unwrap();
        assert!(matches!(both.expect, Expectation::Refused(_)));
        assert_eq!(both.clause, "periodic.creditor-name.length");
        let BodySpec::Json(body, _) = &both.request.body else { panic!("{:?}", both.request.body) };
        let length = |name: &str| body[name].as_str().unwrap().chars().count();
        assert_eq!((length("ultimateDebtor"), length("creditorName")), (70, 71));
    }

    #[test]
    fn parts_of_the_same_rule_are_not_blended() {
        let suite = suite();
        let all = suite.ingredients("ncbct");
        let one = all.iter().find(|part| part.members.contains_key("creditorAgent")).unwrap();
        let two = all.iter().find(|part| part.members.keys().eq(["creditorAccount"])).unwrap();
        assert!(suite.blend("ncbct", &[one, two]).is_none());
        assert!(suite.blend("ncbct", &[one, one]).is_none());
        assert!(suite.blend("ncbct", &[]).is_none());
    }
}
