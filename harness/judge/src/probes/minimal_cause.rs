//! Minimal cause: sends smaller requests to find which values in a rejected row of valid values the target
//! rejects.

use xs2aspec_record::{Culprit, Look, RefusedForm};
use xs2aspec_suite::Case;

use super::search::{Answer, Answers, is_least, next};
use crate::{Judge, judge::Outcome, known::Known, probe::Judged, stop::Caught, trail::Trail, view::View};

/// Maximum number of exchanges for one row.
const MOST: usize = 25;

impl Judge {
    /// Resends a rejected row, then with fewer and fewer of its values, until none can be removed. Returns
    /// the values that the target rejects, or None if it accepted the whole row this time.
    pub fn narrow(&self, row: &Case, view: &View, known: &Known) -> Judged<Option<Culprit>> {
        let mut culprit = self.narrowed(row, &mut Trail::again(view, known, &row.id, Look::MinimalCause))?;
        if let Some(Culprit::Unknown { why }) = &mut culprit {
            *why = self.masker().text_with(why, &view.learned);
        }
        Ok(culprit)
    }

    fn narrowed(&self, row: &Case, trail: &mut Trail<'_>) -> Judged<Option<Culprit>> {
        let unknown = |why: String| Ok(Some(Culprit::Unknown { why }));
        let all = self.suite().requests().forms(&row.request.operation);
        let of = |forms: &[usize]| {
            let numbers: Vec<usize> = forms.iter().map(|at| row.together[*at]).collect();
            self.suite().with_forms(&row.request.operation, &numbers)
        };
        let mut answers = Answers::new();
        let mut asked = 0;
        loop {
            let forms = match next(row.together.len(), &answers) {
                Err(forms) => forms,
                Ok(found) if found.is_empty() => {
                    return unknown("the baseline request was rejected as well".to_owned());
                }
                Ok(found) if !is_least(&found, &answers) => {
                    return unknown(
                        "the document does not require the bank to accept some of them without the others"
                            .to_owned(),
                    );
                }
                Ok(mut found) => {
                    // Sorted by the names of their places, whatever their order in the row.
                    let place = |at: &usize| all.get(row.together[*at]).map(|form| form.place.as_str());
                    found.sort_by(|one, other| place(one).cmp(&place(other)));
                    let forms = found.iter().filter_map(|at| {
                        let place = all.get(row.together[*at])?.place.clone();
                        Some(RefusedForm { place, changes: of(&[*at])?.changes(), clause: None })
                    });
                    return Ok(Some(Culprit::Found { forms: forms.collect(), shown_by: None }));
                }
            };
            let is_whole = forms.len() == row.together.len();
            let Some(case) = (if is_whole { Some(row.clone()) } else { of(&forms) }) else {
                answers.insert(forms, Answer::NotAsked);
                continue;
            };
            if trail.exchanges().count() >= MOST {
                return unknown(format!("not found within {MOST} exchanges"));
            }
            asked += 1;
            let mark = format!("narrowed/{asked}");
            let case = Case { id: trail.mark(&mark), ..case };
            match self.asked(&case, trail).caught()? {
                Ok((Outcome::Accepted, _)) if is_whole => return Ok(None),
                Ok((Outcome::Accepted, _)) => answers.insert(forms, Answer::Accepted),
                Ok((outcome, _)) if outcome.is_refusal() => answers.insert(forms, Answer::Refused),
                Ok((_, got)) => return unknown(format!("the request {mark} got {got}")),
                Err(stop) => return unknown(format!("the request {mark}: {}", stop.reason)),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::probes::tests::{
        Got::{self, Status},
        JUDGE, accepting, told, view,
    };

    /// Returns the next request or the result for a rejected row after these responses.
    fn narrowed(statuses: &[u16]) -> String {
        let is_row = |case: &&xs2aspec_suite::Case| case.together.len() == 2 && case.operation() == "ncbct";
        let row = JUDGE.suite().cases().iter().find(is_row).unwrap();
        let marks: Vec<String> = (1..=statuses.len()).map(|at| format!("narrowed/{at}/request")).collect();
        let steps: Vec<(&str, Got)> =
            marks.iter().map(String::as_str).zip(statuses.iter().map(|it| Status(*it))).collect();
        told(JUDGE.narrow(row, &view(&row.id, &steps), &accepting(&row.id)).map(|found| match found {
            Some(xs2aspec_record::Culprit::Found { forms, .. }) => format!("{} forms", forms.len()),
            Some(_) => "unknown".to_owned(),
            None => "accepted".to_owned(),
        }))
    }

    #[test]
    fn a_rejected_row_is_sent_with_fewer_forms_until_none_can_be_left_out() {
        for (statuses, expected) in [
            (&[][..], "send narrowed/1/request"),
            (&[400], "send narrowed/2/request"),
            (&[400, 400], "send narrowed/3/request"),
            (&[400, 201, 201], "2 forms"),
            (&[400, 500], "unknown"),
        ] {
            assert_eq!(narrowed(statuses), expected, "{statuses:?}");
        }
    }

    #[test]
    fn nothing_more_is_sent_of_a_row_that_is_accepted_this_time() {
        assert_eq!(narrowed(&[201]), "accepted");
    }
}
