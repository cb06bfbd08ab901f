//! Expands a group of a case file into its cases, one for each combination of its axes.

use serde_json::Value;
use xs2aspec_spec::{At, Clause, Problem};

use crate::{
    axis::{self, Combination, Numbers, Sources},
    baseline::Baseline,
    case::{Case, NO_CONTROL, Preparation, area_of},
    definition::{Change, Group, Signing, Step},
    expectation::Expectation,
    lazy_request::LazyRequest,
    parts::Parts,
    request::RequestSpec,
    template,
};

/// Returns all cases of a group, with the entries of profiles that every suite has.
pub(crate) fn of_group(path: &str, group: &At<Group>, parts: &Parts) -> Result<Vec<Case>, Problem> {
    let lists = &parts.spec.profile.lists;
    of_entries(path, group, parts, &lists.iter().map(|(table, last)| (table.clone(), 2..=*last)).collect())
}

/// Returns all cases of a group, with the entries of profiles that have these numbers.
pub(crate) fn of_entries(
    path: &str,
    group: &At<Group>,
    parts: &Parts,
    entries: &Numbers,
) -> Result<Vec<Case>, Problem> {
    let sources = Sources { tree: &parts.tree, requests: parts.requests(), entries };
    let combinations = axis::combinations(path, group, sources)?;
    combinations.iter().map(|combination| expand(path, group, combination, parts)).collect()
}

fn expand(path: &str, group: &At<Group>, row: &Combination, parts: &Parts) -> Result<Case, Problem> {
    let expander = Expander { path, group, row, parts };
    let definition = &group.value;
    let clause = expander.clause()?;
    let name = match &definition.name {
        Some(name) => expander.text(name)?,
        None if row.name().is_empty() => {
            return Err(group.problem(path, "a case without axes needs a `name`"));
        }
        None => row.name(),
    };
    if let Some(part) = name.split('/').find(|part| !axis::is_name(part)) {
        let message = format!("the name `{name}` cannot be part of an id: `{part}` is not allowed");
        return Err(group.problem(path, message).help(axis::NAMES));
    }
    let baseline_name = expander.text(&definition.baseline)?;
    let baseline = expander.baseline(&baseline_name)?;
    let mut changes = Vec::new();
    let mut request = RequestSpec::clone(&baseline.request);
    for change in &definition.change {
        changes.push(expander.change(change, &mut request)?);
    }
    request.signing = expander.signing(&definition.signing)?;
    let notes = request.signing.describe();
    let steps = definition.before.as_ref().unwrap_or(&baseline.before);
    let before = expander.preparations(steps)?;
    let expect = expander.value(&definition.expect.value)?;
    let expect = Expectation::parse(&expect).map_err(|message| definition.expect.problem(path, message))?;
    expander.check_placeholders(&request, &before)?;
    expander.check_expected(&expect, &before)?;
    let needs = expander.needs(baseline)?;
    let control = definition.control.as_deref().map(|control| expander.text(control)).transpose()?;
    let is_plain = control.as_deref() == Some(NO_CONTROL);
    let control = control.filter(|_| !is_plain);
    let (line, column) = row.place().unwrap_or((group.line, group.column));
    Ok(Case {
        id: format!("{}/{name}", clause.id),
        clause: clause.id.clone(),
        area: area_of(path),
        file: parts.tree.shown(path),
        line,
        column,
        group: group.line,
        depth: definition.depth,
        about: definition.about.clone(),
        baseline: baseline_name,
        notes,
        together: Vec::new(),
        before,
        request: LazyRequest::made(&baseline.request, changes, request),
        expect,
        control,
        is_plain,
        same_as: None,
        if_control_refused: definition.if_control_refused,
        needs,
    })
}

struct Expander<'a> {
    path: &'a str,
    group: &'a At<Group>,
    row: &'a Combination,
    parts: &'a Parts,
}

impl<'a> Expander<'a> {
    fn problem(&self, message: impl Into<String>) -> Problem {
        self.group.problem(self.path, message)
    }

    fn value(&self, value: &Value) -> Result<Value, Problem> {
        let filled = template::expand(value, &|name| self.row.lookup(name));
        filled.and_then(template::compute).map_err(|error| self.problem(error.to_string()))
    }

    /// Fills in a string. A placeholder that remains is an error.
    fn text(&self, text: &str) -> Result<String, Problem> {
        match self.value(&Value::String(text.to_owned()))? {
            Value::String(text) => match template::names(&Value::String(text.clone())).first() {
                None => Ok(text),
                Some(name) => Err(self.unknown(name)),
            },
            other => Ok(other.to_string()),
        }
    }

    fn unknown(&self, name: &str) -> Problem {
        let known = self.row.known();
        self.problem(format!("`${{{name}}}` is neither an axis nor a known placeholder"))
            .nearest(name, known.iter().map(String::as_str).chain(template::RUN_TIME))
    }

