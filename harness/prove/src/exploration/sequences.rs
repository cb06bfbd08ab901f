//! Sequences of requests: what a bank remembers shows in several requests only.

use std::sync::Arc;

use xs2aspec_record::{CaseVerdict, Place, Role, Verdict as Word};
use xs2aspec_runner::session::Told;
use xs2aspec_suite::{Case, explore::sequence::Command};

use super::{Exploration, Step};
use crate::{
    shrink::shorten,
    violation::{AREA, Key, Sequence, Shown},
};

impl<S: FnMut(Step<'_>)> Exploration<'_, S> {
    /// Carries out a sequence; one that breaks something is made shorter.
    pub(super) async fn run_sequence(&mut self, commands: Vec<Command>) {
        self.sequences += 1;
        let session = Arc::clone(&self.session);
        let mut told = session.sequence(self.sequences, &commands).await;
        for seen in told.observations.drain(..) {
            *self.observed.entry(seen).or_default() += 1;
        }
        self.record_sequence(&commands, &mut told);
        let Some(clause) = told.findings.first().map(|finding| finding.clause.clone()) else { return };
        session.limit_exchanges(self.budget.shrinking(session.exchanges()));
        let (commands, mut told) = shorten(&session, &mut self.sequences, commands, told, &clause).await;
        session.limit_exchanges(self.budget.drawing);
        let key = Key::Sequence(clause.clone());
        if !self.found.contains_key(&key) {
            self.record_sequence(&commands, &mut told);
        }
        let mut findings = told.findings.clone();
        findings.retain(|finding| finding.clause == clause);
        self.found(key, clause, findings, Shown::Sequence(Sequence { commands, told }));
    }

    /// Records a sequence, if it sent anything that is not in the record.
    fn record_sequence(&mut self, commands: &[Command], told: &mut Told) {
        let exchanges = std::mem::take(&mut told.exchanges);
        let baseline = told.sent.last().map(|sent| sent.baseline);
        let baseline = baseline.and_then(|name| Some((name, self.suite.baselines().get(name)?)));
        let (Some(last), Some((name, baseline))) = (exchanges.last(), baseline) else { return };
        let finding = told.findings.first();
        let clause =
            finding.map_or(self.suite.answers().server_error(), |finding| finding.clause.as_str()).to_owned();
        let case = Case::unwritten(last.case.clone(), clause, name, baseline.request.clone());
        let unanswered = exchanges.iter().find_map(|exchange| exchange.failure.clone());
        let verdict = match (finding, &unanswered) {
            (Some(_), _) => Word::Fail,
            (None, Some(_)) => Word::Error,
            (None, None) => Word::Pass,
        };
        let verdict = CaseVerdict {
            case: case.id.clone(),
            clause: case.clause.clone(),
            area: AREA.to_owned(),
            operation: case.request.operation.clone(),
            role: Role::Selected,
            place: Place { file: AREA.to_owned(), line: 1, column: 1 },
            verdict,
            expected: "what must be so of all requests of a sequence".to_owned(),
            checks: u32::try_from(exchanges.len()).unwrap_or(u32::MAX),
            findings: told.findings.clone(),
            observations: vec![],
            reason: unanswered.filter(|_| verdict == Word::Error),
            absence: None,
            control: None,
            changes: commands.iter().take(told.done + 1).map(Command::says).collect(),
            same_as: None,
            unconfirmed: false,
            exchange: Some(last.number),
            micros: exchanges.iter().map(|exchange| exchange.micros).sum(),
        };
        self.record.record(&case, verdict, exchanges, |event| (self.step)(Step::Event(event)));
    }
}
