//! `xs2aspec prove --explore`: how many drawn requests it takes to find each fault, without a single written case; and that none of
//! them accuses the clean bank or a variation.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    sync::Arc,
    time::Instant,
};

use tokio::task::JoinSet;
use xs2aspec_record::{Exit, Finding, Verdict};
use xs2aspec_report::kill_matrix::Kind;
use xs2aspec_runner::{Profile, Session, session::Requests};
use xs2aspec_suite::{
    Case, Suite,
    explore::{Explorer, sequence::Command},
};

use crate::{
    Failure,
    args::Prove,
    report::{cannot_write, write},
    special::{NOWHERE, Special},
};

/// Requests that are drawn and signed at once, and then sent to every bank.
const PART: usize = 5_000;

/// Clauses that no single request shows: they take a quota, an account without funds, a payment that is under way,
/// or that of somebody else.
const OF_STATE: [&str; 8] = [
    "basket.payment-status",
    "basket.payment-status.shown-to",
    "basket.status.worst",
    "error.funds",
    "error.pdng",
    "error.funds.no-server-error",
    "header.psu-ip-address.transaction",
    "limit.without-psu-ip",
];

/// Single requests between two sequences.
const BETWEEN: usize = 20;

/// One bank, and what the drawn requests showed of it.
#[derive(Debug, Clone)]
struct Hunted {
    bank: Special,
    /// Requests that were sent.
    sent: u64,
    /// The request that showed a violation first.
    found: Option<String>,
}

/// Sends the same drawn requests to each bank until one shows a violation.
pub(crate) async fn prove(
    args: &Prove,
    suite: &Arc<Suite>,
    banks: Vec<Special>,
    budget: u64,
) -> Result<Exit, Failure> {
    let start = Instant::now();
    let mut explorer = Explorer::new(suite, args.seed, &[]).map_err(Failure::input)?;
    let nowhere = Profile::reference(NOWHERE).map_err(Failure::input)?;
    let session =
        Session::new(Arc::clone(suite), nowhere.for_show(), args.seed, args.now).map_err(Failure::input)?;
    let session = Arc::new(session);
    let mut hunted: Vec<Hunted> =
        banks.into_iter().map(|bank| Hunted { bank, sent: 0, found: None }).collect();
    let mut drawn = 0;
    loop {
        let open: Vec<usize> =
            (0..hunted.len()).filter(|at| hunted[*at].found.is_none() && hunted[*at].sent < budget).collect();
        if open.is_empty() {
            break;
        }
        let mut cases = Vec::with_capacity(PART);
        let mut sequences = Vec::new();
        while cases.len() < PART {
            let (draft, _) = explorer.draw(suite);
            let Some((mut case, _)) = draft.case(suite, explorer.model()) else { continue };
            drawn += 1;
            case.about = Some(case.id);
            case.id = format!("explore/{drawn}");
            if drawn % BETWEEN == 0 {
                sequences.push(explorer.draw_sequence());
            }
            cases.push(case);
        }
        let (cases, requests) = (Arc::new((cases, sequences)), Arc::new(Requests::default()));
        let mut running = JoinSet::new();
        let mut waiting = open.into_iter();
        loop {
            while running.len() < usize::from(args.banks)
                && let Some(at) = waiting.next()
            {
                let (one, now) = (hunted[at].clone(), args.now);
                let (session, requests, cases) =
                    (Arc::clone(&session), Arc::clone(&requests), Arc::clone(&cases));
                running.spawn(async move { (at, hunt(&session, &requests, &cases, one, now, budget).await) });
            }
            let Some(landed) = running.join_next().await else { break };
            let (at, one) = landed.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
            hunted[at] = one?;
        }
    }
    report(suite, args, &hunted, budget, start)
}

