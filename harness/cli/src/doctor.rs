//! `xs2aspec doctor`: before a run, in seconds, whether a target can be asked at all, and which line of its profile to change if not.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::Arc,
    time::{Duration, SystemTime},
};

use chrono::{DateTime, Utc};
use xs2aspec_record::{Body, CaseVerdict, Exchange, Exit, Response, Verdict};
use xs2aspec_runner::{
    Done, Session,
    exchange::tls_trouble,
    profile::{AuthorizedProfile, Permission},
};
use xs2aspec_signing::Certificate;

use crate::{Failure, args::Doctor, target};

/// The plain request of each operation.
const PLAIN: [(&str, &str); 5] = [
    ("customers", "customers.path/plain"),
    ("ncbct", "ncbct.path/plain"),
    ("periodic", "periodic.path/plain"),
    ("basket", "basket.body/plain"),
    ("transaction", "transaction.path/plain"),
];

/// Clocks that differ by more are told; signed dates of another minute are refused by some banks.
const SKEW: i64 = 60;

/// Characters of an answer that are shown.
const SHOWN: usize = 300;

/// Looks at everything in order, and goes on as long as that says something.
pub(crate) async fn doctor(args: &Doctor) -> Result<Exit, Failure> {
    let suite = Arc::new(crate::suite(args.source.cases.as_ref())?);
    let profile = target::profile(&args.target, &suite.spec().profile)?;
    let at =
        if profile.name == profile.base_url { String::new() } else { format!(" at {}", profile.base_url) };
    say!("target     {}{at}", profile.name);
    let profile = profile.authorize(args.allow_production).map_err(Failure::input)?;
    say!("aim        {}", aim(&profile));
    let certificate = Certificate::from_pem(&profile.certificate).map_err(Failure::input)?;
    let now = Utc::now();
    let session = Session::new(Arc::clone(&suite), profile, uuid::Uuid::new_v4().as_u64_pair().0, now);
    let session = session.map_err(Failure::input)?;
    say!("key        {}", key(&certificate, now));
    let reached = target::connect(session.profile()).await.map_err(|why| {
        let key = if session.profile().proxy.is_some() { "proxy" } else { "base-url" };
        Failure::unreachable(format!("the target cannot be reached: {why}; change `{key}`"))
    })?;
    say!("reach      {reached}");

    let mut skew = None;
    let (mut accepted, mut refused) = (0, 0);
    say!("requests");
    for (operation, id) in PLAIN {
        let Some(done) = session.case(id).await else { continue };
        let judged = judged(&done);
        skew = skew.or_else(|| skewed(judged.as_ref()));
        match done.verdict.verdict {
            Verdict::Pass => accepted += 1,
            Verdict::NotApplicable => {}
            _ => refused += 1,
        }
        say_on!("{}", request(operation, &done.verdict, judged.as_ref()));
    }
    say!("clock      {}", skew.map_or_else(|| "the target sends no Date".to_owned(), clock));

    let plan = suite.plan(&[], &[], args.depth).map_err(Failure::input)?;
    let mut left_out = BTreeMap::<String, usize>::new();
    for case in &plan.selected {
        if let Some(reason) = session.cannot_run(case).await {
            *left_out.entry(reason).or_default() += 1;
        }
    }
    let out: usize = left_out.values().sum();
    say!(
        "cases      {} of {} at depth {} can run",
        plan.selected.len() - out,
        plan.selected.len(),
        args.depth.word()
    );
    let mut left_out: Vec<(String, usize)> = left_out.into_iter().collect();
    left_out.sort_by_key(|(_, cases)| std::cmp::Reverse(*cases));
    for (reason, cases) in left_out {
        say!("  {cases:>6}   not: {reason}");
    }
    Ok(if refused > 0 || accepted == 0 { Exit::CouldNotTell } else { Exit::Conforms })
}

fn aim(profile: &AuthorizedProfile) -> &'static str {
    match profile.permission() {
        Permission::Nothing => "nothing is sent",
        Permission::Reads => "a production system: only what reads is sent",
        Permission::Everything if profile.environment.is_some() => "a sandbox, as the profile says",
        Permission::Everything => "this machine",
    }
}

/// The certificate; that the key belongs to it is checked before.
fn key(certificate: &Certificate, now: DateTime<Utc>) -> String {
    let day = |time: SystemTime| DateTime::<Utc>::from(time).format("%Y-%m-%d");
    let (from, until) = certificate.validity();
    let is_over = SystemTime::from(now) > until;
    let is_early = SystemTime::from(now) < from;
    let state = match () {
        () if is_over => format!("expired on {}: change `[signing] certificate`", day(until)),
        () if is_early => format!("not valid before {}: change `[signing] certificate`", day(from)),
        () => format!("valid until {}", day(until)),
    };
    format!("belongs to its certificate, serial {}, {state}", certificate.serial_hex())
}

