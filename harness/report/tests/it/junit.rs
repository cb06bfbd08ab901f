//! Reads `junit.xml` with an XML parser, and compares it with its record and with the schema.

use std::collections::{BTreeMap, BTreeSet};

use quick_xml::{
    Reader, XmlVersion,
    events::{BytesStart, Event},
};
use xs2aspec_record::{Level, LevelRule, LevelSource, Reason, Role, Verdict};
use xs2aspec_report::{
    Run,
    format::{Report, junit::Junit, terminal},
};

use crate::sample::{self, Sample};

/// An element with its attributes, text and children.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    text: String,
    children: Vec<Element>,
}

impl Element {
    fn of(start: &BytesStart<'_>) -> Self {
        let attributes = start.attributes().map(|attribute| {
            let attribute = attribute.unwrap();
            let value = attribute.normalized_value(XmlVersion::Explicit1_0).unwrap().into_owned();
            (attribute.key.as_ref().to_owned(), value)
        });
        Self { name: start.name().as_ref().to_owned(), attributes: attributes.collect(), ..Self::default() }
    }

    fn parse(xml: &str) -> Self {
        let mut reader = Reader::from_str(xml);
        reader.config_mut().check_end_names = true;
        let mut open = vec![Self::default()];
        loop {
            match reader.read_event().unwrap() {
                Event::Start(start) => open.push(Self::of(&start)),
                Event::Empty(start) => open.last_mut().unwrap().children.push(Self::of(&start)),
                Event::End(_) => {
                    let closed = open.pop().unwrap();
                    open.last_mut().unwrap().children.push(closed);
                }
                Event::Text(text) => open.last_mut().unwrap().text.push_str(&text),
                Event::GeneralRef(reference) => {
                    let text =
                        quick_xml::escape::unescape(&format!("&{};", &*reference)).unwrap().into_owned();
                    open.last_mut().unwrap().text.push_str(&text);
                }
                Event::Decl(_) | Event::Comment(_) => {}
                Event::Eof => break,
                other => panic!("unexpected {other:?}"),
            }
        }
        assert_eq!(open.len(), 1, "everything that is opened is closed");
        open.pop().unwrap().children.pop().unwrap()
    }

    fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).unwrap_or_else(|| panic!("{name} of {self:?}"))
    }

    fn number(&self, name: &str) -> usize {
        self.attribute(name).parse().unwrap()
    }

    fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }
}

fn written(events: &[xs2aspec_record::Event]) -> String {
    let run = Run::of(events).unwrap();
    String::from_utf8(run.draw(&mut Junit::new(None))).unwrap()
}

fn samples() -> Vec<(&'static str, Vec<xs2aspec_record::Event>)> {
    let mut killed = Sample::new(5);
    killed.verdict("periodic.months/one", Verdict::Pass);
    let mut nothing = Sample::new(1);
    nothing.verdict("customers.path/plain", Verdict::NotApplicable);
    vec![
        ("mixed", sample::mixed()),
        ("hostile", sample::hostile()),
        ("killed", killed.killed()),
        ("warned", warned(&[])),
        ("denied", warned(&[Level::Deny])),
        ("stopped-early", killed.stopped_early()),
        ("nothing-ran", nothing.finished()),
        ("empty", Sample::new(0).finished()),
    ]
}

