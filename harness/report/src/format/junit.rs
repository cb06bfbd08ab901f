//! `junit.xml`, for CI servers. It is valid against the schema of the Jenkins xUnit plugin
//! (`fixtures/xsd/junit-10.xsd`), the strictest reader we know: a test case has `name`, `classname` and
//! `time`, and nothing more.
//!
//! - `failure`: a violation, or a warning or flaky case if these are denied.
//! - `flakyFailure`: a flaky case otherwise.
//! - `error`: inconclusive cases and errors.
//! - `skipped`: cases that do not apply or are waived.
//! - passed: all others. Warnings and observations are in `system-out`.
//!
//! A run that did not finish, or that judged nothing, has one more test case, an error named `run-finished`,
//! so that a server that reads only this file cannot take it for a success.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    io::{self, Write},
    ops::Range,
    path::Path,
};

use quick_xml::{
    Writer,
    events::{BytesDecl, BytesStart, BytesText, Event},
};
use xs2aspec_record::{CaseVerdict, Counts, Exit, Verdict};

use crate::{
    demanded,
    format::{block, parts::Parts},
    reporter::{CaseReport, Reporter},
    summary::RunSummary,
    text::{self, harmless, short},
    words,
};

/// The run as `JUnit` XML: one suite per area, and in it one test case per selected case, in the order of
/// their ids.
pub struct Junit {
    /// Writes the current case.
    writer: Writer<Vec<u8>>,
    cases: Parts,
    suites: BTreeMap<String, Suite>,
}

/// The cases of an area.
#[derive(Debug, Default)]
struct Suite {
    counts: Counts,
    micros: u64,
    cases: Vec<Range<u64>>,
}

impl Junit {
    /// Creates a report without cases. Many cases are stored in `folder` until the end, or else in memory.
    pub fn new(folder: Option<&Path>) -> Self {
        let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
        // Cases are indented as elements within these.
        for element in ["testsuites", "testsuite"] {
            drop(writer.write_event(Event::Start(BytesStart::new(element))));
        }
        writer.get_mut().clear();
        Self { writer, cases: Parts::new(folder), suites: BTreeMap::new() }
    }
}

impl Reporter for Junit {
    fn case(&mut self, summary: &RunSummary, report: &CaseReport<'_>, _: &mut dyn Write) -> io::Result<()> {
        case(&mut self.writer, summary, report)?;
        let part = self.cases.add(self.writer.get_ref());
        self.writer.get_mut().clear();
        let verdict = report.verdict;
        if !self.suites.contains_key(&verdict.area) {
            self.suites.insert(verdict.area.clone(), Suite::default());
        }
        let Some(suite) = self.suites.get_mut(&verdict.area) else { return Ok(()) };
        suite.counts.add(verdict.verdict);
        suite.micros = suite.micros.saturating_add(verdict.micros);
        match suite.cases.last_mut() {
            Some(last) if last.end == part.start => last.end = part.end,
            _ => suite.cases.push(part),
        }
        Ok(())
    }

    fn finish(&mut self, summary: &RunSummary, out: &mut dyn Write) -> io::Result<()> {
        let sum = || self.suites.values().map(|suite| suite.micros).fold(0, u64::saturating_add);
        let micros = summary.finish().map_or_else(sum, |finish| finish.micros);
        let whole = Tally {
            unfinished: unfinished(summary).is_some(),
            ..Tally::of(summary, summary.totals().counts(), micros)
        };
        let name = format!("xs2aspec {}", short(&summary.start().target));
        let mut writer = Writer::new_with_indent(out, b' ', 2);
        writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        let root = writer.create_element("testsuites").with_attribute(("name", name.as_str()));
        root.with_attributes(as_attributes(&whole.attributes())).write_inner_content(|writer| {
            for (area, suite) in &self.suites {
                open_suite(
                    writer,
                    summary,
                    area,
                    &Tally::of(summary, suite.counts, suite.micros),
                    |writer| {
                        suite
                            .cases
                            .iter()
                            .try_for_each(|part| self.cases.copy(part.clone(), writer.get_mut()))
                    },
                )?;
            }
            unfinished(summary).map_or(Ok(()), |why| unfinished_suite(writer, summary, &why))
        })?;
        writer.get_mut().write_all(b"\n")
    }
}

