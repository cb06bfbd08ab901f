//! Judges clients: requests that are wrong under every reading of the document, and requests that conflict
//! with the history. A bank is judged by the requests that every bank must reject, a client by the requests
//! that no bank may accept.

use chrono::{DateTime, Utc};
use serde_json::Value;
use xs2aspec_record::{End, Finding, Level, LevelSource, Mismatch, NotTold, Observation};
use xs2aspec_spec::{
    Strength,
    answer::has_member_twice,
    client::{Mentioned, PathRules, RejectionRule, Wrong},
    request::{Due, Payload as Shown, View},
};
use xs2aspec_suite::baseline::Baseline;

use super::{
    judge::{TrafficJudge, accepted_by},
    message::{Rejection, Sent, Traffic, decoded},
    routes::Route,
    session::{Exchange, PATH, Told, asks, wrong},
    signature::{self, is_masked},
    verdict::Judged,
};
use crate::profile::{Environment, Offered};

/// Statuses of a bank without the operation (RFC 9110 sections 15.5.4 to 15.5.6, 15.5.11 and 15.6.2).
const LACKING: [u16; 5] = [403, 404, 405, 410, 501];

/// The name of the resource id in the path of an operation.
const ID: &str = "id";

/// The capability of a bank with test operations.
const SANDBOX: &str = "sandbox";

impl TrafficJudge {
    /// Adds the client's violations in an exchange that was judged by the rules, and remembers the exchange.
    /// If the bank names the rule behind a rejection, that is more precise than its codes.
    pub(super) fn client(
        &mut self,
        (traffic, signature): (&Traffic, &signature::Found),
        names_its_rule: bool,
        judged: &mut Judged,
    ) {
        let sent = &traffic.request;
        let operation = judged.operation.clone();
        let rules = &self.suite.spec().client;
        let mut ids: Vec<(String, String)> =
            self.routes.find(sent).filter(|_| operation.is_some()).map_or_else(Vec::new, |found| {
                let all = found.fitting.iter().flat_map(|(_, values)| values);
                all.map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
            });
        let mentioned = rules.paths.as_ref().and_then(|paths| mentioned(paths, sent));
        if let Some((operation, own)) = &mentioned {
            judged.ids.extend(own.iter().cloned());
            ids.extend(own.iter().filter(|_| !operation.lists).map(|id| (ID.to_owned(), id.clone())));
        }
        let is_refused = traffic.answer.as_ref().is_some_and(|answer| answer.status >= 400);
        let is_ours = operation.is_some()
            || mentioned.is_some()
            || self.has_certificate(sent)
            // Pages for the PSU may be there too, and need no signature.
            || (is_refused && self.routes.is_below(sent));
        let status =
            traffic.answer.as_ref().map(|answer| answer.status).filter(|_| traffic.failure.is_none());
        if let Some(paths) = &rules.paths {
            if is_ours {
                self.signature((sent, signature), operation.as_deref(), paths, judged);
            }
            // A bank without this path may stop reading the body, so the exchange may end early.
            if is_refused
                && (sent.has_gap()
                    || sent.repeats(&paths.prefix)
                    || operation.is_none() && mentioned.is_none())
            {
                self.path(sent, paths, judged);
            }
            if operation.as_deref().is_some_and(|name| self.is_for_tests(name))
                && self.profile.environment == Some(Environment::Production)
            {
                let (instead, value) = ("no sandbox request in production", Some("one"));
                self.wrong(judged, wrong(PATH, &paths.sandbox, instead, value));
            }
        }
        if is_ours {
            self.validity(signature, traffic.began, judged);
            self.values(sent, operation.as_deref().unwrap_or_default(), judged);
        }
        let body = traffic.answer.as_ref().and_then(|answer| answer.body.bytes());
        let document: Option<Value> = body.and_then(|body| serde_json::from_slice(body).ok());
        let exchange = Exchange {
            number: traffic.number,
            began: traffic.began,
            operation: operation.as_deref(),
            ids: &ids,
            lists: mentioned
                .filter(|(operation, _)| operation.lists)
                .and_then(|(_, ids)| ids.into_iter().next()),
            sent,
            asks: asks(sent),
            status,
            document: document.as_ref(),
            is_clean: judged.of(End::Client).next().is_none(),
            is_known: &|id: &str| {
                self.is_of_the_bank && self.profile.values.values().any(|known| known == id)
            },
        };
        let spec = (&self.suite.spec().signing, &self.suite.spec().masks);
        for told in self.session.look(&exchange, rules, spec).into_iter().filter(|_| is_ours) {
            match told {
                Told::Wrong(wrong) => self.wrong(judged, wrong),
                Told::Seen(seen) => judged.seen.push(seen),
                Told::Unsure(at, why) => judged.cannot_tell(End::Client, format!("request/{at}"), why),
            }
        }
        let is_rejection = status.is_some_and(|status| status / 100 == 4);
        // A code that the bank gives for another reason is not the client's violation.
        let is_made = is_rejection && self.session.made_all(&exchange, rules);
        let has = |name: &str| sent.header(name).is_some_and(|text| !text.trim().is_empty());
        let rejected = (status.unwrap_or_default(), judged.codes.as_slice());
        let rule = rules.rejection(operation.as_deref().unwrap_or_default(), rejected, &has);
        let is_told = judged.accuses(End::Client);
        let may_be = |rule: &&RejectionRule| is_rejection && !is_told && (!is_made || rule.is_of_a_header());
        if let Some(rule) = rule.filter(may_be)
            && (!rule.warn || !names_its_rule && !judged.accuses(End::Bank) && !knows(&exchange, &rule.at))
        {
            let said = format!("a rejection with {}", judged.codes.join(" and "));
            self.found(judged, rule.wrong(), said);
        }
        let is_creation = operation.is_some() && sent.method == "POST";
        let members = document.as_ref().and_then(Value::as_object).filter(|_| is_creation);
        let ids = members.into_iter().flatten().filter(|(name, _)| name.ends_with("Id"));
        let made = ids.filter_map(|(_, id)| id.as_str()).map(str::to_owned).collect();
        self.session.add(&exchange, rules, spec, made);
        judged.is_made = is_made;
    }

