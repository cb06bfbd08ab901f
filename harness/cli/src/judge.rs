//! `xs2aspec judge`: judges recorded traffic from files. It sends nothing.

use std::{path::Path, sync::Arc};

use xs2aspec_judge::{Judge, Profile, client::Plan, traffic::TrafficJudge};
use xs2aspec_record::{End, Exit, Level, Traffic};
use xs2aspec_report::text;
use xs2aspec_runner::{
    Options,
    traffic_run::{Broken, Totals, TrafficRun},
};
use xs2aspec_traffic::{
    Restorer,
    input::{self, Piece, Unread},
};

use crate::{Failure, args::Judge as Args, recording::Recording, repetition, target};

/// The target of traffic without a profile.
const ANYBODY: &str = "http://127.0.0.1";

/// Judges the exchanges in the files.
pub(crate) fn judge(args: &Args) -> Result<Exit, Failure> {
    let suite = Arc::new(crate::suite_of_traffic(&args.source)?);
    let spec = &suite.spec().profile;
    let mut profile = match args.target.as_deref() {
        Some(target) => target::profile(target, spec)?,
        None => {
            Profile { name: "traffic".to_owned(), ..Profile::of_url(ANYBODY, spec).map_err(Failure::input)? }
        }
    };
    profile.levels.extend(args.levels.0.iter().cloned());
    let now = args.now.unwrap_or_else(chrono::Utc::now);
    let judging = Judge::of_traffic(Arc::clone(&suite), profile).map_err(Failure::input)?;
    let judging = judging.with_mask_key(args.mask_key.key()?);
    let reads: Vec<&Path> = args.files.iter().chain(&args.mask_key.file).map(AsRef::as_ref).collect();
    let mut recording = Recording::create(&args.out, &reads)?;
    let mut judge = TrafficJudge::new(&judging, args.target.is_some());
    let only = args.end.map(End::from);
    let options = Options { on_purpose: is_of_a_run(args), ..options(args) };
    let mut run = TrafficRun::begin((&judging, now), only, &options, |event| recording.write(event));
    let mut odd = Odd::default();
    for path in &args.files {
        let name = path.display().to_string();
        let (mut restorer, mut last) = (None, now);
        let mut take = |piece: Piece| {
            match piece {
                // Only a profile knows the values to put back.
                Piece::Masked(masked) if args.target.is_some() => {
                    restorer = Some(Restorer::new(&judging, &masked));
                }
                Piece::Masked(_) => {}
                Piece::Traffic(mut traffic) => {
                    if let Some(restorer) = &restorer {
                        restorer.restore(&mut traffic);
                    }
                    last = traffic.began;
                    let judged = judge.exchange(&traffic, None);
                    run.add(&name, &traffic, &judged, |event| recording.write(event));
                }
                Piece::Unread(unread) => {
                    let traffic = unread.traffic(last);
                    let judged = judge.unread(&traffic, unread.why.clone());
                    if judged.is_unread() {
                        odd.add(&name, &unread);
                    }
                    run.add(&name, &traffic, &judged, |event| recording.write(event));
                }
                Piece::Twice(_) => odd.twice += 1,
            }
            true
        };
        input::read(path, now, &mut take).map_err(Failure::input)?;
    }
    let (exit, totals) = run.finish(|event| recording.write(event));
    recording.finish()?;
    say_totals(&totals, &suite);
    odd.say();
    if options.on_purpose {
        say!("{}", text::ON_PURPOSE);
    }
    if exit == Exit::CouldNotTell {
        say!("{}", exit.sentence());
    }
    say!("reports in {}", args.out.display());
    let is_of_a_client = !options.on_purpose && only != Some(End::Bank);
    let has_plan = || Plan::load(suite.tree()).is_ok_and(|plan| plan.is_some());
    if is_of_a_client && totals.exchanges > totals.of_no_operation && has_plan() {
        say!("next: xs2aspec client report {}", args.out.display());
    }
    Ok(exit)
}