/// The numbers of a suite, or of all suites.
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
    fn of(summary: &RunSummary, counts: Counts, micros: u64) -> Self {
        let denied = if summary.totals().denies_warnings() { counts.warn } else { 0 };
        let denied = denied + if summary.totals().denies_flaky() { counts.flaky } else { 0 };
        Self {
            tests: counts.total(),
            failures: counts.fail + denied,
            errors: counts.inconclusive + counts.error,
            skipped: counts.not_applicable + counts.waived,
            micros,
            unfinished: false,
        }
    }

    /// Returns the attributes that `testsuites` and `testsuite` share.
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

fn open_suite<W: Write>(
    writer: &mut Writer<W>,
    summary: &RunSummary,
    name: &str,
    tally: &Tally,
    content: impl FnOnce(&mut Writer<W>) -> io::Result<()>,
) -> io::Result<()> {
    let mut attributes = vec![("name", harmless(name))];
    attributes.extend(tally.attributes());
    attributes.push(("skipped", tally.skipped.to_string()));
    attributes.push(("timestamp", harmless(&summary.start().now)));
    attributes.push(("url", short(&summary.start().base_url)));
    let element = writer.create_element("testsuite").with_attributes(as_attributes(&attributes));
    element.write_inner_content(|writer| {
        properties(writer, summary)?;
        content(writer)
    })?;
    Ok(())
}

/// Writes the facts of the run into each suite, so that a suite can be read on its own.
fn properties(writer: &mut Writer<impl Write>, summary: &RunSummary) -> io::Result<()> {
    let start = summary.start();
    let mut facts = vec![
        ("tool", short(&start.tool)),
        ("target", short(&start.target)),
        ("seed", start.seed.to_string()),
        ("document-sha256", harmless(&start.document_sha256)),
        ("suite-sha256", harmless(&start.suite_sha256)),
    ];
    if !start.run_id.is_empty() {
        facts.push(("run-id", harmless(&start.run_id)));
    }
    let optional = [
        ("target-version", &start.target_version),
        ("environment", &start.environment),
        ("contact", &start.contact),
        ("fault", &start.fault),
        ("other-cases", &start.other_cases),
        ("other-document", &start.other_document),
    ];
    let said = optional.into_iter().filter_map(|(name, said)| Some((name, short(said.as_deref()?))));
    facts.extend(said);
    facts.extend(demanded::named(summary).map(|(name, number)| (name, number.to_string())));
    facts.extend(start.variations.iter().map(|name| ("variation", short(name))));
    writer.create_element("properties").write_inner_content(|writer| {
        for (name, value) in &facts {
            let property = writer.create_element("property");
            property.with_attributes([("name", *name), ("value", value.as_str())]).write_empty()?;
        }
        Ok(())
    })?;
    Ok(())
}

fn case(writer: &mut Writer<impl Write>, summary: &RunSummary, report: &CaseReport<'_>) -> io::Result<()> {
    let verdict = report.verdict;
    let attributes = [
        ("name", harmless(&verdict.case)),
        ("classname", classname(verdict)),
        ("time", text::seconds(verdict.micros)),
    ];
    let element = writer.create_element("testcase").with_attributes(as_attributes(&attributes));
    element.write_inner_content(|writer| {
        outcome(writer, summary, report)?;
        writer.create_element("system-out").write_text_content(BytesText::new(&facts(summary, report)))?;
        Ok(())
    })?;
    Ok(())
}

/// Writes the element for the outcome of a case, or nothing if it passed.
fn outcome(writer: &mut Writer<impl Write>, summary: &RunSummary, report: &CaseReport<'_>) -> io::Result<()> {
    let verdict = report.verdict;
    let (element, kind, message) = match verdict.verdict {
        Verdict::Pass | Verdict::Observed => return Ok(()),
        Verdict::Warn if !summary.totals().denies_warnings() => return Ok(()),
        Verdict::NotApplicable | Verdict::Waived => {
            let message = words::why(verdict);
            writer.create_element("skipped").with_attribute(("message", message.as_str())).write_empty()?;
            return Ok(());
        }
        Verdict::Flaky if summary.totals().denies_flaky() => {
            ("failure", verdict.verdict.word().to_owned(), words::why(verdict))
        }
        // The failed attempts, as test runners that repeat tests report them.
        Verdict::Flaky => ("flakyFailure", verdict.verdict.word().to_owned(), words::why(verdict)),
        Verdict::Fail | Verdict::Warn => {
            let (kind, message) = violation(summary, verdict);
            ("failure", kind, message)
        }
        Verdict::Inconclusive | Verdict::Error => {
            ("error", verdict.verdict.word().to_owned(), words::why(verdict))
        }
    };
    let attributes = [("type", kind.as_str()), ("message", message.as_str())];
    let block = unmarked(&block::failure_block(summary, report));
    writer.create_element(element).with_attributes(attributes).write_text_content(BytesText::new(&block))?;
    Ok(())
}

