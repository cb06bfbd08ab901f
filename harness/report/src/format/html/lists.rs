//! The lists of the page: what changed, what was not tested, what was observed, response times, and readings.

use std::{collections::BTreeMap, fmt::Write as _};

use xs2aspec_record::{Reading, Reason, Verdict};

use super::markup::{escaped, inline, list, shown};
use crate::{
    compare::diff,
    format::{groups::Groups, times},
    summary::RunSummary,
    text,
};

/// Limit of the items of a list that are shown.
const ITEMS: usize = 200;

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
    html
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
    html
}

/// Renders how the target uses choices that the document leaves open.
pub(super) fn observed(groups: &Groups<String>) -> String {
    let groups = groups.by_times();
    let items = groups.iter().take(ITEMS).map(|(seen, group)| format!("{} × {}", group.times, shown(seen)));
    let more = (groups.len() > ITEMS).then(|| format!("and {} more in record.jsonl", groups.len() - ITEMS));
    let items = list(items.chain(more));
    let items = if items.is_empty() { "<p>nothing</p>".to_owned() } else { items };
    format!(
        "<p class=\"soft\">How the target uses choices that the document leaves open. These are not findings. \
         Results that a clause requires are not listed.</p>{items}"
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
    html
}

/// Renders how unclear places of the document are read.
pub(super) fn readings(summary: &RunSummary) -> String {
    let readings = summary.document().map(|document| document.readings.as_slice()).unwrap_or_default();
    let rows = readings
        .iter()
        .map(|Reading { row, text }| format!("<dt id=\"reading:{row}\">{row}</dt><dd>{}</dd>", inline(text)));
    let rows: String = rows.collect();
    if rows.is_empty() { rows } else { format!("<dl class=\"facts\">{rows}</dl>") }
}