/// The last exchange of a case.
fn judged(done: &Done) -> Option<Exchange> {
    let mut exchanges = done.take_exchanges();
    let at = exchanges.iter().position(|exchange| Some(exchange.number) == done.verdict.exchange);
    at.map(|at| exchanges.swap_remove(at)).or_else(|| exchanges.pop())
}

/// By how many seconds the target's clock is ahead of this one (RFC 9110 section 6.6.1).
fn skewed(judged: Option<&Exchange>) -> Option<i64> {
    let response = judged?.response.as_ref()?;
    let date = response.headers.iter().find(|header| header.0.eq_ignore_ascii_case("date"))?;
    let date = DateTime::parse_from_rfc2822(&date.1).ok()?;
    Some((date.to_utc() - Utc::now()).num_seconds())
}

fn clock(ahead: i64) -> String {
    if ahead.abs() <= SKEW {
        return "the target's is this one's".to_owned();
    }
    let word = if ahead > 0 { "ahead" } else { "behind" };
    format!("the target's is {} s {word}: signed dates may be refused", ahead.abs())
}

/// One request in one to three lines: how it went, what was answered, and what to change.
fn request(operation: &str, verdict: &CaseVerdict, exchange: Option<&Exchange>) -> String {
    let response = exchange.and_then(|exchange| exchange.response.as_ref());
    let status = response.map(|response| format!("{} in {:.1} ms", response.status, took(exchange)));
    let mut lines = String::new();
    let word = match verdict.verdict {
        Verdict::Pass => "accepted",
        Verdict::NotApplicable => "not sent",
        Verdict::Fail => "not accepted, or answered in another way than the document says",
        _ => "could not be judged",
    };
    _ = writeln!(
        lines,
        "  {operation:<11} {word}{}",
        status.map(|status| format!(": {status}")).unwrap_or_default()
    );
    if let Some(reason) = &verdict.reason {
        _ = writeln!(lines, "              {reason}");
        if let Some(cause) = exchange.and_then(|exchange| trouble(exchange.failure.as_deref()?)) {
            _ = writeln!(lines, "              perhaps {cause}");
        }
    }
    // With the suite's own key a refusal is no violation, and is to be explained all the same.
    let is_refused = response.is_some_and(|response| response.status >= 300);
    if verdict.verdict != Verdict::Fail && !(verdict.verdict == Verdict::Inconclusive && is_refused) {
        return lines;
    }
    for finding in verdict.findings.iter().take(3) {
        _ = writeln!(
            lines,
            "              {}: expected {}, got {}",
            finding.at, finding.expected, finding.actual
        );
    }
    if let Some(response) = response {
        let body = text(response);
        if !body.is_empty() {
            let body: String = body.chars().filter(|letter| !letter.is_control()).take(SHOWN).collect();
            _ = writeln!(lines, "              {body}");
        }
        if let Some(cause) = cause(operation, response) {
            _ = writeln!(lines, "              perhaps {cause}");
        }
    }
    lines
}

fn took(exchange: Option<&Exchange>) -> f64 {
    Duration::from_micros(exchange.map_or(0, |exchange| exchange.micros)).as_secs_f64() * 1000.0
}

fn text(response: &Response) -> &str {
    match &response.body {
        Some(Body::Text(text) | Body::Base64(text)) => text,
        None => "",
    }
}

/// The likely cause of no answer, with the key of the profile to change.
fn trouble(failure: &str) -> Option<&'static str> {
    let says = |words: &[&str]| words.iter().any(|word| failure.contains(word));
    Some(match () {
        () if says(&[tls_trouble::NO_TLS]) => "the target speaks no TLS there: `http://` in `base-url`",
        () if says(&[tls_trouble::CLIENT_CERTIFICATE]) => {
            "the target wants another client certificate: `[tls]`"
        }
        () if says(&[tls_trouble::UNTRUSTED]) => {
            "the target's certificate is of an unknown authority, or of another name: `authorities`, or the host in `base-url`"
        }
        () if says(&["proxy"]) => "the proxy does not lead there: `proxy`",
        () if says(&[
            "message is corrupt",
            "invalid HTTP version",
            "not HTTP",
            "connection closed before",
        ]) =>
        {
            "the target speaks TLS there, or no HTTP: `https://` in `base-url`"
        }
        () if says(&["no complete answer"]) => "the target is slow: `deadline-ms`",
        () => return None,
    })
}

