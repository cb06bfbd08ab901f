//! Handmade records for the tests of every format.

use xs2aspec_record::{
    Body, Came, CaseEvents, CaseSource, CaseVerdict, ClauseText, ControlSeen, Counts, End, Event, Exchange,
    Exit, Finding, Got, Level, Mismatch, Place, Reason, Request, Response, Role, RunFinished, RunStarted,
    Stopwatch, Strength, Times, Totals, Verdict, WaiverSeen, WaiverState,
};

/// The failing case of [`hostile`].
pub(crate) const HOSTILE_CASE: &str = "periodic.months/one";

/// Text of a target that tries to break out of a terminal, of XML, or of what CI servers act on.
pub(crate) const HOSTILE: &str = "\u{1b}[2J\u{7}\r\nFAIL  fake\0 ]]></failure></testsuite> &amp; &#27; ]]> <!-- \
     [[ATTACHMENT|/etc/passwd]] [[[PROPERTY|verdict=pass]]] \u{202e}\u{fffe}\u{ffff}\u{85}\u{feff} ::error::x \
     ##vso[task.setvariable variable=a]b \u{1f600}";

/// Text that tries to be more than text in Markdown.
pub(crate) const HOSTILE_MARKDOWN: &str = "`` ` ``` [x](javascript:a) ![i](http://evil.test/i.png) http://evil.test \
     www.evil.test a@b.test @team #1 ~~s~~ *b* _i_ **b** \\| \\` | $x$ <script>alert(1)</script> <b> &lt; <!-- --- \\";

/// A record under construction: it starts with clauses and a source, then takes verdicts.
#[derive(Debug)]
pub(crate) struct Sample {
    start: RunStarted,
    verdicts: Vec<CaseVerdict>,
    exchanges: Vec<Exchange>,
}

impl Sample {
    /// Creates a run with this number of selected cases.
    pub(crate) fn new(cases: usize) -> Self {
        let start = RunStarted {
            format: RunStarted::FORMAT,
            tool: "xs2aspec 0.1.0".into(),
            target: "test bank".into(),
            target_version: Some("2.4".into()),
            environment: Some("sandbox".into()),
            contact: Some("payments team".into()),
            base_url: "https://bank.test/psd2".into(),
            fault: None,
            depth: "standard".into(),
            document_sha256: "d0".repeat(32),
            suite_sha256: "5e".repeat(32),
            shard: None,
            planned: None,
            requests: None,
            profile_sha256: "9f".repeat(32),
            quality: Some("662 of 662 faults caught".into()),
            seed: 7,
            now: "2030-01-02T03:04:05Z".into(),
            cases,
            only: vec!["periodic".into()],
            skip: vec![],
            arguments: vec!["--target".into(), "my bank.toml".into()],
            ..RunStarted::default()
        };
        Self { start, verdicts: vec![], exchanges: vec![] }
    }

    /// Adds a case with this verdict. Area and operation are the first part of its id, and the clause is the
    /// part before `/`.
    pub(crate) fn verdict(&mut self, case: &str, verdict: Verdict) -> &mut CaseVerdict {
        let clause = case.split('/').next().unwrap_or_default();
        let area = case.split('.').next().unwrap_or_default();
        let number = self.exchanges.len() as u64 + 1;
        let sent = !matches!(verdict, Verdict::NotApplicable | Verdict::Inconclusive);
        let finding = Finding {
            clause: clause.into(),
            expected: "a rejection (4xx)".into(),
            actual: "201 with transactionStatus RCVD".into(),
            at: "status".into(),
            kind: Mismatch::NotRejected,
            level: Level::Deny,
            end: End::Bank,
        };
        if sent {
            self.exchanges.push(exchange(number, case, verdict == Verdict::Error));
        }
        let place = Place { file: format!("cases/{area}/months-of-execution.yaml"), line: 18, column: 5 };
        self.verdicts.push(CaseVerdict {
            area: area.into(),
            operation: area.into(),
            verdict,
            expected: "refused".into(),
            checks: u32::from(sent),
            findings: match verdict {
                Verdict::Fail => vec![finding],
                Verdict::Warn => vec![Finding { level: Level::Warn, ..finding }],
                _ => vec![],
            },
            reason: match verdict {
                Verdict::Inconclusive => Some(Reason::ControlRejected {
                    control: "periodic.months/two".into(),
                    came: Came::Got(Got::status(400)),
                }),
                Verdict::NotApplicable => Some(Reason::DeclaredAbsent { capability: "sandbox".into() }),
                Verdict::Error => Some(Reason::no_response("no answer within 5 s")),
                _ => None,
            },
            exchange: sent.then_some(number),
            micros: 12_345,
            ..CaseVerdict::blank(case.into(), clause.into(), place)
        });
        self.last()
    }

