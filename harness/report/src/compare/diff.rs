//! What differs between two runs: what is newly broken, what was fixed, what is no longer assessed, what is answered in another way.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use xs2aspec_record::{CaseVerdict, Changes, Verdict};

use crate::{
    run::{self, Run},
    text::short,
};

/// Items of one list that are shown.
const MOST: usize = 200;

/// Holds two runs against each other.
pub fn of(base: &Run<'_>, head: &Run<'_>) -> Changes {
    let verdicts = |run: &Run<'_>| -> BTreeMap<String, (Verdict, String)> {
        run.selected().map(|verdict| (verdict.case.clone(), (verdict.verdict, why(verdict)))).collect()
    };
    let (before, after) = (verdicts(base), verdicts(head));
    let judged =
        |word: Verdict| matches!(word, Verdict::Pass | Verdict::Fail | Verdict::Waived | Verdict::Observed);
    let start = base.summary().start();
    let named = format!("{} against {}, clock {}, seed {}", start.tool, start.target, start.now, start.seed);
    let mut changes = Changes { base: named, ..Changes::default() };
    for (case, (word, why)) in &after {
        let was = before.get(case).map(|(word, _)| *word);
        match (was, *word) {
            (Some(Verdict::Fail), Verdict::Fail) => {}
            (_, Verdict::Fail) => changes.newly_broken.push((case.clone(), why.clone())),
            (Some(Verdict::Fail), Verdict::Pass) => changes.fixed.push(case.clone()),
            (Some(was), word) if judged(was) && !judged(word) => {
                changes.newly_not_assessed.push((case.clone(), why.clone()));
            }
            (Some(was), word) if !judged(was) && judged(word) => changes.newly_assessed.push(case.clone()),
            _ => {}
        }
    }
    changes.gone = before.keys().filter(|case| !after.contains_key(*case)).cloned().collect();
    let observations = |run: &Run<'_>| -> BTreeSet<String> {
        run.selected()
            .flat_map(|verdict| {
                verdict.observations.iter().map(|seen| format!("{}: {}", verdict.case, alike(seen)))
            })
            .collect()
    };
    (changes.newly_observed, changes.no_longer_observed) =
        differing(&observations(base), &observations(head));
    let waivers = |run: &Run<'_>| -> BTreeSet<String> {
        run.summary().waivers().iter().map(xs2aspec_record::WaiverSeen::says).collect()
    };
    (changes.new_waivers, changes.gone_waivers) = differing(&waivers(base), &waivers(head));
    changes
}

/// The first line of what changed: how much.
pub fn heading(changes: &Changes) -> String {
    format!(
        "{} newly broken, {} fixed, {} newly not assessed",
        changes.newly_broken.len(),
        changes.fixed.len(),
        changes.newly_not_assessed.len()
    )
}

/// One sort of change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<'a> {
    /// What sort.
    pub title: &'static str,
    /// Cases or texts, each with what is said of it, if anything is.
    pub items: Vec<(&'a str, Option<&'a str>)>,
}

/// What changed, list by list, what is newly broken first; none is empty.
pub fn lists(changes: &Changes) -> Vec<List<'_>> {
    fn with<'a>(title: &'static str, items: &'a [(String, String)]) -> List<'a> {
        List { title, items: items.iter().map(|(case, why)| (case.as_str(), Some(why.as_str()))).collect() }
    }
    fn plain<'a>(title: &'static str, items: &'a [String]) -> List<'a> {
        List { title, items: items.iter().map(|item| (item.as_str(), None)).collect() }
    }
    let lists = [
        with("Newly broken", &changes.newly_broken),
        plain("Fixed", &changes.fixed),
        with("Newly not assessed", &changes.newly_not_assessed),
        plain("Newly assessed", &changes.newly_assessed),
        plain("No longer there", &changes.gone),
        plain("Newly observed", &changes.newly_observed),
        plain("No longer observed", &changes.no_longer_observed),
        plain("New waivers", &changes.new_waivers),
        plain("Waivers that are gone", &changes.gone_waivers),
    ];
    lists.into_iter().filter(|list| !list.items.is_empty()).collect()
}