/// Returns clause and message of a failing case: those of its first mismatch, with the id of the finding and
/// the number of further mismatches.
fn violation(summary: &RunSummary, verdict: &CaseVerdict) -> (String, String) {
    let Some(first) = verdict.findings.first() else {
        return (harmless(&verdict.clause), words::why(verdict));
    };
    let found = summary.findings().of_case(verdict);
    let id = found.first().map(|found| format!(" [finding {}]", found.id)).unwrap_or_default();
    let end = words::end(summary.start(), first);
    let message = format!("{}{id}", short(&words::mismatch(end, first)));
    match verdict.findings.len() {
        1 => (harmless(&first.clause), message),
        findings => (harmless(&first.clause), format!("{message} (and {} more)", findings - 1)),
    }
}

/// Renders facts about a case: lines that some servers read as properties, then warnings, then observations.
fn facts(summary: &RunSummary, report: &CaseReport<'_>) -> String {
    let verdict = report.verdict;
    let mut lines = String::from("\n");
    for (name, value) in [
        ("clause", verdict.clause.as_str()),
        ("strength", summary.strength(verdict).word()),
        ("verdict", verdict.verdict.word()),
        ("place", &verdict.place.to_string()),
    ] {
        let _ = writeln!(lines, "[[PROPERTY|{name}={}]]", unmarked(&harmless(value)));
    }
    for found in summary.findings().of_case(verdict) {
        let _ = writeln!(lines, "[[PROPERTY|finding={}]]", found.id);
    }
    let ends = verdict.findings.iter().filter_map(|finding| words::end(summary.start(), finding));
    for end in ends.collect::<BTreeSet<_>>() {
        let _ = writeln!(lines, "[[PROPERTY|violated-by={}]]", end.word());
    }
    for with in &verdict.judged_with {
        let _ = writeln!(lines, "[[PROPERTY|judged-with={}]]", unmarked(&short(with)));
    }
    if verdict.verdict == Verdict::Warn {
        lines.push_str(&unmarked(&block::failure_block(summary, report)));
    }
    for observation in verdict.observed() {
        let _ = writeln!(lines, "observed: {}", unmarked(&short(&observation)));
    }
    lines
}

/// Returns `xs2aspec.<area>.<clause>`. Jenkins reads the part before the last dot as a package and the rest
/// as a class, so areas contain clauses, and clauses contain cases. The dots of the clause become
/// underscores, which no clause id has.
fn classname(verdict: &CaseVerdict) -> String {
    let area = verdict.area.split('/').filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".");
    let parts = ["xs2aspec", &area, &verdict.clause.replace('.', "_")];
    harmless(&parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("."))
}

/// Disarms the marks (`[[ATTACHMENT|path]]`) that CI servers act on in the output of a test.
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

/// Returns the reason that a run is incomplete, or None if it is complete.
fn unfinished(summary: &RunSummary) -> Option<String> {
    let broken = summary.totals().broken_controls() > 0;
    (broken || !summary.complete() || summary.exit() == Exit::NothingRan).then(|| summary.conclusion())
}

fn unfinished_suite(writer: &mut Writer<impl Write>, summary: &RunSummary, why: &str) -> io::Result<()> {
    let tally = Tally { unfinished: true, ..Tally::default() };
    open_suite(writer, summary, "run", &tally, |writer| {
        let attributes = [("name", "run-finished"), ("classname", "xs2aspec.run"), ("time", "0.000")];
        writer.create_element("testcase").with_attributes(attributes).write_inner_content(|writer| {
            let attributes = [("type", Verdict::Error.word()), ("message", why)];
            writer.create_element("error").with_attributes(attributes).write_empty()?;
            Ok(())
        })?;
        Ok(())
    })
}

fn as_attributes<'a>(attributes: &'a [(&'static str, String)]) -> impl Iterator<Item = (&'a str, &'a str)> {
    attributes.iter().map(|(name, value)| (*name, value.as_str()))
}
