use xs2aspec_record::{
    Absence, Body, ClauseText, ControlSeen, Difference, DocumentText, Event, Finding, Header, Level, Reading,
    Strength, Verdict,
};

use super::Page;
use crate::{
    Run,
    sample::{self, Sample},
};

const DOCUMENT: &str = "# Title\n\nIt is an interface. Nobody speaks of `this <b>`.\n\n## Payments\n\n\
    | Header | Type | B | P |\n|---|---|---|---|\n| X-One, X-Two | a text, at most 9 | R | - |\n\n\
    The values of a code:\n\n```\nAED AFN ALL AMD\n```\n\n- Months may not repeat; see below.\n- Months are 1 to 11. A basket holds no series.\n";

fn clause(id: &str, line: u32, quote: &str, strength: Strength) -> Event {
    Event::Clause(ClauseText {
        id: id.into(),
        says: format!("says {id}"),
        strength,
        line,
        quote: quote.into(),
        readings: vec![12],
        section: "Payments".into(),
        standard: None,
        why: (strength == Strength::Untestable).then(|| "no test can observe it".into()),
        set: None,
    })
}

/// Replaces the clauses of a record by those of a document.
fn with_document(mut events: Vec<Event>) -> Vec<Event> {
    events.retain(|event| !matches!(event, Event::Clause(_)));
    let document = DocumentText {
        text: DOCUMENT.into(),
        readings: vec![Reading { row: 12, text: "read so".into() }],
        columns: [("basket".to_owned(), "B".to_owned()), ("periodic".to_owned(), "P".to_owned())].into(),
    };
    let clauses = [
        clause("service", 3, "It is an interface", Strength::Untestable),
        clause("payments", 5, "Payments", Strength::Observed),
        clause("basket.mix", 9, "X-One .. at most 9", Strength::Stated),
        clause("amount.digits", 14, "AFN ALL", Strength::Stated),
        clause("periodic.months.duplicate", 17, "may not repeat", Strength::Stated),
        clause("periodic.months", 18, "1 to 11", Strength::Stated),
        clause("transaction.path", 18, "A basket holds no series", Strength::Stated),
    ];
    events.splice(1..1, [Event::Document(document)].into_iter().chain(clauses));
    events
}

fn events() -> Vec<Event> {
    let mut sample = Sample::new(8);
    for (case, change) in
        [("basket.mix/absent", "header/X-Two removed"), ("basket.mix/long", "header/X-One = \"AED\"")]
    {
        sample.verdict(case, Verdict::Pass).changes = vec![change.into()];
    }
    sample.verdict("amount.digits/afn", Verdict::Pass).changes = vec!["body/code = \"AFN\"".into()];
    sample.verdict("amount.digits/all", Verdict::Fail).changes = vec!["body/code = \"ALL\"".into()];
    sample.verdict("periodic.months/two", Verdict::Pass);
    let broken = sample.verdict("periodic.months.duplicate/adjacent", Verdict::Fail);
    broken.changes = vec!["body/months = \"${a.b}\"".into()];
    broken.control = Some(ControlSeen { case: "periodic.months/two".into(), accepted: true });
    let (sent, control) = (Some("[3,${a.b}]".into()), Some("[1,2]".into()));
    broken.differences = vec![Difference { place: "body/months".into(), sent, control }];
    let warned = sample.verdict("periodic.months/three", Verdict::Warn);
    warned.findings[0].level = Level::Warn;
    let absent = sample.verdict("transaction.path/two", Verdict::NotApplicable);
    absent.absence = Some(Absence::NotSaid { add: "basket = true".into() });
    let mut events = with_document(sample.finished());
    for event in &mut events {
        if let Event::Exchange(exchange) = event {
            let body = match exchange.case.as_str() {
                "amount.digits/afn" => r#"{"code":"AFN"}"#,
                "amount.digits/all" => r#"{"code":"ALL"}"#,
                "periodic.months/two" => r#"{"name":"n","months":[1,2]}"#,
                _ => r#"{"name":"n","months":[3,3]}"#,
            };
            exchange.request.body = Body::of(body.as_bytes());
            // Another field has a word of the list.
            exchange.request.headers = vec![Header("X-One".into(), "AED".into())];
        }
    }
    events
}

