//! Several runs as charts: findings, passed and violated required clauses, and response times.

use std::fmt::Write as _;

use base64::{Engine, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};

use xs2aspec_record::Level;

use crate::{
    format::html::markup::{escaped, shown},
    summary::RunSummary,
    text,
};

/// Width and height of a chart.
const SIZE: (usize, usize) = (640, 120);

const STYLE: &str = ":root { color-scheme: light dark; } body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; \
    padding: 1.5rem; } svg { width: 100%; max-width: 40rem; display: block; } polyline { fill: none; stroke: currentColor; stroke-width: 2; } \
    circle { fill: currentColor; } table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .25rem .8rem .25rem 0; \
    border-bottom: 1px solid #8886; } .number { text-align: right; }";

/// The values of one run.
struct Point<'a> {
    summary: &'a RunSummary,
    values: [u64; NAMES.len()],
}

/// The names of the charts.
const NAMES: [&str; 5] =
    ["violations", "warnings", "clauses passed", "clauses violated", "slowest p95 of an operation"];

/// Renders the page of these runs, in the given order.
pub fn page(summaries: &[RunSummary]) -> String {
    let points: Vec<Point<'_>> = summaries.iter().map(point).collect();
    let policy =
        format!("default-src 'none'; style-src 'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(STYLE)));
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>xs2aspec: trend</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>Trend of {}</h1>\n",
        text::count(points.len(), "run")
    );
    for (at, name) in NAMES.iter().enumerate() {
        let values: Vec<u64> = points.iter().map(|point| point.values[at]).collect();
        _ = write!(html, "<h2>{name}</h2>\n{}\n", chart(name, &values, at));
    }
    html.push_str(
        "<h2>The runs</h2>\n<table><thead><tr><th scope=\"col\">clock</th><th scope=\"col\">target</th>",
    );
    for name in NAMES {
        _ = write!(html, "<th scope=\"col\" class=\"number\">{name}</th>");
    }
    html.push_str("<th scope=\"col\">conclusion</th></tr></thead><tbody>\n");
    for Point { summary, values } in &points {
        let start = summary.start();
        _ = write!(html, "<tr><td>{}</td><td>{}</td>", escaped(&start.now), shown(&start.target));
        for (at, value) in values.iter().enumerate() {
            _ = write!(html, "<td class=\"number\">{}</td>", words(*value, at));
        }
        _ = writeln!(html, "<td>{}</td></tr>", escaped(&summary.conclusion()));
    }
    html.push_str("</tbody></table>\n</main>\n</body>\n</html>\n");
    html
}

fn point(summary: &RunSummary) -> Point<'_> {
    let numbers = summary.demanded();
    let operations = summary.finish().into_iter().flat_map(|finish| &finish.times.operations);
    let slowest = operations.map(|operation| operation.p95).max().unwrap_or_default();
    let [denied, warned] = [Level::Deny, Level::Warn].map(|level| summary.findings().count(level) as u64);
    Point { summary, values: [denied, warned, numbers.kept as u64, numbers.broken as u64, slowest] }
}

/// Renders a value. The last of the values is a time.
fn words(value: u64, at: usize) -> String {
    if at + 1 == NAMES.len() { text::duration(value) } else { value.to_string() }
}

/// Renders a line through the values, from 0 to the largest.
fn chart(name: &str, values: &[u64], at: usize) -> String {
    let (width, height) = SIZE;
    let most = values.iter().copied().max().unwrap_or_default().max(1);
    let steps = values.len().saturating_sub(1).max(1);
    let place = |(step, value): (usize, &u64)| {
        let up = usize::try_from(u128::from(*value) * (height as u128 - 20) / u128::from(most))
            .unwrap_or_default();
        (10 + step * (width - 20) / steps, height - 10 - up)
    };
    let places: Vec<(usize, usize)> = values.iter().enumerate().map(place).collect();
    let line: Vec<String> = places.iter().map(|(x, y)| format!("{x},{y}")).collect();
    let mut svg = format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{name}\"><polyline points=\"{}\"/>",
        line.join(" ")
    );
    for ((x, y), value) in places.iter().zip(values) {
        _ = write!(
            svg,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"4\"><title>{}</title></circle>",
            words(*value, at)
        );
    }
    svg.push_str("</svg>");
    svg
}

#[cfg(test)]
mod tests {
    use xs2aspec_record::Verdict;

    use super::*;
    use crate::{Run, sample::Sample};

    fn summary(broken: usize) -> RunSummary {
        let mut sample = Sample::new(4);
        for (at, case) in ["basket.mix/one", "customers.path/one", "ncbct.path/one", "transaction.path/one"]
            .iter()
            .enumerate()
        {
            sample.verdict(case, if at < broken { Verdict::Fail } else { Verdict::Pass });
        }
        sample.start().target = "<b>bank</b>".into();
        Run::of(&sample.finished()).unwrap().summary().clone()
    }

    #[test]
    fn each_run_is_a_point_as_high_as_its_number() {
        let page = page(&[summary(0), summary(2), summary(4)]);
        assert!(page.contains("<h1>Trend of 3 runs</h1>"), "{page}");
        // 4, 2 and 0 passed, then 0, 2 and 4 violated.
        assert!(page.contains("<polyline points=\"10,10 320,60 630,110\"/>"), "{page}");
        assert!(page.contains("<polyline points=\"10,110 320,60 630,10\"/>"), "{page}");
        // Two findings, and one if no baseline request is accepted.
        let of = |name: &str| page.split(&format!("aria-label=\"{name}\">")).nth(1).unwrap_or_default();
        assert!(of("violations").starts_with("<polyline points=\"10,110 320,10 630,60\"/>"), "{page}");
        assert!(of("warnings").starts_with("<polyline points=\"10,110 320,110 630,110\"/>"), "{page}");
        assert!(page.contains("<td>&lt;b&gt;bank&lt;/b&gt;</td>") && !page.contains("<b>bank"), "{page}");
        assert!(!page.contains("<script"));
    }

    #[test]
    fn one_run_and_none_are_drawn_as_well() {
        assert!(page(&[summary(1)]).contains("<polyline points=\"10,10\"/>"));
        assert!(page(&[]).contains("Trend of 0 runs"));
    }
}
