//! `xs2aspec explore`: requests that nobody wrote, until one shows a violation.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::task::JoinSet;
use xs2aspec_record::{Exit, Finding, Verdict as Word, outputs};
use xs2aspec_report::text;
use xs2aspec_runner::{Done, Session};
use xs2aspec_suite::{
    Case, Suite,
    explore::{
        Draft, Explorer, Verdict, keep,
        sequence::{self, Command},
    },
};

use crate::{
    Failure,
    args::Explore,
    report::cannot_write,
    target::{self, Asked},
};

/// The area of the case files that are kept.
const AREA: &str = "explored";

/// Requests that a finding may take to be made smaller, at most.
const SHRINKING: u64 = 300;

/// Of a budget, one in so many is kept for that.
const KEPT_FOR_SHRINKING: u64 = 10;

/// With fewer requests left for each that is drawn, they are sent one after the other: side by side, it would be by chance which of
/// them has the payments that it needs before it, and which is held back.
const MOST_FOR_ONE: u64 = 8;

/// Requests in a row that reach nothing new, after which it is enough.
const STALE: usize = 1_000;

/// Draws requests and sends them.
pub(crate) async fn explore(args: &Explore) -> Result<Exit, Failure> {
    args.save.as_deref().map_or(Ok(()), can_keep)?;
    let suite = Arc::new(crate::suite(None)?);
    let asked = Asked {
        spec: &suite.spec().profile,
        target: args.target.as_deref(),
        allow_production: false,
        now: args.now,
        fault: args.fault.as_deref(),
        variation: &args.variation,
    };
    let target = target::open(&asked).await?;
    let seed = args.seed.unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0);
    let now = args.now.unwrap_or_else(chrono::Utc::now);
    let mut session = Session::new(Arc::clone(&suite), target.profile, seed, now).map_err(Failure::input)?;
    if args.now.is_none() {
        session = session.with_running_clock();
    }
    let mut explorer = Explorer::new(&suite, seed, &args.only).map_err(Failure::input)?;
    let begun = Instant::now();
    let until = args.time.map(|time| begun + time);
    say!("seed {seed}, {} classes of requests", explorer.coverage().1);
    let mut hunt = Hunt::new(Arc::clone(&suite), session, Budget::of(args.budget));
    let mut counts = BTreeMap::<&str, usize>::new();
    let mut reasons = BTreeMap::<String, usize>::new();
    let (mut stale, mut said) = (0, Instant::now());
    let why = loop {
        if args.fail_fast && !hunt.found.is_empty() {
            break "a violation was found".to_owned();
        }
        let left = hunt.session.exchanges_left();
        if left == 0 {
            break hunt.budget.is_used_up();
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            break "the time is over".to_owned();
        }
        if stale >= STALE && explorer.rounds() > 1 {
            break format!("the last {STALE} requests reached nothing new");
        }
        let mut batch = Vec::new();
        let jobs = usize::from(args.jobs);
        let side_by_side = if left < jobs as u64 * MOST_FOR_ONE { 1 } else { jobs };
        while batch.len() < side_by_side {
            let (draft, is_new) = explorer.draw(&suite);
            stale = if is_new { 0 } else { stale + 1 };
            batch.push(draft);
        }
        for (word, why, finding) in hunt.send(&explorer, batch).await {
            *counts.entry(word).or_default() += 1;
            if let Some(why) = why {
                *reasons.entry(why).or_default() += 1;
            }
            if let Some(found) = finding {
                hunt.tell(&explorer, found, args).await?;
            }
        }
        // What a bank remembers shows in several requests only.
        if args.only.is_empty() {
            hunt.remember(explorer.draw_sequence(), args).await?;
        }
        if said.elapsed() > Duration::from_secs(2) {
            said = Instant::now();
            eprintln!("{}", progress(&explorer, &hunt));
        }
    };
    say!("{}", progress(&explorer, &hunt));
    let unreached = explorer.unreached();
    if !unreached.is_empty() && explorer.rounds() > 1 {
        say!("not reached: {}", unreached.join(", "));
    }
    for (seen, times) in &hunt.observed {
        say!("observed {}: {seen}", text::count(*times, "time"));
    }
    for (why, times) in &reasons {
        say!("{}: {}", text::count(*times, "time"), text::short(why));
    }
    let words: Vec<String> = counts.iter().map(|(word, count)| format!("{word} {count}")).collect();
    let words = if words.is_empty() { "nothing was sent".to_owned() } else { words.join(", ") };
    say!("{words}; {why}, after {:.1} s, seed {seed}", begun.elapsed().as_secs_f64());
    if let Some(bank) = target.bank {
        bank.shutdown().await.map_err(Failure::input)?;
    }
    hunt.is_kept()?;
    if hunt.sent == 0 {
        return Ok(Exit::NothingRan);
    }
    Ok(if hunt.found.is_empty() {
        if counts.get("error").is_some_and(|errors| *errors * 2 > hunt.sent) {
            Exit::CouldNotTell
        } else {
            Exit::Conforms
        }
    } else {
        Exit::Violation
    })
}

