//! Other allowed requests of an operation. A target that rejects the baseline request may accept them.

use std::{collections::BTreeMap, slice, sync::Arc};

use serde_json::Value;
use xs2aspec_spec::request::{Due, Edit, Form};

use crate::{
    case::Case,
    combination::{AppliedForm, Combination},
    forms::alone,
    parts::Parts,
    request::{BodySpec, RequestSpec},
};

/// Maximum number of alternatives for one operation.
const MOST: usize = 100;

/// An allowed request that differs from the baseline in one place.
#[derive(Debug, Clone)]
pub struct Alternative {
    /// The place that differs (`header/PSU-Context`).
    pub place: String,
    /// The clause that makes the place optional, if the baseline lacks it. Otherwise the clause that requires
    /// the bank to accept the value of the baseline.
    pub clause: Option<String>,
    /// True if the baseline has another value there.
    pub replaces: bool,
    /// The request.
    pub case: Case,
}

/// Returns the alternatives of an operation:
///
/// - the baseline with other spellings of its header names
/// - the baseline with headers that only other operations have
/// - the allowed forms: one of every place, the last of every place that the baseline has, one of every
///   clause of a place, the last of each, and the others
///
/// Forms that a bank may reject count too, since it must accept the baseline in any case.
pub(crate) fn alternatives(operation: &str, parts: &Parts) -> Vec<Alternative> {
    let mut made = spelled(operation, parts);
    made.extend(fields_of_others(operation, parts));
    let mut of_places: BTreeMap<(bool, &str), usize> = BTreeMap::new();
    let mut of_clauses: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let mut forms = Vec::new();
    let mut wanted: BTreeMap<&str, &str> = BTreeMap::new();
    for form in parts.requests().forms(operation).iter().filter(|form| form.alone.is_none() && is_short(form))
    {
        let Some((case, due)) = alone(operation, form, parts) else {
            // The baseline has this value.
            if matches!(form.edits.as_slice(), [Edit::Set(..)]) {
                wanted.entry(&form.place).or_insert(&form.clause);
            }
            continue;
        };
        let is_open = matches!(due, Due::Open(_));
        if !is_open && !matches!(due, Due::Accepted { .. }) {
            continue;
        }
        let of_clause = counted(&mut of_clauses, (form.place.as_str(), case.clause.clone()));
        let is_instead = form.edits.iter().any(|edit| matches!(edit, Edit::Remove(_)));
        // A form that only adds something says more about its place than one that replaces something.
        let of_place = counted(&mut of_places, (is_instead, form.place.as_str()));
        let (place, clause) = (form.place.clone(), Some(case.clause.clone()));
        let other = Alternative { place, clause, replaces: false, case };
        forms.push(((of_place, of_clause), (is_instead, is_open), other));
    }
    // The last form of a clause follows its first. If a target rejects half of a list, it accepts one of the
    // two. Forms that replace a part of the baseline follow the first form of each place.
    forms.sort_by_cached_key(|((of_place, of_clause), (is_instead, is_open), other)| {
        let last = of_clauses[&(other.place.as_str(), other.case.clause.clone())] - 1;
        // The target may reject the value of the baseline.
        let is_had = || !lacks(operation, &other.place, parts);
        let rank = match of_clause {
            _ if *of_place == 0 => 0,
            number if *number == last && is_had() => 1,
            0 => 2,
            number if *number == last => 3,
            number => number + 3,
        };
        (rank, *is_instead, *is_open)
    });
    for field in &mut made {
        let same = forms.iter().find(|(.., form)| form.place.eq_ignore_ascii_case(&field.place));
        let own = same.and_then(|(.., form)| form.clause.clone());
        field.clause = own.or_else(|| parts.requests().fields_of_others().map(str::to_owned));
    }
    made.extend(forms.into_iter().map(|(.., made)| made));
    for other in made.iter_mut().filter(|other| !lacks(operation, &other.place, parts)) {
        other.clause = wanted.get(other.place.as_str()).map(|clause| (*clause).to_owned());
        other.replaces = true;
    }
    made.truncate(MOST);
    made
}

/// Returns how often this key was counted before.
fn counted<K: Ord>(times: &mut BTreeMap<K, usize>, key: K) -> usize {
    let times = times.entry(key).or_default();
    *times += 1;
    *times - 1
}

/// Returns true if the baseline of an operation has nothing at this place.
fn lacks(operation: &str, place: &str, parts: &Parts) -> bool {
    let Some(plain) = parts.baselines.get(operation).map(|plain| &plain.request) else { return false };
    match (place.split_once('/'), &plain.body) {
        (Some(("header", name)), _) => plain.header(name).is_none(),
        (Some(("body", path)), BodySpec::Json(body, _)) => body.pointer(&format!("/{path}")).is_none(),
        _ => false,
    }
}