#[test]
fn verdicts_and_counts_are_those_of_the_record() {
    for name in ["mixed", "hostile", "warned", "denied"] {
        let is_denied = name == "denied";
        let events = samples().into_iter().find(|(sample, _)| *sample == name).unwrap().1;
        let run = Run::of(&events).unwrap();
        let root = Element::parse(&written(&events));
        let mut seen = BTreeMap::new();
        let mut totals = [0; 4];
        for suite in root.all("testsuite") {
            let cases: Vec<&Element> = suite.all("testcase").collect();
            let holding = |element: &str| cases.iter().filter(|case| case.child(element).is_some()).count();
            let counted = [cases.len(), holding("failure"), holding("error"), holding("skipped")];
            let said = ["tests", "failures", "errors", "skipped"].map(|name| suite.number(name));
            assert_eq!(said, counted, "{name} {}", suite.attribute("name"));
            totals = std::array::from_fn(|at| totals[at] + said[at]);
            for case in cases {
                assert!(
                    seen.insert(case.attribute("name").to_owned(), case_verdict(case, is_denied)).is_none(),
                    "names are unique"
                );
                assert!(
                    case.attribute("classname")
                        .starts_with(&format!("xs2aspec.{}.", suite.attribute("name")))
                );
            }
        }
        assert_eq!([root.number("tests"), root.number("failures"), root.number("errors")], totals[..3]);
        let wanted: BTreeMap<String, String> =
            run.selected().map(|verdict| (verdict.case.clone(), verdict.verdict.word().to_owned())).collect();
        assert_eq!(seen, wanted);
        let counts = run.summary().totals().counts();
        assert_eq!(
            totals,
            [
                counts.total(),
                counts.fail + usize::from(is_denied),
                counts.inconclusive + counts.error,
                counts.not_applicable
            ]
        );
    }
}

/// Returns a run with a warning, with these levels for warnings.
fn warned(levels: &[Level]) -> Vec<xs2aspec_record::Event> {
    let mut sample = Sample::new(2);
    sample.verdict("ncbct.name/a", Verdict::Warn);
    sample.verdict("periodic.months/one", Verdict::Pass);
    let (pattern, by) = (LevelRule::WARNINGS.to_owned(), LevelSource::CommandLine);
    sample.start().levels =
        levels.iter().map(|level| LevelRule { pattern: pattern.clone(), level: *level, by }).collect();
    sample.finished()
}

/// Returns the verdict that the elements express. The property must say the same.
fn case_verdict(case: &Element, is_denied: bool) -> String {
    let facts = &case.child("system-out").unwrap().text;
    let properties: Vec<&str> = facts.lines().filter(|line| line.starts_with("[[")).collect();
    let findings = properties.iter().filter(|line| line.starts_with("[[PROPERTY|finding=")).count();
    assert_eq!(properties.len(), 4 + findings, "{facts}");
    let is_broken = case.child("failure").is_some() || properties[2].contains("=warn]");
    assert_eq!(findings > 0, is_broken, "{facts}");
    let word = properties[2].strip_prefix("[[PROPERTY|verdict=").unwrap().strip_suffix("]]").unwrap();
    let (failure, error, skipped) = (case.child("failure"), case.child("error"), case.child("skipped"));
    match word {
        "warn" => {
            assert_eq!(failure.is_some(), is_denied);
            assert!(
                error.is_none() && skipped.is_none() && facts.contains("WARN  ncbct.name / a\n"),
                "{facts}"
            );
        }
        "fail" => assert!(failure.is_some() && error.is_none() && skipped.is_none()),
        "inconclusive" | "error" => {
            assert!(failure.is_none() && skipped.is_none() && error.unwrap().attribute("type") == word);
        }
        "not-applicable" => {
            assert!(
                failure.is_none() && error.is_none() && !skipped.unwrap().attribute("message").is_empty()
            );
        }
        "pass" | "observed" => assert!(failure.is_none() && error.is_none() && skipped.is_none()),
        other => panic!("no verdict {other}"),
    }
    word.to_owned()
}

