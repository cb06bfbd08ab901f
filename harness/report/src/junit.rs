//! `junit.xml`, for CI servers. Valid against the schema of the Jenkins xUnit plugin (`fixtures/xsd/junit-10.xsd`), the strictest
//! reader we know: a test case has `name`, `classname` and `time`, and nothing more.
//!
//! A violation is a `failure`. What could not be told is an `error`, what does not apply is `skipped`; pass and observed are plain.
//! A run that did not reach its end, or that judged nothing, has one more test case, an error named `run-finished`: a server that
//! reads only this file must not take it for a success.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write},
};

use quick_xml::{
    Writer,
    events::{BytesDecl, BytesText, Event},
};
use xs2aspec_record::{CaseVerdict, Exit, Ledger, Verdict};

use crate::{
    block,
    run::{self, Run},
    text::{self, harmless, short},
};

/// Writes the run as `JUnit` XML: a suite per area, in it a test case per selected case, in the order of their ids.
pub fn write(run: &Run<'_>, out: impl Write) -> io::Result<()> {
    let suites = suites(run);
    let whole = Tally { unfinished: unfinished(run).is_some(), ..Tally::of(run.ledger(), total_micros(run)) };
    let name = format!("xs2aspec {}", short(&run.start().target));
    let mut writer = Writer::new_with_indent(out, b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let root = writer.create_element("testsuites").with_attribute(("name", name.as_str()));
    root.with_attributes(as_attributes(&whole.attributes())).write_inner_content(|writer| {
        for (area, cases) in &suites {
            suite(writer, run, area, cases)?;
        }
        unfinished(run).map_or(Ok(()), |why| unfinished_suite(writer, run, &why))
    })?;
    writer.get_mut().write_all(b"\n")
}

/// The numbers of a suite, or of all.
#[derive(Default)]
struct Tally {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    micros: u64,
    unfinished: bool,
}

impl Tally {
    fn of(ledger: &Ledger, micros: u64) -> Self {
        let counts = ledger.counts();
        Self {
            tests: counts.total(),
            failures: counts.fail,
            errors: counts.inconclusive + counts.error,
            skipped: counts.not_applicable + counts.waived,
            micros,
            unfinished: false,
        }
    }

    /// The attributes that `testsuites` and `testsuite` share.
    fn attributes(&self) -> Vec<(&'static str, String)> {
        let more = usize::from(self.unfinished);
        vec![
            ("tests", (self.tests + more).to_string()),
            ("failures", self.failures.to_string()),
            ("errors", (self.errors + more).to_string()),
            ("time", text::seconds(self.micros)),
        ]
    }
}

type Suites<'a> = BTreeMap<&'a str, Vec<&'a CaseVerdict>>;

fn suites<'a>(run: &Run<'a>) -> Suites<'a> {
    let mut suites = Suites::new();
    for verdict in run.selected() {
        suites.entry(&verdict.area).or_default().push(verdict);
    }
    suites
}

fn suite(
    writer: &mut Writer<impl Write>,
    run: &Run<'_>,
    area: &str,
    cases: &[&CaseVerdict],
) -> io::Result<()> {
    let mut ledger = Ledger::default();
    for verdict in cases {
        ledger.add(verdict, run.strength(verdict));
    }
    let micros = cases.iter().map(|verdict| verdict.micros).fold(0, u64::saturating_add);
    open_suite(writer, run, area, &Tally::of(&ledger, micros), |writer| {
        cases.iter().try_for_each(|verdict| case(writer, run, verdict))
    })
}

fn open_suite<W: Write>(
    writer: &mut Writer<W>,
    run: &Run<'_>,
    name: &str,
    tally: &Tally,
    content: impl FnOnce(&mut Writer<W>) -> io::Result<()>,
) -> io::Result<()> {
    let mut attributes = vec![("name", harmless(name))];
    attributes.extend(tally.attributes());
    attributes.push(("skipped", tally.skipped.to_string()));
    attributes.push(("timestamp", harmless(&run.start().now)));
    attributes.push(("url", short(&run.start().base_url)));
    let element = writer.create_element("testsuite").with_attributes(as_attributes(&attributes));
    element.write_inner_content(|writer| {
        properties(writer, run)?;
        content(writer)
    })?;
    Ok(())
}

/// What was run, so that a suite that is looked at alone tells it.
fn properties(writer: &mut Writer<impl Write>, run: &Run<'_>) -> io::Result<()> {
    let start = run.start();
    let mut facts = vec![
        ("tool", short(&start.tool)),
        ("target", short(&start.target)),
        ("seed", start.seed.to_string()),
        ("document-sha256", harmless(&start.document_sha256)),
        ("suite-sha256", harmless(&start.suite_sha256)),
    ];
    let optional = [
        ("target-version", &start.target_version),
        ("environment", &start.environment),
        ("contact", &start.contact),
        ("fault", &start.fault),
    ];
    let said = optional.into_iter().filter_map(|(name, said)| Some((name, short(said.as_deref()?))));
    facts.extend(said);
    writer.create_element("properties").write_inner_content(|writer| {
        for (name, value) in &facts {
            let property = writer.create_element("property");
            property.with_attributes([("name", *name), ("value", value.as_str())]).write_empty()?;
        }
        Ok(())
    })?;
    Ok(())
}

