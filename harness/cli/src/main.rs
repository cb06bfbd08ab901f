//! The command `xs2aspec`: checks whether an interface conforms to its document.

/// Prints a line.
macro_rules! say {
    ($($text:tt)*) => { $crate::output::print(format_args!("{}\n", format_args!($($text)*))) };
}

/// Prints like [`say`], without a line end.
macro_rules! say_on {
    ($($text:tt)*) => { $crate::output::print(format_args!($($text)*)) };
}

/// Prints a line on standard error. Ignores failures, since no caller depends on it.
macro_rules! note {
    ($($text:tt)*) => {
        $crate::output::note(format_args!("{}\n", format_args!($($text)*)))
    };
}

mod again;
mod args;
mod ask;
mod claim;
mod client;
mod curl;
mod demo;
mod doctor;
mod evidence;
mod explain;
mod explore;
mod finding;
mod fix;
mod forecast;
mod help;
mod hints;
mod inspect;
mod interrupt;
mod judge;
mod latest;
mod ledger;
mod listen;
mod live;
mod locate;
mod manual;
mod matrix;
mod message;
mod output;
mod prove;
mod proxy;
mod recording;
mod rejudge;
mod repetition;
mod report;
mod resume;
mod run;
mod scaffold;
mod serve;
mod sign;
mod target;
mod traffic_log;
mod verdicts;
mod verify;
mod waive;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    pin::Pin,
    process::ExitCode,
};

use args::{Args, Client, Command, Keys, Source};
use clap::FromArgMatches as _;
use xs2aspec_record::{Exit, inputs};
use xs2aspec_suite::{Depth, Problem, ProfileSpec, SigningSpec, Suite, Tree};

/// A run creates and drops many small strings on two threads. With the system's allocator, that takes a
/// quarter of its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match output::finish(started()) {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(failure) => {
            note!("error: {}", failure.message);
            ExitCode::from(failure.exit.code())
        }
    }
}