fn page(events: &[Event]) -> String {
    String::from_utf8(Run::of(events).unwrap().draw(&mut Page::default())).unwrap()
}

/// Returns the part of the page that works without the script.
fn main_of(page: &str) -> &str {
    let (_, rest) = page.split_once("<main").unwrap();
    rest.split_once("</main>").unwrap().0
}

#[test]
fn each_sentence_cell_and_word_has_the_mark_of_what_the_run_says_of_it() {
    let page = page(&events());
    let text = main_of(&page);
    for wanted in [
        "<a class=\"s untestable\" href=\"#clause:service\">It is an interface.</a>",
        "<a class=\"s open\" href=\"#open:3.1\" data-quote=\"Nobody speaks of `this &lt;b&gt;`.\">Nobody speaks of <code>this &lt;b&gt;</code>.</a>",
        "<a class=\"s kept\" href=\"#clause:basket.mix\">X-One, X-Two</a>",
        "<td class=\"cell\"><span class=\"s kept\" title=\"basket: 2 passed\">R <small>2</small></span></td>",
        "<td class=\"cell\"><span class=\"s open\" title=\"periodic: no case\">-</span></td>",
        "<span class=\"w open\" title=\"sent: no case; in 0 responses\">AED</span>",
        "<span class=\"w kept\" title=\"sent: 1 passed; in 0 responses\">AFN <small>1</small></span>",
        "<span class=\"w denied\" title=\"sent: 1 failed; in 0 responses\">ALL <small>1</small></span>",
        "<span class=\"w open\" title=\"sent: no case; in 0 responses\">AMD</span>",
        "<a class=\"s denied\" href=\"#clause:periodic.months.duplicate\">Months may not repeat; see below.</a>",
        "<a class=\"s warned\" href=\"#clause:periodic.months\">Months are 1 to 11.</a>",
        "<a class=\"s not-asked\" href=\"#clause:transaction.path\">A basket holds no series.</a>",
        "<summary><span class=\"warned\">1 warning</span>, <span class=\"not-asked\">1 not tested</span></summary>",
        "<dt id=\"reading:12\">12</dt><dd>read so</dd>",
    ] {
        assert!(text.contains(wanted), "{wanted}\n\n{text}");
    }
}

/// Returns the classes of the marks of a clause, of its cell for an operation, and of listed words.
fn marks(events: &[Event]) -> (Vec<String>, String, Vec<String>) {
    let page = page(events);
    let text = main_of(&page);
    let class = |before: &str, after: &str| {
        let end = text.find(after).unwrap_or_else(|| panic!("{after}\n\n{text}"));
        let start = text[..end].rfind(before).unwrap() + before.len();
        text[start..].split('"').next().unwrap().to_owned()
    };
    let clauses = ["basket.mix", "periodic.months", "periodic.months.duplicate"];
    let clauses = clauses.map(|id| class("<a class=\"s ", &format!("\" href=\"#clause:{id}\">")));
    let words = ["AED", "AFN", "ALL"].map(|word| class("<span class=\"w ", &format!(">{word}")));
    (clauses.to_vec(), class("<span class=\"s ", "\" title=\"basket: "), words.to_vec())
}

#[test]
fn a_clause_has_the_mark_of_its_own_findings_and_not_of_its_cases() {
    let missing = |level| Finding {
        clause: "periodic.months".into(),
        expected: "a string".into(),
        actual: "absent".into(),
        at: "body/id".into(),
        kind: xs2aspec_record::Mismatch::Missing,
        level,
        end: xs2aspec_record::End::Bank,
    };
    for (verdict, level, mark) in
        [(Verdict::Warn, Level::Warn, "warned"), (Verdict::Fail, Level::Deny, "denied")]
    {
        let mut sample = Sample::new(4);
        // Cases of other clauses show it. One of them sends a listed word, and one is in a cell.
        for (case, change) in [
            ("basket.mix/a", "header/X-One = \"AED\""),
            ("periodic.months.duplicate/b", "body/months = [3,3]"),
            ("amount.digits/afn", "body/code = \"AFN\""),
        ] {
            let verdict = sample.verdict(case, verdict);
            verdict.changes = vec![change.into()];
            verdict.findings = vec![missing(level)];
        }
        let mut waived = missing(level);
        waived.clause = "ncbct.name".into();
        sample.verdict("amount.digits/all", Verdict::Waived).findings = vec![waived];
        sample.last().changes = vec!["body/code = \"ALL\"".into()];
        let mut events = with_document(sample.finished());
        for event in &mut events {
            if let Event::Exchange(exchange) = event {
                let code = if exchange.case.ends_with("afn") { "AFN" } else { "ALL" };
                exchange.request.body = Body::of(format!("{{\"code\":\"{code}\"}}").as_bytes());
                exchange.request.headers = vec![Header("X-One".into(), "AED".into())];
            }
        }
        let (clauses, cell, words) = marks(&events);
        assert_eq!(clauses, ["kept", mark, "kept"], "{mark}");
        assert_eq!((cell.as_str(), words), ("kept", vec!["open".into(), "kept".into(), "kept".into()]));
    }
}