fn case(writer: &mut Writer<impl Write>, run: &Run<'_>, verdict: &CaseVerdict) -> io::Result<()> {
    let attributes = [
        ("name", harmless(&verdict.case)),
        ("classname", classname(verdict)),
        ("time", text::seconds(verdict.micros)),
    ];
    let element = writer.create_element("testcase").with_attributes(as_attributes(&attributes));
    element.write_inner_content(|writer| {
        outcome(writer, run, verdict)?;
        writer.create_element("system-out").write_text_content(BytesText::new(&facts(run, verdict)))?;
        Ok(())
    })?;
    Ok(())
}

/// The element that says how a case ended; nothing for pass and observed.
fn outcome(writer: &mut Writer<impl Write>, run: &Run<'_>, verdict: &CaseVerdict) -> io::Result<()> {
    let (element, kind, message) = match verdict.verdict {
        Verdict::Pass | Verdict::Observed => return Ok(()),
        Verdict::NotApplicable | Verdict::Waived => {
            let message = short(run::reason(verdict));
            writer.create_element("skipped").with_attribute(("message", message.as_str())).write_empty()?;
            return Ok(());
        }
        Verdict::Fail => {
            let (kind, message) = violation(verdict);
            ("failure", kind, message)
        }
        Verdict::Inconclusive | Verdict::Error => {
            ("error", verdict.verdict.word().to_owned(), short(run::reason(verdict)))
        }
    };
    let attributes = [("type", kind.as_str()), ("message", message.as_str())];
    let block = unmarked(&block::of(run, verdict));
    writer.create_element(element).with_attributes(attributes).write_text_content(BytesText::new(&block))?;
    Ok(())
}

/// Clause and message of a failing case: those of its first finding, with the number of further ones.
fn violation(verdict: &CaseVerdict) -> (String, String) {
    let Some(first) = verdict.findings.first() else {
        return (harmless(&verdict.clause), short(run::reason(verdict)));
    };
    let message = short(&run::mismatch(first));
    match verdict.findings.len() {
        1 => (harmless(&first.clause), message),
        findings => (harmless(&first.clause), format!("{message} (and {} more)", findings - 1)),
    }
}

/// What is known of a case beside its outcome: lines that some servers read as properties, then what was observed.
fn facts(run: &Run<'_>, verdict: &CaseVerdict) -> String {
    let mut lines = String::from("\n");
    for (name, value) in [
        ("clause", verdict.clause.as_str()),
        ("strength", run.strength(verdict).word()),
        ("verdict", verdict.verdict.word()),
        ("place", &verdict.place.to_string()),
    ] {
        let _ = writeln!(lines, "[[PROPERTY|{name}={}]]", unmarked(&harmless(value)));
    }
    for observation in &verdict.observations {
        let _ = writeln!(lines, "observed: {}", unmarked(&short(observation)));
    }
    lines
}

/// `xs2aspec.<area>.<clause>`: what stands before the last dot is a package to Jenkins, the rest a class, so that areas hold clauses
/// and clauses hold cases. The dots of the clause become underscores, which no clause id has.
fn classname(verdict: &CaseVerdict) -> String {
    let area = verdict.area.split('/').filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".");
    let parts = ["xs2aspec", &area, &verdict.clause.replace('.', "_")];
    harmless(&parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("."))
}

/// Text from elsewhere without the marks (`[[ATTACHMENT|path]]`) that CI servers act on when they read the output of a test.
fn unmarked(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter == '[' && shown.ends_with('[') {
            shown.push(' ');
        }
        shown.push(letter);
    }
    shown
}

/// Why a run is no whole run, if so.
fn unfinished(run: &Run<'_>) -> Option<String> {
    (!run.complete() || run.exit() == Exit::NothingRan).then(|| run.conclusion())
}

fn unfinished_suite(writer: &mut Writer<impl Write>, run: &Run<'_>, why: &str) -> io::Result<()> {
    let tally = Tally { unfinished: true, ..Tally::default() };
    open_suite(writer, run, "run", &tally, |writer| {
        let attributes = [("name", "run-finished"), ("classname", "xs2aspec.run"), ("time", "0.000")];
        writer.create_element("testcase").with_attributes(attributes).write_inner_content(|writer| {
            let attributes = [("type", Verdict::Error.word()), ("message", why)];
            writer.create_element("error").with_attributes(attributes).write_empty()?;
            Ok(())
        })?;
        Ok(())
    })
}

fn total_micros(run: &Run<'_>) -> u64 {
    let sum = || run.selected().map(|verdict| verdict.micros).fold(0, u64::saturating_add);
    run.finish().map_or_else(sum, |finish| finish.micros)
}

fn as_attributes<'a>(attributes: &'a [(&'static str, String)]) -> impl Iterator<Item = (&'a str, &'a str)> {
    attributes.iter().map(|(name, value)| (*name, value.as_str()))
}