fn progress(explorer: &Explorer, hunt: &Hunt) -> String {
    let (reached, all, pairs) = explorer.coverage();
    format!(
        "{}, {reached} of {all} classes and {pairs} pairs reached, {}",
        requests(hunt.session.exchanges()),
        text::count(hunt.found.len(), "violation")
    )
}

fn requests(number: u64) -> String {
    text::count(usize::try_from(number).unwrap_or(usize::MAX), "request")
}

/// How many requests there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Budget {
    all: u64,
    /// Those that may be drawn; the others are for what is found by them.
    drawing: u64,
}

impl Budget {
    fn of(all: u64) -> Self {
        Self { all, drawing: all - SHRINKING.min(all / KEPT_FOR_SHRINKING) }
    }

    /// How far one finding, which was found after so many requests, may go to be made smaller.
    fn shrinking(self, sent: u64) -> u64 {
        sent.saturating_add(SHRINKING).min(self.all)
    }

    fn is_used_up(self) -> String {
        let kept = match self.all - self.drawing {
            0 => String::new(),
            kept => format!(" but for {kept}, which are kept for making findings smaller"),
        };
        format!("the budget of {} is used up{kept}", requests(self.all))
    }
}

/// A request that came to another end than it must.
struct Found {
    draft: Draft,
    case: Case,
    verdict: Verdict,
    findings: Vec<Finding>,
}

struct Hunt {
    suite: Arc<Suite>,
    session: Arc<Session>,
    budget: Budget,
    /// What was found, by what tells one violation from another.
    found: BTreeMap<String, usize>,
    drawn: usize,
    /// Those of them that were not held back by the budget.
    sent: usize,
    sequences: usize,
    /// What was seen where the document says nothing, and how often.
    observed: BTreeMap<&'static str, usize>,
    /// Case files that could not be written, each with the reason.
    unkept: Vec<String>,
}

impl Hunt {
    /// Whether every case file could be written that was to be.
    fn is_kept(&self) -> Result<(), Failure> {
        if self.unkept.is_empty() { Ok(()) } else { Err(Failure::input(self.unkept.join("\n"))) }
    }

    fn new(suite: Arc<Suite>, session: Session, budget: Budget) -> Self {
        session.limit_exchanges(budget.drawing);
        Self {
            suite,
            session: Arc::new(session),
            budget,
            found: BTreeMap::new(),
            drawn: 0,
            sent: 0,
            sequences: 0,
            observed: BTreeMap::new(),
            unkept: Vec::new(),
        }
    }