#[test]
fn every_clause_stands_in_the_document_once_even_one_of_a_heading() {
    let events = events();
    let page = page(&events);
    for event in &events {
        if let Event::Clause(clause) = event {
            let id = format!("id=\"clause:{}\"", clause.id);
            assert_eq!(page.matches(&id).count(), 1, "{id}");
        }
    }
    // Without the document in the record, the result is the same.
    let without: Vec<Event> =
        events.into_iter().filter(|event| !matches!(event, Event::Document(_))).collect();
    let page = self::page(&without);
    assert_eq!(page.matches("id=\"clause:").count(), 7);
    assert!(
        page.contains("<a class=\"s denied\" href=\"#clause:periodic.months.duplicate\">says "),
        "{page}"
    );
}

#[test]
fn a_finding_has_its_sentence_its_exchange_and_what_was_accepted_without_a_script() {
    let page = page(&events());
    let findings = main_of(&page).split_once("<section id=\"findings\"").unwrap().1;
    let finding =
        findings.split("<article").find(|one| one.contains("says periodic.months.duplicate")).unwrap();
    for wanted in [
        "- Months <mark>may not repeat</mark>; see below.",
        "(4xx), got 201 with transactionStatus RCVD</p>",
        "<li><code>body/months = [3,&lt;a.b&gt;] instead of [1,2]</code></li>",
        "<mark>  &quot;months&quot;: [</mark>\n<mark>    3,</mark>\n<mark>    3</mark>",
        "<mark>    1,</mark>\n<mark>    2</mark>",
        "<mark>201</mark>",
        "accepted: the control <a href=\"#case:periodic.months/two\">",
        "<p>read so <a class=\"soft\" href=\"#reading:12\">(reading 12)</a></p>",
        "<li><code>xs2aspec run --only periodic.months.duplicate/adjacent --target &#39;my bank.toml&#39; --now",
    ] {
        let wanted = wanted.replace("&#39;", "'");
        assert!(finding.contains(&wanted), "{wanted}\n\n{finding}");
    }
    assert!(!finding.contains("${"), "{finding}");
    let id = finding.split_once("id=\"finding:").unwrap().1.split('"').next().unwrap();
    assert_eq!(id.len(), 16);
    for command in ["finding <code>", "<code>xs2aspec explain ", "<code>xs2aspec curl "] {
        assert!(finding.contains(&format!("{command}{}</code>", &id[..8])), "{command}\n\n{finding}");
    }
}