    /// Adds the client's violation according to a rejection by the reference bank, unless there is a certain
    /// one already.
    pub(super) fn rejected(&self, judged: &mut Judged, rejection: &Rejection, freedoms: &[&str]) {
        let Rejection { status, rule, at } = rejection;
        let of_bank = &self.suite.spec().client.bank;
        let clause = of_bank.clauses.get(rule).unwrap_or(rule);
        let is_told = judged.of(End::Client).any(|finding| finding.level == Level::Deny);
        if is_told {
            return;
        }
        // The bank has a rule for each sentence, and a freedom may cover several.
        let is_free =
            |freedom: &&str| self.subject(freedom) == self.subject(rule) || *freedom == clause.as_str();
        let is_of_code = self.suite.spec().client.is_of_a_code(clause);
        if of_bank.not_of_the_client.contains(rule)
            || freedoms.iter().any(is_free)
            || is_of_code && judged.is_made
        {
            judged.seen.push(Observation::RejectedByRule { rule: rule.clone() });
            return;
        }
        let clauses = self.suite.clauses();
        let known = clauses.get(clause).map(|clause| clause.id.as_str());
        let operation = judged.operation.as_deref();
        let plain = || self.suite.requests().plain_clause(operation?);
        // For a path without an operation the bank has a rule that is not in the document.
        let Some(clause) = known.or_else(plain) else { return };
        let is_firm = clauses.get(clause).is_some_and(|clause| {
            matches!(clause.strength, Strength::Stated | Strength::Derived(_))
                || self.suite.spec().client.denied.contains(&clause.id)
        });
        let at = match at.as_deref() {
            Some(at) if at.starts_with('/') => format!("body{at}"),
            Some(at) if rule.starts_with("header.") || rule.starts_with("signature.") => {
                format!("header/{at}")
            }
            _ => String::new(),
        };
        let is_open = |told: &NotTold| {
            told.end == End::Client && told.at.eq_ignore_ascii_case(&format!("request/{at}"))
        };
        let is_open = judged.not_told.iter().any(is_open);
        let wrong = Wrong {
            at,
            clause: clause.to_owned(),
            send: match known.and_then(|_| clauses.get(clause)) {
                Some(clause) if is_firm => accepted_by(&clause.says),
                Some(clause) => format!("a request to which this does not apply: \"{}\"", clause.says),
                None => format!("a request that follows the rule {rule} of the reference bank"),
            },
            value: None,
            // A rule without a clause is weaker evidence.
            is_warning: of_bank.warned.contains(rule)
                || known.is_none()
                || !is_firm
                || is_open
                || (matches!(judged.due, Some(Due::Accepted { .. })) && judged.is_sure),
        };
        self.found(judged, wrong, format!("a rejection by the reference bank with {status} {rule}"));
    }

