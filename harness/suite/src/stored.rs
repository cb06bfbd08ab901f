//! The cases of the embedded files in expanded form. Judging each form of each place at every start would
//! take ten times as long as reading the results. `bash .ci/bless` writes them, and a test compares them with
//! a new expansion. If a tree has other files, its cases are expanded from them.

use std::{
    collections::{BTreeMap, HashMap},
    io::{Read, Write},
    panic::resume_unwind,
    sync::Arc,
    thread,
};

use flate2::{Compression, GzBuilder, read::GzDecoder};
use serde::{Deserialize, Serialize};
use xs2aspec_spec::{Clause, Tree};

use crate::{
    baseline::Baseline,
    case::{Case, Preparation},
    definition::{Change, Depth, IfControlRefused, Signing, StepExpect},
    expectation::Expectation,
    lazy_request::LazyRequest,
    parallel::in_parallel,
};

/// The cases of all depths except exhaustive, as packed lines of JSON. [`Lists`] comes first, then some of
/// the cases in each line. A comment in the gzip header has the digest of the files that the cases were
/// expanded from.
static STANDARD: &[u8] = include_bytes!("../../../fixtures/expanded/standard.json.gz");

/// The cases of depth exhaustive in the same format, which most runs do not read.
static EXHAUSTIVE: &[u8] = include_bytes!("../../../fixtures/expanded/exhaustive.json.gz");

/// The stored cases of a tree: one file or both.
pub(crate) struct Stored(Vec<&'static [u8]>);

/// The content of the stored files.
pub(crate) struct StoredCases {
    /// The clauses by id.
    pub(crate) clauses: BTreeMap<String, Clause>,
    /// Operations with a column of their own, and the heading of the column.
    pub(crate) columns: Vec<(String, String)>,
    pub(crate) cases: Vec<Case>,
}

/// Number of cases in a line. One processor reads each line.
const CASES_OF_A_LINE: usize = 2500;

/// Data that many cases share. Cases refer to it by number. The numbers of the second file continue those of
/// the first.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Lists {
    clauses: Vec<Clause>,
    columns: Vec<(String, String)>,
    /// Numbers of cases to take from each file in turn, which restores the original order. The first number
    /// is for the first file.
    turns: Vec<usize>,
    texts: Vec<String>,
    changes: Vec<Change>,
    signings: Vec<Signing>,
    expectations: Vec<Expectation>,
    preparations: Vec<Vec<StoredStep>>,
    rows: Vec<Row>,
}

/// Data that the cases of one row of a case file share.
#[derive(Debug, Serialize, Deserialize)]
struct Row {
    clause: usize,
    area: usize,
    file: usize,
    line: u32,
    column: u32,
    group: u32,
    depth: Depth,
    about: Option<usize>,
    baseline: usize,
    before: usize,
    expect: usize,
    is_plain: bool,
    if_control_refused: IfControlRefused,
    needs: Vec<usize>,
}

/// Some cases, with one list for each field.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Columns {
    id: Vec<String>,
    row: Vec<usize>,
    notes: Vec<Vec<usize>>,
    together: Vec<Vec<usize>>,
    request: Vec<StoredRequest>,
    /// By the position of the case among those of both files, one after the other.
    control: Vec<Option<usize>>,
    same_as: Vec<Option<usize>>,
}

/// Changes to a baseline, the way of signing, and true if the exact bytes matter.
#[derive(Debug, Serialize, Deserialize)]
struct StoredRequest(Vec<usize>, Option<usize>, bool);

#[derive(Debug, Serialize, Deserialize)]
struct StoredStep {
    name: String,
    baseline: String,
    request: StoredRequest,
    keep: Vec<(String, String)>,
    times: Option<usize>,
    at_once: bool,
    distinct: Vec<String>,
    expect: StepExpect,
}

impl Lists {
    /// Adds the lists of the next file.
    fn extend(&mut self, next: Self) {
        self.clauses.extend(next.clauses);
        self.columns.extend(next.columns);
        self.turns = next.turns;
        self.texts.extend(next.texts);
        self.changes.extend(next.changes);
        self.signings.extend(next.signings);
        self.expectations.extend(next.expectations);
        self.preparations.extend(next.preparations);
        self.rows.extend(next.rows);
    }
}