    /// Gives the judged response of the last case another status and body.
    #[allow(dead_code, reason = "only some of the tests that share this file need it")]
    pub(crate) fn responds(&mut self, status: u16, body: &str) {
        let last = self.exchanges.last_mut().and_then(|exchange| exchange.response.as_mut());
        let response = last.expect("a response");
        (response.status, response.body) = (status, Body::of(body.as_bytes()));
    }

    /// Returns the verdict added last.
    pub(crate) fn last(&mut self) -> &mut CaseVerdict {
        self.verdicts.last_mut().expect("a verdict")
    }

    /// Returns the start event for editing.
    pub(crate) fn start(&mut self) -> &mut RunStarted {
        &mut self.start
    }

    /// Returns the record of a killed run.
    pub(crate) fn killed(&self) -> Vec<Event> {
        let mut events = vec![Event::RunStarted(self.start.clone())];
        events.extend(clauses().into_iter().map(Event::Clause));
        events.push(Event::Source(CaseSource {
            file: "cases/periodic/months-of-execution.yaml".into(),
            text: "title: Month numbers\n".into(),
        }));
        let mut verdicts: Vec<&CaseVerdict> = self.verdicts.iter().collect();
        verdicts.sort_by(|one, other| one.case.cmp(&other.case));
        for verdict in verdicts {
            let exchanges = self.exchanges.iter().filter(|exchange| exchange.case == verdict.case);
            let case = CaseEvents {
                case: verdict.case.clone(),
                exchanges: exchanges.cloned().collect(),
                verdict: Some(verdict.clone()),
            };
            events.extend(case.into_events());
        }
        events
    }

    /// Returns the record of a finished run.
    pub(crate) fn finished(&self) -> Vec<Event> {
        self.ended(false)
    }

    /// Returns the record of a run that stopped early.
    pub(crate) fn stopped_early(&self) -> Vec<Event> {
        self.ended(true)
    }

    /// Returns the times of its exchanges.
    fn times(&self) -> Times {
        let mut stopwatch = Stopwatch::default();
        stopwatch.add(&self.exchanges);
        stopwatch.finish()
    }

    /// Returns a waiver of all waived cases.
    fn waivers(&self) -> Vec<WaiverSeen> {
        let waived = self.verdicts.iter().filter(|verdict| verdict.verdict == Verdict::Waived);
        let cases: Vec<String> = waived.map(|verdict| verdict.case.clone()).collect();
        let seen = WaiverSeen {
            pattern: "*".into(),
            findings: vec![],
            owner: "team".into(),
            reason: "known".into(),
            ticket: "BANK-1".into(),
            expires: "2031-01-31".into(),
            place: "waivers.toml:1".into(),
            state: WaiverState::InForce,
            cases,
            near: None,
        };
        Some(seen).filter(|seen| !seen.cases.is_empty()).into_iter().collect()
    }

    fn ended(&self, stopped_early: bool) -> Vec<Event> {
        let mut totals = Totals::default();
        totals.start(&self.start);
        let known = clauses();
        for clause in &known {
            totals.clause(clause);
        }
        for verdict in &self.verdicts {
            let clause =
                known.iter().find(|clause| clause.id == verdict.clause).expect("a clause of the sample");
            totals.add(verdict, clause.strength);
        }
        let counts: Counts = totals.counts();
        let is_whole = !stopped_early && (self.start.drawn || counts.total() == self.start.cases);
        let exit = match Exit::of(&totals) {
            Exit::Conforms if !is_whole => Exit::CouldNotTell,
            exit => exit,
        };
        let mut events = self.killed();
        events.push(Event::RunFinished(RunFinished {
            waivers: self.waivers(),
            counts,
            exchanges: self.exchanges.len() as u64 + 2,
            retries: 1,
            micros: 2_500_000,
            stopped_early,
            exit: exit.code(),
            times: self.times(),
            chain: None,
        }));
        events
    }
}