    fn clause(&self) -> Result<&'a Clause, Problem> {
        let id = self.text(&self.group.value.clause)?;
        self.parts.spec.clauses.get(&id).ok_or_else(|| {
            self.problem(format!("clause `{id}` is not declared"))
                .nearest(&id, self.parts.spec.clauses.keys().map(String::as_str))
        })
    }

    fn baseline(&self, name: &str) -> Result<&'a Baseline, Problem> {
        self.parts.baselines.get(name).ok_or_else(|| {
            self.problem(format!("there is no baseline `{name}`"))
                .nearest(name, self.parts.baselines.keys().map(String::as_str))
        })
    }

    fn change(&self, change: &At<Change>, request: &mut RequestSpec) -> Result<Change, Problem> {
        let Change { set, remove, repeat, rename, raw, to } = &change.value;
        let at = |text: &Option<String>| text.as_deref().map(|text| self.text(text)).transpose();
        let to = match to {
            Some(to) => Some(self.value(to)?),
            None => None,
        };
        let filled = Change {
            set: at(set)?,
            remove: at(remove)?,
            repeat: at(repeat)?,
            rename: at(rename)?,
            raw: at(raw)?,
            to,
        };
        request.apply(&filled).map_err(|error| change.problem(self.path, error.to_string()))?;
        Ok(filled)
    }

    fn signing(&self, signing: &Signing) -> Result<Signing, Problem> {
        if *signing == Signing::default() {
            return Ok(Signing::default());
        }
        let problem = |error: serde_json::Error| self.problem(format!("`signing`: {error}"));
        let signing = serde_json::to_value(signing).map_err(problem)?;
        serde_json::from_value(self.value(&signing)?).map_err(problem)
    }

    fn preparations(&self, steps: &[Step]) -> Result<Vec<Preparation>, Problem> {
        let mut before = Vec::new();
        for step in steps {
            let name = self.text(&step.baseline)?;
            let plain = &self.baseline(&name)?.request;
            let mut request = RequestSpec::clone(plain);
            let changes = step.change.iter().map(|change| self.change(change, &mut request));
            let changes = changes.collect::<Result<Vec<_>, _>>()?;
            request.signing = self.signing(&step.signing)?;
            // They use their own connections. The connections that a client keeps would otherwise be replaced
            // in the middle of a run.
            request.exact |= step.at_once;
            if let Some(key) = step.distinct.iter().find(|key| !step.keep.contains_key(*key)) {
                let problem = self
                    .problem(format!("`distinct` of step `{}`: the step does not keep `{key}`", step.name));
                return Err(problem.nearest(key, step.keep.keys().map(String::as_str)));
            }
            if (step.at_once || !step.distinct.is_empty()) && step.times.is_none() {
                let message = format!("`at-once` and `distinct` of step `{}` need `times`", step.name);
                return Err(self.problem(message));
            }
            let keep = step.keep.iter().map(|(key, place)| match place.parse() {
                Ok(place) => Ok((key.clone(), place)),
                Err(error) => Err(self.problem(format!("`keep` of step `{}`: {error}", step.name))),
            });
            let times = match &step.times {
                None => None,
                Some(times) => {
                    let times = self.value(times)?;
                    let number = times
                        .as_u64()
                        .or_else(|| times.as_str()?.parse().ok())
                        .filter(|number| *number <= 100);
                    let number = number.and_then(|number| usize::try_from(number).ok());
                    Some(number.ok_or_else(|| {
                        self.problem(format!("`times` must be a number up to 100, found {times}"))
                    })?)
                }
            };
            before.push(Preparation {
                name: step.name.clone(),
                baseline: name,
                request: LazyRequest::made(plain, changes, request),
                keep: keep.collect::<Result<_, _>>()?,
                times,
                at_once: step.at_once,
                distinct: step.distinct.clone(),
                expect: step.expect,
            });
        }
        Ok(before)
    }

    /// Checks that every placeholder that remains has a value at run time.
    fn check_placeholders(&self, request: &RequestSpec, before: &[Preparation]) -> Result<(), Problem> {
        let requests = before.iter().map(|step| &*step.request).chain([request]).enumerate();
        for (index, request) in requests {
            for name in request.placeholders() {
                let is_made = template::RUN_TIME.contains(&template::head(&name));
                if !self.is_value(&name)? && !is_made && !is_kept(&name, &before[..index.min(before.len())]) {
                    return Err(self.unknown(&name));
                }
            }
        }
        Ok(())
    }

    /// Checks that the values that a body must have are known from the target or kept by a preparing request.
    fn check_expected(&self, expect: &Expectation, before: &[Preparation]) -> Result<(), Problem> {
        for name in expect.placeholders() {
            if !self.is_value(&name)? && !is_kept(&name, before) {
                let message =
                    format!("`${{{name}}}` is neither a value of the target nor kept by an earlier step");
                return Err(self.group.value.expect.problem(self.path, message));
            }
        }
        Ok(())
    }

    /// Returns true if a placeholder is a value of the target. Such a value must be one that profiles can
    /// have.
    fn is_value(&self, name: &str) -> Result<bool, Problem> {
        let Some(value) = name.strip_prefix("target.") else { return Ok(false) };
        let profile = &self.parts.spec.profile;
        if profile.value(value).is_none() {
            let problem = self.problem(format!("a bank profile has no value `{value}`"));
            return Err(problem.nearest(value, profile.value_names()));
        }
        Ok(true)
    }

    fn needs(&self, baseline: &Baseline) -> Result<Vec<String>, Problem> {
        let mut needs = baseline.needs.clone();
        for need in &self.group.value.needs {
            needs.push(self.text(need)?);
        }
        needs.sort();
        needs.dedup();
        let profile = &self.parts.spec.profile;
        match needs.iter().find(|need| profile.capability(need).is_none()) {
            None => Ok(needs),
            Some(need) => {
                let names = profile.capability_names();
                Err(self.problem(format!("there is no capability `{need}`")).nearest(need, names))
            }
        }
    }
}

/// Returns true if one of these steps keeps the value that a placeholder names.
fn is_kept(name: &str, before: &[Preparation]) -> bool {
    let Some((step, key)) = name.split_once('.') else { return false };
    before.iter().any(|one| one.name == step && one.keep.iter().any(|(kept, _)| kept == key))
}