/// What changed, for the comment of a pull request or as a part of a summary.
pub fn markdown(changes: &Changes) -> String {
    let mut shown = format!("### xs2aspec: {}\n", heading(changes));
    if changes.is_empty() {
        shown.push_str("\nNothing differs.\n");
    }
    for List { title, items } in lists(changes) {
        // Writing to a String cannot fail.
        _ = writeln!(shown, "\n#### {title} ({})\n", items.len());
        for (item, why) in items.iter().take(MOST) {
            let why = why.map(|why| format!(": {}", code(why))).unwrap_or_default();
            _ = writeln!(shown, "- {}{why}", code(item));
        }
        if items.len() > MOST {
            _ = writeln!(shown, "- and {} more", items.len() - MOST);
        }
    }
    shown
}

fn differing(before: &BTreeSet<String>, after: &BTreeSet<String>) -> (Vec<String>, Vec<String>) {
    (after.difference(before).cloned().collect(), before.difference(after).cloned().collect())
}

/// The text without ids and numbers that are others in each run: words of eight hexadecimal digits, hyphens and more, and long numbers.
pub(crate) fn alike(text: &str) -> String {
    let is_id = |word: &str| {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        let hexadecimal =
            word.len() >= 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        digits > 0 && (hexadecimal || digits == word.len() && digits >= 5)
    };
    let of_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let (mut out, mut word) = (String::new(), String::new());
    let end = |out: &mut String, word: &mut String| {
        out.push_str(if is_id(word) { "*" } else { word });
        word.clear();
    };
    for letter in text.chars() {
        if of_word(letter) {
            word.push(letter);
        } else {
            end(&mut out, &mut word);
            out.push(letter);
        }
    }
    end(&mut out, &mut word);
    out
}

/// What a verdict rests on, in words.
fn why(verdict: &CaseVerdict) -> String {
    let findings: Vec<String> = verdict.findings.iter().map(run::mismatch).collect();
    if findings.is_empty() { run::reason(verdict).to_owned() } else { findings.join("; ") }
}

/// As a code span that no text can end.
fn code(text: &str) -> String {
    crate::format::markdown::code(&short(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn ids_of_a_run_are_no_difference() {
        let one =
            "body/_links/self/href: \"/v1/a/efc67160-91ea-8c7c-9000-9fb530045ce8\" is relative (20250211)";
        assert_eq!(alike(one), "body/_links/self/href: \"/v1/a/*\" is relative (*)");
        assert_eq!(
            alike("201 with transactionStatus RCVD, 4 defaced"),
            "201 with transactionStatus RCVD, 4 defaced"
        );
    }

    #[test]
    fn every_difference_is_in_its_list() {
        use Verdict::{Fail, Inconclusive, NotApplicable, Observed, Pass};
        let words = |verdicts: &[(&str, Verdict)]| {
            let mut sample = Sample::new(verdicts.len());
            for (case, word) in verdicts {
                sample.verdict(&format!("periodic.months/{case}"), *word);
            }
            sample.finished()
        };
        let base = words(&[
            ("a", Pass),
            ("b", Fail),
            ("c", Pass),
            ("d", NotApplicable),
            ("e", Fail),
            ("f", Pass),
            ("h", Observed),
        ]);
        let head = words(&[
            ("a", Fail),
            ("b", Pass),
            ("c", Inconclusive),
            ("d", Pass),
            ("e", Fail),
            ("g", Fail),
            ("h", Observed),
        ]);
        let (base, head) = (Run::of(&base).unwrap(), Run::of(&head).unwrap());
        let diff = of(&base, &head);
        let names =
            |items: &[(String, String)]| items.iter().map(|(case, _)| case.clone()).collect::<Vec<_>>();
        assert_eq!(names(&diff.newly_broken), ["periodic.months/a", "periodic.months/g"]);
        assert_eq!(diff.fixed, ["periodic.months/b"]);
        assert_eq!(names(&diff.newly_not_assessed), ["periodic.months/c"]);
        assert_eq!(diff.newly_assessed, ["periodic.months/d"]);
        assert_eq!(diff.gone, ["periodic.months/f"]);
        let shown = markdown(&diff);
        assert!(
            shown.starts_with(
                "### xs2aspec: 2 newly broken, 1 fixed, 1 newly not assessed\n\n#### Newly broken (2)"
            ),
            "{shown}"
        );
        let same = of(&head, &head);
        assert!(same.is_empty() && markdown(&same).contains("Nothing differs."));
    }
}
