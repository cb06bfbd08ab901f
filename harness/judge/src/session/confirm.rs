//! Answers that may pass: the refusal of a request that makes something is not held against the target where
//! it does not come again, nor is 502, 503 or 504, which may be of a gateway.

use std::collections::BTreeMap;

use serde_json::Value;
use xs2aspec_record::{Exchange, Header, Response};
use xs2aspec_suite::{Case, Expectation, RequestSpec};

use super::{Session, Stop, Trail, again::apart, outcome::Unanswered, settled};
use crate::{
    answer::{Answer, ExchangeError},
    fill::OTHER_VALUES,
    judge::{self, Examined, Outcome},
    transport::Values,
};

/// Statuses that a gateway sends instead of the target (RFC 9110 sections 15.6.3 to 15.6.5). They say
/// something about the target only if they repeat.
const UNAVAILABLE: [u16; 3] = [502, 503, 504];

/// The names of a step that is asked twice more with other values.
fn others(step: &str) -> impl Iterator<Item = String> {
    [2, 3].into_iter().map(move |number| format!("{step}{OTHER_VALUES}{number}"))
}

/// Returns true if a response may be one of a gateway. A target that names its limits, or a time to come
/// back, responds itself.
fn is_of_gateway(response: &Response) -> bool {
    let names_limit = |name: &str| name == "retry-after" || name.contains("ratelimit");
    let mut names = response.headers.iter().map(|Header(name, _)| name.to_ascii_lowercase());
    UNAVAILABLE.contains(&response.status) && !names.any(|name| names_limit(&name))
}

impl Session {
    /// Returns why a case that passed is flaky, if it is: a valid request was served only when it was sent
    /// again.
    pub(super) fn flaky(&self, case: &Case, exchanges: &[Exchange]) -> Option<String> {
        let expect = judge::by_choice(&case.expect, self.levels.choice(&case.clause));
        if !matches!(expect, Expectation::Accepted | Expectation::Shows(_)) {
            return None;
        }
        let mut responses = exchanges.iter().filter_map(|exchange| exchange.response.as_ref());
        let status = responses.find(|response| is_of_gateway(response))?.status;
        Some(format!("it got {status}, which may be of a gateway, and was served when it was sent again"))
    }

    /// Asks the judged request of a case, and again where what it got may pass.
    pub(super) async fn judged_exchange(
        &self,
        case: &Case,
        (expect, kept): (&Expectation, &BTreeMap<String, Value>),
        has_sound_control: bool,
        trail: &mut Trail,
    ) -> Result<(Answer, Examined), Stop> {
        let settled = self.settled(case, expect, kept, trail).await?;
        let expect = judge::by_choice(expect, self.levels.choice(&case.clause));
        if expect.is_accepted() && has_sound_control {
            return self.confirmed(case, ("request", &case.request), kept, trail, settled).await;
        }
        let may_pass = expect.is_accepted() || matches!(expect, Expectation::Observed);
        if may_pass && !settled::reads(case) {
            return self.once_available(case, ("request", &case.request), kept, trail, settled).await;
        }
        self.exchange_unavailable(case, (expect, kept), trail, settled).await
    }

    /// Sends a request that makes or deletes something again, with other ids and amounts, if a gateway may
    /// have responded to it. What the target accepts then it accepts. Another response may be due to the
    /// first request, which the target may have served all the same.
    async fn once_available(
        &self,
        case: &Case,
        (step, request): (&str, &RequestSpec),
        kept: &BTreeMap<String, Value>,
        trail: &mut Trail,
        first: (Answer, Examined),
    ) -> Result<(Answer, Examined), Stop> {
        let mut last = first;
        for step in others(step) {
            // A record of a run that was interrupted may end here.
            let is_asked = UNAVAILABLE.contains(&last.0.status)
                && self.transport.waits_for(&last.0)
                && self.transport.can_ask(&case.id, &step);
            if !is_asked {
                return Ok(last);
            }
            let before = last.0.status;
            last = self.exchange(case, &step, request, kept, trail).await?;
            let is_held_to_it = !matches!(case.expect, Expectation::Observed | Expectation::Choice(_));
            let is_open = last.1.outcome == Outcome::Busy || UNAVAILABLE.contains(&last.0.status);
            if is_held_to_it && last.1.outcome != Outcome::Accepted && !is_open {
                let words = &last.1.words;
                return Err(Stop::inconclusive(format!(
                    "it got {before}, then {words} for the same with other values"
                )));
            }
        }
        Ok(last)
    }

    /// Sends a step that the target must accept, and confirms a rejection.
    pub(super) async fn exchange_confirmed(
        &self,
        case: &Case,
        step: &str,
        request: &RequestSpec,
        kept: &BTreeMap<String, Value>,
        trail: &mut Trail,
    ) -> Result<(Answer, Examined), Stop> {
        let first = self.exchange(case, step, request, kept, trail).await?;
        self.confirmed(case, (step, request), kept, trail, first).await
    }

