//! Runs a sequence of requests and holds what comes back to what must be so on any bank: each new payment has
//! an id of its own, what could be read stays readable, and what the document says of deletion, funds and
//! quotas.

use serde_json::{Value, json};
use xs2aspec_record::{Exchange, Finding};
use xs2aspec_suite::{
    Case, Party, RequestSpec,
    definition::Signing,
    explore::sequence::{Command, Index, Sent},
};

use super::{Session, Stop, Trail};
use crate::{
    exchange::Answer,
    judge::{Examined, Outcome},
    profile::Offered,
};

/// The clause that leaves it to the bank to whom payments show.
const SHOWN_TO: &str = "basket.payment-status.shown-to";

/// What a sequence showed.
#[derive(Debug, Default)]
pub struct Told {
    /// What is broken: the first finding ends the sequence.
    pub findings: Vec<Finding>,
    /// What was seen where the document says nothing.
    pub observations: Vec<&'static str>,
    /// How many commands were carried out.
    pub done: usize,
    /// The requests in their order.
    pub sent: Vec<Sent>,
    /// What the last one must come to, as a case file says it, where a case can say what is broken.
    pub expect: Option<Value>,
    /// The exchanges, masked; none where only verdicts are kept.
    pub exchanges: Vec<Exchange>,
}

/// A payment that was made.
#[expect(clippy::struct_excessive_bools, reason = "each is a thing that may have happened to it")]
struct Made {
    id: String,
    path: String,
    corporate: bool,
    rejected: bool,
    deleted: bool,
    /// Whether it is in a basket; what becomes of one that is put in another is not said.
    in_basket: bool,
    /// Its status could be read once.
    readable: bool,
    /// Its request, if it can be sent again.
    request: Option<Sent>,
}

struct Memory {
    case: Case,
    made: Vec<Made>,
    told: Told,
    trail: Trail,
    steps: usize,
}

impl Session {
    /// Carries out a sequence; `number` tells it from others.
    pub async fn sequence(&self, number: usize, commands: &[Command]) -> Told {
        let Some(plain) = self.suite.baselines().get("ncbct") else { return Told::default() };
        let case = Case::unwritten(
            format!("sequence/{number}"),
            "ncbct.path".to_owned(),
            "ncbct",
            plain.request.clone(),
        );
        let mut memory =
            Memory { case, made: Vec::new(), told: Told::default(), trail: Trail::default(), steps: 0 };
        for command in commands {
            // What the target does not offer, or did not answer, shows nothing.
            if self.carry_out(command, &mut memory).await.is_ok() {
                memory.told.done += 1;
            }
            if !memory.told.findings.is_empty() {
                break;
            }
        }
        let Memory { mut told, trail, .. } = memory;
        for finding in &mut told.findings {
            finding.actual = self.masker.text_with(&finding.actual, &trail.learned);
        }
        told.exchanges = trail.exchanges;
        told
    }

    async fn carry_out(&self, command: &Command, memory: &mut Memory) -> Result<(), Stop> {
        match command {
            Command::Create { periodic, corporate } => {
                let name = match (periodic, corporate) {
                    (false, false) => "ncbct",
                    (false, true) => "ncbct-corporate",
                    (true, false) => "periodic",
                    (true, true) => "periodic-corporate",
                };
                // What is sent again later is the same.
                let whole = if *periodic { 1_000 } else { 100_000 } + memory.steps * 317 % 9_000;
                let amount = format!("{whole}.{:02}", memory.steps % 100);
                let request = Sent::plain(name).set("body/instructedAmount/amount", json!(amount));
                self.create(request, *corporate, memory).await
            }
            Command::Again(which) => {
                let known: Vec<usize> =
                    (0..memory.made.len()).filter(|at| memory.made[*at].request.is_some()).collect();
                if known.is_empty() {
                    return Ok(());
                }
                let at = known[which.index(known.len())];
                let Some(request) = memory.made[at].request.clone() else { return Ok(()) };
                let corporate = memory.made[at].corporate;
                self.create(request.set("query/allowLogicalDuplicate", json!("true")), corporate, memory)
                    .await
            }
            Command::Refused { periodic } => {
                let request = Sent::plain(if *periodic { "periodic" } else { "ncbct" });
                self.send(request.set("body/creditorName", json!("A".repeat(71))), memory).await.map(drop)
            }
            Command::WithoutFunds => self.without_funds(memory).await,
            Command::Basket(which) => self.basket(which, memory).await,
            Command::Status(which) => self.status(which, memory).await,
            Command::StatusOfAnother(which) => self.status_elsewhere(which, memory, false).await,
            Command::StatusByAnother(which) => self.status_elsewhere(which, memory, true).await,
            Command::Delete(which) => self.delete(which, memory).await,
            Command::DeletePending => {
                let (answer, examined) = self.send(Sent::plain("deletion-pending"), memory).await?;
                if examined.outcome == Outcome::Accepted {
                    let says = "a refusal (4xx) of the deletion of a payment with status PDNG";
                    memory.broken("error.pdng", says, &answer.status.to_string());
                    memory.told.expect = Some(json!("refused"));
                }
                Ok(())
            }
            Command::WithoutAddress => {
                let request = Sent::plain("transaction-quota").without("header/PSU-IP-Address");
                for call in 1..=5 {
                    let (answer, examined) = self.send(request.clone(), memory).await?;
                    if call == 5 && examined.outcome == Outcome::Accepted {
                        let says = "a refusal of the fifth call without PSU-IP-Address within minutes";
                        memory.broken("limit.without-psu-ip", says, &answer.status.to_string());
                        memory.told.expect = Some(json!({"refused": {"quota": true}}));
                    }
                }
                Ok(())
            }
        }
    }

