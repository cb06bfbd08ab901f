//! Confirms verdicts that rest on a rejection. They count if the baseline request was accepted before and
//! after. A target whose token has expired or whose quota is used up rejects everything.

use xs2aspec_record::{CaseVerdict, Finding, Level, Mismatch, Reason, RefusedSince};

use crate::{
    Done, Judge, Known,
    blank::unconfirm,
    judge::{ACCEPTANCE, NOT_THERE},
    known::Check,
    probes::eventually_visible::has_made_it,
    question::Again,
};

/// The state of a verdict that rests on a rejection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confirmation {
    /// The rejection counts.
    Stands,
    /// The rejection does not count, for this reason.
    Nothing(Reason),
    /// The baseline request must be sent first.
    Open {
        /// The case id of the baseline request.
        plain: String,
        /// True if no other request may be in flight.
        alone: bool,
    },
}

impl Judge {
    /// Returns the state of a case's verdict.
    pub fn confirmation(&self, done: &Done, known: &Known) -> Confirmation {
        if !(self.asks_again() && done.rests_on_refusal()) {
            return Confirmation::Stands;
        }
        let plain = self.plain(&done.verdict.case);
        let number = done.verdict.exchange.unwrap_or_default();
        let checks = known.checks(&plain);
        let is_after = |check: &&Check| check.number > number;
        let Some(after) = checks.iter().filter(is_after).find(|check| !check.is_open) else {
            return Confirmation::Open { plain, alone: checks.iter().any(|check| is_after(&check)) };
        };
        // A rejection in the check before or after the verdict is enough to discard it.
        let before = checks.iter().rev().find(|check| !is_after(check) && !check.is_open);
        match after.reason.as_ref().or_else(|| before?.reason.as_ref()) {
            Some(reason) => Confirmation::Nothing(reason.clone()),
            None => Confirmation::Stands,
        }
    }

    /// Returns an inconclusive verdict because its baseline request is no longer accepted. The first verdict
    /// that depends on a baseline request which can no longer read its resource reports that as a finding.
    pub fn unconfirmed(&self, verdict: CaseVerdict, reason: Reason, known: &mut Known) -> CaseVerdict {
        let mut verdict = verdict;
        unconfirm(&mut verdict, reason);
        if let Some(refused) = known.take_broken(&self.plain(&verdict.case)) {
            self.breaks(&mut verdict, &refused);
        }
        verdict
    }

    /// Turns a verdict into the one that reports a baseline request whose resource has disappeared. If the
    /// run itself created the resource, key and values cannot be the cause. A resource that the profile names
    /// may be hidden by an expired consent, so the finding is only a warning.
    fn breaks(&self, verdict: &mut CaseVerdict, refused: &RefusedSince) {
        let Some(plain) = self.suite().case(&refused.plain) else { return };
        let level = match self.levels().clause(&plain.clause).level {
            Level::Note => return,
            Level::Deny if !has_made_it(plain) => Level::Warn,
            level => level,
        };
        verdict.checks = verdict.checks.max(1);
        let expected = format!("{ACCEPTANCE} of {}, as earlier in the run", refused.plain);
        let actual = refused.came.response();
        let finding = Finding::new(&plain.clause, Mismatch::NotAccepted, "status", expected, actual);
        verdict.findings = vec![Finding { level, ..finding }];
        verdict.verdict = verdict.by_findings().unwrap_or(verdict.verdict);
    }

    /// Adds the result of resending a baseline request. `is_alone` is true if no other request was in flight.
    /// Returns the event for the history: the point since when the request is rejected, or that it is
    /// accepted again.
    pub fn checked(
        &self,
        plain: &str,
        (again, is_alone): (&Again, bool),
        known: &mut Known,
    ) -> Option<RefusedSince> {
        let number = again.number().unwrap_or(u64::MAX);
        let last = known.checks(plain).iter().rev().find(|check| !check.is_open).cloned();
        let Some(came) = &again.refused else {
            known.add_check(plain, Check { number, reason: None, is_open: false });
            return known.end_refusal(plain, number);
        };
        if let Some(Check { reason: Some(reason), .. }) = &last {
            known.add_check(plain, Check { number, reason: Some(reason.clone()), is_open: false });
            return None;
        }
        let until = last.map(|check| check.number).or_else(|| known.asked_at(plain));
        let is_open = until.is_some() && !again.is_held_back && !is_alone;
        let is_new = until.is_some() || !known.was_not_accepted(plain);
        let (plain_id, came) = (plain.to_owned(), came.clone());
        let reason = if is_new {
            Reason::AcceptedNoMore { plain: plain_id, came }
        } else {
            Reason::NeverAccepted { plain: plain_id, came }
        };
        known.add_check(plain, Check { number, reason: Some(reason), is_open });
        if is_open || !is_new {
            return None;
        }
        let refused = self.refused_since(plain, until, again)?;
        known.refused.push(refused.clone());
        Some(refused)
    }

    /// Returns the point since when a baseline request is rejected. It was last accepted with request
    /// `until`, or at the start of the run. Returns None if nothing was sent, because then no request shows
    /// it.
    fn refused_since(&self, plain: &str, until: Option<u64>, again: &Again) -> Option<RefusedSince> {
        let last = again.last.as_ref().and_then(|last| last.response.as_ref());
        Some(RefusedSince {
            plain: plain.to_owned(),
            clause: self.suite().case(plain).map(|case| case.clause.clone()).unwrap_or_default(),
            until: until.unwrap_or_default(),
            since: again.number()?,
            came: again.refused.clone()?,
            again: None,
            is_broken: last.is_some_and(|last| NOT_THERE.contains(&last.status)) && self.reads(plain),
        })
    }
}
