//! What to try when a run came to nothing: a target that accepted no plain request may be right, and our key,
//! values or address wrong. The same hints as those of `xs2aspec doctor`.

use std::collections::{BTreeMap, BTreeSet};

use xs2aspec_judge::doctor::refusal_hint;
use xs2aspec_record::{Event, Exchange};
use xs2aspec_report::RunSummary;
use xs2aspec_suite::{ProfileSpec, Suite};

/// Where the judged request of a case stands among its exchanges.
const STEP: &str = "request";

/// What the plain requests of a run got.
#[derive(Debug)]
pub(crate) struct Hints {
    plain: BTreeSet<String>,
    answers: Vec<Exchange>,
}

impl Hints {
    /// Nothing is known yet.
    pub(crate) fn new(suite: &Suite) -> Self {
        let plain = suite.cases().iter().filter(|case| case.is_plain);
        Self { plain: plain.map(|case| case.id.clone()).collect(), answers: Vec::new() }
    }

    /// Takes an event of the run.
    pub(crate) fn event(&mut self, event: &Event) {
        if let Event::Exchange(exchange) = event
            && exchange.step == STEP
            && self.plain.contains(&exchange.case)
        {
            self.answers.push(exchange.clone());
        }
    }

    /// Says what to try, where no valid request was accepted.
    pub(crate) fn say(&self, summary: &RunSummary, spec: &ProfileSpec) {
        if summary.refused_everything().is_some() {
            for line in self.lines(spec) {
                say!("  {line}");
            }
        }
    }

    /// What is likely to be wrong, each thing once, with the operations of which it is said.
    fn lines(&self, spec: &ProfileSpec) -> Vec<String> {
        let mut said = BTreeMap::<String, Vec<&str>>::new();
        for exchange in &self.answers {
            let operation = exchange.operation.as_deref().unwrap_or_default();
            let hint = match (&exchange.response, &exchange.failure) {
                (_, Some(failure)) => {
                    Some(format!("{failure}: `base-url`, `proxy`, or `deadline-ms` for a slow target"))
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
        assert!(said[0].contains("no answer within 5 s: `base-url`"), "{said:?}");
    }
}
