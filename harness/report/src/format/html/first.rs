//! The top of the page: the result in numbers, what was tested, and how good the suite is.

use std::fmt::Write as _;

use xs2aspec_record::{End, Level, Strength};

use super::{
    document::Section,
    legend,
    markup::{escaped, facts, list, shown},
    origin,
};
use crate::{demanded, format::terminal, summary::RunSummary, text};

/// Renders the verdict, the run in words, and the numbers, each with a sentence.
pub(super) fn header(summary: &RunSummary) -> String {
    let start = summary.start();
    let exit = summary.exit().code();
    let class = match exit {
        0 => "kept",
        1 => "denied",
        _ => "not-asked",
    };
    let mut html = format!(
        "<header><h1>{}</h1>\n<p class=\"verdict {class}\">{}{} (exit {exit})</p>\n<p>{}</p>\n",
        shown(&format!("xs2aspec: {}", text::short(&start.target))),
        shown(&summary.of_other_cases(text::short)),
        escaped(&summary.conclusion()),
        shown(&origin::run(summary))
    );
    let numbers = demanded::named(summary);
    let required: usize = numbers.iter().map(|(_, number)| number).sum();
    let idle = summary.totals().clauses().not_exercised().count();
    let states = legend::STATES.iter().zip(numbers).map(|((class, name, says), (_, number))| match *class {
        // Few runs have waivers.
        "warned" if number == 0 => String::new(),
        "kept" if idle > 0 => {
            let idle = format!("{says} For {idle} of them, no response contained the optional field.");
            number_of(class, name, number, &idle)
        }
        _ => number_of(class, name, number, says),
    });
    let states: String = states.collect();
    let findings = [("denied", Level::Deny), ("warned", Level::Warn)].map(|(class, level)| {
        let (name, says) = legend::finding(level);
        number_of(class, name, summary.findings().count(level), says)
    });
    _ = write!(
        html,
        "<h2 class=\"of\">{}</h2><dl class=\"numbers\">{states}</dl>\
         <h2 class=\"of\">Findings</h2><dl class=\"numbers\">{}</dl>",
        text::count(required, "required clause"),
        findings.concat()
    );
    html.push_str(&by_end(summary));
    let (told, cases) = (summary.totals().counts().total(), start.cases);
    if summary.finish().is_none() && cases > 0 {
        _ = write!(
            html,
            "<p><progress max=\"{cases}\" value=\"{told}\" aria-label=\"cases that have a verdict\"></progress> \
             {told} of {cases} cases</p>"
        );
    }
    for line in [terminal::hopeless(summary), terminal::refused_since(summary)].into_iter().flatten() {
        _ = write!(html, "<p class=\"not-asked\">{}</p>", shown(&line));
    }
    let to_add = demanded::to_add(summary);
    if !to_add.is_empty() {
        let lines = list(to_add.iter().map(|line| format!("<code>{}</code>", shown(line))));
        _ = write!(
            html,
            "<div class=\"not-asked\">To test more, add to the profile, or declare the capability absent under [capabilities]:{lines}</div>"
        );
    }
    html.push_str("</header>\n");
    html
}

/// Renders a number with its name and a sentence.
fn number_of(class: &str, name: &str, number: usize, says: &str) -> String {
    let class = if number > 0 { class } else { "soft" };
    format!("<div><dt>{name}</dt><dd class=\"{class}\">{number}</dd><dd class=\"says\">{says}</dd></div>")
}

/// Renders the numbers of findings by end, for recorded traffic.
fn by_end(summary: &RunSummary) -> String {
    if summary.start().traffic.is_none() {
        return String::new();
    }
    let said = [End::Client, End::Bank].map(|end| {
        let count =
            |level: Level| summary.findings().of(level).filter(|found| found.root.end == Some(end)).count();
        let (denied, warned) = (count(Level::Deny), count(Level::Warn));
        let (denied, warned) = (text::count(denied, "violation"), text::count(warned, "warning"));
        format!("the {}: {denied}, {warned}", end.word())
    });
    let on_purpose =
        if summary.start().on_purpose { format!("<p>{}.</p>", text::ON_PURPOSE) } else { String::new() };
    format!("<p>{}.</p>{on_purpose}", said.join("; "))
}

