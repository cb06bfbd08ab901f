//! The cases of the embedded files as they were expanded once, since judging each form of each place at every
//! start takes ten times as long as reading what came of it. `bash .ci/bless` writes them, and a test holds
//! them to what is expanded. Where the files are others, the cases are expanded from them.

use std::{
    collections::{BTreeMap, HashMap},
    io::{Read, Write},
    panic::resume_unwind,
    sync::Arc,
    thread,
};

use flate2::{Compression, GzBuilder, read::GzDecoder};
use serde::{Deserialize, Serialize};
use xs2aspec_spec::Tree;

use crate::{
    baseline::Baseline,
    case::{Case, Preparation},
    definition::{Change, Depth, IfControlRefused, Signing, StepExpect},
    expectation::Expectation,
    lazy_request::LazyRequest,
    parallel::in_parallel,
};

/// Lines of JSON, packed: first [`Lists`], then some of the cases in each line. A comment in its head has the
/// digest of the files that the cases were expanded from.
static BYTES: &[u8] = include_bytes!("../../../fixtures/expanded/cases.json.gz");

/// The stored cases of a tree.
pub(crate) struct Stored(GzDecoder<&'static [u8]>);

/// What is read of them.
pub(crate) struct StoredCases {
    /// Operations with a column of their own, and its heading.
    pub(crate) columns: Vec<(String, String)>,
    pub(crate) cases: Vec<Case>,
}

/// How many cases stand in a line: each line is read by one processor, and packs the better the longer it is.
const CASES_OF_A_LINE: usize = 5000;

/// What many cases have. Cases have its number here.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Lists {
    columns: Vec<(String, String)>,
    texts: Vec<String>,
    changes: Vec<Change>,
    signings: Vec<Signing>,
    expectations: Vec<Expectation>,
    preparations: Vec<Vec<StoredStep>>,
}

/// Some cases: one list for each field.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Columns {
    id: Vec<String>,
    clause: Vec<usize>,
    area: Vec<usize>,
    file: Vec<usize>,
    line: Vec<u32>,
    column: Vec<u32>,
    group: Vec<u32>,
    depth: Vec<Depth>,
    about: Vec<Option<usize>>,
    baseline: Vec<usize>,
    notes: Vec<Vec<usize>>,
    together: Vec<Vec<usize>>,
    before: Vec<usize>,
    request: Vec<StoredRequest>,
    expect: Vec<usize>,
    control: Vec<Option<usize>>,
    is_plain: Vec<bool>,
    same_as: Vec<Option<usize>>,
    if_control_refused: Vec<IfControlRefused>,
    needs: Vec<Vec<usize>>,
}

/// Changes of a baseline, how it is signed, and whether its bytes matter.
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

impl Stored {
    /// Those of the files with this digest, if they were expanded from the same ones.
    pub(crate) fn of(sha256: &str) -> Option<Self> {
        let decoder = GzDecoder::new(BYTES);
        let is_same = decoder.header()?.comment()? == sha256.as_bytes();
        is_same.then_some(Self(decoder))
    }