    /// Returns the subject of a clause or rule: the first part of its id, or the first two for a header or an
    /// operation.
    fn subject<'a>(&self, id: &'a str) -> &'a str {
        let has_parts =
            id.starts_with("header.") || id.split('.').next().is_some_and(|first| self.routes.has(first));
        let mut dots = id.match_indices('.');
        dots.nth(usize::from(has_parts)).map_or(id, |(end, _)| &id[..end])
    }

    /// Returns true if only the history shows whether a client violates this clause.
    pub(super) fn is_of_the_session(&self, clause: &str) -> bool {
        self.suite.spec().client.ids.as_ref().is_some_and(|ids| ids.pending.clause == clause)
    }

    /// Returns true if a response says that the bank lacks an operation that exists only for tests.
    pub(super) fn may_lack(&self, operation: &str, status: u16) -> bool {
        let is_said = self.profile.capabilities.get(SANDBOX) == Some(&Offered::No);
        let is_production = self.profile.environment == Some(Environment::Production);
        let may_be = is_said || is_production;
        self.is_for_tests(operation)
            && ((may_be && status >= 400) || (!self.is_of_the_bank && LACKING.contains(&status)))
    }

    fn is_for_tests(&self, operation: &str) -> bool {
        let needs = |baseline: &Baseline| baseline.needs.iter().any(|need| need == SANDBOX);
        self.suite.baselines().get(operation).is_some_and(needs)
    }

    /// Returns the level of a client's violation. A level set by the user applies to both ends.
    pub(super) fn level_of_client(&self, clause: &str) -> Level {
        let is_denied = self.suite.spec().client.denied.contains(clause);
        let due = if is_denied { Level::Deny } else { self.levels.clause(clause).level };
        self.given(clause).unwrap_or(due)
    }

    /// Returns the level that the user set for a clause.
    fn given(&self, clause: &str) -> Option<Level> {
        let level = self.levels.clause(clause);
        (!matches!(level.by, LevelSource::Strength | LevelSource::Choice)).then_some(level.level)
    }

    /// Adds a violation under every reading. If the place or clause has a finding already, both have one
    /// cause.
    fn wrong(&self, judged: &mut Judged, wrong: Wrong) {
        let value = wrong.value.as_ref();
        let actual = value.map_or_else(|| "nothing".to_owned(), |value| self.shown(&wrong.at, value));
        self.found(judged, wrong, actual);
    }

    /// Adds a violation, with `actual` as the value that was sent.
    fn found(&self, judged: &mut Judged, wrong: Wrong, actual: String) {
        let Wrong { at, clause, send, is_warning, .. } = wrong;
        let due = if is_warning { Level::Warn } else { Level::Deny };
        let level = self.given(&clause).unwrap_or(due);
        let at = if at.is_empty() { "request".to_owned() } else { format!("request/{at}") };
        let own = judged.findings.iter_mut().filter(|finding| finding.end == End::Client);
        let mut known = own.filter(|known| known.at.eq_ignore_ascii_case(&at) || known.clause == clause);
        if let Some(known) = known.next() {
            if known.clause == clause {
                known.level = known.level.max(level);
            }
            return;
        }
        let kind = Mismatch::Request;
        let finding = Finding { clause, expected: send, actual, at, kind, level, end: End::Client };
        judged.checks += 1;
        if level == Level::Note {
            judged.seen.push(Observation::NotedOfClients { finding: Box::new(finding) });
        } else {
            judged.findings.push(finding);
        }
    }

    /// Returns the form of a value in a finding. Personal values stay hidden.
    fn shown(&self, at: &str, value: &str) -> String {
        let masks = &self.suite.spec().masks;
        let name = at.strip_prefix("header/");
        let is_personal = name.is_some_and(|name| masks.is_personal_header(name) || masks.hides_header(name));
        if is_personal {
            return format!("a string of {} characters", value.chars().count());
        }
        if name.is_some() {
            format!("{:?}", value.chars().take(80).collect::<String>())
        } else {
            value.to_owned()
        }
    }

    /// Adds values that are wrong under every reading: empty required headers, and those from the client
    /// rules.
    fn values(&self, sent: &Sent, operation: &str, judged: &mut Judged) {
        let body = sent.body.bytes().and_then(|bytes| serde_json::from_slice(bytes).ok());
        let of = |at: &str| of_place(sent, body.as_ref(), at);
        for place in self.suite.requests().places() {
            let text = |name: &str| place.get(name).and_then(Value::as_str).unwrap_or_default();
            if text("operation") != operation || text("presence") != "R" {
                continue;
            }
            let values = of(text("at"));
            if !values.is_empty() && values.iter().all(String::is_empty) {
                let clause = format!("header.{}.{operation}", text("name"));
                let instead = "a value, since the header is required";
                self.wrong(judged, wrong(text("at"), &clause, instead, Some("")));
            }
        }
        let names = sent.headers.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
        for wrong in self.suite.spec().client.wrong(operation, &names, &of) {
            if !self.suite.clauses().contains_key(&wrong.clause) {
                continue;
            }
            // A value that was not sent is a description, such as the number of occurrences.
            match wrong.value.clone().filter(|value| !of(&wrong.at).contains(value)) {
                Some(said) => self.found(judged, wrong, said),
                None => self.wrong(judged, wrong),
            }
        }
    }

    /// Adds a warning for a certificate that was not valid when it was used (RFC 5280 section 4.1.2.5).
    fn validity(&self, signature: &signature::Found, began: DateTime<Utc>, judged: &mut Judged) {
        let spec = self.suite.spec();
        let name = spec.signing.certificate_header.as_deref();
        let found = name.zip(spec.client.validity.as_ref()).zip(signature.certificate.as_ref());
        let Some(((name, clause), certificate)) = found else { return };
        let (from, until) = certificate.validity();
        let (from, until): (DateTime<Utc>, DateTime<Utc>) = (from.into(), until.into());
        if (from..=until).contains(&began) {
            return;
        }
        let day = |time: DateTime<Utc>| time.format("%Y-%m-%d").to_string();
        let advice = format!("a certificate that is valid on {}", day(began));
        let wrong = wrong(&format!("header/{name}"), clause, &advice, None);
        let wrong = Wrong { is_warning: true, ..wrong };
        self.found(judged, wrong, format!("one from {} to {}", day(from), day(until)));
    }

    /// Adds violations in the signature of a request whose operation the document only mentions.
    fn signature(
        &self,
        (sent, found): (&Sent, &signature::Found),
        operation: Option<&str>,
        paths: &PathRules,
        judged: &mut Judged,
    ) {
        let rules = self.suite.requests();
        if operation.is_some_and(|operation| rules.is_signed(operation)) {
            return;
        }
        let certificate = self.suite.spec().signing.certificate_header.as_deref().unwrap_or_default();
        for name in [certificate, signature::FIELD] {
            let stands_for = found.stands_for.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
            let is_hidden =
                found.hidden.iter().any(|(at, _)| at.eq_ignore_ascii_case(&format!("header/{name}")));
            if !stands_for && !is_hidden {
                let value = sent.header(name).map(|_| "an invalid one");
                let instead = "the certificate and signature that every request needs";
                self.wrong(judged, wrong(&format!("header/{name}"), &paths.signed, instead, value));
                return;
            }
        }
        let headers: Vec<(String, Value)> =
            sent.headers.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        let view = View {
            operation: "",
            path: "",
            query: &[],
            headers: &headers,
            payload: Shown::None,
            signing: &found.signing,
        };
        if let Some(clause) = rules.broken_by_signature(&view) {
            let says: Vec<&str> = found.says.iter().map(|(_, says)| says.as_str()).collect();
            let says = Some(says.join("; ")).filter(|says| !says.is_empty());
            let instead = "a signature as the document defines it";
            self.wrong(judged, wrong("signing", &clause, instead, says.as_deref()));
        }
    }

    /// Adds a violation for a rejected request whose path or method belongs to no operation.
    fn path(&self, sent: &Sent, paths: &PathRules, judged: &mut Judged) {
        let (path, _) = sent.target();
        if ["HEAD", "OPTIONS"].contains(&sent.method.as_str()) {
            return;
        }
        let shown = format!("{} {path}", sent.method);
        let has_prefix = path.split('/').any(|part| part == paths.prefix);
        // A payment itself is read at the path of its deletion, which the document does not show.
        let is_meant = |route: &Route| {
            let clause = self.suite.requests().plain_clause(&route.operation);
            let clause = clause.and_then(|clause| self.suite.clauses().get(clause));
            let is_stated = clause.is_some_and(|clause| matches!(clause.strength, Strength::Stated));
            let is_shown = is_stated && !paths.not_shown.contains(&route.operation);
            route.method != "DELETE" && (self.is_of_the_bank || is_shown)
        };
        let may_be_elsewhere = !self.is_of_the_bank && self.routes.names(sent, &paths.not_shown);
        let clause_of = |route: &Route| self.suite.requests().plain_clause(&route.operation);
        let (clause, instead, is_warning) = if let Some(route) = self.routes.near(sent, is_meant) {
            let clause = clause_of(route).filter(|_| has_prefix);
            (clause, format!("{} {}", route.method, route.path), false)
        } else if let Some(route) =
            self.routes.closest(sent).filter(|_| !self.routes.is_below(sent) && !may_be_elsewhere)
        {
            let instead = format!("a path of the document such as {} {}", route.method, route.path);
            (clause_of(route), instead, true)
        } else if !has_prefix && self.has_certificate(sent) {
            (None, format!("a path with /{}", paths.prefix), false)
        } else {
            return;
        };
        let wrong = wrong(PATH, clause.unwrap_or(&paths.clause), &instead, Some(&shown));
        self.wrong(judged, Wrong { is_warning, ..wrong });
    }

    fn has_certificate(&self, sent: &Sent) -> bool {
        let name = self.suite.spec().signing.certificate_header.as_deref();
        name.is_some_and(|name| sent.header(name).is_some())
    }
}