/// Returns true if few requests prepare it.
fn is_short(form: &Form) -> bool {
    form.before.iter().map(|step| step.times).sum::<usize>() <= 2
}

/// Returns the baseline with its header names as the document writes them, and in lowercase. Header names are
/// case-insensitive (RFC 9110 section 5.1).
fn spelled(operation: &str, parts: &Parts) -> Vec<Alternative> {
    let Some(own) = parts.baselines.get(operation) else { return vec![] };
    let spellings =
        [("header names as the document writes them", false), ("header names in lowercase", true)];
    let case = |(note, is_lowercase): (&str, bool)| {
        let mut request = RequestSpec { exact: true, ..own.request.as_ref().clone() };
        for (name, _) in Arc::make_mut(&mut request.headers) {
            if is_lowercase {
                name.make_ascii_lowercase();
            }
            request.spelled.push(name.clone());
        }
        let (mut case, _) = Combination { operation: operation.to_owned(), forms: vec![] }.case(parts)?;
        case.request = Arc::new(request).into();
        case.notes.push(note.to_owned());
        Some(Alternative { place: "header".to_owned(), clause: None, replaces: true, case })
    };
    spellings.into_iter().filter_map(case).collect()
}

/// Returns the baseline with headers of other operations that it lacks, each alone and all together.
fn fields_of_others(operation: &str, parts: &Parts) -> Vec<Alternative> {
    let Some(own) = parts.baselines.get(operation) else { return vec![] };
    let mut fields: BTreeMap<&str, &Value> = BTreeMap::new();
    for other in parts.requests().operations().filter_map(|other| parts.baselines.get(other)) {
        for (name, value) in other.request.headers.iter() {
            if own.request.header(name).is_none() {
                fields.entry(name).or_insert(value);
            }
        }
    }
    let edit = |(name, value): (&&str, &&Value)| Edit::Set(format!("header/{name}"), (*value).clone());
    let edits: Vec<Edit> = fields.iter().map(edit).collect();
    let alone = edits.iter().map(slice::from_ref);
    let all = Some(edits.as_slice()).filter(|all| all.len() > 1);
    let case = |edits: &[Edit]| {
        let place = if let [Edit::Set(at, _)] = edits { at.clone() } else { "header".to_owned() };
        let form = AppliedForm {
            form: place.clone(),
            place: place.clone(),
            edits: edits.to_vec(),
            ..AppliedForm::default()
        };
        let (case, _) = Combination { operation: operation.to_owned(), forms: vec![form] }.case(parts)?;
        Some(Alternative { place, clause: None, replaces: false, case })
    };
    alone.chain(all).filter_map(case).collect()
}

#[cfg(test)]
mod tests {
    use crate::{Suite, Tree};

    #[test]
    fn what_the_plain_request_has_is_wanted_by_a_clause() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let clause = |place: &str| {
            let all = suite.alternatives("ncbct");
            all.iter().find(|other| other.place == place).map(|other| other.clause.clone())
        };
        assert_eq!(clause("body/debtorAccount/currency"), Some(Some("currency.listed".to_owned())));
        assert_eq!(clause("body/debtorAccount"), Some(Some("account.identifier".to_owned())));
        // If a target rejects the first values of a list, the last one is tried.
        let all = suite.alternatives("ncbct");
        let has = |value: &str| all.iter().any(|other| other.case.changes().concat().contains(value));
        assert!(has("body/regulatoryReportingCode = \"82\""), "{all:?}");
        // Forms that replace a part of the baseline are tried after those that only add something.
        let at = |change: &str| {
            all.iter().position(|other| other.case.changes().concat().contains(change)).unwrap()
        };
        assert!(at("body/creditorAgent") < at("body/debtorAccount/bban"));
        assert!(at("header/PSU-Geo-Location") < at("body/creditorAccount/bban"));
        // An operation must not require a header of other operations.
        let of_others = suite.alternatives("customers");
        let field = of_others.iter().find(|other| other.place == "header/x-accept-fix").unwrap();
        assert!(suite.clauses().contains_key(field.clause.as_deref().unwrap()), "{:?}", field.clause);
        // The clause makes a header optional that the baseline omits.
        assert_eq!(clause("header/PSU-Geo-Location"), Some(Some("header.psu-geo-location.ncbct".to_owned())));
    }
}
