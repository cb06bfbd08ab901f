//! The exit codes of the command, as a documented type.

use crate::{totals::Totals, waiver::WaiverSeen};

/// The meaning of an exit code. It is computed from the same totals as the reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Exit {
    /// Every selected case was judged, and no clause of level `deny` is violated, apart from waived
    /// violations. Every required clause was tested, unless the profile declares it absent.
    Conforms = 0,
    /// There is a violation, a waiver that does not hold, or a denied warning or flaky case.
    Violation = 1,
    /// The input (command line, profile, case or clause) is invalid and nothing was sent. Or a file of the
    /// run or the output cannot be written.
    BadInput = 2,
    /// The run is incomplete, and no violation is known. Possible causes:
    /// - A required clause was not tested because the profile lacks a value.
    /// - A required case could not be judged.
    /// - More than 1 % of the cases are flaky.
    /// - The target did not respond.
    CouldNotTell = 3,
    /// No case was judged.
    NothingRan = 4,
}

impl Exit {
    /// All exit codes, in ascending order.
    pub const ALL: [Self; 5] =
        [Self::Conforms, Self::Violation, Self::BadInput, Self::CouldNotTell, Self::NothingRan];

    /// Returns the exit code for these totals. A violation outranks an incomplete result, which outranks a
    /// run without judged cases.
    pub fn of(totals: &Totals) -> Self {
        let counts = totals.counts();
        let warned = counts.warn + usize::from(totals.is_slow());
        let denied = if totals.denies_warnings() { warned } else { 0 };
        let denied = denied + if totals.denies_flaky() { counts.flaky } else { 0 };
        if counts.fail + denied + totals.broken_controls() > 0 {
            Self::Violation
        } else if counts.error > 0 || totals.demanded_inconclusive() > 0 || totals.is_flaky() {
            Self::CouldNotTell
        } else if counts.pass + counts.flaky + counts.observed + counts.warn + counts.waived == 0 {
            Self::NothingRan
        } else if totals.clauses().numbers().not_asked > 0 {
            Self::CouldNotTell
        } else {
            Self::Conforms
        }
    }

    /// Returns the exit code for these totals and waivers. A waiver that does not hold counts as a violation.
    pub fn with(totals: &Totals, waivers: &[WaiverSeen]) -> Self {
        if waivers.iter().any(WaiverSeen::is_red) { Self::Violation } else { Self::of(totals) }
    }

