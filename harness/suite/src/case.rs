//! Expanded cases: what to send, and what must come back.

use std::sync::Arc;

use xs2aspec_spec::Problem;

use crate::{
    definition::{Depth, IfControlRefused, StepExpect},
    expectation::Expectation,
    lazy_request::LazyRequest,
    location::Location,
    request::RequestSpec,
};

/// How the names of cases begin that have a row of lawful optional parts beside their mistake; its number
/// follows.
pub(crate) const BESIDE: &str = "beside-";

/// What a case file writes as the control of the plain request of an operation.
pub(crate) const NO_CONTROL: &str = "none";

/// One case: what to send, and what must come back.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Id, made of names: the clause, `/`, and the names of the axes' rows.
    pub id: String,
    /// Id of the clause it shows.
    pub clause: String,
    /// Area: the folder of its file below `cases/`.
    pub area: String,
    /// File in which it stands, by the name under which it can be opened.
    pub file: String,
    /// Line of the row or group, from 1.
    pub line: u32,
    /// Column of the row or group, from 1.
    pub column: u32,
    /// Line of the group, from 1.
    pub group: u32,
    /// From which depth on it runs.
    pub depth: Depth,
    /// Why the case is as it is.
    pub about: Option<String>,
    /// Name of its baseline.
    pub baseline: String,
    /// What is different from the baseline besides the changes of the request, one line each.
    pub notes: Vec<String>,
    /// The lawful forms that are together in it, by their numbers among those of the operation, where each
    /// can be left out: which of them a target refuses can then be found.
    pub together: Vec<usize>,
    /// Requests that prepare the judged one.
    pub before: Vec<Preparation>,
    /// The judged request.
    pub request: LazyRequest,
    /// What must come back.
    pub expect: Expectation,
    /// Id of the case that is its control; every case has one but the plain one of each operation.
    pub control: Option<String>,
    /// Whether it is the plain request of its operation, which all others lean on.
    pub is_plain: bool,
    /// Id of the plain case whose request this is once more: nothing is sent again for it.
    pub same_as: Option<String>,
    /// What it comes to when the control is refused.
    pub if_control_refused: IfControlRefused,
    /// Capabilities without which it does not apply.
    pub needs: Vec<String>,
}

impl Case {
    /// The row of lawful optional parts that the request has beside its mistake, as the name of the case
    /// says.
    pub fn row_beside(&self) -> Option<u32> {
        self.id.rsplit_once('/')?.1.strip_prefix(BESIDE)?.parse().ok()
    }

    /// A case of no file: this request, of which nothing is demanded.
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
        self.notes.push("comes over a connection of its own".to_owned());
    }

    /// What is different from the baseline, one line each.
    pub fn changes(&self) -> Vec<String> {
        self.request.described().chain(self.notes.iter().cloned()).collect()
    }

    /// Whether anything is different from the baseline.
    pub fn is_changed(&self) -> bool {
        !self.request.changes().is_empty() || !self.notes.is_empty()
    }

    /// Its operation.
    pub fn operation(&self) -> &str {
        self.request.operation()
    }

    /// A mistake in it, at its place.
    pub(crate) fn problem(&self, message: impl Into<String>) -> Problem {
        Problem { line: self.line, column: self.column, ..Problem::of_file(&self.file, message) }
    }

    /// Whether it sends nothing that could make anything: its only request is a GET.
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
    /// Values kept from the answer: key and place.
    pub keep: Vec<(String, Location)>,
    /// How often it is sent; `None` for once, with kept values that are no lists.
    pub times: Option<usize>,
    /// Whether all of them are sent at once.
    pub at_once: bool,
    /// Keys of `keep` of which no value may come twice.
    pub distinct: Vec<String>,
    /// What must come back.
    pub expect: StepExpect,
}

/// The folder of a case file below `cases/`; a file that lies in no folder is an area of its own.
pub(crate) fn area_of(path: &str) -> String {
    let below = path.strip_prefix("cases/").unwrap_or(path);
    below.split_once('/').map_or(below.trim_end_matches(".yaml"), |(area, _)| area).to_owned()
}