/// Returns true if the bank is known to have all resources that a place of a request names.
fn knows(exchange: &Exchange<'_>, at: &str) -> bool {
    let names: Vec<&str> = match at.strip_prefix("header/") {
        Some(name) => exchange.sent.header(name).into_iter().collect(),
        None if at == PATH => exchange.ids.iter().map(|(_, id)| id.as_str()).collect(),
        None => return false,
    };
    names.into_iter().all(|name| (exchange.is_known)(name))
}

/// Returns the mentioned operation that a request is for, with the ids in its path.
fn mentioned<'a>(paths: &'a PathRules, sent: &Sent) -> Option<(&'a Mentioned, Vec<String>)> {
    let (path, _) = sent.target();
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    paths.mentioned.iter().find_map(|mentioned| {
        let wanted: Vec<&str> = mentioned.path.split('/').filter(|part| !part.is_empty()).collect();
        let own = &parts[parts.len().checked_sub(wanted.len())?..];
        let fits = wanted.iter().zip(own).all(|(wanted, part)| *wanted == "*" || wanted == part);
        let ids = wanted.iter().zip(own).filter(|(wanted, _)| **wanted == "*");
        let is_meant = fits && mentioned.method == sent.method;
        is_meant.then(|| (mentioned, ids.map(|(_, part)| decoded(part)).collect()))
    })
}

