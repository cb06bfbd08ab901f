//! Finds values that are masked by place: short ones, which occur inside other values, and words.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use xs2aspec_spec::{
    MaskSpec,
    masks::{Privacy, normalized},
};
use xs2aspec_suite::{BodySpec, RequestSpec, Suite, template};

use super::{
    finder::{Found, is_word},
    key::MaskKey,
    secret::{Grade, Secret, last},
    view::View,
};
use crate::profile::Profile;

/// The prefix of a placeholder for a profile value.
const TARGET: &str = "target.";

/// The places where requests contain a profile value.
#[derive(Clone, Default)]
struct Home {
    /// Fields, headers and parameters, without `-` and `_`.
    names: BTreeSet<String>,
    /// Path segments: the last fixed segment before the value, and the distance to it.
    segments: BTreeSet<(String, usize)>,
}

/// Finds values at their places.
#[derive(Default)]
pub(super) struct Near {
    secrets: Vec<(Secret, Home)>,
    personal: MaskSpec,
}

impl Near {
    /// Returns the profile values that are not masked everywhere, with their places.
    pub(super) fn new(secrets: &[Secret], profile: &Profile, suite: &Suite) -> Self {
        let few: Vec<&Secret> = secrets.iter().filter(|secret| secret.grade < Grade::Anywhere).collect();
        let personal = suite.spec().masks.clone();
        if few.is_empty() {
            return Self { secrets: Vec::new(), personal };
        }
        let homes = homes(profile, suite);
        let secrets = few.into_iter().filter_map(|secret| {
            let name = secret.name.as_deref()?;
            let mut home = homes.get(name).cloned().unwrap_or_default();
            home.names.extend(of_responses(name));
            Some((secret.clone(), home))
        });
        Self { secrets: secrets.collect(), personal }
    }

    /// Finds values in a field, header or parameter with this name.
    pub(super) fn at(&self, name: &str, text: &[u8], key: &MaskKey) -> Vec<Found> {
        if self.secrets.is_empty() {
            return Vec::new();
        }
        let name = normalized(name);
        let is_personal = matches!(self.personal.privacy(&name), Privacy::Personal(_));
        let at_home = self.secrets.iter().filter(|(_, home)| is_personal || home.names.contains(&name));
        let mut found = Vec::new();
        for (secret, _) in at_home {
            found.extend(words(secret, text, key));
        }
        found
    }

    /// Finds values in the paths and queries of a string.
    pub(super) fn in_paths(&self, text: &[u8], key: &MaskKey) -> Vec<Found> {
        let mut found = Vec::new();
        if self.secrets.is_empty() {
            return found;
        }
        let of_path = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+;=@/?".contains(&byte);
        let mut at = 0;
        for run in text.split(|byte| !of_path(*byte)) {
            let start = at;
            at += run.len() + 1;
            if run.contains(&b'/') {
                self.in_path(start, run, key, &mut found);
            }
        }
        found
    }

    fn in_path(&self, start: usize, run: &[u8], key: &MaskKey, found: &mut Vec<Found>) {
        let (path, query) = match run.iter().position(|byte| *byte == b'?') {
            Some(at) => (&run[..at], &run[at + 1..]),
            None => (run, &run[run.len()..]),
        };
        let segments: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
        let mut at = start;
        for (number, segment) in segments.iter().enumerate() {
            let is_home = |(literal, distance): &(String, usize)| {
                number.checked_sub(*distance).is_some_and(|before| segments[before] == literal.as_bytes())
            };
            for (secret, home) in &self.secrets {
                if home.segments.iter().any(is_home) {
                    let words = words(secret, segment, key).into_iter();
                    found.extend(words.map(|word| word.moved(at)));
                }
            }
            at += segment.len() + 1;
        }
        let mut at = start + run.len() - query.len();
        for pair in query.split(|byte| *byte == b'&') {
            let name = pair.split(|byte| *byte == b'=').next().unwrap_or_default();
            let value = pair.get(name.len() + 1..).unwrap_or_default();
            let words = self.at(&String::from_utf8_lossy(name), value, key).into_iter();
            found.extend(words.map(|word| word.moved(at + name.len() + 1)));
            at += pair.len() + 1;
        }
    }
}

