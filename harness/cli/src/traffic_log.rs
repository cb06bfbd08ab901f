//! Judges and records traffic between clients and a bank as it arrives, on a thread of its own. If the
//! command is killed, the record is readable up to that point.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread,
};

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::mpsc::Receiver;
use xs2aspec_judge::{
    Judge, Profile,
    mask::MaskKey,
    traffic::{Payload, Received, Rejection, Sent, Traffic, TrafficJudge},
};
use xs2aspec_proxy::{Exchange, Kept, Sighting};
use xs2aspec_record::{CaseVerdict, End, Event, Exchange as Recorded, Exit, Finding, Untold};
use xs2aspec_reference::{Clock, Rejected, Variation, request_key};
use xs2aspec_report::text;
use xs2aspec_runner::{Options, traffic_run::TrafficRun};
use xs2aspec_suite::Suite;
use xs2aspec_traffic::decoded;

use crate::{Failure, judge, recording::Recording};

/// The traffic to judge, and the settings for judging it.
pub(crate) struct Setup {
    pub(crate) suite: Arc<Suite>,
    /// The profile of the bank.
    pub(crate) profile: Profile,
    /// True if the profile was written for this bank.
    pub(crate) is_of_the_bank: bool,
    /// The side whose violations are reported. `None` for both.
    pub(crate) only: Option<End>,
    /// The command that receives the traffic.
    pub(crate) source: &'static str,
    /// The time at which the command starts to listen.
    pub(crate) now: DateTime<Utc>,
    /// The clock of the bank, if clients can move it.
    pub(crate) clock: Option<Clock>,
    /// The key of the pseudonyms.
    pub(crate) mask_key: MaskKey,
    pub(crate) options: Options,
    /// True if findings are printed as they appear.
    pub(crate) is_shown: bool,
    /// The rejections of the reference bank. `None` for any other bank.
    pub(crate) rejections: Option<Rejections>,
}

/// The rejections that the reference bank reports.
pub(crate) struct Rejections {
    told: mpsc::Receiver<Rejected>,
    /// Rejections whose exchange is not judged yet, by the key of the request.
    waiting: HashMap<u64, VecDeque<Rejected>>,
    /// The clauses of the bank's variations.
    freedoms: Vec<&'static str>,
}

impl Rejections {
    pub(crate) fn new(told: mpsc::Receiver<Rejected>, variations: &[Variation]) -> Self {
        let freedoms = variations.iter().map(|variation| variation.clause()).collect();
        Self { told, waiting: HashMap::new(), freedoms }
    }

    /// Returns the rejection of a request, if the bank rejected it by a rule.
    fn of(&mut self, exchange: &Exchange) -> Option<Rejection> {
        for rejected in self.told.try_iter() {
            self.waiting.entry(rejected.request).or_default().push_back(rejected);
        }
        let Exchange { request, answer, .. } = exchange;
        let headers = request.headers.iter().map(|(name, value)| (name.as_str(), value.clone()));
        let key = request_key(&request.method, &request.target, headers);
        // The bank sends 429 before it applies its rules.
        answer.as_ref().filter(|answer| answer.status < 500 && answer.status != 429)?;
        let waiting = self.waiting.get_mut(&key)?;
        let rejected = waiting.pop_front();
        if waiting.is_empty() {
            self.waiting.remove(&key);
        }
        rejected.map(|Rejected { status, rule, path, .. }| Rejection { status, rule, at: path })
    }
}

/// A record that grows with the traffic.
pub(crate) struct TrafficLog(thread::JoinHandle<Result<Exit, Failure>>);

impl TrafficLog {
    /// Starts the record in a folder, if the command may write there.
    pub(crate) fn start(
        folder: &Path,
        reads: &[&Path],
        setup: Setup,
        sightings: Receiver<Vec<Sighting>>,
    ) -> Result<Self, Failure> {
        let own = |path: &Path| path.to_owned();
        let (folder, reads): (PathBuf, Vec<PathBuf>) =
            (own(folder), reads.iter().copied().map(own).collect());
        let (sender, begun) = std::sync::mpsc::channel();
        let mut setup = setup;
        let thread = thread::Builder::new().name("judge".to_owned()).spawn(move || {
            let reads: Vec<&Path> = reads.iter().map(PathBuf::as_path).collect();
            let record = Recording::create(&folder, &reads)?;
            // The caller waits for this.
            _ = sender.send(());
            log(&folder, &mut setup, record, sightings)
        });
        let thread = thread.map_err(Failure::input)?;
        match begun.recv() {
            Ok(()) => Ok(Self(thread)),
            // The thread ended early, with an error.
            Err(_) => Err(joined(thread).err().unwrap_or_else(|| Failure::input("cannot start the record"))),
        }
    }

    /// Waits until all traffic is judged and the reports are written.
    pub(crate) async fn finish(self) -> Result<Exit, Failure> {
        tokio::task::spawn_blocking(move || joined(self.0)).await.map_err(Failure::input)?
    }
}