/// Renders what was tested, how good the suite is, and what it does not test.
pub(super) fn tested(summary: &RunSummary, sections: &[Section<'_>]) -> String {
    let quality = summary.start().quality.as_deref();
    let quality = quality.map_or_else(
        || "<p>This suite does not include its kill matrix.</p>".to_owned(),
        |quality| {
            format!(
                "<p>{}.</p><p class=\"soft\">A fault is a bank that violates one clause on purpose. \
                 A false alarm is a finding on a bank that conforms.</p>",
                escaped(quality.trim_end_matches('.'))
            )
        },
    );
    format!(
        "<div class=\"two\"><div>{}{}</div>\
         <div><h3 id=\"quality\">How good the suite is</h3>{quality}{}</div></div><h3>Waivers</h3>{}",
        facts(origin::tested(summary)),
        strengths(summary),
        untested(summary, sections),
        waivers(summary)
    )
}

/// Renders the clauses that no test can decide, and the parts of the document without a test.
fn untested(summary: &RunSummary, sections: &[Section<'_>]) -> String {
    let untestable = summary.clauses().filter(|clause| clause.strength == Strength::Untestable);
    let untestable: Vec<String> = untestable
        .map(|clause| {
            let why = clause.why.as_deref().unwrap_or("no reason is given");
            let [id, says, why] = [&clause.id, &clause.says, why].map(escaped);
            format!("<a href=\"#clause:{id}\">{says}</a> <span class=\"soft\">({why})</span>")
        })
        .collect();
    let without = sections.iter().enumerate().filter(|(_, section)| section.is_untested());
    let without: Vec<String> = without
        .map(|(at, section)| format!("<a href=\"#section:{at}\">{}</a>", escaped(section.title)))
        .collect();
    let mut html = String::new();
    if !without.is_empty() {
        _ = write!(html, "<p>No test is about these parts of the document: {}.</p>", without.join(", "));
    }
    if !untestable.is_empty() {
        _ = write!(
            html,
            "<p>{} of the document cannot be tested through the interface.</p>\
             <details><summary>Each with its reason</summary>{}</details>",
            text::count(untestable.len(), "clause"),
            list(untestable.into_iter())
        );
    }
    if html.is_empty() {
        html
    } else {
        format!("<h3 id=\"untested\">What this suite does not test</h3>{html}")
    }
}

fn strengths(summary: &RunSummary) -> String {
    let mut html = String::from(
        "<table class=\"strengths\"><caption>Cases by the strength of their clause</caption><thead><tr>",
    );
    for (at, name) in
        ["strength", "passed", "failed", "warning", "not assessed", "observed"].iter().enumerate()
    {
        let class = if at > 0 { " class=\"number\"" } else { "" };
        _ = write!(html, "<th scope=\"col\"{class}>{name}</th>");
    }
    html.push_str("</tr></thead><tbody>");
    for (strength, counts) in summary.totals().by_strength() {
        let broken = counts.fail + counts.waived;
        let open = counts.total() - counts.pass - counts.flaky - broken - counts.warn - counts.observed;
        _ = write!(html, "<tr><th scope=\"row\">{}</th>", Strength::word(*strength));
        let cells = [
            (counts.pass + counts.flaky, "kept"),
            (broken, "denied"),
            (counts.warn, "warned"),
            (open, "not-asked"),
            (counts.observed, "observed"),
        ];
        for (number, class) in cells {
            let class = if number > 0 { class } else { "soft" };
            _ = write!(html, "<td class=\"number {class}\">{number}</td>");
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table>\n");
    html
}

fn waivers(summary: &RunSummary) -> String {
    let waivers = summary.waivers();
    if waivers.is_empty() {
        return "<p>none</p>".to_owned();
    }
    let mut html = String::from("<table class=\"waivers\"><thead><tr>");
    for name in ["waives", "owner", "reason", "ticket", "expires", "result"] {
        _ = write!(html, "<th scope=\"col\">{name}</th>");
    }
    html.push_str("</tr></thead><tbody>");
    for waiver in waivers {
        let class = if waiver.is_red() { "denied" } else { "warned" };
        html.push_str("<tr>");
        for text in [&waiver.named(), &waiver.owner, &waiver.reason, &waiver.ticket, &waiver.expires] {
            _ = write!(html, "<td>{}</td>", shown(text));
        }
        _ = write!(html, "<td class=\"{class}\">{}</td></tr>", shown(&waiver.says()));
    }
    html.push_str("</tbody></table>");
    html
}