/// Entries that are not judged.
#[derive(Default)]
struct Odd {
    unread: usize,
    /// The first unreadable entries.
    first: Vec<String>,
    /// The number of entries that list a request a second time.
    twice: usize,
}

impl Odd {
    /// The maximum number of entries to name.
    const MOST: usize = 5;

    fn add(&mut self, file: &str, unread: &Unread) {
        self.unread += 1;
        if self.first.len() < Self::MOST {
            self.first.push(format!("{file}, entry {}: {}", unread.number, text::short(&unread.why)));
        }
    }

    fn say(&self) {
        if self.unread > 0 {
            say!("{} unreadable and not judged:", text::count(self.unread, "exchange"));
            self.first.iter().for_each(|one| say!("  --> {one}"));
        }
        if self.unread > self.first.len() {
            say!("  and {} more", self.unread - self.first.len());
        }
        if self.twice > 0 {
            let requests = text::count(self.twice, "request");
            say!("{requests} listed twice, by a page and by its service worker, and judged once");
        }
    }
}

/// Returns true if one of the files is of a run. Ignores unreadable files, which are reported later.
fn is_of_a_run(args: &Args) -> bool {
    let mut is_of_a_run = false;
    for path in &args.files {
        _ = input::read(path, chrono::Utc::now(), &mut |piece| {
            is_of_a_run |= matches!(piece, Piece::Masked(masked) if masked.is_of_a_run);
            false
        });
    }
    is_of_a_run
}

fn options(args: &Args) -> Options {
    let mut arguments: Vec<String> = args.files.iter().map(|file| file.display().to_string()).collect();
    arguments.extend(args.target.iter().flat_map(|target| ["--target".to_owned(), target.clone()]));
    arguments.extend(args.source.arguments());
    arguments.extend(args.levels.arguments());
    arguments.extend(args.end.iter().flat_map(|end| ["--end".to_owned(), End::from(*end).word().to_owned()]));
    arguments.extend(repetition::out(&args.out));
    Options { arguments, traffic: Some(Traffic::Judge), ..Options::default() }
}

/// Prints the violations of both sides, each clause with its first exchange.
pub(crate) fn say_totals(totals: &Totals, suite: &xs2aspec_suite::Suite) {
    for end in [End::Client, End::Bank] {
        let mut broken: Vec<_> = totals.broken.iter().filter(|((one, _), _)| *one == end).collect();
        broken.sort_by_key(|(_, broken)| (std::cmp::Reverse(broken.level), broken.first));
        for ((_, clause), broken) in broken {
            say_broken(end, clause, broken, suite);
        }
    }
    let count = |end: End| {
        let levels = totals.broken.iter().filter(|((one, _), _)| *one == end).map(|(_, one)| one.level);
        let denied = levels.clone().filter(|level| *level == Level::Deny).count();
        let warned = levels.count() - denied;
        let warned =
            if warned == 0 { String::new() } else { format!(" and {}", text::count(warned, "warning")) };
        format!("the {} has {}{warned}", end.word(), text::count(denied, "violation"))
    };
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    say!(
        "{}: {}, {}; {} for no operation of the document, {} only partly judged",
        text::count(number(totals.exchanges), "exchange"),
        count(End::Client),
        count(End::Bank),
        totals.of_no_operation,
        totals.not_told
    );
}

fn say_broken(end: End, clause: &str, broken: &Broken, suite: &xs2aspec_suite::Suite) {
    let verb = if broken.level == Level::Deny { "violated" } else { "may have violated" };
    say!(
        "the {} {verb} {clause}  ({})",
        end.word(),
        text::count(usize::try_from(broken.exchanges).unwrap_or(usize::MAX), "exchange")
    );
    say!("  --> {}, exchange {}", broken.source, broken.first);
    if let Some(clause) = suite.clauses().get(clause) {
        say!("   | {}", text::short(&clause.says));
    }
    say!("   | {}", text::short(&broken.mismatch));
    say!("   = next  xs2aspec explain {clause}\n");
}
