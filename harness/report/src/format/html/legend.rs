//! The legend of the page: its words, each with a sentence.

use xs2aspec_record::{Level, Strength, Verdict};

use super::{document, markup::facts, tally::Mark};

/// The states of a required clause, in the order of [`crate::demanded::named`]: class, name, and a sentence.
pub(super) const STATES: [(&str, &str, &str); 5] = [
    ("kept", "passed", "Every test of these clauses passed."),
    ("denied", "violated", "A response contradicts what the document says."),
    ("warned", "waived", "Violated, but a waiver accepts it for now."),
    ("not-asked", "not tested", "The bank profile lacks a value, or no test could be judged."),
    ("absent", "skipped", "An option excludes them, or the profile declares the capability absent."),
];

/// Returns the name of the findings of a level, and a sentence about them.
pub(super) const fn finding(level: Level) -> (&'static str, &'static str) {
    match level {
        Level::Deny => (
            "violations",
            "No conforming bank does this. One violation is one cause, however many cases show it.",
        ),
        Level::Warn | Level::Note => {
            ("warnings", "The bank deviates from the plain reading, but the document allows another one.")
        }
    }
}

/// Renders the words that the page uses.
pub(super) fn legend() -> String {
    let words = [
        ("clause", "One sentence or table row of the document that can be tested."),
        ("case", "One request, or a short sequence, that tests a clause."),
        (
            "control",
            "The valid twin of an invalid request. A rejection counts only if the control was accepted.",
        ),
        ("finding", "One cause of violations or warnings, with all cases that show it."),
    ];
    let verdicts = Verdict::ALL.map(|word| (document::word(word), of_verdict(word)));
    let marks = Mark::ALL.map(|mark| (mark.words(), of_mark(mark)));
    let strengths = [
        Strength::Stated,
        Strength::Derived,
        Strength::Expected,
        Strength::Choice,
        Strength::Observed,
        Strength::Untestable,
    ]
    .map(|strength| (strength.word(), of_strength(strength)));
    let groups: [(&str, &[(&str, &str)]); 4] = [
        ("Terms", &words),
        ("Verdict of a case", &verdicts),
        ("Mark of a clause in the document", &marks),
        ("Strength of a clause", &strengths),
    ];
    let groups = groups.map(|(title, words)| {
        let words = words.iter().map(|(word, says)| (*word, (*says).to_owned()));
        format!("<div><h3>{title}</h3>{}</div>", facts(words))
    });
    format!("<div class=\"two\">{}</div>", groups.concat())
}

const fn of_verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "The bank did what the clause requires.",
        Verdict::Flaky => "It failed once and passed when it was repeated.",
        Verdict::Fail => "It shows a violation.",
        Verdict::Warn => "It shows a warning.",
        Verdict::Waived => "It failed, and a waiver covers it.",
        Verdict::Inconclusive => "The responses do not decide it, often because the control was rejected.",
        Verdict::NotApplicable => {
            "The profile lacks a value that it needs, or declares the capability absent."
        }
        Verdict::Observed => "The document leaves the result open. It is recorded and never judged.",
        Verdict::Error => "It could not run, for example because no response arrived.",
    }
}

const fn of_mark(mark: Mark) -> &'static str {
    match mark {
        Mark::Denied => "A violation names this clause.",
        Mark::Warned => "A warning names this clause.",
        Mark::NotAsked => "No case of it could be judged.",
        Mark::Kept => "Its cases passed, and no finding names it.",
        Mark::Observed => "The bank's behavior was recorded and not judged.",
        Mark::Absent => "An option excludes it, or the profile declares the capability absent.",
        Mark::Untestable => "No test can decide it through the interface.",
        Mark::Open => "No clause covers this text, or no case of the clause ran.",
    }
}

const fn of_strength(strength: Strength) -> &'static str {
    match strength {
        Strength::Stated => "The document says it. The opposite is a violation.",
        Strength::Derived => {
            "It follows from a standard that the document names. The opposite is a violation."
        }
        Strength::Expected => "It is the plain reading, and another is possible. The opposite is a warning.",
        Strength::Choice => "The bank decides. It is tested only if the profile declares the choice.",
        Strength::Observed => "The document leaves it open.",
        Strength::Untestable => "No test can decide it through the interface.",
    }
}
