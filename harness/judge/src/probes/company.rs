//! Company: resends a valid request that was rejected once but accepted alone, after the requests that
//! preceded it. If it is rejected again, it is a violation that depends on the order of requests.

use xs2aspec_record::{Came, CaseVerdict, Culprit, Finding, Look, Mismatch, Reason, Verdict};
use xs2aspec_suite::Case;

use crate::{
    Judge,
    judge::{ACCEPTANCE, Outcome},
    known::Known,
    probe::Judged,
    view::View,
};

/// The mark of the rejected request among the steps of its company.
const MARK: &str = "in-company";

/// Returns true if a valid request was rejected once and accepted alone.
pub fn was_rejected_once(verdict: &CaseVerdict) -> bool {
    verdict.verdict == Verdict::Flaky && matches!(verdict.reason, Some(Reason::RejectedOnce { .. }))
}

impl Judge {
    /// Resends a request that was rejected once, after the cases that preceded it. Returns the verdict if the
    /// request is rejected again. Cases that need a quota are not resent.
    pub fn in_company(
        &self,
        case: &Case,
        company: &[&Case],
        verdict: &CaseVerdict,
        (view, known): (&View, &Known),
    ) -> Judged<Option<CaseVerdict>> {
        let again = |mark: &str, case: &Case| {
            self.attempt_again((&verdict.case, Look::Company), (mark, case), view, known)
        };
        let is_sent_again = |case: &Case| !case.needs_quota() && case.same_as.is_none();
        if !is_sent_again(case) || !was_rejected_once(verdict) {
            return Ok(None);
        }
        // A history contains the requests of the company, but their responses do not matter.
        let sent: Vec<&Case> = company.iter().copied().filter(|case| is_sent_again(case)).collect();
        for (number, other) in (1..).zip(sent.iter().filter(|_| view.is_open())) {
            drop(again(&format!("company-{number}"), other)?);
        }
        let (asked, _, trail) = again(MARK, case)?;
        let step = format!("{MARK}/request");
        let number = trail.exchanges().find(|exchange| exchange.step == step).map(|exchange| exchange.number);
        let rejected = match asked {
            Ok((Outcome::Refused, response)) => Some(response),
            _ => trail.remarks.rejected_once.clone().map(Came::Got),
        };
        let (Some(rejected), Some(number)) = (rejected, number) else { return Ok(None) };
        let mut verdict = CaseVerdict {
            findings: vec![Finding::new(
                &verdict.clause,
                Mismatch::NotAccepted,
                "status",
                format!("{ACCEPTANCE}, as when sent alone"),
                rejected.response(),
            )],
            reason: None,
            culprit: Some(Box::new(Culprit::Company {
                cases: sent.iter().map(|case| case.id.clone()).collect(),
            })),
            exchange: Some(number),
            verdict: Verdict::Fail,
            ..verdict.clone()
        };
        self.levels().weigh(&mut verdict);
        self.mask_findings(&mut verdict, &view.learned);
        Ok(Some(verdict))
    }
}

#[cfg(test)]
mod tests {
    use xs2aspec_record::Got as Response;

    use super::*;
    use crate::{
        blank::blank,
        probes::tests::{
            Got::{self, Status},
            JUDGE, accepting, case, told, view,
        },
    };

    const VALID: &str = "ncbct.creditor-name.length/creditorName/words";
    const STEPS: [&str; 3] =
        ["in-company/request", "in-company/request/other-values-2", "in-company/request/other-values-3"];

    fn judged(reason: Option<Reason>, statuses: &[u16]) -> String {
        let verdict = CaseVerdict { verdict: Verdict::Flaky, reason, ..blank(case(VALID)) };
        let other = "company-1/request";
        let got = STEPS.into_iter().zip(statuses.iter().map(|status| Status(*status)));
        let steps: Vec<(&str, Got)> = [(other, Status(201))].into_iter().chain(got).collect();
        let company = [case("ncbct.path/plain")];
        let view = view(VALID, &steps);
        let known = accepting(VALID);
        told(JUDGE.in_company(case(VALID), &company, &verdict, (&view, &known)).map(|verdict| {
            let word = |verdict: CaseVerdict| {
                format!("{} {:?} {:?}", verdict.verdict.word(), verdict.exchange, verdict.culprit.is_some())
            };
            verdict.map_or("none".to_owned(), word)
        }))
    }

    #[test]
    fn a_rejection_that_comes_again_in_company_is_a_violation() {
        let once = || Some(Reason::RejectedOnce { got: Response::status(400) });
        for (statuses, expected) in [
            (&[][..], "send in-company/request"),
            (&[201], "none"),
            (&[400], "send in-company/request/other-values-2"),
            (&[400, 201, 201], "fail Some(11) true"),
            (&[400, 400], "fail Some(11) true"),
            (&[400, 201, 400], "none"),
            (&[429], "none"),
        ] {
            assert_eq!(judged(once(), statuses), expected, "{statuses:?}");
        }
    }

    #[test]
    fn what_a_gateway_did_not_serve_has_no_company() {
        assert_eq!(judged(Some(Reason::ServedAgain { status: 502 }), &[400, 400]), "none");
    }
}