    /// The cases. None if they cannot be read.
    pub(crate) fn cases(
        mut self,
        tree: &Tree,
        baselines: &BTreeMap<String, Baseline>,
    ) -> Option<StoredCases> {
        let mut bytes = Vec::with_capacity(BYTES.len() * 16);
        self.0.read_to_end(&mut bytes).ok()?;
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let lists = lines.next()?;
        let lines: Vec<&[u8]> = lines.collect();
        let (lists, cases) = thread::scope(|scope| {
            let lists = scope.spawn(|| serde_json::from_slice(lists).ok());
            let cases = in_parallel(&lines, |line| serde_json::from_slice::<Columns>(line).ok());
            (lists.join().unwrap_or_else(|panic| resume_unwind(panic)), cases)
        });
        let Lists { columns, texts, changes, signings, expectations, preparations } = lists?;
        let all: Vec<Columns> = cases.into_iter().collect::<Option<_>>()?;
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
        // Where a file was read from a folder, it is shown with it.
        let files: Vec<String> = texts.iter().map(|text| tree.shown(text)).collect();
        let case = |cases: &Columns, at: usize| {
            let baseline = text(cases.baseline.get(at)?)?;
            Some(Case {
                id: cases.id.get(at)?.clone(),
                clause: text(cases.clause.get(at)?)?,
                area: text(cases.area.get(at)?)?,
                file: files.get(*cases.file.get(at)?)?.clone(),
                line: *cases.line.get(at)?,
                column: *cases.column.get(at)?,
                group: *cases.group.get(at)?,
                depth: *cases.depth.get(at)?,
                about: chosen(&texts, *cases.about.get(at)?)?,
                notes: listed(cases.notes.get(at)?)?,
                together: cases.together.get(at)?.clone(),
                before: preparations.get(*cases.before.get(at)?)?.clone(),
                request: request(&baseline, cases.request.get(at)?)?,
                baseline,
                expect: expectations.get(*cases.expect.get(at)?)?.clone(),
                control: chosen(&ids, *cases.control.get(at)?)?.cloned(),
                is_plain: *cases.is_plain.get(at)?,
                same_as: chosen(&ids, *cases.same_as.get(at)?)?.cloned(),
                if_control_refused: *cases.if_control_refused.get(at)?,
                needs: listed(cases.needs.get(at)?)?,
            })
        };
        let made = in_parallel(&all, |cases| {
            // With room for all of them at once, which a list of what may fail has not.
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
        Some(StoredCases { columns, cases })
    }
}

/// The item with a number, or none without one. None where there is no such item.
#[expect(clippy::option_option, reason = "what is not there and what cannot be read are two things")]
fn chosen<T: Clone>(items: &[T], number: Option<usize>) -> Option<Option<T>> {
    number.map_or(Some(None), |number| items.get(number).cloned().map(Some))
}

/// A list in which equal things stand once.
struct Distinct<T> {
    items: Vec<T>,
    /// Numbers by the JSON of the things.
    numbers: HashMap<String, usize>,
}

impl<T: Serialize> Distinct<T> {
    fn new() -> Self {
        Self { items: Vec::new(), numbers: HashMap::new() }
    }

    fn number(&mut self, item: T) -> usize {
        let key = serde_json::to_string(&item).expect("what is stored is JSON");
        let next = self.items.len();
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.items.push(item);
        }
        number
    }
}

/// The file with these cases of the files with a digest; `number` gives the place of an id among them.
pub(crate) fn written(
    all: &[Case],
    number: &dyn Fn(&str) -> Option<usize>,
    columns: &[(String, String)],
    sha256: &str,
) -> Vec<u8> {
    let mut texts = Distinct::new();
    let mut changes = Distinct::new();
    let mut signings = Distinct::new();
    let mut expectations = Distinct::new();
    let mut preparations = Distinct::new();
    let mut request = |request: &LazyRequest| {
        let own = request.changes().iter().map(|change| changes.number(Change::clone(change))).collect();
        let signing = request.signing().map(|signing| signings.number(Signing::clone(signing)));
        StoredRequest(own, signing, request.is_exact())
    };
    let lines = all.chunks(CASES_OF_A_LINE).map(|all| {
        let mut cases = Columns::default();
        for case in all {
            let step = |step: &Preparation| StoredStep {
                name: step.name.clone(),
                baseline: step.baseline.clone(),
                request: request(&step.request),
                keep: step.keep.iter().map(|(key, place)| (key.clone(), place.to_string())).collect(),
                times: step.times,
                at_once: step.at_once,
                distinct: step.distinct.clone(),
                expect: step.expect,
            };
            let steps = case.before.iter().map(step).collect();
            cases.before.push(preparations.number(steps));
            cases.request.push(request(&case.request));
            let mut text = |text: &String| texts.number(text.clone());
            cases.id.push(case.id.clone());
            cases.clause.push(text(&case.clause));
            cases.area.push(text(&case.area));
            cases.file.push(text(&case.file));
            cases.line.push(case.line);
            cases.column.push(case.column);
            cases.group.push(case.group);
            cases.depth.push(case.depth);
            cases.about.push(case.about.as_ref().map(&mut text));
            cases.baseline.push(text(&case.baseline));
            cases.notes.push(case.notes.iter().map(&mut text).collect());
            cases.together.push(case.together.clone());
            cases.expect.push(expectations.number(case.expect.clone()));
            cases.control.push(case.control.as_deref().and_then(number));
            cases.is_plain.push(case.is_plain);
            cases.same_as.push(case.same_as.as_deref().and_then(number));
            cases.if_control_refused.push(case.if_control_refused);
            cases.needs.push(case.needs.iter().map(&mut text).collect());
        }
        cases
    });
    let lines: Vec<Columns> = lines.collect();
    let lists = Lists {
        columns: columns.to_vec(),
        texts: texts.items,
        changes: changes.items,
        signings: signings.items,
        expectations: expectations.items,
        preparations: preparations.items,
    };
    let mut json = serde_json::to_vec(&lists).expect("what is stored is JSON");
    for line in lines {
        json.push(b'\n');
        serde_json::to_writer(&mut json, &line).expect("what is stored is JSON");
    }
    let mut packed = GzBuilder::new().comment(sha256).write(Vec::new(), Compression::best());
    packed.write_all(&json).and_then(|()| packed.finish()).expect("memory takes everything")
}