/// Finds a secret as a whole word, in any notation.
fn words(secret: &Secret, text: &[u8], key: &MaskKey) -> Vec<Found> {
    let view = View::decoded(text);
    let (bytes, wanted) = (&view.bytes, secret.text.as_bytes());
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = bytes.get(at..at + wanted.len()).filter(|_| !wanted.is_empty()) {
        let range = at..at + wanted.len();
        if word.eq_ignore_ascii_case(wanted) && is_word(bytes, &range) {
            found.push(Found { at: view.place(range), pseudonym: secret.pseudonym(key, "") });
        }
        at += 1;
    }
    found
}

/// Returns the names that responses may use for a value: `accountId` for `transaction.account-id`,
/// `paymentId` for `payment.id` and `pending-payment.id`.
fn of_responses(name: &str) -> Vec<String> {
    let key = last(name);
    let table =
        name.rsplit('.').find(|part| *part != key && part.parse::<u32>().is_err()).unwrap_or_default();
    let thing = table.rsplit('-').next().unwrap_or_default();
    let mut names = vec![normalized(&format!("{table}{key}")), normalized(&format!("{thing}{key}"))];
    // `id` alone is too common.
    if key != "id" {
        names.push(normalized(key));
    }
    names
}

/// Returns the places where the requests of a suite contain profile values, by the name of the value.
fn homes(profile: &Profile, suite: &Suite) -> BTreeMap<String, Home> {
    let mut homes = BTreeMap::<String, Home>::new();
    let mut visit = |request: &RequestSpec| {
        visit(request, profile.paths.get(&request.operation), &mut homes);
    };
    suite.baselines().values().for_each(|baseline| visit(&baseline.request));
    for case in suite.cases() {
        let steps = case.before.iter().map(|step| &step.request);
        // Few steps add a value that the valid request lacks, and building all requests takes too long at
        // startup.
        steps
            .chain([&case.request])
            .filter(|request| request.adds(TARGET))
            .for_each(|request| visit(request));
    }
    homes
}

fn visit(request: &RequestSpec, path: Option<&String>, homes: &mut BTreeMap<String, Home>) {
    let mut add = |name: &str, value: &Value| {
        for target in targets(value) {
            homes.entry(target).or_default().names.insert(normalized(name));
        }
    };
    for (name, value) in request.headers.iter().chain(&request.query) {
        add(name, value);
    }
    if let BodySpec::Json(value, repeats) = &request.body {
        fields("", value, &mut add);
        for (pointer, value) in repeats {
            fields(pointer.rsplit('/').next().unwrap_or_default(), value, &mut add);
        }
    }
    for path in path.into_iter().chain([&request.path]) {
        let segments: Vec<&str> = path.split('/').collect();
        for (number, segment) in segments.iter().enumerate() {
            let fixed = segments[..number].iter().rposition(|before| !before.contains("${"));
            let Some(fixed) = fixed else { continue };
            for target in targets(&Value::from(*segment)) {
                let place = (segments[fixed].to_owned(), number - fixed);
                homes.entry(target).or_default().segments.insert(place);
            }
        }
    }
}

fn fields(name: &str, value: &Value, add: &mut dyn FnMut(&str, &Value)) {
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| fields(name, value, add)),
        Value::Array(items) => items.iter().for_each(|item| fields(name, item, add)),
        other => add(name, other),
    }
}

/// Returns the names of the profile values in a template.
fn targets(value: &Value) -> Vec<String> {
    let names = template::names(value).into_iter();
    names.filter_map(|name| name.split_once(TARGET).map(|(_, name)| name.to_owned())).collect()
}