impl Stored {
    /// Returns the stored cases up to this depth, if they were expanded from files with this digest.
    pub(crate) fn of(sha256: &str, depth: Depth) -> Option<Self> {
        let files = if depth == Depth::Exhaustive { vec![STANDARD, EXHAUSTIVE] } else { vec![STANDARD] };
        let is_same = |bytes: &&[u8]| {
            let decoder = GzDecoder::new(*bytes);
            decoder.header().and_then(|header| header.comment()) == Some(sha256.as_bytes())
        };
        files.iter().all(is_same).then_some(Self(files))
    }

    /// Returns the cases, or None if they cannot be read.
    pub(crate) fn cases(&self, tree: &Tree, baselines: &BTreeMap<String, Baseline>) -> Option<StoredCases> {
        let mut lists = Lists::default();
        let mut all = Vec::new();
        for file in in_parallel(&self.0, |bytes| unpacked(bytes)) {
            let (own, cases) = file?;
            lists.extend(own);
            all.extend(cases);
        }
        let Lists { clauses, columns, turns, texts, changes, signings, expectations, preparations, rows } =
            lists;
        let ids: Vec<&String> = all.iter().flat_map(|cases| &cases.id).collect();
        let changes: Vec<Arc<Change>> = changes.into_iter().map(Arc::new).collect();
        let signings: Vec<Arc<Signing>> = signings.into_iter().map(Arc::new).collect();
        let request = |baseline: &str, StoredRequest(own, signing, exact): &StoredRequest| {
            let own = own.iter().map(|number| Some(Arc::clone(changes.get(*number)?)));
            let plain = &baselines.get(baseline)?.request;
            Some(LazyRequest::later(plain, own.collect::<Option<_>>()?, chosen(&signings, *signing)?, *exact))
        };
        let step = |step: StoredStep| {
            let keep = step.keep.into_iter().map(|(key, place)| Some((key, place.parse().ok()?)));
            Some(Preparation {
                request: request(&step.baseline, &step.request)?,
                name: step.name,
                baseline: step.baseline,
                keep: keep.collect::<Option<_>>()?,
                times: step.times,
                at_once: step.at_once,
                distinct: step.distinct,
                expect: step.expect,
            })
        };
        let preparations: Vec<Vec<Preparation>> = preparations
            .into_iter()
            .map(|steps| steps.into_iter().map(step).collect())
            .collect::<Option<_>>()?;
        let text = |number: &usize| texts.get(*number).cloned();
        let listed = |numbers: &[usize]| numbers.iter().map(text).collect::<Option<Vec<_>>>();
        // A file that was read from a folder is shown with that folder.
        let files: Vec<String> = texts.iter().map(|text| tree.shown(text)).collect();
        let case = |cases: &Columns, at: usize| {
            let row = rows.get(*cases.row.get(at)?)?;
            let baseline = text(&row.baseline)?;
            Some(Case {
                id: cases.id.get(at)?.clone(),
                clause: text(&row.clause)?,
                area: text(&row.area)?,
                file: files.get(row.file)?.clone(),
                line: row.line,
                column: row.column,
                group: row.group,
                depth: row.depth,
                about: chosen(&texts, row.about)?,
                notes: listed(cases.notes.get(at)?)?,
                together: cases.together.get(at)?.clone(),
                before: preparations.get(row.before)?.clone(),
                request: request(&baseline, cases.request.get(at)?)?,
                baseline,
                expect: expectations.get(row.expect)?.clone(),
                control: chosen(&ids, *cases.control.get(at)?)?.cloned(),
                is_plain: row.is_plain,
                same_as: chosen(&ids, *cases.same_as.get(at)?)?.cloned(),
                if_control_refused: row.if_control_refused,
                needs: listed(&row.needs)?,
            })
        };
        let made = in_parallel(&all, |cases| {
            // Collecting into an `Option` would not reserve memory for all of them at once.
            let mut made = Vec::with_capacity(cases.id.len());
            for at in 0..cases.id.len() {
                made.push(case(cases, at)?);
            }
            Some(made)
        });
        let mut cases = Vec::with_capacity(ids.len());
        for made in made {
            cases.append(&mut made?);
        }
        let shown = |clause: Clause| Clause { file: tree.shown(&clause.file), ..clause };
        let clauses = clauses.into_iter().map(|clause| (clause.id.clone(), shown(clause))).collect();
        Some(StoredCases { clauses, columns, cases: by_turns(cases, &turns)? })
    }
}

