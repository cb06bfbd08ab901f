//! Baselines: valid requests by name, with the requests that prepare them.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use xs2aspec_spec::{Problem, Tree, yaml};

use crate::{
    definition::{self, Signing, Step},
    request::{BodySpec, RequestSpec, checked_path},
    template,
};

/// A valid request, with all extensions applied.
#[derive(Debug, Clone)]
pub struct Baseline {
    /// A description of the request.
    pub about: String,
    /// The request.
    pub request: Arc<RequestSpec>,
    /// Requests that prepare it.
    pub before: Vec<Step>,
    /// Capabilities that the target needs for it.
    pub needs: Vec<String>,
    /// Name of the baseline that it extends, if any.
    pub extends: Option<String>,
}

/// Reads every baseline of the tree.
pub fn load(tree: &Tree, problems: &mut Vec<Problem>) -> BTreeMap<String, Baseline> {
    let mut files = BTreeMap::new();
    for (path, text) in tree.below("fixtures/requests/", ".yaml") {
        match yaml::read::<definition::Baseline>(path, text) {
            Ok(read) => _ = files.insert(name_of(path), (path, read)),
            Err(problem) => problems.push(problem),
        }
    }
    let mut baselines = BTreeMap::new();
    for name in files.keys() {
        match resolve(name, &files, 0) {
            Ok(baseline) => _ = baselines.insert(name.clone(), baseline),
            Err(problem) => problems.push(problem),
        }
    }
    baselines
}

type Files<'a> = BTreeMap<String, (&'a str, definition::Baseline)>;

fn name_of(path: &str) -> String {
    path.trim_start_matches("fixtures/requests/").trim_end_matches(".yaml").to_owned()
}

fn resolve(name: &str, files: &Files, depth: usize) -> Result<Baseline, Problem> {
    let (path, file) = &files[name];
    let whole = |message: String| Problem::of_file(path, message);
    let Some(parent) = &file.extends else { return root(path, file) };
    let Some((parent_path, _)) = files.get(parent) else {
        let problem = whole(format!("extends `{parent}`, which does not exist"));
        return Err(problem.nearest(parent, files.keys().map(String::as_str)));
    };
    if depth > files.len() {
        return Err(whole(format!("extends `{parent}` ({parent_path}), which extends this baseline again")));
    }
    let definition::Baseline { operation: None, method: None, path: None, body: None, headers, .. } = file
    else {
        return Err(whole(
            "a baseline that `extends` another one can only have `change`, `before` and `needs`".into(),
        ));
    };
    if !headers.is_empty() {
        return Err(whole("a baseline that `extends` another one must change headers with `change`".into()));
    }
    let mut baseline = resolve(parent, files, depth + 1)?;
    for change in &file.change {
        let mut computed = change.value.clone();
        computed.to = match computed.to {
            Some(to) => Some(template::compute(to).map_err(|error| change.problem(path, error.to_string()))?),
            None => None,
        };
        let request = Arc::make_mut(&mut baseline.request);
        request.apply(&computed).map_err(|error| change.problem(path, error.to_string()))?;
    }
    baseline.about.clone_from(&file.about);
    baseline.extends = Some(parent.clone());
    baseline.needs.extend(file.needs.iter().cloned());
    if let Some(before) = &file.before {
        baseline.before.clone_from(before);
    }
    Ok(baseline)
}

fn root(path: &str, file: &definition::Baseline) -> Result<Baseline, Problem> {
    let wanted = |what: &str| {
        Problem::of_file(path, format!("a baseline needs `{what}` unless it `extends` another one"))
    };
    let body = match &file.body {
        None => BodySpec::None,
        Some(body) => {
            let body = template::compute(body.clone());
            BodySpec::Json(
                body.map_err(|error| Problem::of_file(path, error.to_string()))?.into(),
                Vec::new(),
            )
        }
    };
    if !file.change.is_empty() {
        return Err(Problem::of_file(path, "only a baseline that `extends` another one can have `change`"));
    }
    Ok(Baseline {
        about: file.about.clone(),
        request: Arc::new(RequestSpec {
            operation: file.operation.clone().ok_or_else(|| wanted("operation"))?,
            method: file.method.clone().ok_or_else(|| wanted("method"))?,
            path: checked_path(file.path.clone().ok_or_else(|| wanted("path"))?)
                .map_err(|error| Problem::of_file(path, error.to_string()))?,
            query: Vec::new(),
            headers: file
                .headers
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect::<Vec<(String, Value)>>()
                .into(),
            body,
            signing: Signing::default(),
            exact: false,
            spelled: Vec::new(),
        }),
        before: file.before.clone().unwrap_or_default(),
        needs: file.needs.clone(),
        extends: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "about: a\noperation: ncbct\nmethod: POST\npath: /v1\nheaders: {A: b}\nbody: {m: x}\n";

    fn loaded(child: &str) -> Result<Baseline, String> {
        let tree =
            Tree::of(&[("fixtures/requests/root.yaml", ROOT), ("fixtures/requests/child.yaml", child)]);
        let mut problems = Vec::new();
        let mut baselines = load(&tree, &mut problems);
        baselines.remove("child").ok_or_else(|| problems[0].to_string())
    }

    #[test]
    fn an_extension_is_its_parent_with_changes() {
        let child = loaded(
            "about: c\nextends: root\nneeds: [basket]\nchange: [{set: header/B, to: c}, {remove: body/m}]\n",
        );
        let child = child.unwrap();
        assert_eq!(child.request.header("b"), Some(&Value::from("c")));
        assert_eq!(child.request.body, BodySpec::Json(serde_json::json!({}).into(), vec![]));
        assert_eq!(child.needs, ["basket"]);
    }

    #[test]
    fn each_mistake_is_an_error_in_its_file() {
        let cases = [
            ("about: c\nextends: rot\n", "did you mean `root`?"),
            ("about: c\nextends: child\n", "extends this baseline again"),
            ("about: c\nextends: root\nmethod: GET\n", "can only have `change`"),
            ("about: c\nextends: root\nheaders: {A: b}\n", "must change headers with `change`"),
            ("about: c\nextends: root\nchange: [{remove: body/x}]\n", "would change nothing"),
            ("about: c\noperation: ncbct\nmethod: POST\n", "needs `path`"),
            (
                "about: c\noperation: n\nmethod: GET\npath: /\nchange: [{remove: header/A}]\n",
                "only a baseline that `extends`",
            ),
            ("about: c\noperaton: n\n", "did you mean `operation`?"),
        ];
        for (child, expected) in cases {
            let found = loaded(child).map(|_| ()).unwrap_err();
            assert!(
                found.starts_with("fixtures/requests/child.yaml") && found.contains(expected),
                "{child}: {found}"
            );
        }
    }
}
