//! The exit codes of the command, as a documented type.

use crate::{totals::Totals, waiver::WaiverSeen};

/// What the exit code of a run says. One ledger decides it, the same that the reports are drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Exit {
    /// Every selected case was judged, each demanded clause was asked that the profile does not declare
    /// absent, and nothing of level `deny` is broken, but for what is waived.
    Conforms = 0,
    /// At least one violation, or a waiver that does not hold (any more), or a warning or a flaky case where
    /// those are denied.
    Violation = 1,
    /// The command line, the profile, a case or a clause is wrong, and nothing was sent; or a file of the run
    /// or the output could not be written.
    BadInput = 2,
    /// No violation is known, but the run is incomplete: a demanded clause was not asked since the profile
    /// does not say enough, a case of one could not be judged, more than 1 % of the cases are flaky, or the
    /// target did not answer.
    CouldNotTell = 3,
    /// No case was judged at all.
    NothingRan = 4,
}

impl Exit {
    /// All exit codes, in order.
    pub const ALL: [Self; 5] =
        [Self::Conforms, Self::Violation, Self::BadInput, Self::CouldNotTell, Self::NothingRan];

    /// The code of a run with this totals: a violation outweighs what could not be told, which outweighs
    /// silence.
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

    /// The code of a run with these waivers as well: one that does not hold is a violation of what was
    /// agreed.
    pub fn with(totals: &Totals, waivers: &[WaiverSeen]) -> Self {
        if waivers.iter().any(WaiverSeen::is_red) { Self::Violation } else { Self::of(totals) }
    }

    /// The number.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// One sentence for the end of a summary.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Conforms => "conforms: nothing that was checked is broken",
            Self::Violation => "does not conform: at least one clause is broken",
            Self::BadInput => "nothing was run: the input is wrong",
            Self::CouldNotTell => {
                "incomplete: what the document demands was not asked, or could not be judged"
            }
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
        assert_eq!(slow(&denied, 1), Exit::Violation, "a slow answer is a warning too");
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
