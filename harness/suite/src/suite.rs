//! The whole suite: clauses, baselines and expanded cases, loaded and checked together.

use std::{
    collections::{BTreeMap, HashMap, hash_map::Entry},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    thread,
};

use xs2aspec_spec::{
    AnswerRules, At, Clause, Problem, Problems, RequestRules, Spec, Tree,
    request::{Due, Prepared},
    yaml,
};

use crate::{
    alternatives::{Alternative, alternatives},
    answer_matrix,
    axis::Numbers,
    baseline::{self, Baseline},
    case::Case,
    combination::Combination,
    control,
    definition::{Depth, FormGroup, Group},
    expand,
    forms::FormCases,
    matrix::{self, Cell},
    paired,
    parallel::in_parallel,
    parts::{Parts, rules},
    request::RequestSpec,
    rule_file::{CaseFile, OF_BANKS, begins_list},
    stored::{self, Stored, StoredCases},
};

/// Clauses, baselines and cases without mistakes.
#[derive(Debug)]
pub struct Suite {
    parts: Parts,
    answers: AnswerRules,
    cases: Vec<Case>,
    by_id: HashMap<String, usize>,
    columns: Vec<(String, String)>,
    sha256: OnceLock<String>,
    /// Cached alternatives, by operation.
    alternatives: Mutex<HashMap<String, Arc<[Alternative]>>>,
}

impl Suite {
    /// Reads everything in the tree. Uses the stored cases if they were expanded from the same files, or else
    /// calls [`Self::expanded`]. Reports all mistakes together.
    pub fn load(tree: Tree) -> Result<Self, Problems> {
        Self::load_for(tree, Depth::Exhaustive)
    }

    /// Reads everything in the tree for a run of some depth. Cases that run only at a greater depth may be
    /// missing.
    pub fn load_for(tree: Tree, depth: Depth) -> Result<Self, Problems> {
        let sha256 = tree.sha256();
        let Some(stored) = Stored::of(&sha256, depth) else { return Self::expanded(tree) };
        let read = thread::scope(|scope| {
            let spec = scope.spawn(|| {
                let mut problems = Vec::new();
                let spec = Spec::without_clauses(&tree, &mut problems);
                problems.is_empty().then_some(spec)
            });
            let answers = scope.spawn(|| AnswerRules::load_known(&tree).ok());
            let baselines = baseline::load(&tree, &mut Vec::new());
            let cases = stored.cases(&tree, &baselines);
            let spec = spec.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let answers = answers.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Some((spec?, baselines, cases?, answers?))
        });
        let Some((spec, baselines, StoredCases { clauses, columns, cases }, answers)) = read else {
            return Self::expanded(tree);
        };
        let spec = Spec { clauses, ..spec };
        let by_id = index(&cases, &mut Vec::new());
        let parts = Parts { tree, spec, baselines, rules: OnceLock::new() };
        Ok(Self {
            parts,
            answers,
            cases,
            by_id,
            columns,
            sha256: OnceLock::from(sha256),
            alternatives: Mutex::default(),
        })
    }