/// Returns the unmasked values at a place of a request with this body.
fn of_place(sent: &Sent, body: Option<&Value>, at: &str) -> Vec<String> {
    let parameters = || sent.parameters().into_iter();
    let mut values: Vec<String> = match at.split_once('/') {
        Some(("header", wanted)) => {
            let own = sent.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
            own.map(|(_, value)| value.trim_matches([' ', '\t']).to_owned()).collect()
        }
        // The names of all parameters.
        Some(("query", "")) => parameters().map(|(name, _)| name).filter(|name| !name.is_empty()).collect(),
        Some(("query", wanted)) => {
            parameters().filter(|(name, _)| name == wanted).map(|(_, value)| value).collect()
        }
        // Duplicate fields in an object.
        Some(("body", "")) => {
            let is_twice = sent.body.bytes().is_some_and(has_member_twice);
            vec!["a member".to_owned(); if is_twice { 2 } else { 0 }]
        }
        Some(("body", pointer)) => {
            let value = body.and_then(|body| body.pointer(&format!("/{pointer}")));
            let items =
                value.map(|value| value.as_array().map_or_else(|| vec![value], |all| all.iter().collect()));
            let text = |value: &Value| match value {
                Value::String(text) => Some(text.clone()),
                // 1 and 1.0 are the same number.
                Value::Number(number) => Some(number.to_string().trim_end_matches(".0").to_owned()),
                _ => None,
            };
            items.into_iter().flatten().filter_map(text).collect()
        }
        _ => Vec::new(),
    };
    values.retain(|value| !is_masked(value));
    values
}
