//! Hints for a run whose target accepted no baseline request. The target may be right, and the key, the
//! values or the address of the profile wrong. `xs2aspec doctor` gives the same hints.

use std::collections::{BTreeMap, BTreeSet};

use xs2aspec_judge::doctor::refusal_hint;
use xs2aspec_record::{Event, Exchange};
use xs2aspec_report::RunSummary;
use xs2aspec_suite::{ProfileSpec, Suite};

/// The step of the judged request of a case.
const STEP: &str = "request";

/// The responses to the baseline requests of a run.
#[derive(Debug)]
pub(crate) struct Hints {
    plain: BTreeSet<String>,
    answers: Vec<Exchange>,
}

impl Hints {
    /// Returns hints without any responses yet.
    pub(crate) fn new(suite: &Suite) -> Self {
        let plain = suite.cases().iter().filter(|case| case.is_plain);
        Self { plain: plain.map(|case| case.id.clone()).collect(), answers: Vec::new() }
    }

    /// Notes an event of the run.
    pub(crate) fn event(&mut self, event: &Event) {
        if let Event::Exchange(exchange) = event
            && exchange.step == STEP
            && self.plain.contains(&exchange.case)
        {
            self.answers.push(exchange.clone());
        }
    }

    /// Prints the hints if the target accepted no valid request.
    pub(crate) fn say(&self, summary: &RunSummary, spec: &ProfileSpec) {
        if summary.refused_everything().is_some() {
            for line in self.lines(spec) {
                say!("  {line}");
            }
        }
    }

    /// Returns each likely mistake once, with its operations.
    fn lines(&self, spec: &ProfileSpec) -> Vec<String> {
        let mut said = BTreeMap::<String, Vec<&str>>::new();
        for exchange in &self.answers {
            let operation = exchange.operation.as_deref().unwrap_or_default();
            let hint = match (&exchange.response, &exchange.failure) {
                (_, Some(failure)) => {
                    Some(format!("`base-url`, `proxy` or, for a slow target, `deadline-ms`: {failure}"))
                }
                (Some(response), None) => refusal_hint(operation, response, spec),
                (None, None) => None,
            };
            if let Some(hint) = hint {
                let operations = said.entry(hint).or_default();
                if !operations.contains(&operation) {
                    operations.push(operation);
                }
            }
        }
        said.into_iter()
            .map(|(hint, operations)| format!("perhaps {hint} ({})", operations.join(", ")))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use xs2aspec_suite::Tree;

    use super::*;

    #[test]
    fn what_the_plain_requests_got_says_what_to_change() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let plain = suite.cases().iter().find(|case| case.is_plain).unwrap();
        let exchange = |case: &str, answer: &str| {
            let text = format!(
                r#"{{"event":"exchange","number":1,"case":"{case}","step":"request","operation":"x","micros":1,
                    "request":{{"method":"GET","url":"/","headers":[]}},{answer}}}"#
            );
            serde_json::from_str::<Event>(&text).unwrap()
        };
        let lines = |case: &str, answer: &str| {
            let mut hints = Hints::new(&suite);
            hints.event(&exchange(case, answer));
            hints.event(&exchange(case, answer));
            hints.lines(&suite.spec().profile)
        };
        let unknown = r#""response":{"status":401,"headers":[]}"#;
        let said = lines(&plain.id, unknown);
        assert!(
            said.len() == 1 && said[0].contains("`[signing] certificate`") && said[0].ends_with("(x)"),
            "{said:?}"
        );
        assert!(lines("no.such/case", unknown).is_empty());
        let said = lines(&plain.id, r#""failure":"no answer within 5 s""#);
        assert!(said[0].contains("`deadline-ms`: no answer within 5 s"), "{said:?}");
    }
}