#[test]
fn the_page_says_what_its_numbers_mean_and_what_the_suite_does_not_test() {
    let page = page(&events());
    let text = main_of(&page);
    for wanted in [
        "<p>Run on 2 January 2030 at 03:04 UTC by xs2aspec 0.1.0 against test bank at https://bank.test/psd2, \
         standard depth, 8 cases.</p>",
        "<h2 class=\"of\">5 required clauses</h2>",
        "<dt>passed</dt><dd class=\"kept\">1</dd><dd class=\"says\">Every test of these clauses passed.</dd>",
        "<dt>violations</dt><dd class=\"denied\">2</dd><dd class=\"says\">No conforming bank does this.",
        "<dt>warnings</dt><dd class=\"warned\">1</dd>",
        "<dt>inconclusive</dt><dd>The responses do not decide it",
        "<p>No test is about these parts of the document: <a href=\"#section:0\">The document</a>.</p>",
        "<p>1 clause of the document cannot be tested through the interface.</p>",
        "<a href=\"#clause:service\">says service</a> <span class=\"soft\">(no test can observe it)</span>",
    ] {
        assert!(text.contains(wanted), "{wanted}\n\n{text}");
    }
    // The digests and ids of the run come last.
    let (before, after) = text.split_once("<section id=\"origin\"").unwrap();
    assert!(!before.contains("class=\"digest\"") && !after.contains("</section>\n<section"), "{text}");
    for wanted in
        ["<dt>Seed</dt><dd>7</dd>", "<dt>Clock</dt><dd>2030-01-02T03:04:05Z</dd>", "class=\"digest\">"]
    {
        assert!(after.contains(wanted), "{wanted}\n\n{after}");
    }
}

/// Returns the data of the page's script.
fn data(page: &str) -> serde_json::Value {
    let (_, rest) = page.split_once("<script id=\"data\" type=\"application/json\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn the_data_has_each_case_once_and_exchanges_up_to_a_limit() {
    let mut sample = Sample::new(81);
    let ids: Vec<String> = (0..80).map(|number| format!("periodic.months/fail-{number:02}")).collect();
    for id in &ids {
        sample.verdict(id, Verdict::Fail);
        sample.responds(201, &format!("{}\n", "x".repeat(99)).repeat(70));
    }
    sample.verdict("periodic.months.duplicate/one", Verdict::Pass);
    let page = page(&sample.finished());
    let data = data(&page);
    let (mut last, mut shown, mut found) = (String::new(), 0, Vec::new());
    for case in data["cases"].as_array().unwrap() {
        let shared = usize::try_from(case[0].as_u64().unwrap()).unwrap();
        last = format!("{}{}", &last[..shared], case[1].as_str().unwrap());
        shown += usize::from(case[5]["exchanges"].is_array());
        found.push((last.clone(), case[4].as_str().unwrap_or("pass").to_owned()));
    }
    let mut expected: Vec<_> = ids.into_iter().map(|id| (id, "fail".to_owned())).collect();
    expected.push(("periodic.months.duplicate/one".to_owned(), "pass".to_owned()));
    expected.sort();
    assert_eq!(found, expected);
    assert!(shown > 15 && shown < 40, "{shown}");
    assert_eq!(data["left"], 80 - shown);
}

#[test]
fn an_observation_of_what_a_clause_requires_is_not_listed() {
    let mut sample = Sample::new(3);
    sample.verdict("basket.mix/a", Verdict::Pass).observations =
        vec!["basket.mix: rejected with 400".into(), "periodic.months: 200".into()];
    sample.verdict("ncbct.name/b", Verdict::Observed).observations =
        vec!["ncbct.name: rejected with 422".into()];
    sample.verdict("periodic.months/c", Verdict::Pass).observations =
        vec!["periodic.months.long: 201".into()];
    let page = page(&sample.finished());
    let (_, observed) = page.split_once("<section id=\"observed\"").unwrap();
    let observed = observed.split("</section>").next().unwrap();
    let lines: Vec<&str> =
        observed.split("<li>").skip(1).filter_map(|line| line.split("</li>").next()).collect();
    assert_eq!(
        lines,
        ["1 × ncbct.name: rejected with 422", "1 × periodic.months.long: 201", "1 × periodic.months: 200"]
    );
}

#[test]
fn what_a_hostile_target_writes_is_text() {
    let page = page(&sample::hostile());
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 2);
    assert!(!main_of(&page).contains("<b>") && main_of(&page).contains("&lt;b&gt;"));
    for letter in ['\u{1b}', '\u{202e}', '\u{feff}', '\0'] {
        assert!(!page.contains(letter), "{letter:?}");
    }
    // No attribute runs a script or sets a style, which the policy would block.
    for name in [" on", " style="] {
        let tags = main_of(&page).split('<').filter_map(|part| part.split_once('>')).map(|(tag, _)| tag);
        for tag in tags {
            let outside = tag.split('"').step_by(2).collect::<String>();
            assert!(!outside.contains(name), "{tag}");
        }
    }
}