/// Returns the lists and the cases of a file.
fn unpacked(packed: &[u8]) -> Option<(Lists, Vec<Columns>)> {
    let mut bytes = Vec::with_capacity(packed.len() * 16);
    GzDecoder::new(packed).read_to_end(&mut bytes).ok()?;
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let lists = lines.next()?;
    let lines: Vec<&[u8]> = lines.collect();
    let (lists, cases) = thread::scope(|scope| {
        let lists = scope.spawn(|| serde_json::from_slice(lists).ok());
        let cases = in_parallel(&lines, |line| serde_json::from_slice::<Columns>(line).ok());
        (lists.join().unwrap_or_else(|panic| resume_unwind(panic)), cases)
    });
    Some((lists?, cases.into_iter().collect::<Option<_>>()?))
}

/// Returns the cases of both files in the order in which they were expanded, or those of one file unchanged.
fn by_turns(cases: Vec<Case>, turns: &[usize]) -> Option<Vec<Case>> {
    if turns.is_empty() {
        return Some(cases);
    }
    let mut ordered = Vec::with_capacity(cases.len());
    let mut standard = cases;
    let of_first = turns.iter().step_by(2).sum();
    let mut exhaustive = (of_first <= standard.len()).then(|| standard.split_off(of_first))?.into_iter();
    let mut standard = standard.into_iter();
    for (turn, count) in turns.iter().enumerate() {
        let own = if turn % 2 == 0 { &mut standard } else { &mut exhaustive };
        ordered.extend(own.take(*count));
    }
    Some(ordered)
}

/// Returns the item with a number, or `Some(None)` without a number. Returns None if there is no such item.
#[expect(clippy::option_option, reason = "a missing item differs from one that cannot be read")]
fn chosen<T: Clone>(items: &[T], number: Option<usize>) -> Option<Option<T>> {
    number.map_or(Some(None), |number| items.get(number).cloned().map(Some))
}

/// A list in which equal items occur once.
struct Distinct<T> {
    /// Items that are not written yet.
    items: Vec<T>,
    /// Numbers of the items, by their JSON.
    numbers: HashMap<String, usize>,
}