#[test]
fn a_flaky_case_is_one_of_its_own_in_every_format_and_a_failure_if_it_is_denied() {
    for (level, is_denied) in [(Level::Warn, false), (Level::Deny, true)] {
        let mut sample = Sample::new(1);
        sample.verdict("periodic.months/one", Verdict::Flaky).reason =
            Some(Reason::ServedAgain { status: 502 });
        let pattern = LevelRule::FLAKY.to_owned();
        sample.start().levels = vec![LevelRule { pattern, level, by: LevelSource::CommandLine }];
        let events = sample.finished();
        let root = Element::parse(&written(&events));
        let suite = root.all("testsuite").next().unwrap();
        let case = suite.all("testcase").next().unwrap();
        let element = if is_denied { "failure" } else { "flakyFailure" };
        let says = Reason::ServedAgain { status: 502 }.to_string();
        assert_eq!(case.child(element).unwrap().attribute("message"), says);
        assert_eq!(root.attribute("failures"), if is_denied { "1" } else { "0" });
        let run = Run::of(&events).unwrap();
        let drawn =
            |report: Report| String::from_utf8(run.draw(report.reporter(None).unwrap().as_mut())).unwrap();
        let ctrf: serde_json::Value = serde_json::from_str(&drawn(Report::Ctrf)).unwrap();
        let results = &ctrf["results"];
        assert_eq!((&results["summary"]["flaky"], &results["tests"][0]["flaky"]), (&1.into(), &true.into()));
        assert!(drawn(Report::Markdown).contains("Flaky, by reason"));
    }
}

#[test]
fn a_failure_carries_clause_message_and_the_block_of_the_terminal() {
    let events = sample::mixed();
    let run = Run::of(&events).unwrap();
    let root = Element::parse(&written(&events));
    let periodic = root.all("testsuite").find(|suite| suite.attribute("name") == "periodic").unwrap();
    let case = periodic.all("testcase").find(|case| case.child("failure").is_some()).unwrap();
    assert_eq!(case.attribute("classname"), "xs2aspec.periodic.periodic_months_duplicate");
    assert_eq!(case.attribute("time"), "0.012");
    let failure = case.child("failure").unwrap();
    assert_eq!(failure.attribute("type"), "periodic.months.duplicate");
    let id = &run.summary().findings().all()[0].id;
    let message = format!("expected a rejection (4xx), got 201 with transactionStatus RCVD [finding {id}]");
    assert_eq!(failure.attribute("message"), message);
    let facts = &case.child("system-out").unwrap().text;
    assert!(facts.contains(&format!("[[PROPERTY|finding={id}]]\n")), "{facts}");
    let verdict = run.selected().find(|verdict| verdict.case == case.attribute("name")).unwrap();
    assert_eq!(failure.text, terminal::failure(run.summary(), &run.report(verdict)));
    let twelve = periodic.all("testcase").find(|case| case.attribute("name").contains("twelve")).unwrap();
    let facts = &twelve.child("system-out").unwrap().text;
    assert!(facts.contains("[[PROPERTY|strength=choice]]\n"));
    assert!(facts.contains("[[PROPERTY|place=cases/periodic/months-of-execution.yaml:18]]\n"));
    assert!(facts.contains("observed: periodic.months.twelve: 201 with transactionStatus RCVD\n"));
    assert!(
        !root
            .all("testsuite")
            .any(|suite| suite.all("testcase").any(|case| case.attribute("name") == "periodic.months/two"))
    );
    assert!(run.verdicts().any(|verdict| verdict.role == Role::Control));
}

#[test]
fn a_run_that_is_not_whole_is_red() {
    for (name, events) in samples() {
        let root = Element::parse(&written(&events));
        let last = root.all("testsuite").last();
        let marked = last
            .and_then(|suite| suite.child("testcase"))
            .filter(|case| case.attribute("name") == "run-finished");
        let whole = matches!(name, "mixed" | "hostile" | "warned" | "denied");
        assert_eq!(marked.is_none(), whole, "{name}");
        let tests: usize = root.all("testsuite").map(|suite| suite.number("tests")).sum();
        let errors: usize = root.all("testsuite").map(|suite| suite.number("errors")).sum();
        assert_eq!((root.number("tests"), root.number("errors")), (tests, errors), "{name}");
        if let Some(case) = marked {
            let run = Run::of(&events).unwrap();
            assert_eq!(case.child("error").unwrap().attribute("message"), run.summary().conclusion());
            assert!(errors >= 1, "{name}");
        }
    }
}