    /// Reads and expands everything in the tree.
    pub fn expanded(tree: Tree) -> Result<Self, Problems> {
        let mut problems = Vec::new();
        let (spec, baselines, requests) = thread::scope(|scope| {
            let spec = scope.spawn(|| {
                let mut problems = Vec::new();
                (Spec::load(&tree, &mut problems), problems)
            });
            let baselines = baseline::load(&tree, &mut problems);
            let requests = rules(&tree, &baselines).unwrap_or_else(|problem| {
                problems.push(problem);
                RequestRules::default()
            });
            let (spec, others) = spec.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            problems.extend(others);
            (spec, baselines, requests)
        });
        let parts = Parts { tree, spec, baselines, rules: OnceLock::from(requests) };
        let files: Vec<(&str, &str)> = parts.tree.below("cases/", ".yaml").collect();
        let (answers, mut cases) = thread::scope(|scope| {
            let answers = scope.spawn(|| AnswerRules::load(&parts.tree));
            let cases = expanded(&files, &parts, &mut problems);
            (answers.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), cases)
        });
        let answers = answers.map_err(|found| problems.extend(found.0)).ok();
        control::give(&mut cases, &mut problems);
        if cases.is_empty() && problems.is_empty() {
            let problem = Problem::of_file("cases", "has no cases");
            problems.push(problem.help("put rule files into `cases/AREA/RULE.yaml`"));
        }
        let by_id = index(&cases, &mut problems);
        if problems.is_empty() {
            // A missing control is a mistake only if every case could be read.
            control::check(&cases, &by_id, &mut problems);
        }
        if let Some(answers) = answers.filter(|_| problems.is_empty()) {
            let columns = parts.requests().columns();
            let columns = columns.map(|(name, heading)| (name.to_owned(), heading.to_owned())).collect();
            return Ok(Self {
                parts,
                answers,
                cases,
                by_id,
                columns,
                sha256: OnceLock::new(),
                alternatives: Mutex::default(),
            });
        }
        for problem in &mut problems {
            problem.file = parts.tree.shown(&problem.file);
        }
        problems.sort();
        problems.dedup();
        Err(Problems(problems))
    }

    /// Adds cases for all entries of a profile that these values belong to. Every suite has the cases of the
    /// first few entries.
    pub fn with_entries<'a>(mut self, values: impl IntoIterator<Item = &'a str>) -> Result<Self, Problem> {
        let further = self.further(values);
        if further.is_empty() {
            return Ok(self);
        }
        for (path, text) in
            self.parts.tree.below("cases/", ".yaml").filter(|(_, text)| text.contains("entries"))
        {
            let file: CaseFile = yaml::read(path, text)?;
            let has_more = |group: &&At<Group>| {
                let mut axes = group.value.axes.values();
                axes.any(|axis| {
                    axis.value.entries.as_ref().is_some_and(|axis| further.contains_key(&axis.of))
                })
            };
            for group in file.cases.iter().filter(has_more) {
                self.cases.extend(expand::of_entries(path, group, &self.parts, &further)?);
            }
        }
        let mut twice = Vec::new();
        self.by_id = index(&self.cases, &mut twice);
        twice.into_iter().next().map_or(Ok(self), Err)
    }

    /// Returns true if it has cases for all entries of a profile that these values belong to.
    pub fn has_entries<'a>(&self, values: impl IntoIterator<Item = &'a str>) -> bool {
        self.further(values).is_empty()
    }

    /// Returns the numbers of entries that these values belong to and that have no cases yet, by list.
    fn further<'a>(&self, values: impl IntoIterator<Item = &'a str>) -> Numbers {
        let profile = &self.parts.spec.profile;
        let further = |(table, last): (String, u32)| {
            let known = *profile.lists.get(&table).filter(|known| **known < last)?;
            Some((table, known + 1..=last))
        };
        profile.entries(values).into_iter().filter_map(further).collect()
    }

    /// Returns all cases, in the order of files and groups.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Returns the case with this id.
    pub fn case(&self, id: &str) -> Option<&Case> {
        self.number(id).map(|number| &self.cases[number])
    }

    /// Returns the index of the case with this id in [`Self::cases`].
    pub fn number(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// Returns the clauses by id.
    pub fn clauses(&self) -> &BTreeMap<String, Clause> {
        &self.parts.spec.clauses
    }

    /// Returns the rules for responses.
    pub fn answers(&self) -> &AnswerRules {
        &self.answers
    }

    /// Returns the rules for requests.
    pub fn requests(&self) -> &RequestRules {
        self.parts.requests()
    }

    /// Returns the operations that have a column in a table of the document, each with the heading of the
    /// column.
    pub fn columns(&self) -> &[(String, String)] {
        &self.columns
    }

    /// Returns its cases in the format that [`Self::load`] reads: names of files, and their bytes.
    pub fn stored(&self) -> [(&'static str, Vec<u8>); 2] {
        stored::written(&self.cases, self.clauses(), &self.columns, self.sha256())
    }

    /// Returns the document as a value.
    pub fn spec(&self) -> &Spec {
        &self.parts.spec
    }

    /// Returns the baselines by name.
    pub fn baselines(&self) -> &BTreeMap<String, Baseline> {
        &self.parts.baselines
    }

    /// Returns a case with a generated request, and the response that it requires. Returns `None` if its
    /// forms conflict.
    pub fn drawn(&self, combination: &Combination) -> Option<(Case, Due)> {
        combination.case(&self.parts)
    }

    /// Returns the cases of a text that is not a file of the tree.
    pub fn written(&self, path: &str, text: &str) -> Result<Vec<Case>, Problem> {
        let file: CaseFile = yaml::read(path, text)?;
        let cases = file.cases.iter().map(|group| expand::of_group(path, group, &self.parts));
        Ok(cases.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Returns the response that a generated request requires. Returns `None` if its forms conflict.
    pub fn due_of(&self, combination: &Combination) -> Option<Due> {
        combination.due(&self.parts)
    }

    /// Returns the response that a request without preparation requires. Returns None if its operation has no
    /// baseline.
    pub fn due(&self, request: &RequestSpec) -> Option<Due> {
        let plain = self.parts.baselines.get(&request.operation)?;
        Some(self.parts.due(request, &plain.request, &Prepared::default()))
    }

    /// Returns the request that combines these allowed forms, numbered as in [`Case::together`]. Returns
    /// `None` if it need not be accepted.
    pub fn with_forms(&self, operation: &str, numbers: &[usize]) -> Option<Case> {
        paired::of_forms(operation, numbers, &self.parts)
    }

    /// Returns other allowed requests of an operation, for a target that rejects the baseline.
    pub fn alternatives(&self, operation: &str) -> Arc<[Alternative]> {
        let mut known = self.alternatives.lock().unwrap_or_else(PoisonError::into_inner);
        let made =
            known.entry(operation.to_owned()).or_insert_with(|| alternatives(operation, &self.parts).into());
        Arc::clone(made)
    }

    /// Returns every cell of the matrix of places and forms.
    pub fn cells(&self) -> Vec<Cell> {
        matrix::cells(&self.parts)
    }

    /// Returns every cell of the matrix of responses.
    pub fn answer_cells(&self) -> Vec<Cell> {
        answer_matrix::cells(&self.parts, &self.answers)
    }

    /// Returns the SHA-256 over paths and contents of its files, in hex. It identifies what a run was planned
    /// from.
    pub fn sha256(&self) -> &str {
        self.sha256.get_or_init(|| self.parts.tree.sha256())
    }

    /// Returns the lines of a rule file that a run is planned from. The lines of faults and variations are
    /// empty, so that the others keep their numbers.
    pub fn source(&self, shown: &str) -> String {
        let Some(text) = self.tree().text_of_shown(shown) else { return String::new() };
        let mut is_of_banks = false;
        let kept = text.lines().map(|line| {
            is_of_banks = if begins_list(line) { OF_BANKS.contains(&line) } else { is_of_banks };
            if is_of_banks { "" } else { line }
        });
        format!("{}\n", kept.collect::<Vec<_>>().join("\n").trim_end())
    }

    /// Returns the files that the suite was read from.
    pub fn tree(&self) -> &Tree {
        &self.parts.tree
    }
}

/// Cases that are expanded independently of others.
enum Unit<'a> {
    /// A group, and one of its operations.
    Forms(&'a At<FormGroup>, &'a str),
    Cases(&'a At<Group>),
}

/// Returns the cases of these files in their order. The work is distributed over the processors, since the
/// whole suite must be read before the first request.
fn expanded(files: &[(&str, &str)], parts: &Parts, problems: &mut Vec<Problem>) -> Vec<Case> {
    let read = in_parallel(files, |(path, text)| match yaml::read::<CaseFile>(path, text) {
        Ok(file) if file.is_empty() => Err(Problem::of_file(path, "has neither clauses nor cases")),
        read => read,
    });
    let mut units = Vec::new();
    // A group of forms, and its units.
    let mut groups = Vec::new();
    for ((path, _), file) in files.iter().zip(&read) {
        let file = match file {
            Ok(file) => file,
            Err(problem) => {
                problems.push(problem.clone());
                continue;
            }
        };
        for group in &file.forms {
            match matrix::operations(path, group, parts) {
                Err(problem) => problems.push(problem),
                Ok(operations) => {
                    let first = units.len();
                    units.extend(operations.map(|operation| (*path, Unit::Forms(group, operation))));
                    groups.push((*path, group, first..units.len()));
                }
            }
        }
        units.extend(file.cases.iter().map(|group| (*path, Unit::Cases(group))));
    }
    let forms = if groups.is_empty() { BTreeMap::new() } else { FormCases::of_each_operation(parts) };
    let made = in_parallel(&units, |(path, unit)| match unit {
        Unit::Forms(group, operation) => matrix::cases(path, group, operation, &forms[operation], parts),
        Unit::Cases(group) => expand::of_group(path, group, parts),
    });
    for (path, group, own) in groups {
        if made[own].iter().all(|made| made.as_ref().is_ok_and(Vec::is_empty)) {
            problems.push(group.problem(path, "no form exists at these places"));
        }
    }
    made.into_iter()
        .flat_map(|made| {
            made.unwrap_or_else(|problem| {
                problems.push(problem);
                Vec::new()
            })
        })
        .collect()
}

fn index(cases: &[Case], problems: &mut Vec<Problem>) -> HashMap<String, usize> {
    let mut by_id = HashMap::with_capacity(cases.len());
    for (index, case) in cases.iter().enumerate() {
        match by_id.entry(case.id.clone()) {
            Entry::Vacant(place) => _ = place.insert(index),
            Entry::Occupied(earlier) => {
                let earlier = &cases[*earlier.get()];
                let help = format!("the other one is at {}:{}", earlier.file, earlier.line);
                problems.push(case.problem(format!("duplicate case id `{}`", case.id)).help(help));
            }
        }
    }
    by_id
}
