//! Expanded cases: the request to send, and the expected response.

use std::sync::Arc;

use xs2aspec_spec::Problem;

use crate::{
    definition::{Depth, IfControlRefused, StepExpect},
    expectation::Expectation,
    lazy_request::LazyRequest,
    location::Location,
    request::RequestSpec,
};

/// Prefix of the names of cases that have a row of allowed optional parts along with their invalid value. The
/// number of the row follows.
pub(crate) const BESIDE: &str = "beside-";

/// The `control` that a case file writes for the baseline request of an operation.
pub(crate) const NO_CONTROL: &str = "none";

/// A case: the request to send, and the expected response.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Id: the clause, `/`, and the names of the axes' rows.
    pub id: String,
    /// Id of the clause that it tests.
    pub clause: String,
    /// Area: the folder of its file below `cases/`.
    pub area: String,
    /// Path of its file, as a user can open it.
    pub file: String,
    /// Line of the row or group, from 1.
    pub line: u32,
    /// Column of the row or group, from 1.
    pub column: u32,
    /// Line of the group, from 1.
    pub group: u32,
    /// The lowest depth at which it runs.
    pub depth: Depth,
    /// An explanation of the case, if it has one.
    pub about: Option<String>,
    /// Name of its baseline.
    pub baseline: String,
    /// Differences from the baseline other than the changes of the request, one line each.
    pub notes: Vec<String>,
    /// Numbers of the allowed forms that it combines, among those of the operation. Each can be removed to
    /// find the one that a target rejects.
    pub together: Vec<usize>,
    /// Requests that prepare the judged one.
    pub before: Vec<Preparation>,
    /// The judged request.
    pub request: LazyRequest,
    /// The expected response.
    pub expect: Expectation,
    /// Id of its control. Only the baseline case of each operation has none.
    pub control: Option<String>,
    /// True for the baseline case of its operation, which all others depend on.
    pub is_plain: bool,
    /// Id of the baseline case with the same request, whose response counts for this case too.
    pub same_as: Option<String>,
    /// The verdict if the control is rejected.
    pub if_control_refused: IfControlRefused,
    /// Capabilities that the target needs for it.
    pub needs: Vec<String>,
}

impl Case {
    /// Returns the number in the name of a case with a row of allowed optional parts along with its invalid
    /// value.
    pub fn row_beside(&self) -> Option<u32> {
        self.id.rsplit_once('/')?.1.strip_prefix(BESIDE)?.parse().ok()
    }

    /// Creates a case that is in no file. It sends this request and expects nothing.
    pub fn unwritten(id: String, clause: String, baseline: &str, request: &Arc<RequestSpec>) -> Self {
        Self {
            id,
            clause,
            area: "explore".to_owned(),
            file: "explore".to_owned(),
            line: 1,
            column: 1,
            group: 1,
            depth: Depth::Standard,
            about: None,
            baseline: baseline.to_owned(),
            notes: Vec::new(),
            together: Vec::new(),
            before: Vec::new(),
            request: Arc::clone(request).into(),
            expect: Expectation::Observed,
            control: None,
            is_plain: false,
            same_as: None,
            if_control_refused: IfControlRefused::Inconclusive,
            needs: Vec::new(),
        }
    }

    /// Makes its request the first and only one of a connection.
    pub(crate) fn on_a_connection_of_its_own(&mut self) {
        self.request.make_exact();
        self.notes.push("sent over its own connection".to_owned());
    }

    /// Returns the differences from the baseline, one line each.
    pub fn changes(&self) -> Vec<String> {
        self.request.described().chain(self.notes.iter().cloned()).collect()
    }

    /// Returns true if anything differs from the baseline.
    pub fn is_changed(&self) -> bool {
        !self.request.changes().is_empty() || !self.notes.is_empty()
    }

    /// Returns its operation.
    pub fn operation(&self) -> &str {
        self.request.operation()
    }

    /// Creates a problem at its location.
    pub(crate) fn problem(&self, message: impl Into<String>) -> Problem {
        Problem { line: self.line, column: self.column, ..Problem::of_file(&self.file, message) }
    }

    /// Returns true if it can create nothing, since its only request is a GET.
    pub fn only_reads(&self) -> bool {
        self.before.is_empty() && self.request.method == "GET"
    }
}

/// A request that prepares the judged one.
#[derive(Debug, Clone, PartialEq)]
pub struct Preparation {
    /// Name, for `${NAME.KEY}` in later requests.
    pub name: String,
    /// Name of its baseline.
    pub baseline: String,
    /// The request.
    pub request: LazyRequest,
    /// Values kept from the response: key and place.
    pub keep: Vec<(String, Location)>,
    /// Number of times that it is sent. With `None` it is sent once, and kept values are not lists.
    pub times: Option<usize>,
    /// True if all of them are sent at once.
    pub at_once: bool,
    /// Keys of `keep` whose values must be distinct.
    pub distinct: Vec<String>,
    /// The expected response.
    pub expect: StepExpect,
}

/// Returns the folder of a case file below `cases/`. A file that is in no folder is its own area.
pub(crate) fn area_of(path: &str) -> String {
    let below = path.strip_prefix("cases/").unwrap_or(path);
    below.split_once('/').map_or(below.trim_end_matches(".yaml"), |(area, _)| area).to_owned()
}