#[test]
fn a_hostile_answer_adds_nothing() {
    let xml = written(&sample::hostile());
    let illegal =
        |letter: char| letter.is_control() && letter != '\n' || matches!(letter, '\u{fffe}' | '\u{ffff}');
    assert!(!xml.chars().any(illegal));
    let root = Element::parse(&xml);
    let cases: Vec<&Element> = root.all("testsuite").flat_map(|suite| suite.all("testcase")).collect();
    assert_eq!(cases.len(), 5);
    for case in cases {
        let facts = &case.child("system-out").unwrap().text;
        let own = 4 + facts.matches("[[PROPERTY|finding=").count();
        assert_eq!(facts.matches("[[").count(), own, "marks that CI servers act on: {facts}");
        assert!(facts.contains("[ [ATTACHMENT|/etc/passwd]]") && facts.contains("\\u{1b}[2J"), "{facts}");
        assert!(!facts.contains("##"));
    }
    assert!(xml.len() < 60_000, "long responses are cut: {}", xml.len());
}

/// Attributes (true if required) and children that the schema allows for an element.
#[derive(Default)]
struct Allowed {
    attributes: BTreeMap<String, bool>,
    children: BTreeSet<String>,
}

fn schema() -> BTreeMap<String, Allowed> {
    fn gather(element: &Element, allowed: &mut Allowed) {
        for child in &element.children {
            match child.name.as_str() {
                "xs:attribute" => {
                    let required = child.attributes.get("use").is_some_and(|word| word == "required");
                    allowed.attributes.insert(child.attribute("name").to_owned(), required);
                }
                "xs:element" => drop(allowed.children.insert(child.attribute("ref").to_owned())),
                _ => gather(child, allowed),
            }
        }
    }
    let text = include_str!("../../../../fixtures/xsd/junit-10.xsd");
    let mut all = BTreeMap::new();
    for element in Element::parse(text).all("xs:element") {
        let mut allowed = Allowed::default();
        gather(element, &mut allowed);
        all.insert(element.attribute("name").to_owned(), allowed);
    }
    all
}

fn violations(element: &Element, schema: &BTreeMap<String, Allowed>) -> Vec<String> {
    let Some(allowed) = schema.get(&element.name) else { return vec![format!("element {}", element.name)] };
    let mut found = Vec::new();
    for name in element.attributes.keys().filter(|name| !allowed.attributes.contains_key(*name)) {
        found.push(format!("{} has {name}", element.name));
    }
    for (name, _) in allowed.attributes.iter().filter(|(_, required)| **required) {
        if !element.attributes.contains_key(name) {
            found.push(format!("{} lacks {name}", element.name));
        }
    }
    for child in &element.children {
        if !allowed.children.contains(&child.name) {
            found.push(format!("{} holds {}", element.name, child.name));
        }
        found.extend(violations(child, schema));
    }
    found
}

#[test]
fn only_what_the_schema_allows_is_written() {
    let schema = schema();
    assert_eq!(
        schema["testcase"].attributes.keys().collect::<Vec<_>>(),
        ["classname", "group", "name", "time"]
    );
    for (name, events) in samples() {
        let xml = written(&events);
        assert_eq!(violations(&Element::parse(&xml), &schema), Vec::<String>::new(), "{name}");
        // Input for a validator of the whole schema: `xmllint --schema fixtures/xsd/junit-10.xsd FILE`.
        std::fs::write(format!("{}/junit-{name}.xml", env!("CARGO_TARGET_TMPDIR")), xml).unwrap();
    }
    let bad = "<testsuites disabled=\"0\"><testcase line=\"1\"><x/></testcase></testsuites>";
    assert_eq!(
        violations(&Element::parse(bad), &schema),
        [
            "testsuites has disabled",
            "testsuites holds testcase",
            "testcase has line",
            "testcase lacks name",
            "testcase holds x",
            "element x"
        ]
    );
}
