//! Masks traffic before it is recorded: what a run masks, and what requests of others tell of persons and
//! accounts, which the profile of no target names.

use xs2aspec_record::{Finding, Request, Response};
use xs2aspec_runner::{
    Session,
    exchange::Answer,
    fill::WireRequest,
    mask::{Masker, Pairs},
};
use xs2aspec_suite::MaskSpec;

use crate::{
    judge::Judged,
    traffic::{Payload, Traffic},
};

/// Header fields with secrets of whoever asks or answers (RFC 6265, RFC 9110 section 11).
const SECRET: [&str; 5] =
    ["authorization", "cookie", "proxy-authorization", "set-cookie", "www-authenticate"];

/// Shortest text that is masked wherever else it stands: a shorter one is a part of other words.
const SHORTEST: usize = 4;

/// A masker of traffic.
#[derive(Debug)]
pub(crate) struct TrafficMasker {
    masker: Masker,
    spec: MaskSpec,
}

/// An exchange, and what was found in it, as it may be recorded.
pub(crate) struct Masked {
    pub(crate) request: Request,
    pub(crate) response: Option<Response>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) observations: Vec<String>,
}

impl TrafficMasker {
    pub(crate) fn new(session: &Session) -> Self {
        let spec = session.suite().spec().masks.clone();
        Self { masker: Masker::new(session.profile(), spec.clone(), session.identity().seed()), spec }
    }

    /// A text without what the profile says.
    pub(crate) fn text(&self, text: &str) -> String {
        self.masker.text(text)
    }

    /// An exchange without what belongs to persons and keys.
    pub(crate) fn masked(&self, traffic: &Traffic, judged: &Judged) -> Masked {
        let nothing = WireRequest {
            method: String::new(),
            url: String::new(),
            headers: vec![],
            body: vec![],
            exact: false,
        };
        let sent = message(0, &traffic.request.headers, &traffic.request.body);
        let received =
            traffic.answer.as_ref().map(|answer| message(answer.status, &answer.headers, &answer.body));
        let mut learned = Pairs::new();
        for message in [Some(&sent), received.as_ref()].into_iter().flatten() {
            self.masker.learn(&nothing, message, &mut learned);
            for (name, value) in &message.headers {
                let name = name.to_ascii_lowercase();
                let is_secret = SECRET.contains(&name.as_str()) || self.spec.is_personal_header(&name);
                if is_secret && value.chars().count() >= SHORTEST {
                    learned.push((value.clone(), self.masker.pseudonym(&name, value)));
                }
            }
        }
        for value in &judged.ids {
            learned.push((value.clone(), self.masker.pseudonym("id", value)));
        }
        learned.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        let text = |text: &str| self.masker.text_with(text, &learned);
        let Response { headers, body, .. } = self.masker.response(&sent, &learned);
        let request = Request {
            method: traffic.request.method.clone(),
            url: text(&traffic.request.url),
            headers,
            body,
        };
        let response = received.map(|answer| self.masker.response(&answer, &learned));
        let findings = judged.findings.iter().map(|finding| Finding {
            expected: text(&finding.expected),
            actual: text(&finding.actual),
            ..finding.clone()
        });
        let not_told = judged.not_told.iter().map(|told| {
            let end = told.end.word();
            format!("could not tell of the {end}: {}: {}", told.at, told.why)
        });
        let mut observations: Vec<String> =
            judged.observations.iter().cloned().chain(not_told).map(|seen| text(&seen)).collect();
        observations.sort();
        observations.dedup();
        Masked { request, response, findings: findings.collect(), observations }
    }
}

fn message(status: u16, headers: &[(String, String)], body: &Payload) -> Answer {
    let body = body.bytes().unwrap_or_default().to_vec();
    Answer { status, headers: headers.to_vec(), body }
}