    /// Returns the numeric code.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Returns the sentence at the end of a summary.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Conforms => "conforms: no clause that was checked is violated",
            Self::Violation => "does not conform: at least one clause is violated",
            Self::BadInput => "nothing was run: invalid input",
            Self::CouldNotTell => "incomplete: a required clause was not tested or could not be judged",
            Self::NothingRan => "nothing ran: no case was judged",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        event::RunStarted,
        level::{Level, LevelRule, LevelSource},
        times::{OperationTimes, Times},
        verdict::{Absence, CaseVerdict, Role, Strength, Verdict, sample as case},
    };

    fn exit(verdicts: &[(Verdict, Strength)]) -> Exit {
        let mut totals = Totals::default();
        for (verdict, strength) in verdicts {
            let case = case("a", *verdict);
            totals.add(&case, *strength);
            totals.add(&CaseVerdict { role: Role::Control, verdict: Verdict::Fail, ..case }, *strength);
        }
        Exit::of(&totals)
    }

    #[test]
    fn a_control_that_is_refused_by_itself_is_a_violation_and_another_mismatch_of_it_is_none() {
        let exit = |at: &str, role: Role| {
            let text = format!(
                r#"{{"case":"a/b","clause":"a","area":"x","operation":"c","role":"control","place":{{"file":"d","line":1,"column":1}},
                    "verdict":"fail","expected":"accepted","checks":1,"micros":1,
                    "findings":[{{"clause":"a","expected":"an answer below 500","actual":"500","at":"{at}"}}]}}"#
            );
            let control = CaseVerdict { role, ..serde_json::from_str(&text).unwrap() };
            let mut totals = Totals::default();
            let selected = CaseVerdict {
                role: Role::Selected,
                verdict: Verdict::Pass,
                findings: vec![],
                ..control.clone()
            };
            totals.add(&selected, Strength::Stated);
            totals.add(&control, Strength::Stated);
            Exit::of(&totals)
        };
        assert_eq!(exit("status", Role::Control), Exit::Violation);
        assert_eq!(exit("body/links", Role::Control), Exit::Conforms);
        assert_eq!(exit("body/links", Role::Selected), Exit::Violation);
    }

    #[test]
    fn each_mix_of_verdicts_has_its_code() {
        use {Strength::*, Verdict::*};
        assert_eq!(exit(&[]), Exit::NothingRan);
        assert_eq!(exit(&[(NotApplicable, Strength::Stated)]), Exit::NothingRan);
        assert_eq!(exit(&[(Pass, Stated)]), Exit::Conforms);
        assert_eq!(exit(&[(Verdict::Observed, Strength::Observed)]), Exit::Conforms);
        assert_eq!(exit(&[(Pass, Stated), (Inconclusive, Strength::Observed)]), Exit::Conforms);
        assert_eq!(exit(&[(Warn, Expected)]), Exit::Conforms);
        assert_eq!(exit(&[(Pass, Stated), (Inconclusive, Expected)]), Exit::Conforms);
        assert_eq!(exit(&[(Waived, Stated)]), Exit::Conforms);
        assert_eq!(exit(&[(Waived, Stated), (Fail, Stated)]), Exit::Violation);
        assert_eq!(exit(&[(Pass, Stated), (Inconclusive, Derived)]), Exit::CouldNotTell);
        assert_eq!(exit(&[(Pass, Stated), (Error, Strength::Observed)]), Exit::CouldNotTell);
        assert_eq!(exit(&[(Pass, Stated), (Error, Stated), (Fail, Choice)]), Exit::Violation);
    }

    #[test]
    fn flaky_cases_are_tolerated_up_to_one_in_a_hundred_unless_they_are_denied() {
        let exit = |flaky: usize, of: usize, levels: &[LevelRule]| {
            let mut totals = Totals::default();
            totals.start(&RunStarted { levels: levels.to_vec(), ..RunStarted::default() });
            for number in 0..of {
                let word = if number < flaky { Verdict::Flaky } else { Verdict::Pass };
                totals.add(&case("a", word), Strength::Stated);
            }
            Exit::of(&totals)
        };
        let (pattern, by) = (LevelRule::FLAKY.to_owned(), LevelSource::CommandLine);
        let denied = [LevelRule { pattern, level: Level::Deny, by }];
        assert_eq!((exit(1, 100, &[]), exit(2, 199, &[])), (Exit::Conforms, Exit::CouldNotTell));
        assert_eq!(exit(1, 1, &[]), Exit::CouldNotTell);
        assert_eq!((exit(1, 100, &denied), exit(0, 100, &denied)), (Exit::Violation, Exit::Conforms));
    }

    #[test]
    fn a_warning_is_a_violation_where_warnings_are_denied() {
        let exit = |levels: Vec<LevelRule>| {
            let mut totals = Totals::default();
            totals.start(&RunStarted { levels, ..RunStarted::default() });
            totals.add(&case("a", Verdict::Warn), Strength::Expected);
            Exit::of(&totals)
        };
        let (pattern, by) = (LevelRule::WARNINGS.to_owned(), LevelSource::CommandLine);
        let denied = vec![LevelRule { pattern, level: Level::Deny, by }];
        assert_eq!(exit(denied.clone()), Exit::Violation);
        assert_eq!(exit(vec![]), Exit::Conforms);
        let slow = |levels: &[LevelRule], slow| {
            let mut totals = Totals::default();
            totals.start(&RunStarted { levels: levels.to_vec(), ..RunStarted::default() });
            totals.add(&case("a", Verdict::Pass), Strength::Stated);
            let operations = vec![OperationTimes { slow, ..OperationTimes::default() }];
            totals.times(&Times { operations, ..Times::default() });
            Exit::of(&totals)
        };
        assert_eq!(slow(&denied, 1), Exit::Violation, "a slow response is a warning too");
        assert_eq!((slow(&denied, 0), slow(&[], 1)), (Exit::Conforms, Exit::Conforms));
    }

    #[test]
    fn a_demanded_clause_that_was_not_asked_makes_a_run_incomplete() {
        let exit = |absence: Option<Absence>| {
            let mut totals = Totals::default();
            for id in ["a", "b"] {
                let text = format!(r#"{{"id":"{id}","says":"","strength":"stated","line":1,"section":""}}"#);
                totals.clause(&serde_json::from_str(&text).unwrap());
            }
            let pass = case("a", Verdict::Pass);
            totals.add(&pass, Strength::Stated);
            totals.add(&CaseVerdict { absence, ..case("b", Verdict::NotApplicable) }, Strength::Stated);
            Exit::of(&totals)
        };
        assert_eq!(exit(Some(Absence::NotSaid { add: "b = true".into() })), Exit::CouldNotTell);
        assert_eq!(exit(Some(Absence::Declared)), Exit::Conforms);
    }
}
