//! The lines of the user's files to which findings belong, so that a CI server can mark them there.
//!
//! A finding belongs to a line of the profile, of an OpenAPI description, or of a file that a table names.
//! The places are recorded in the run, so that reports depend on the record alone.

mod openapi;

use std::collections::BTreeMap;

use xs2aspec_record::Place;

use self::openapi::OpenApi;
use crate::{findings::Found, summary::RunSummary};

/// The reason that a file of places cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LocateError {
    /// Neither an OpenAPI description nor a table.
    #[error("expected an OpenAPI description with `paths`, or a table with PLACE<TAB>FILE:LINE in each line")]
    Unknown,
    /// An OpenAPI description with wrong syntax.
    #[error("cannot read it as YAML or JSON: {0}")]
    Syntax(String),
    /// A row of a table.
    #[error("line {line}: expected PLACE<TAB>FILE:LINE, found `{found}`")]
    Row {
        /// Line of the table, from 1.
        line: usize,
        /// The row.
        found: String,
    },
}

/// Finds the place of a finding.
#[derive(Debug)]
pub enum Locator {
    /// Places by clause, by place of a message, or by operation (`POST /v1/signing-baskets`).
    Table(BTreeMap<String, Place>),
    /// An OpenAPI description.
    OpenApi(Box<Description>),
}

/// An OpenAPI description and the path of its file.
#[derive(Debug)]
pub struct Description {
    file: String,
    document: OpenApi,
}

impl Locator {
    /// Reads an OpenAPI description or a table. `file` is its path.
    pub fn read(file: &str, text: &str) -> Result<Self, LocateError> {
        let file = file.replace('\\', "/");
        let has_rows =
            text.lines().any(|line| line.contains('\t') && !line.trim_start().starts_with(['"', '#']));
        let is_json = text.trim_start().starts_with('{');
        if has_rows && !is_json && !text.lines().any(|line| line.starts_with("paths:")) {
            return table(text);
        }
        let document = OpenApi::read(text)?;
        Ok(Self::OpenApi(Box::new(Description { file, document })))
    }

    /// Returns the places of the findings of a run, by id.
    pub fn places(&self, summary: &RunSummary) -> BTreeMap<String, Place> {
        let base = &summary.start().base_url;
        let all = summary.findings().all().iter();
        all.filter_map(|found| Some((found.id.clone(), self.place(found, base)?))).collect()
    }

    fn place(&self, found: &Found, base: &str) -> Option<Place> {
        let sent = found.root.sent_to.as_ref();
        let sent = sent.map(|(method, url)| (method.as_str(), path(url, base)));
        match self {
            Self::OpenApi(description) => {
                let Description { file, document } = &**description;
                let line = sent.and_then(|(method, path)| document.line(method, path, found)).unwrap_or(1);
                Some(Place { file: file.clone(), line, column: 1 })
            }
            Self::Table(places) => {
                let at = found.place.split(' ').chain(found.root.places());
                let mut keys = [found.clause.as_str()].into_iter().chain(at);
                let by_key = keys.find_map(|key| {
                    places.iter().find(|(known, _)| known.eq_ignore_ascii_case(key)).map(|(_, place)| place)
                });
                let by_operation = || {
                    let (method, path) = sent?;
                    let is_of = |key: &str| {
                        key.split_once(' ').is_some_and(|(known, template)| {
                            known.eq_ignore_ascii_case(method) && fit(template, path).is_some()
                        })
                    };
                    places.iter().find(|(key, _)| is_of(key)).map(|(_, place)| place)
                };
                by_key.or_else(by_operation).or_else(|| places.get("*")).cloned()
            }
        }
    }
}

/// Reads a table of places. Empty lines and lines that begin with `#` are skipped.
fn table(text: &str) -> Result<Locator, LocateError> {
    let mut places = BTreeMap::new();
    for (number, row) in text.lines().enumerate() {
        if row.trim().is_empty() || row.starts_with('#') {
            continue;
        }
        let wrong = || LocateError::Row { line: number + 1, found: row.to_owned() };
        let (key, place) = row.split_once('\t').ok_or_else(wrong)?;
        let (file, line) = place.trim().rsplit_once(':').ok_or_else(wrong)?;
        let line = line.parse().ok().filter(|line| *line > 0).ok_or_else(wrong)?;
        places.insert(key.trim().to_owned(), Place { file: file.replace('\\', "/"), line, column: 1 });
    }
    Ok(Locator::Table(places))
}

/// Returns the path of a URL below the base URL, without its query.
fn path<'a>(url: &'a str, base: &str) -> &'a str {
    let below = url.strip_prefix(base.trim_end_matches('/')).unwrap_or(url);
    below.split('?').next().unwrap_or_default()
}

/// Returns the number of segments of a template that a path has at its end, or None if it does not fit. A
/// segment in braces fits any.
fn fit(template: &str, path: &str) -> Option<usize> {
    let template: Vec<&str> = template.trim_matches('/').split('/').collect();
    let path: Vec<&str> = path.trim_matches('/').split('/').collect();
    let start = path.len().checked_sub(template.len())?;
    let is_same = |(known, sent): (&&str, &&str)| known == sent || known.starts_with('{');
    template.iter().zip(&path[start..]).all(is_same).then_some(template.len())
}

#[cfg(test)]
mod tests {
    use xs2aspec_record::Verdict;

    use super::*;
    use crate::{Run, sample::Sample};

    fn run() -> Run {
        let mut sample = Sample::new(1);
        sample.verdict("periodic.months/one", Verdict::Fail);
        Run::of(&sample.finished()).unwrap()
    }

    #[test]
    fn a_table_names_a_finding_by_clause_place_or_operation() {
        let run = run();
        for (row, expected) in [
            ("periodic.months\tsrc/months.rs:7", Some(("src/months.rs", 7))),
            ("STATUS\tsrc/status.rs:8", Some(("src/status.rs", 8))),
            ("post /v1/periodic-payments/{product}\tsrc/pay.rs:9", Some(("src/pay.rs", 9))),
            ("GET /v1/periodic-payments/{product}\tsrc/pay.rs:9", None),
            ("# all\n\n*\tREADME.md:1", Some(("README.md", 1))),
            ("basket.mix\tsrc/mix.rs:7", None),
        ] {
            let places = Locator::read("places.tsv", row).unwrap().places(run.summary());
            let found = places.values().next().map(|place| (place.file.as_str(), place.line));
            assert_eq!(found, expected, "{row}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_says_why() {
        for (text, expected) in [
            ("a\tb", "line 1: expected PLACE<TAB>FILE:LINE, found `a\tb`"),
            ("a\tb:0", "line 1: expected PLACE<TAB>FILE:LINE, found `a\tb:0`"),
            ("a: b", "expected an OpenAPI description with `paths`"),
            ("", "expected an OpenAPI description with `paths`"),
            ("{\"a\"", "cannot read it as YAML or JSON"),
        ] {
            let error = Locator::read("a", text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }

    #[test]
    fn a_path_fits_a_template_at_its_end() {
        for (template, path, expected) in [
            ("/v1/a/{id}", "/v1/a/7", Some(3)),
            ("/a/{id}", "/psd2/v1/a/7", Some(2)),
            ("/a/{id}/b", "/v1/a/7", None),
            ("/v1/b", "/v1/a", None),
        ] {
            assert_eq!(fit(template, path), expected, "{template} {path}");
        }
    }
}