    async fn create(&self, request: Sent, corporate: bool, memory: &mut Memory) -> Result<(), Stop> {
        let again = request.baseline.starts_with("ncbct").then(|| request.clone());
        let path = self.baseline(request.baseline)?.path;
        let (_, examined) = self.send(request, memory).await?;
        if !matches!(examined.outcome, Outcome::Accepted | Outcome::Rejected) {
            let words = examined.words.clone();
            let clause = if path.contains("periodic") { "periodic.path" } else { "ncbct.path" };
            memory.broken(clause, "acceptance (2xx) of a payment that keeps every rule", &words);
            memory.told.expect = Some(json!("accepted"));
            return Ok(());
        }
        memory.keep(&examined, path, corporate, again);
        Ok(())
    }

    async fn without_funds(&self, memory: &mut Memory) -> Result<(), Stop> {
        let path = self.baseline("ncbct-without-funds")?.path;
        let (_, examined) = self.send(Sent::plain("ncbct-without-funds"), memory).await?;
        if examined.outcome == Outcome::Rejected {
            memory.keep(&examined, path, false, None);
        }
        Ok(())
    }

    async fn basket(&self, which: &[Index], memory: &mut Memory) -> Result<(), Stop> {
        let own: Vec<usize> = (0..memory.made.len())
            .filter(|at| {
                let made = &memory.made[*at];
                !made.corporate && !made.deleted && !made.in_basket && !made.path.contains("periodic")
            })
            .collect();
        let mut chosen: Vec<usize> =
            which.iter().filter(|_| !own.is_empty()).map(|one| own[one.index(own.len())]).collect();
        chosen.sort_unstable();
        chosen.dedup();
        if chosen.is_empty() {
            return Ok(());
        }
        let ids: Vec<&str> = chosen.iter().map(|at| memory.made[*at].id.as_str()).collect();
        let request = Sent::plain("basket").set("body/paymentIds", json!(ids));
        let has_rejected = chosen.iter().any(|at| memory.made[*at].rejected);
        let (answer, examined) = self.send(request, memory).await?;
        let is_created = (200..300).contains(&answer.status);
        for at in &chosen {
            memory.made[*at].in_basket |= is_created;
        }
        // L68: the worst case over all payments in it, and nothing is worse than rejected.
        if has_rejected && is_created && examined.outcome != Outcome::Rejected {
            let says = "transactionStatus RJCT of a basket with a rejected payment";
            let words = examined.words.clone();
            memory.broken("basket.status.worst", says, &words);
            memory.told.expect = Some(json!({"refused": {"or-rejected": true}}));
        }
        if !has_rejected && !is_created {
            let words = examined.words.clone();
            memory.broken(
                "basket.body",
                "acceptance (2xx) of a basket of payments that were created",
                &words,
            );
            memory.told.expect = Some(json!("accepted"));
        }
        Ok(())
    }

    async fn status(&self, which: &Index, memory: &mut Memory) -> Result<(), Stop> {
        if memory.made.is_empty() {
            return Ok(());
        }
        let at = which.index(memory.made.len());
        let (answer, examined) = self.send(of_payment(&memory.made[at], "payment-status"), memory).await?;
        let is_read = (200..300).contains(&answer.status);
        let made = &mut memory.made[at];
        let status = examined.document.as_ref().and_then(|body| body["transactionStatus"].as_str());
        // A deleted payment is gone, or says so.
        if made.deleted && is_read && !matches!(status, Some("CANC" | "RJCT")) {
            let words = examined.words.clone();
            memory.broken(
                "basket.payment-status",
                "no status, or CANC, of a payment that was deleted",
                &words,
            );
        } else if made.readable && !made.deleted && !is_read {
            let words = examined.words.clone();
            memory.broken(
                "basket.payment-status",
                "the status of a payment whose id was read before",
                &words,
            );
        } else {
            made.readable |= is_read;
        }
        Ok(())
    }