fn started() -> Result<Exit, Failure> {
    let parsed = help::command().try_get_matches().and_then(|matches| Args::from_arg_matches(&matches));
    let args = match parsed {
        Ok(args) => args,
        Err(error) if error.use_stderr() => error.exit(),
        Err(help) => {
            output::written(help.print());
            return Ok(Exit::Conforms);
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::input(format!("cannot start the runtime: {error}")))?;
    runtime.block_on(carried_out(args))
}

/// Runs the command of the command line. Boxed, because the runtime polls it in several places, and the
/// program would otherwise contain its code several times.
fn carried_out(args: Args) -> Pin<Box<dyn Future<Output = Result<Exit, Failure>>>> {
    Box::pin(async move {
        interrupt::survive_the_limit_of_files();
        interrupt::end_with_commands();
        match args.command {
            None => {
                say_on!("{}", help::command().render_help().ansi());
                Ok(Exit::Conforms)
            }
            Some(Command::Demo) => demo::demo().await,
            Some(Command::Run(run)) => again::run(&run).await,
            Some(Command::Serve(serve)) => serve::serve(&serve).await,
            Some(Command::Proxy(proxy)) => proxy::proxy(&proxy).await,
            Some(Command::Client(Client::Checklist(source))) => client::checklist(&source),
            Some(Command::Client(Client::Report(report))) => client::report(&report),
            Some(Command::Prove(prove)) => prove::prove(&prove).await,
            Some(Command::Curl(curl)) => curl::curl(&curl).await,
            Some(Command::Explore(explore)) => Box::pin(explore::explore(&explore)).await,
            Some(Command::Judge(args)) => judge::judge(&args),
            Some(Command::Report(report)) => report::report(&report),
            Some(Command::Rejudge(rejudge)) => rejudge::rejudge(&rejudge),
            Some(Command::Merge(merge)) => report::merge(&merge),
            Some(Command::Bundle(bundle)) => evidence::bundle(&bundle),
            Some(Command::Verify(verify)) => verify::verify(&verify),
            Some(Command::Diff(diff)) => report::diff(&diff),
            Some(Command::Waive(waive)) => waive::waive(&waive),
            Some(Command::Init(init)) => target::init(&init),
            Some(Command::Doctor(doctor)) => doctor::doctor(&doctor).await,
            Some(Command::List(list)) => ledger::list(&list),
            Some(Command::Explain(explain)) => explain::explain(&explain),
            Some(Command::Coverage(coverage)) => ledger::coverage(&coverage),
            Some(Command::Lint(source)) => ledger::lint(&source),
            Some(Command::Listen(listen)) => listen::listen(&listen).await,
            Some(Command::Sign(sign)) => sign::sign(&sign),
            Some(Command::Scaffold(scaffold)) => scaffold::scaffold(&scaffold),
            Some(Command::Keys(Keys::New(keys))) => serve::keys(&keys),
            Some(Command::Keys(Keys::Show(certificate))) => inspect::inspect(&certificate),
            Some(Command::Completions(wanted)) => Ok(manual::completions(&wanted)),
            Some(Command::Man(man)) => manual::pages(&man),
        }
    })
}

/// The error message of a command that failed, and its exit code.
#[derive(Debug)]
struct Failure {
    exit: Exit,
    message: String,
}

impl Failure {
    /// Returns the failure for invalid input.
    #[expect(clippy::needless_pass_by_value, reason = "takes errors as `map_err` hands them over")]
    fn input(message: impl ToString) -> Self {
        Self { exit: Exit::BadInput, message: message.to_string() }
    }

    /// Returns the failure for a target that does not respond.
    fn unreachable(message: String) -> Self {
        Self { exit: Exit::CouldNotTell, message }
    }
}

/// Reads a text file.
fn text_of(path: &Path) -> Result<String, Failure> {
    inputs::read_to_string(path).map_err(|error| cannot_read(path, &error))
}

fn cannot_read(path: &Path, error: &io::Error) -> Failure {
    Failure::input(format!("cannot read {}: {error}", path.display()))
}

/// Returns a random seed.
fn random_seed() -> u64 {
    uuid::Uuid::new_v4().as_u64_pair().0
}

/// Returns the files of a document and its cases, from a folder or embedded.
fn tree(source: &Source) -> Result<Tree, Failure> {
    match source {
        Source { pack: Some(folder), .. } => Tree::pack(folder).map_err(Failure::input),
        Source { cases: Some(folder), .. } => Tree::with_cases(folder).map_err(Failure::input),
        _ => Ok(Tree::embedded()),
    }
}

/// Loads the specs of profiles and of signatures from a pack, or the embedded ones.
fn signing_of(pack: Option<&PathBuf>) -> Result<(ProfileSpec, SigningSpec), Failure> {
    let tree = tree(&Source { cases: None, pack: pack.cloned() })?;
    let wrong = |problem: Problem| Failure::input(Problem { file: tree.shown(&problem.file), ..problem });
    Ok((ProfileSpec::load(&tree).map_err(wrong)?, SigningSpec::load(&tree).map_err(wrong)?))
}

/// Loads the suite of a document.
fn suite(source: &Source) -> Result<Suite, Failure> {
    suite_for(source, Depth::Exhaustive)
}

/// Loads the suite for judging recorded traffic, which runs no cases.
fn suite_of_traffic(source: &Source) -> Result<Suite, Failure> {
    suite_for(source, Depth::Quick)
}

/// Loads the suite with the cases up to a depth.
fn suite_for(source: &Source, depth: Depth) -> Result<Suite, Failure> {
    Suite::load_for(tree(source)?, depth).map_err(Failure::input)
}

/// Adds cases for every entry of a profile with these values.
fn with_entries(suite: Suite, values: &BTreeMap<String, String>) -> Result<Suite, Failure> {
    suite.with_entries(values.keys().map(String::as_str)).map_err(Failure::input)
}
