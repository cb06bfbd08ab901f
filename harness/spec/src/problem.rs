//! Mistakes in case files, rule files and baselines, with their location and advice.

use std::fmt;

/// A mistake in the suite's own data. Lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Path of the file, with forward slashes.
    pub file: String,
    /// Line, from 1. 0 means the whole file.
    pub line: u32,
    /// Column in characters, from 1. 0 means the whole file.
    pub column: u32,
    /// The expectation, and what was found.
    pub message: String,
    /// Advice, if the message alone does not tell how to fix the mistake.
    pub help: Option<String>,
}

impl Problem {
    /// Creates a problem with a whole file.
    pub fn of_file(file: &str, message: impl Into<String>) -> Self {
        Self { file: file.into(), line: 0, column: 0, message: message.into(), help: None }
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the most similar of the known names as advice, if one is similar.
    #[must_use]
    pub fn nearest<'a>(mut self, found: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        if let Some(near) = nearest(found, known) {
            self.help = Some(format!("did you mean `{near}`?"));
        }
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.message)?,
            line => write!(f, "{}:{line}:{}: {}", self.file, self.column, self.message)?,
        }
        match &self.help {
            Some(help) => write!(f, "\n  = {help}"),
            None => Ok(()),
        }
    }
}

/// All mistakes, sorted by location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

/// Returns the known name that is most similar to `found`, if any is similar.
pub fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(found, name), name))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_offered_and_a_far_one_is_not() {
        assert_eq!(nearest("exepct", ["expect", "clause", "baseline"]), Some("expect"));
        assert_eq!(nearest("zzz", ["expect", "clause", "baseline"]), None);
    }

    #[test]
    fn a_problem_says_file_line_column_and_help() {
        let problem =
            Problem { line: 3, column: 5, ..Problem::of_file("cases/a.yaml", "unknown field `exepct`") };
        let shown = problem.nearest("exepct", ["expect"]).to_string();
        assert_eq!(shown, "cases/a.yaml:3:5: unknown field `exepct`\n  = did you mean `expect`?");
    }
}