/// The likely cause of a refusal, with the key of the profile to change.
fn cause(operation: &str, response: &Response) -> Option<String> {
    let said = text(response).to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let creditor = if operation == "ncbct" { "foreign-creditor" } else { "domestic-creditor" };
    let cause = match response.status {
        300..=399 => "the base URL has moved: `base-url`".to_owned(),
        429 => "too many requests: `--jobs` fewer, or another day".to_owned(),
        500.. => "the target fails by itself".to_owned(),
        _ if says(&["psu_credentials", "psu-id", "psu_id"]) => {
            "the target does not know the PSU: `[psu.private] id`".to_owned()
        }
        _ if says(&["accept-fix", "accept_fix"]) => format!("`x-accept-fix = {{ {operation} = \"..\" }}`"),
        _ if says(&["redirect-uri", "redirect_uri"]) => "`redirect-uri`".to_owned(),
        _ if says(&["session-id", "session_id"]) => "`session-id`".to_owned(),
        _ if says(&["kid_", "signature", "certificate", "digest", "keyid"]) => {
            "the target must know the certificate of `[signing] certificate`, and the key of `[signing] key`"
                .to_owned()
        }
        _ if says(&["debtoraccount"]) => "`[accounts.debtor]`".to_owned(),
        _ if says(&["creditoraccount", "creditoragent"]) => format!("`[accounts.{creditor}]`"),
        _ if says(&["consent"]) => {
            "no consent for `[transaction] account-id`, or for `session-id`".to_owned()
        }
        401 | 403 => "the target must know `[signing] certificate`, and allow it this operation".to_owned(),
        404 | 405 if operation == "transaction" => {
            "`[transaction] account-id` and `transaction-id`, or the prefix in `base-url`".to_owned()
        }
        404 | 405 => format!("`[paths] {operation}`, or the prefix in `base-url`"),
        _ => return None,
    };
    Some(cause)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn a_certificate_that_is_not_valid_is_told() {
        let certificate = Certificate::from_pem(xs2aspec_runner::profile::TEST_CERTIFICATE).unwrap();
        let (from, until) = certificate.validity();
        let at =
            |time: SystemTime, days| key(&certificate, DateTime::<Utc>::from(time) + TimeDelta::days(days));
        assert!(at(from, 1).contains("valid until 2099"));
        assert!(at(until, 1).contains("expired on 2099-12-31: change `[signing] certificate`"));
        assert!(at(from, -1).contains("not valid before"));
    }

    #[test]
    fn each_refusal_has_its_likely_cause() {
        let table = [
            ("ncbct", 401, r#"{"tppMessages":[{"code":"PSU_CREDENTIALS_INVALID"}]}"#, "`[psu.private] id`"),
            ("ncbct", 400, r#"{"path":"X-Accept-Fix"}"#, "`x-accept-fix = { ncbct = "),
            ("basket", 400, "TPP-Redirect-URI is not registered", "`redirect-uri`"),
            ("basket", 400, "no such TPP-Session-ID", "`session-id`"),
            ("ncbct", 401, "KID_MISSING", "`[signing] certificate`"),
            ("periodic", 400, "Digest does not fit", "`[signing] key`"),
            ("periodic", 400, r#"{"path":"/debtorAccount/iban"}"#, "`[accounts.debtor]`"),
            ("periodic", 400, r#"{"path":"/creditorAccount"}"#, "`[accounts.domestic-creditor]`"),
            ("ncbct", 400, r#"{"path":"/creditorAgent"}"#, "`[accounts.foreign-creditor]`"),
            ("transaction", 401, "CONSENT_UNKNOWN", "`[transaction] account-id`"),
            ("transaction", 404, "", "`[transaction] account-id`"),
            ("basket", 404, "", "`[paths] basket`"),
            ("customers", 404, "<html>", "`base-url`"),
            ("ncbct", 403, "", "`[signing] certificate`"),
            ("ncbct", 302, "", "`base-url`"),
            ("ncbct", 429, "", "`--jobs`"),
            ("ncbct", 503, "", "fails by itself"),
        ];
        for (operation, status, body, expected) in table {
            let response = Response { status, headers: vec![], body: Some(Body::Text(body.to_owned())) };
            let found = cause(operation, &response).unwrap();
            assert!(found.contains(expected), "{operation} {status} {body}: {found}");
        }
        let plain = Response { status: 400, headers: vec![], body: None };
        assert_eq!(cause("ncbct", &plain), None);
    }

    #[test]
    fn clocks_that_differ_are_told() {
        assert_eq!(clock(-60), "the target's is this one's");
        assert!(clock(61).contains("61 s ahead") && clock(-3600).contains("3600 s behind"));
    }
}