    /// Sends some requests side by side. What each came to, in their order.
    async fn send(
        &mut self,
        explorer: &Explorer,
        drafts: Vec<Draft>,
    ) -> Vec<(&'static str, Option<String>, Option<Found>)> {
        let mut flying = JoinSet::new();
        for draft in drafts {
            let Some((mut case, verdict)) = draft.case(&self.suite, explorer.model()) else { continue };
            self.drawn += 1;
            case.id = format!("explore/{}", self.drawn);
            let (session, number) = (Arc::clone(&self.session), self.drawn);
            flying.spawn(async move {
                let done = session.run(&case).await;
                (number, draft, case, verdict, done)
            });
        }
        let mut landed = flying.join_all().await;
        landed.retain(|(.., done)| !done.is_held_back);
        landed.sort_by_key(|(number, ..)| *number);
        self.sent += landed.len();
        let ended = landed.into_iter().map(|(_, draft, case, verdict, done)| {
            let word = done.verdict.verdict;
            let (reason, findings) = (done.verdict.reason, done.verdict.findings);
            let found = (word == Word::Fail).then_some(Found { draft, case, verdict, findings });
            (word.word(), reason, found)
        });
        ended.collect()
    }

    /// Carries out a sequence; one that breaks something is made shorter, and said.
    async fn remember(&mut self, mut commands: Vec<Command>, args: &Explore) -> Result<(), Failure> {
        self.sequences += 1;
        let mut told = self.session.sequence(self.sequences, &commands).await;
        for seen in told.observations.drain(..) {
            *self.observed.entry(seen).or_default() += 1;
        }
        let Some(mut finding) = told.findings.first().cloned() else { return Ok(()) };
        commands.truncate(told.done + 1);
        self.session.limit_exchanges(self.budget.shrinking(self.session.exchanges()));
        let mut is_shorter = true;
        while is_shorter && self.session.exchanges_left() > 0 {
            is_shorter = false;
            for shorter in sequence::shorter(&commands) {
                self.sequences += 1;
                let again = self.session.sequence(self.sequences, &shorter).await;
                let same = again.findings.iter().find(|one| one.clause == finding.clause).cloned();
                if let Some(same) = same {
                    (commands, finding, told, is_shorter) = (shorter, same, again, true);
                    break;
                }
            }
        }
        self.session.limit_exchanges(self.budget.drawing);
        let times = self.found.entry(format!("sequence {}", finding.clause)).or_default();
        *times += 1;
        if *times > 1 {
            return Ok(());
        }
        say!("\nBROKEN  {}", finding.clause);
        for (at, command) in commands.iter().enumerate() {
            say!("   | {}. {}", at + 1, command.says());
        }
        say!("   | expected {}, got {}", text::short(&finding.expected), text::short(&finding.actual));
        let Some(folder) = &args.save else { return Ok(()) };
        let kept = write_kept(folder, self.found.len(), |name| {
            keep::sequence(&self.suite, &told.sent, &finding.clause, told.expect.as_ref()?, name)
        });
        self.unkept.extend(kept.err());
        Ok(())
    }

    /// Makes a finding smaller, says it, and keeps it, unless it was there before.
    async fn tell(&mut self, explorer: &Explorer, found: Found, args: &Explore) -> Result<(), Failure> {
        self.session.limit_exchanges(self.budget.shrinking(self.session.exchanges()));
        let found = shrunk(&self.suite, &self.session, explorer, found).await;
        self.session.limit_exchanges(self.budget.drawing);
        let key = key(&found);
        let times = self.found.entry(key).or_default();
        *times += 1;
        if *times > 1 {
            return Ok(());
        }
        let number = self.found.len();
        let clause =
            found.findings.first().map_or(found.case.clause.as_str(), |finding| finding.clause.as_str());
        say!("\nBROKEN  {clause}");
        say!("   | {}", found.draft.operation);
        for change in &found.case.changes {
            say!("   | {}", text::short(change));
        }
        if found.case.changes.is_empty() {
            say!("   | the plain request");
        }
        for finding in &found.findings {
            say!("   | expected {}, got {}", text::short(&finding.expected), text::short(&finding.actual));
        }
        if let Some(folder) = &args.save {
            let kept = write_kept(folder, number, |name| {
                keep::file(&self.suite, &found.draft, &found.case, &found.verdict, name)
            });
            self.unkept.extend(kept.err());
        }
        Ok(())
    }
}