/// Returns a finished run with every verdict, and a control that was not selected.
pub(crate) fn mixed() -> Vec<Event> {
    let mut sample = Sample::new(9);
    sample.verdict("transaction.path/plain", Verdict::Pass);
    sample.verdict("periodic.months/ascending", Verdict::Pass);
    let adjacent = sample.verdict("periodic.months.duplicate/adjacent", Verdict::Fail);
    adjacent.changes = vec!["body/monthsOfExecution = [3, 3]".into()];
    adjacent.control = Some(ControlSeen { case: "periodic.months/ascending".into(), accepted: true });
    let spread = sample.verdict("periodic.months.duplicate/spread", Verdict::Inconclusive);
    spread.changes = vec!["body/monthsOfExecution = [3, 5, 3]".into()];
    spread.control = Some(ControlSeen { case: "periodic.months/two".into(), accepted: false });
    sample.verdict("customers.path/plain", Verdict::NotApplicable);
    let twelve = sample.verdict("periodic.months.twelve/alone", Verdict::Observed);
    twelve.observations = vec!["periodic.months.twelve: 201 with transactionStatus RCVD".into()];
    sample.verdict("ncbct.path/plain", Verdict::Error);
    sample.verdict("basket.mix/periodic", Verdict::Pass).observations =
        vec!["basket.mix: refused with 400".into(), "payment.success-status: 201".into()];
    sample.verdict("basket.mix/two", Verdict::Pass).observations =
        vec!["basket.mix: refused with 400".into()];
    let control = sample.verdict("periodic.months/two", Verdict::Fail);
    control.role = Role::Control;
    // Its status is correct, so the other defects of this unselected control do not count.
    control.findings[0].at = "body".into();
    sample.finished()
}

/// Returns a finished run against a target that writes [`HOSTILE`] wherever it can.
pub(crate) fn hostile() -> Vec<Event> {
    let mut sample = Sample::new(5);
    sample.start().target = HOSTILE_MARKDOWN.into();
    sample.start().base_url = HOSTILE.into();
    sample.start().arguments = vec!["--target".into(), HOSTILE.into()];
    let long = format!("{HOSTILE}{}", "x".repeat(100_000));
    let fail = sample.verdict(HOSTILE_CASE, Verdict::Fail);
    fail.changes = vec![HOSTILE.into()];
    fail.observations = vec![HOSTILE.into(), HOSTILE_MARKDOWN.into()];
    let all = |text: &str| Finding {
        clause: text.into(),
        expected: text.into(),
        actual: text.into(),
        at: text.into(),
        kind: Mismatch::Value,
        level: Level::Deny,
        end: End::Bank,
    };
    let own = Finding {
        clause: "periodic.months".into(),
        expected: "a rejection".into(),
        actual: long.clone(),
        at: "status".into(),
        kind: Mismatch::NotRejected,
        level: Level::Deny,
        end: End::Bank,
    };
    fail.findings = vec![own, all(HOSTILE), all(HOSTILE_MARKDOWN)];
    for verdict in [Verdict::Inconclusive, Verdict::NotApplicable, Verdict::Error, Verdict::Observed] {
        let case = sample.verdict(&format!("periodic.months/{}", verdict.word()), verdict);
        case.reason = Some(Reason::InWords { says: long.clone() });
        case.observations = vec![HOSTILE.into(), HOSTILE_MARKDOWN.into(), long.clone()];
    }
    sample.finished()
}

fn clauses() -> Vec<ClauseText> {
    let clause = |id: &str, says: &str, strength| ClauseText {
        id: id.into(),
        says: says.into(),
        strength,
        line: 242,
        quote: String::new(),
        readings: vec![],
        section: "Endpoints > Create periodic payment".into(),
        standard: (strength == Strength::Derived).then(|| "ISO 4217".into()),
        why: (strength == Strength::Untestable).then(|| "no test can observe it".into()),
        set: None,
    };
    vec![
        clause("amount.digits", "an amount has no more decimals than its currency", Strength::Derived),
        clause("basket.mix", "a periodic payment cannot be put in a basket", Strength::Stated),
        clause("customers.path", "the sandbox lists its customers", Strength::Stated),
        clause("ncbct.name", "a name has no letters but those of the table", Strength::Expected),
        clause("ncbct.path", "an NCBCT payment is created under its path", Strength::Stated),
        clause("periodic.months", "months 1 to 11 are accepted", Strength::Stated),
        clause("periodic.months.duplicate", "month numbers may not repeat", Strength::Stated),
        clause("periodic.months.twelve", "what month 12 means is not clear", Strength::Choice),
        clause("transaction.path", "a transaction is read under its path", Strength::Stated),
    ]
}

fn exchange(number: u64, case: &str, failed: bool) -> Exchange {
    let body = Body::of(br#"{"transactionStatus":"RCVD"}"#);
    Exchange {
        number,
        case: case.into(),
        step: "request".into(),
        look: None,
        operation: Some("periodic".into()),
        attempt: 1,
        request: Request {
            method: "POST".into(),
            url: "https://bank.test/psd2/v1/periodic-payments/norwegian-domestic-credit-transfers".into(),
            headers: vec![],
            body: None,
        },
        response: (!failed).then_some(Response { status: 201, headers: vec![], body }),
        failure: failed.then(|| "no answer within 5 s".into()),
        at: 1_000 * number,
        micros: 12_345,
    }
}