    /// Whose payments a PSU or a TPP may read is not in the document. Where the profile says that they show
    /// to their own alone, another one must not see them; elsewhere what shows is told.
    async fn status_elsewhere(&self, which: &Index, memory: &mut Memory, tpp: bool) -> Result<(), Stop> {
        if memory.made.is_empty() {
            return Ok(());
        }
        let made = &memory.made[which.index(memory.made.len())];
        let mut request = of_payment(made, "payment-status");
        if tpp {
            request.signing =
                Signing { key: Some(Party::Other), certificate: Some(Party::Other), ..Signing::default() };
        } else if made.corporate {
            request.changes.retain(|change| change.set.as_deref() == Some("path"));
        } else {
            request = by_corporate(request);
        }
        let (answer, _) = self.send(request, memory).await?;
        let shows = (200..300).contains(&answer.status);
        if shows && self.choice(SHOWN_TO) == Some("own") {
            let whom = if tpp { "TPP" } else { "PSU" };
            let says = format!("a refusal (4xx): a payment shows to its own {whom}, as the profile says");
            memory.broken(SHOWN_TO, &says, &answer.status.to_string());
            memory.told.expect = Some(json!({"choice": {"own": "refused"}}));
        }
        memory.told.observations.push(match (shows, tpp) {
            (true, false) => "the status of a payment shows for another PSU",
            (false, false) => "the status of a payment does not show for another PSU",
            (true, true) => "the status of a payment shows for another TPP",
            (false, true) => "the status of a payment does not show for another TPP",
        });
        Ok(())
    }

    async fn delete(&self, which: &Index, memory: &mut Memory) -> Result<(), Stop> {
        if memory.made.is_empty() {
            return Ok(());
        }
        let at = which.index(memory.made.len());
        let (answer, _) = self.send(of_payment(&memory.made[at], "deletion"), memory).await?;
        memory.made[at].deleted |= (200..300).contains(&answer.status);
        Ok(())
    }

    /// A baseline, if the target offers it.
    fn baseline(&self, name: &str) -> Result<RequestSpec, Stop> {
        let baseline = self.suite.baselines().get(name);
        let baseline = baseline.ok_or_else(|| Stop::error(format!("there is no baseline `{name}`")))?;
        for need in &baseline.needs {
            if matches!(self.profile.capability(need), Offered::No | Offered::NotSaid) {
                return Err(Stop::declared_absent(format!("the target does not offer {need}")));
            }
        }
        Ok(baseline.request.clone())
    }

    async fn send(&self, sent: Sent, memory: &mut Memory) -> Result<(Answer, Examined), Stop> {
        let mut request = self.baseline(sent.baseline)?;
        for change in &sent.changes {
            // A value that is there already is no change, and as it should be.
            drop(request.apply(change));
        }
        request.signing = sent.signing.clone();
        memory.steps += 1;
        let step = format!("step-{}", memory.steps);
        // The request is of this sequence alone, even where sessions of several targets share theirs.
        let own = [("sequence.step".to_owned(), Value::from(memory.steps))].into();
        let asked = self.exchange(&memory.case, &step, &request, &own, &mut memory.trail).await;
        memory.told.sent.push(sent);
        memory.told.expect = None;
        let (answer, examined) = asked?;
        if let Some(last) = memory.told.sent.last_mut() {
            last.accepted = examined.outcome == Outcome::Accepted;
        }
        if examined.outcome == Outcome::ServerError {
            memory.broken("http.no-server-error", "an answer below 500", &examined.words);
            memory.told.expect = Some(json!("answered"));
        }
        for finding in &examined.findings {
            memory.told.findings.push(finding.clone());
            memory.told.expect = Some(json!("answered"));
        }
        Ok((answer, examined))
    }
}

impl Memory {
    fn broken(&mut self, clause: &str, expected: &str, actual: &str) {
        self.told.findings.push(Finding {
            clause: clause.to_owned(),
            expected: expected.to_owned(),
            actual: actual.to_owned(),
            at: "status".to_owned(),
        });
    }

    /// Keeps a payment; its id is that of no other one.
    fn keep(&mut self, examined: &Examined, path: String, corporate: bool, request: Option<Sent>) {
        let id = examined.document.as_ref().and_then(|body| body["paymentId"].as_str()).unwrap_or_default();
        if self.made.iter().any(|made| made.id == id) {
            self.broken("payment.response.payment-id", "an id that no other payment has", id);
        }
        if let Some(sent) = self.told.sent.last_mut().filter(|_| !id.is_empty()) {
            sent.made = Some(id.to_owned());
        }
        self.made.push(Made {
            id: id.to_owned(),
            path,
            corporate,
            rejected: examined.outcome == Outcome::Rejected,
            deleted: false,
            in_basket: false,
            readable: false,
            request,
        });
    }
}

/// A request for a payment by its own PSU.
fn of_payment(made: &Made, baseline: &'static str) -> Sent {
    let below = if baseline == "payment-status" { "/status" } else { "" };
    let request = Sent::plain(baseline).set("path", json!(format!("{}/{}{below}", made.path, made.id)));
    if made.corporate { by_corporate(request) } else { request }
}

fn by_corporate(request: Sent) -> Sent {
    request
        .set("header/PSU-ID", json!("${target.psu.corporate.id}"))
        .set("header/PSU-Corporate-ID", json!("${target.psu.corporate.corporate-id}"))
}
