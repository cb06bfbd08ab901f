//! The top of the page: what was tested, with what, and the result.

use std::{collections::BTreeMap, fmt::Write as _};

use sha2::{Digest, Sha256};
use xs2aspec_record::{End, Level, Reason, Strength, TargetProfile, Verdict};

use super::markup::{escaped, list, section, shown};
use crate::{
    compare::diff,
    demanded,
    format::{groups::Groups, terminal, times},
    summary::RunSummary,
    text,
};

/// Limit of the items of a list that are shown.
const ITEMS: usize = 200;

/// Renders the verdict, the numbers of clauses, and the target.
pub(super) fn header(summary: &RunSummary, violations: usize, warnings: usize) -> String {
    let start = summary.start();
    let exit = summary.exit().code();
    let class = match exit {
        0 => "kept",
        1 => "denied",
        _ => "not-asked",
    };
    let mut html = format!(
        "<header><h1>{}</h1>\n<p class=\"verdict {class}\">{}{} (exit {exit})</p>\n<dl class=\"numbers\">",
        shown(&format!("xs2aspec: {}", text::short(&start.target))),
        shown(&summary.of_other_cases(text::short)),
        escaped(&summary.conclusion())
    );
    let classes = ["kept", "denied", "warned", "not-asked", "absent"];
    let names = ["passed", "violated", "waived", "not tested", "skipped"];
    for ((class, name), (_, number)) in classes.into_iter().zip(names).zip(demanded::named(summary)) {
        if name == "waived" && number == 0 {
            continue;
        }
        let class = if number > 0 { class } else { "soft" };
        _ = write!(html, "<div><dt>{name}</dt><dd class=\"{class}\">{number}</dd></div>");
    }
    _ = write!(
        html,
        "</dl>\n<p>{}.</p><p>{}, {}.</p>",
        escaped(&demanded::numbers(summary)),
        text::count(violations, "violation"),
        text::count(warnings, "warning")
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

/// Renders what was tested, and with what.
pub(super) fn tested(summary: &RunSummary) -> String {
    let facts = facts(summary);
    let facts = facts.iter().map(|(name, text)| format!("<dt>{name}</dt><dd>{}</dd>", with_digest(text)));
    let facts = facts.collect::<Vec<_>>().concat();
    let quality = summary.start().quality.as_deref();
    let html = format!(
        "<div class=\"two\"><div><dl class=\"facts\">{facts}</dl></div>\
         <div>{}<h3 id=\"quality\">How good the suite is</h3><p>{}</p></div></div><h3>Waivers</h3>{}",
        strengths(summary),
        escaped(quality.unwrap_or("This suite does not include its kill matrix.")),
        waivers(summary)
    );
    section("tested", "What was tested", &html)
}

/// Renders a text, with a SHA-256 at its end in small type so that it fits a line.
fn with_digest(text: &str) -> String {
    let is_digest = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    match text.rsplit_once(' ').filter(|(_, word)| is_digest(word)) {
        Some((before, digest)) => format!("{} <code class=\"digest\">{digest}</code>", shown(before)),
        None => shown(text),
    }
}

fn facts(summary: &RunSummary) -> Vec<(&'static str, String)> {
    let start = summary.start();
    let at = start.address().map(|address| format!(" at {address}")).unwrap_or_default();
    let mut facts = vec![("Target", format!("{}{at}", start.target))];
    let said = [
        ("Version", &start.target_version),
        ("Environment", &start.environment),
        ("Contact", &start.contact),
        ("Fault of the reference bank", &start.fault),
    ];
    facts.extend(said.into_iter().filter_map(|(name, said)| Some((name, said.clone()?))));
    if !start.variations.is_empty() {
        facts.push(("Variation of the reference bank", start.variations.join(", ")));
    }
    if let Some(folder) = &start.other_cases {
        facts.push(("Cases", format!("from {folder}, not those built into {}", start.tool)));
    }
    if let Some(folder) = &start.other_document {
        facts.push(("Document", format!("from {folder}, not the one built into {}", start.tool)));
    }
    let amounts = terminal::amounts(summary);
    let (depth, seed, now) = (&start.depth, start.seed, &start.now);
    if !start.run_id.is_empty() {
        facts.push(("Run id", start.run_id.clone()));
    }
    let most = start.requests.map(|most| format!(", at most {most} requests")).unwrap_or_default();
    facts.push(("Run", format!("{amounts}; depth {depth}{most}, seed {seed}, clock {now}")));
    if let Some(profile) = summary.profile() {
        facts.extend(declared(profile));
    }
    for rule in &start.levels {
        let (level, pattern, by) = (rule.level.word(), &rule.pattern, rule.by.words());
        facts.push(("Level", format!("{level} for {pattern}, by {by}")));
    }
    for (name, patterns) in [("Only", &start.only), ("Skipped", &start.skip)] {
        if !patterns.is_empty() {
            facts.push((name, patterns.join(", ")));
        }
    }
    facts.extend([
        ("Suite", format!("{}, SHA-256 {}", start.tool, start.suite_sha256)),
        ("Document", format!("SHA-256 {}", start.document_sha256)),
        ("Profile", format!("SHA-256 {}", start.profile_sha256)),
        ("Ledger", ledger(summary)),
    ]);
    facts
}

/// Returns what the profile declares.
fn declared(profile: &TargetProfile) -> Vec<(&'static str, String)> {
    let joined = |values: &BTreeMap<String, String>| {
        values.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join("; ")
    };
    let mut facts =
        vec![("Choices", joined(&profile.choices)), ("Capabilities", joined(&profile.capabilities))];
    if profile.test_key {
        facts.push(("Key", "the public test key".to_owned()));
    } else if !profile.certificate_sha256.is_empty() {
        facts.push(("Certificate", format!("SHA-256 {}", profile.certificate_sha256)));
    }
    facts.retain(|(_, text)| !text.is_empty());
    facts
}

/// Returns the number of clauses in the ledger, and its digest: SHA-256 over the `clause` events in the order
/// of their ids.
fn ledger(summary: &RunSummary) -> String {
    let mut hash = Sha256::new();
    for clause in summary.clauses() {
        // Strings alone always serialize.
        hash.update(serde_json::to_vec(clause).unwrap_or_default());
    }
    format!("{}, SHA-256 {}", text::count(summary.clauses().len(), "clause"), hex::encode(hash.finalize()))
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

/// Renders the differences from an earlier run.
pub(super) fn changes(summary: &RunSummary) -> String {
    let Some(changes) = summary.changes() else { return String::new() };
    let mut html = format!(
        "<p>{}</p><p class=\"soft\">since {}</p>",
        escaped(&diff::heading(changes)),
        shown(&changes.base)
    );
    for diff::List { title, items, .. } in diff::lists(changes) {
        let count = items.len();
        let shown_items = items.iter().take(ITEMS).map(|(item, why)| {
            let why = why.map(|why| format!(": {}", shown(why))).unwrap_or_default();
            format!("<code>{}</code>{why}", shown(item))
        });
        let more = (count > ITEMS).then(|| format!("and {} more", count - ITEMS));
        _ = write!(html, "<h3>{} ({count})</h3>{}", escaped(title), list(shown_items.chain(more)));
    }
    section("changes", "What changed", &html)
}

/// Renders the cases that were not tested or not decided, by reason.
pub(super) fn unasked(reasons: &BTreeMap<Verdict, Groups<Reason>>) -> String {
    let mut html = String::new();
    for (verdict, groups) in reasons {
        let (title, class) = match verdict {
            Verdict::Error => ("Errors", "not-asked"),
            Verdict::Inconclusive => ("Inconclusive", "not-asked"),
            Verdict::Flaky => ("Flaky", "warned"),
            Verdict::Waived => ("Waived", "warned"),
            _ => ("Not applicable to this target", "absent"),
        };
        let groups_by_times = groups.by_times();
        let items = groups_by_times.iter().take(ITEMS).map(|(reason, group)| {
            let first = group
                .cases
                .first()
                .map(|(case, _)| format!(" (<code>{}</code>)", shown(case)))
                .unwrap_or_default();
            format!("{}: {}{first}", text::count(group.times, "case"), shown(reason))
        });
        _ = write!(html, "<h3 class=\"{class}\">{title} ({})</h3>{}", groups.times(), list(items));
    }
    if html.is_empty() {
        html.push_str("<p>nothing</p>");
    }
    section("unasked", "What was not tested, and why", &html)
}

/// Renders how the target uses choices that the document leaves open.
pub(super) fn observed(groups: &Groups<String>) -> String {
    let groups = groups.by_times();
    let items = groups.iter().take(ITEMS).map(|(seen, group)| format!("{} × {}", group.times, shown(seen)));
    let more = (groups.len() > ITEMS).then(|| format!("and {} more in record.jsonl", groups.len() - ITEMS));
    let items = list(items.chain(more));
    let items = if items.is_empty() { "<p>nothing</p>".to_owned() } else { items };
    section(
        "observed",
        "What was observed",
        &format!(
            "<p class=\"soft\">How the target uses choices that the document leaves open. These are not findings.</p>{items}"
        ),
    )
}

/// Renders the response times.
pub(super) fn timing(summary: &RunSummary, slowest: &[(u64, String)]) -> String {
    let mut html = String::new();
    let rows = times::rows(summary);
    if !rows.is_empty() {
        html.push_str("<table><caption>Response times by operation</caption><thead><tr><th scope=\"col\">operation</th>");
        for column in times::COLUMNS {
            _ = write!(html, "<th scope=\"col\" class=\"number\">{column}</th>");
        }
        html.push_str("</tr></thead><tbody>");
        for (name, cells) in rows {
            _ = write!(html, "<tr><th scope=\"row\">{}</th>", shown(&name));
            for cell in cells {
                _ = write!(html, "<td class=\"number\">{}</td>", escaped(&cell));
            }
            html.push_str("</tr>");
        }
        html.push_str("</tbody></table>");
    }
    if let Some((heading, lines)) = times::too_slow(summary) {
        _ = write!(
            html,
            "<p class=\"warned\">{}</p>{}",
            shown(&heading),
            list(lines.iter().map(|line| shown(line)))
        );
    }
    let slowest = slowest
        .iter()
        .map(|(micros, case)| format!("<code>{}</code> {}", shown(case), text::duration(*micros)));
    _ = write!(html, "<p class=\"soft\">The slowest cases:</p>{}", list(slowest));
    section("timing", "Timing", &html)
}

/// Renders how unclear places of the document are read.
pub(super) fn readings(summary: &RunSummary) -> String {
    let readings =
        summary.document().map(|document| &document.readings).filter(|readings| !readings.is_empty());
    let Some(readings) = readings else { return String::new() };
    let rows: Vec<String> = readings
        .iter()
        .map(|reading| {
            format!(
                "<dt id=\"reading:{}\">{}</dt><dd>{}</dd>",
                reading.row,
                reading.row,
                escaped(&reading.text)
            )
        })
        .collect();
    section("readings", "How unclear places are read", &format!("<dl class=\"facts\">{}</dl>", rows.concat()))
}