async fn hunt(
    session: &Session,
    requests: &Arc<Requests>,
    (cases, sequences): &(Vec<Case>, Vec<Vec<Command>>),
    mut one: Hunted,
    now: chrono::DateTime<chrono::Utc>,
    budget: u64,
) -> Result<Hunted, Failure> {
    // What is special below the messages shows only on a connection.
    let (bank, profile, inside) = if one.bank.is_above_http() {
        (None, one.bank.profile(NOWHERE)?, Some(one.bank.inside(now)))
    } else {
        let bank = xs2aspec_reference::start(one.bank.config(now)).await;
        let bank = bank.map_err(|error| Failure::unreachable(format!("a bank cannot start: {error}")))?;
        let profile = one.bank.profile(&bank.base_url())?;
        (Some(bank), profile, None)
    };
    let session = session.beside(profile, requests, inside).map_err(Failure::input)?;
    let before = one.sent;
    session.limit_exchanges(budget - before);
    for (at, case) in cases.iter().enumerate() {
        if at % BETWEEN == 0
            && let Some(commands) = sequences.get(at / BETWEEN)
        {
            let told = session.sequence(at / BETWEEN, commands).await;
            one.sent = before + session.exchanges();
            if let Some(finding) = told.findings.first() {
                let steps: Vec<String> = commands.iter().take(told.done + 1).map(Command::says).collect();
                let Finding { clause, expected, actual, .. } = finding;
                one.found =
                    Some(format!("{}: {clause}: expected {expected}, got {actual}", steps.join(", ")));
                break;
            }
        }
        let done = session.run(case).await;
        one.sent = before + session.exchanges();
        if done.verdict.verdict == Verdict::Fail {
            let said = case.about.clone().unwrap_or_default();
            let findings = done.verdict.findings.iter();
            let findings: Vec<String> = findings
                .map(|one| format!("{}: expected {}, got {}", one.clause, one.expected, one.actual))
                .collect();
            one.found = Some(format!("{said}: {}", findings.join("; ")));
            break;
        }
        if one.sent >= budget {
            break;
        }
    }
    if let Some(bank) = bank {
        bank.shutdown().await.map_err(Failure::input)?;
    }
    Ok(one)
}

/// Writes a line for each bank, and says how they are spread.
fn report(
    suite: &Suite,
    args: &Prove,
    hunted: &[Hunted],
    budget: u64,
    start: Instant,
) -> Result<Exit, Failure> {
    let of_answers: BTreeSet<&str> = suite.answers().of_every_answer();
    let together: BTreeSet<&str> = Special::interactions().map(Special::name).collect();
    let mut table = String::from("kind\tname\tclause\tconcerns\trequests\tfound by\n");
    let (mut needed, mut missed, mut accused) = (Vec::new(), Vec::new(), Vec::new());
    // How many there are and were found, of those that do not show in one request for one reason.
    let mut others: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for one in hunted {
        let (kind, name, clause) = one.bank.of();
        let concerns = match clause {
            _ if together.contains(name) => "two things",
            _ if of_answers.contains(clause) => "answers",
            _ if OF_STATE.contains(&clause) => "state",
            _ => "requests",
        };
        let count = one.found.as_ref().map_or_else(|| "-".to_owned(), |_| one.sent.to_string());
        let by = one.found.as_deref().unwrap_or_default().replace(['\n', '\t'], " ");
        // Writing to a String cannot fail.
        _ = writeln!(table, "{kind:?}\t{name}\t{clause}\t{concerns}\t{count}\t{by}");
        match (kind, &one.found) {
            (Kind::Fault, Some(_)) if concerns == "requests" => needed.push(one.sent),
            (Kind::Fault, None) if concerns == "requests" => missed.push(name),
            (Kind::Fault, found) => {
                let (all, seen) = others.entry(concerns).or_default();
                *all += 1;
                *seen += usize::from(found.is_some());
            }
            (_, None) => {}
            (_, Some(by)) => accused.push(format!("{name}: {by}")),
        }
    }
    fs::create_dir_all(&args.out).map_err(|error| cannot_write(&args.out, &error))?;
    let path = args.out.join("explore.tsv");
    write(&path, &[], table.as_bytes())?;
    needed.sort_unstable();
    let share =
        |part: usize| needed.get((needed.len() * part / 100).min(needed.len().saturating_sub(1))).copied();
    for one in &accused {
        say!("accused wrongly: {one}");
    }
    for name in &missed {
        say!("not found: {name}");
    }
    let all = needed.len() + missed.len();
    say!("{} of {all} faults in rules for requests found, each within {budget} requests", needed.len());
    if let (Some(half), Some(most), Some(last), Some(end)) = (share(50), share(90), share(99), needed.last())
    {
        say!("requests needed: half of them {half}, 90 % {most}, 99 % {last}, all {end}");
    }
    for (concerns, (all, seen)) in &others {
        say!("{seen} of {all} faults in {concerns} found besides");
    }
    let keep = hunted.iter().filter(|one| one.bank.of().0 != Kind::Fault).count();
    say!("{} of {keep} banks that keep the document accused", accused.len());
    say!("{:.1} s; {}", start.elapsed().as_secs_f64(), path.display());
    Ok(if missed.is_empty() && accused.is_empty() { Exit::Conforms } else { Exit::Violation })
}
