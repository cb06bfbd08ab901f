//! The whole suite: ledger, baselines and expanded cases, loaded and checked together.

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

/// Clauses, baselines and cases, free of mistakes.
#[derive(Debug)]
pub struct Suite {
    parts: Parts,
    answers: AnswerRules,
    cases: Vec<Case>,
    by_id: HashMap<String, usize>,
    columns: Vec<(String, String)>,
    sha256: OnceLock<String>,
    /// By operation, as far as they were asked for.
    alternatives: Mutex<HashMap<String, Arc<[Alternative]>>>,
}

impl Suite {
    /// Reads everything in the tree: the stored cases where they were expanded from the same files, or else
    /// [`Self::expanded`]. All mistakes are reported together.
    pub fn load(tree: Tree) -> Result<Self, Problems> {
        Self::load_for(tree, Depth::Exhaustive)
    }

    /// The same for a run of some depth: cases that run at a greater one only may be missing.
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
            problems.push(problem.help("rule files lie in `cases/AREA/RULE.yaml`"));
        }
        let by_id = index(&cases, &mut problems);
        if problems.is_empty() {
            // Only where every case could be read does a missing control mean anything.
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

    /// The same suite with cases, at the end, for all entries that these values of a profile are of. Every
    /// suite has those of the first few entries.
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

    /// Whether it has cases for all entries that these values of a profile are of.
    pub fn has_entries<'a>(&self, values: impl IntoIterator<Item = &'a str>) -> bool {
        self.further(values).is_empty()
    }

    /// The numbers of entries, by list, that these values are of and that have no cases yet.
    fn further<'a>(&self, values: impl IntoIterator<Item = &'a str>) -> Numbers {
        let profile = &self.parts.spec.profile;
        let further = |(table, last): (String, u32)| {
            let known = *profile.lists.get(&table).filter(|known| **known < last)?;
            Some((table, known + 1..=last))
        };
        profile.entries(values).into_iter().filter_map(further).collect()
    }

    /// All cases, in the order of files and groups.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// The case with this id.
    pub fn case(&self, id: &str) -> Option<&Case> {
        self.number(id).map(|number| &self.cases[number])
    }

    /// The place of the case with this id among [`Self::cases`].
    pub fn number(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The ledger by id.
    pub fn clauses(&self) -> &BTreeMap<String, Clause> {
        &self.parts.spec.clauses
    }

    /// What the document says of answers.
    pub fn answers(&self) -> &AnswerRules {
        &self.answers
    }

    /// What the document says of requests.
    pub fn requests(&self) -> &RequestRules {
        self.parts.requests()
    }

    /// Operations that have a column of their own in a table of the document, each with its heading.
    pub fn columns(&self) -> &[(String, String)] {
        &self.columns
    }

    /// Its cases as [`Self::load`] finds them stored: names of files, and their bytes.
    pub fn stored(&self) -> [(&'static str, Vec<u8>); 2] {
        stored::written(&self.cases, self.clauses(), &self.columns, self.sha256())
    }

    /// The document as a value.
    pub fn spec(&self) -> &Spec {
        &self.parts.spec
    }

    /// Baselines by name.
    pub fn baselines(&self) -> &BTreeMap<String, Baseline> {
        &self.parts.baselines
    }

    /// A drawn request with what must become of it, as a case that can be run. `None` if its forms do not go
    /// together.
    pub fn drawn(&self, combination: &Combination) -> Option<(Case, Due)> {
        combination.case(&self.parts)
    }

    /// The cases of a text that is no file of the tree.
    pub fn written(&self, path: &str, text: &str) -> Result<Vec<Case>, Problem> {
        let file: CaseFile = yaml::read(path, text)?;
        let cases = file.cases.iter().map(|group| expand::of_group(path, group, &self.parts));
        Ok(cases.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// What must become of a drawn request. `None` if its forms do not go together.
    pub fn due_of(&self, combination: &Combination) -> Option<Due> {
        combination.due(&self.parts)
    }

    /// What a request must come to that nothing is made for. None for an operation of no plain request.
    pub fn due(&self, request: &RequestSpec) -> Option<Due> {
        let plain = self.parts.baselines.get(&request.operation)?;
        Some(self.parts.due(request, &plain.request, &Prepared::default()))
    }

    /// The request in which these of the lawful forms that [`Case::together`] numbers are together. `None` if
    /// it need not be accepted.
    pub fn with_forms(&self, operation: &str, numbers: &[usize]) -> Option<Case> {
        paired::of_forms(operation, numbers, &self.parts)
    }

    /// Other lawful requests of an operation, for a target that refuses the plain one.
    pub fn alternatives(&self, operation: &str) -> Arc<[Alternative]> {
        let mut known = self.alternatives.lock().unwrap_or_else(PoisonError::into_inner);
        let made =
            known.entry(operation.to_owned()).or_insert_with(|| alternatives(operation, &self.parts).into());
        Arc::clone(made)
    }

    /// Every field of the matrix of places and forms.
    pub fn cells(&self) -> Vec<Cell> {
        matrix::cells(&self.parts)
    }

    /// Every field of the matrix of answers.
    pub fn answer_cells(&self) -> Vec<Cell> {
        answer_matrix::cells(&self.parts, &self.answers)
    }

    /// SHA-256 over paths and contents of these files, in hex: what a run was planned from.
    pub fn sha256(&self) -> &str {
        self.sha256.get_or_init(|| self.parts.tree.sha256())
    }

    /// Returns the text of a rule file as far as a run is planned from it. The lines of faults and variations
    /// are empty, so that the others keep their numbers.
    pub fn source(&self, shown: &str) -> String {
        let Some(text) = self.tree().text_of_shown(shown) else { return String::new() };
        let mut is_of_banks = false;
        let kept = text.lines().map(|line| {
            is_of_banks = if begins_list(line) { OF_BANKS.contains(&line) } else { is_of_banks };
            if is_of_banks { "" } else { line }
        });
        format!("{}\n", kept.collect::<Vec<_>>().join("\n").trim_end())
    }

    /// The files that the suite was read from.
    pub fn tree(&self) -> &Tree {
        &self.parts.tree
    }
}

/// Cases that are made apart from the others.
enum Unit<'a> {
    /// A group and one of its operations.
    Forms(&'a At<FormGroup>, &'a str),
    Cases(&'a At<Group>),
}

/// The cases of these files in their order. The work is shared out among the processors: the whole suite is
/// read before the first request can be sent.
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
            problems.push(group.problem(path, "there is no such form at these places"));
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