fn joined(thread: thread::JoinHandle<Result<Exit, Failure>>) -> Result<Exit, Failure> {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Judges and records until the traffic ends.
fn log(
    folder: &Path,
    setup: &mut Setup,
    record: Recording<'_>,
    mut sightings: Receiver<Vec<Sighting>>,
) -> Result<Exit, Failure> {
    let judging = Judge::of_traffic(Arc::clone(&setup.suite), setup.profile.clone());
    let judging = judging.map_err(Failure::input)?.with_mask_key(setup.mask_key.clone());
    let mut judge = TrafficJudge::new(&judging, setup.is_of_the_bank);
    let mut writer = Writer { record, is_shown: setup.is_shown, last: None, known: HashSet::new() };
    let mut run =
        TrafficRun::begin((&judging, setup.now), setup.only, &setup.options, |event| writer.write(event));
    let (mut number, mut unread, mut unreachable) = (0, 0, 0);
    while let Some(seen) = sightings.blocking_recv() {
        for sighting in seen {
            match sighting {
                Sighting::Exchange(exchange) => {
                    number += 1;
                    let rejection = setup.rejections.as_mut().and_then(|told| told.of(&exchange));
                    let traffic = traffic(number, *exchange, setup);
                    let freedoms = setup.rejections.as_ref().map_or(&[][..], |told| &told.freedoms[..]);
                    let judged = judge.exchange(&traffic, rejection.as_ref().map(|one| (one, freedoms)));
                    run.add(setup.source, &traffic, &judged, |event| writer.write(event));
                }
                Sighting::Unread { connection, why } => {
                    unread += 1;
                    let why = text::short(&why);
                    note!("connection {connection}: {why}; the rest is forwarded without being judged");
                }
                Sighting::Unreachable { connection, why } => {
                    unreachable += 1;
                    note!("connection {connection}: cannot reach the bank: {}", text::short(&why));
                }
            }
        }
    }
    let (exit, totals) = run.finish(|event| writer.write(event));
    writer.record.finish()?;
    judge::say_totals(&totals, &setup.suite);
    for (count, what) in
        [(unread, "only partly judged"), (unreachable, "closed, since the bank was unreachable")]
    {
        if count > 0 {
            say!("{} {what}", text::count(count, "connection"));
        }
    }
    say!("{}", exit.sentence());
    say!("reports in {}", folder.display());
    Ok(exit)
}

/// Converts an exchange for the judge.
fn traffic(number: u64, exchange: Exchange, setup: &Setup) -> Traffic {
    let Exchange { at, took, request, answer, failure, .. } = exchange;
    let micros = |time: std::time::Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let body = payload(&request.body, request.is_whole);
    let url = url(&setup.profile.base_url, &request.target);
    let request = Sent { method: request.method, url, headers: request.headers, body, changed: None };
    let answer = answer.map(|answer| {
        let body = payload(&answer.body, answer.is_whole);
        decoded(Received { status: answer.status, headers: answer.headers, body })
    });
    let began = setup.now + TimeDelta::from_std(at).unwrap_or_default();
    let began = began + setup.clock.as_ref().map(Clock::moved).unwrap_or_default();
    Traffic { number, label: None, began, micros: micros(took), request, answer, failure }
}

fn payload(body: &Kept, is_whole: bool) -> Payload {
    match (body.is_cut(), is_whole) {
        (true, _) => Payload::Unknown(Untold::NotKept),
        (false, false) => Payload::Unknown(Untold::NotWhole),
        (false, true) => Payload::Bytes(body.bytes().to_vec()),
    }
}

/// Returns the whole URL of a request. Its target is relative to the bank's address, unless it names a host
/// itself (RFC 9112 section 3.2).
fn url(base_url: &str, target: &str) -> String {
    if !target.starts_with('/') {
        return target.to_owned();
    }
    let scheme = base_url.find("://").map_or(0, |at| at + 3);
    let end = base_url[scheme..].find('/').map_or(base_url.len(), |at| scheme + at);
    format!("{}{target}", &base_url[..end])
}

/// Writes the record, and prints new findings.
struct Writer<'a> {
    record: Recording<'a>,
    is_shown: bool,
    /// The exchange whose verdict comes next.
    last: Option<Recorded>,
    /// The findings that were already printed, by side, clause and place.
    known: HashSet<(End, String, String)>,
}

impl Writer<'_> {
    /// Writes an event.
    fn write(&mut self, event: &Event) {
        self.record.write(event);
        match event {
            Event::Exchange(exchange) if self.is_shown => self.last = Some(exchange.clone()),
            Event::Verdict(verdict) if self.is_shown => self.show(verdict),
            _ => {}
        }
    }

    /// Prints the new findings, once for each clause and place.
    fn show(&mut self, verdict: &CaseVerdict) {
        let is_new =
            |finding: &&Finding| self.known.insert((finding.end, finding.clause.clone(), finding.at.clone()));
        let new: Vec<&Finding> = verdict.findings.iter().filter(is_new).collect();
        let Some(exchange) = self.last.take().filter(|_| !new.is_empty()) else { return };
        let status = exchange.response.map_or("no response".to_owned(), |answer| answer.status.to_string());
        say!(
            "{}: {} {}     {status} in {}",
            exchange.number,
            text::short(&exchange.request.method),
            text::short(&exchange.request.url),
            text::duration(exchange.micros),
        );
        for finding in new {
            let Finding { end, level, clause, .. } = finding;
            say!(
                "  {}  the {} violates {clause}: {}",
                level.word(),
                end.word(),
                text::short(&finding.mismatch())
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_stands_below_the_address_of_the_bank() {
        for (base_url, target, expected) in [
            ("http://127.0.0.1:1", "/v1/a?b", "http://127.0.0.1:1/v1/a?b"),
            ("https://bank.example/xs2a", "/xs2a/v1", "https://bank.example/xs2a/v1"),
            ("https://bank.example", "http://other.example/v1", "http://other.example/v1"),
            ("https://bank.example", "*", "*"),
        ] {
            assert_eq!(url(base_url, target), expected);
        }
    }
}