/// Whether case files can be kept in this folder: told before anybody is asked.
fn can_keep(folder: &Path) -> Result<(), Failure> {
    outputs::is_writable(&folder.join(AREA)).map_err(|error| cannot_write(folder, &error))
}

/// Writes a case file to the folder that `--save` names. One that is there stays: what is found gets the next free number. Why it could not
/// be written; the hunt goes on.
fn write_kept(folder: &Path, number: usize, text: impl Fn(&str) -> Option<String>) -> Result<(), String> {
    let area = folder.join(AREA);
    for number in number.. {
        let name = format!("found-{number}");
        let Some(text) = text(&name) else {
            say!("   = not kept: it takes more than a case file can say");
            return Ok(());
        };
        let path = area.join(format!("{name}.yaml"));
        let is_there = path.is_file();
        if is_there && !fs::read(&path).is_ok_and(|kept| kept == text.as_bytes()) {
            continue;
        }
        let written = || fs::create_dir_all(&area).and_then(|()| outputs::write(&path, text.as_bytes()));
        if let Err(error) = if is_there { Ok(()) } else { written() } {
            say!("   = not kept: {}: {error}", path.display());
            return Err(format!("{}: cannot be written: {error}", path.display()));
        }
        say!("   = kept    {}; run --cases {}", path.display(), folder.display());
        break;
    }
    Ok(())
}

/// What tells one violation from another: the clauses that are broken, and the classes of the moves that it takes.
fn key(found: &Found) -> String {
    let clauses: BTreeSet<&str> = found.findings.iter().map(|finding| finding.clause.as_str()).collect();
    let moves: BTreeSet<&str> =
        found.draft.moves.iter().map(|one| one.class.split(" = ").next().unwrap_or_default()).collect();
    format!("{} {clauses:?} {moves:?}", found.draft.operation)
}

/// The smallest request that still breaks what was broken, as far as the session's limit goes.
async fn smallest(
    suite: &Suite,
    session: &Session,
    explorer: &Explorer,
    draft: Draft,
) -> Option<(Draft, Case, Verdict, Done)> {
    let (mut case, verdict) = draft.case(suite, explorer.model())?;
    case.id = format!("explore/shrink/{}", session.exchanges());
    let done = session.run(&case).await;
    // What is made smaller still breaks the same: a rule by its clause, and that a valid request is accepted, whichever its last move
    // is about.
    let wrong = |finding: &Finding| {
        let is_accepted = finding.expected.starts_with("acceptance");
        if is_accepted { finding.expected.clone() } else { finding.clause.clone() }
    };
    let before: BTreeSet<String> = done.verdict.findings.iter().map(wrong).collect();
    let mut best = (draft, case, verdict, done);
    let mut is_smaller = true;
    while is_smaller && session.exchanges_left() > 0 {
        is_smaller = false;
        for draft in best.0.smaller() {
            let Some((mut case, verdict)) = draft.case(suite, explorer.model()) else { continue };
            // What the document leaves open shows nothing, but for a server that fails.
            case.id = format!("explore/shrink/{}", session.exchanges());
            let done = session.run(&case).await;
            let is_same = done.verdict.findings.iter().any(|finding| before.contains(&wrong(finding)));
            if done.verdict.verdict == Word::Fail && is_same {
                best = (draft, case, verdict, done);
                is_smaller = true;
                break;
            }
            if session.exchanges_left() == 0 {
                break;
            }
        }
    }
    Some(best)
}

async fn shrunk(suite: &Suite, session: &Session, explorer: &Explorer, found: Found) -> Found {
    match smallest(suite, session, explorer, found.draft.clone()).await {
        Some((draft, case, verdict, done)) if done.verdict.verdict == Word::Fail => {
            Found { draft, case, verdict, findings: done.verdict.findings }
        }
        // It does not show again: it is told as it was.
        _ => found,
    }
}