impl<T> Default for Distinct<T> {
    fn default() -> Self {
        Self { items: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Serialize> Distinct<T> {
    fn number(&mut self, item: T) -> usize {
        let key = serde_json::to_string(&item).expect("what is stored is JSON");
        let next = self.numbers.len();
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.items.push(item);
        }
        number
    }

    /// Returns the items that were added since the last call.
    fn new_ones(&mut self) -> Vec<T> {
        std::mem::take(&mut self.items)
    }
}

/// The shared data that was written to both files so far.
#[derive(Default)]
struct Writing {
    texts: Distinct<String>,
    changes: Distinct<Change>,
    signings: Distinct<Signing>,
    expectations: Distinct<Expectation>,
    preparations: Distinct<Vec<StoredStep>>,
    rows: Distinct<Row>,
}

impl Writing {
    fn request(&mut self, request: &LazyRequest) -> StoredRequest {
        let changes = request.changes().iter();
        let own = changes.map(|change| self.changes.number(Change::clone(change))).collect();
        let signing = request.signing().map(|signing| self.signings.number(Signing::clone(signing)));
        StoredRequest(own, signing, request.is_exact())
    }

    fn step(&mut self, step: &Preparation) -> StoredStep {
        StoredStep {
            name: step.name.clone(),
            baseline: step.baseline.clone(),
            request: self.request(&step.request),
            keep: step.keep.iter().map(|(key, place)| (key.clone(), place.to_string())).collect(),
            times: step.times,
            at_once: step.at_once,
            distinct: step.distinct.clone(),
            expect: step.expect,
        }
    }

    /// Adds a case. `number` returns the position of another case.
    fn add(&mut self, case: &Case, cases: &mut Columns, number: &dyn Fn(&str) -> Option<usize>) {
        let steps = case.before.iter().map(|step| self.step(step)).collect();
        let row = Row {
            clause: self.texts.number(case.clause.clone()),
            area: self.texts.number(case.area.clone()),
            file: self.texts.number(case.file.clone()),
            line: case.line,
            column: case.column,
            group: case.group,
            depth: case.depth,
            about: case.about.clone().map(|text| self.texts.number(text)),
            baseline: self.texts.number(case.baseline.clone()),
            before: self.preparations.number(steps),
            expect: self.expectations.number(case.expect.clone()),
            is_plain: case.is_plain,
            if_control_refused: case.if_control_refused,
            needs: case.needs.iter().map(|need| self.texts.number(need.clone())).collect(),
        };
        cases.id.push(case.id.clone());
        cases.row.push(self.rows.number(row));
        cases.notes.push(case.notes.iter().map(|note| self.texts.number(note.clone())).collect());
        cases.together.push(case.together.clone());
        cases.request.push(self.request(&case.request));
        cases.control.push(case.control.as_deref().and_then(number));
        cases.same_as.push(case.same_as.as_deref().and_then(number));
    }

    /// Returns the lists of what was added since the last call.
    fn lists(&mut self) -> Lists {
        Lists {
            clauses: Vec::new(),
            columns: Vec::new(),
            turns: Vec::new(),
            texts: self.texts.new_ones(),
            changes: self.changes.new_ones(),
            signings: self.signings.new_ones(),
            expectations: self.expectations.new_ones(),
            preparations: self.preparations.new_ones(),
            rows: self.rows.new_ones(),
        }
    }
}

/// Returns the files with these cases, each with its name. `sha256` is the digest of the files that the cases
/// were expanded from.
pub(crate) fn written(
    all: &[Case],
    clauses: &BTreeMap<String, Clause>,
    columns: &[(String, String)],
    sha256: &str,
) -> [(&'static str, Vec<u8>); 2] {
    let (exhaustive, standard): (Vec<&Case>, Vec<&Case>) =
        all.iter().partition(|case| case.depth == Depth::Exhaustive);
    let both = standard.iter().chain(&exhaustive);
    let numbers: HashMap<&str, usize> =
        both.enumerate().map(|(number, case)| (case.id.as_str(), number)).collect();
    let mut writing = Writing::default();
    let mut file = |own: &[&Case], of_first: usize, lists: Lists| {
        let number = |id: &str| {
            let number = numbers.get(id).copied();
            assert!(number.is_none_or(|number| number < of_first), "{id} runs at depth exhaustive only");
            number
        };
        let lines = own.chunks(CASES_OF_A_LINE).map(|own| {
            let mut cases = Columns::default();
            for case in own {
                writing.add(case, &mut cases, &number);
            }
            cases
        });
        let lines: Vec<Columns> = lines.collect();
        let Lists { clauses, columns, turns, .. } = lists;
        packed(&Lists { clauses, columns, turns, ..writing.lists() }, &lines, sha256)
    };
    let clauses = clauses.values().cloned().collect();
    let lists = Lists { clauses, columns: columns.to_vec(), ..Lists::default() };
    let first = file(&standard, standard.len(), lists);
    let second = file(&exhaustive, all.len(), Lists { turns: turns(all), ..Lists::default() });
    [("standard.json.gz", first), ("exhaustive.json.gz", second)]
}

/// Returns how many cases come from the first file, how many from the second one follow, and so on.
fn turns(all: &[Case]) -> Vec<usize> {
    let mut turns = vec![0];
    for case in all {
        let is_first = turns.len() % 2 == 1;
        if is_first == (case.depth == Depth::Exhaustive) {
            turns.push(0);
        }
        *turns.last_mut().expect("there is a turn") += 1;
    }
    turns
}

fn packed(lists: &Lists, lines: &[Columns], sha256: &str) -> Vec<u8> {
    let mut json = serde_json::to_vec(lists).expect("what is stored is JSON");
    for line in lines {
        json.push(b'\n');
        serde_json::to_writer(&mut json, line).expect("what is stored is JSON");
    }
    let mut packed = GzBuilder::new().comment(sha256).write(Vec::new(), Compression::best());
    packed.write_all(&json).and_then(|()| packed.finish()).expect("memory takes everything")
}