    /// Confirms the rejection of a request that the target must accept. It is sent again with other ids and
    /// amounts: the target may have taken the first for a repetition. What it accepts twice then it accepts.
    /// One acceptance says nothing. A response that may be of a gateway says nothing either.
    async fn confirmed(
        &self,
        case: &Case,
        (step, request): (&str, &RequestSpec),
        kept: &BTreeMap<String, Value>,
        trail: &mut Trail,
        first: (Answer, Examined),
    ) -> Result<(Answer, Examined), Stop> {
        // The transport has repeated a GET for which there was no time.
        let is_unavailable = first.1.outcome == Outcome::Busy || UNAVAILABLE.contains(&first.0.status);
        if is_unavailable && request.method != "GET" {
            return self.once_available(case, (step, request), kept, trail, first).await;
        }
        // 429 says nothing about the request (RFC 6585 section 4). A rejected call of a quota would use up
        // another one. What is read after other requests may be rejected because of them, and they are not
        // repeated.
        let is_after_others = request.method == "GET" && !case.before.is_empty();
        let is_final = first.0.status == 429 || trail.calls_before.is_some() || is_after_others;
        if !first.1.outcome.is_refusal() || is_final {
            return Ok(first);
        }
        let refused = first.1.words.clone();
        let (mut last, mut got, mut accepted) = (first, refused.clone(), 0);
        for step in others(step) {
            // A record of a run that was interrupted may end here.
            if !self.transport.can_ask(&case.id, &step) {
                return Ok(last);
            }
            let next = self.exchange(case, &step, request, kept, trail).await?;
            got = format!("{got}, then {}", next.1.words);
            if next.1.outcome == Outcome::Accepted {
                accepted += 1;
            } else if accepted == 0 && !UNAVAILABLE.contains(&next.0.status) {
                return Ok(next);
            }
            last = next;
        }
        if accepted < 2 {
            return Err(Stop::inconclusive(format!("it got {got} for the same with other values")));
        }
        trail.accepted_with = Values::Others;
        trail.passing.push(format!("got {refused} once, and acceptance twice when it had other values"));
        Ok(last)
    }

    /// Resends a request that got 502, 503 or 504, twice, and its plain request before each time. A
    /// target that accepts those is there and not overloaded. So three such responses to the request are its
    /// own. What must be accepted is not sent again: it may have been made.
    async fn exchange_unavailable(
        &self,
        case: &Case,
        (expect, kept): (&Expectation, &BTreeMap<String, Value>),
        trail: &mut Trail,
        first: (Answer, Examined),
    ) -> Result<(Answer, Examined), Stop> {
        let is_unavailable = |answer: &Answer| UNAVAILABLE.contains(&answer.status);
        if !(is_unavailable(&first.0) && matches!(expect, Expectation::Refused(_) | Expectation::Answered)) {
            return Ok(first);
        }
        let plain = self.plain(&case.id);
        let mut last = first;
        for step in ["request/after-plain-2", "request/after-plain-3"] {
            // What a record has of it was asked because the plain request was accepted.
            if !self.transport.can_ask(&case.id, step) {
                return Ok(last);
            }
            if self.asks_again()
                && self.ask_in_between(&plain, &format!("{step}/{}", case.id)).await.refused.is_some()
            {
                last.1.outcome = Outcome::Busy;
                return Ok(last);
            }
            last = self.exchange(case, step, &case.request, kept, trail).await?;
            if !is_unavailable(&last.0) {
                return Ok(last);
            }
        }
        last.1.outcome = Outcome::ServerError;
        last.1.words.push_str(" three times, while the plain request is accepted");
        Ok(last)
    }

    /// What a target does that gives no whole answer to a request and accepts its control: the request is
    /// asked twice more over connections of its own, and its plain request before each time. A target that
    /// answers that one each time, and never this one, breaks the connection because of it. A server may
    /// close a connection that is not in use at any time (RFC 9112 section 9.5): what it answers over another
    /// one is its answer. None where nothing is sure.
    pub(super) async fn unanswered(
        &self,
        case: &Case,
        kept: &BTreeMap<String, Value>,
        trail: &mut Trail,
    ) -> Option<Unanswered> {
        let is_broken = matches!(trail.failure, Some(ExchangeError::Broken(_)));
        // What a record has of it was asked because the connection broke.
        if self.transport.live().is_some() && !(is_broken && self.asks_again()) {
            return None;
        }
        let plain = self.plain(&case.id);
        let alone = apart(&case.request);
        let mut failure = None;
        for step in ["request/unanswered-2", "request/unanswered-3"] {
            if !self.transport.can_ask(&case.id, step) {
                return None;
            }
            // The connection of that one may have been closed as well.
            let mark = format!("{step}/{}", case.id);
            if self.asks_again()
                && self.ask_in_between(&plain, &mark).await.refused.is_some()
                && self.ask_apart_in_between(&plain, &format!("apart/{mark}")).await.refused.is_some()
            {
                return None;
            }
            if let Ok(answered) = self.exchange(case, step, &alone, kept, trail).await {
                return Some(Unanswered::Answered(Box::new(answered)));
            }
            let last = trail.exchanges.last().filter(|last| last.step == step)?;
            failure = Some(last.failure.clone()?);
        }
        let failure = failure?;
        let words = format!("no answer three times, while the plain request is accepted: {failure}");
        Some(Unanswered::Each(words))
    }
}
