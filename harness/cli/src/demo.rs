//! `xs2aspec demo`: a fault of the reference bank, found and explained.

use std::path::Path;

use clap::FromArgMatches as _;
use toml_edit::DocumentMut;
use xs2aspec_record::{Exit, finding_id::printed};
use xs2aspec_suite::Tree;

use crate::{
    Failure, again,
    args::{Args, Command},
    explain,
    finding::Earlier,
    help,
};

/// The file that names the fault and the cases.
const FILE: &str = "fixtures/spec/demo.toml";

/// The folder of the run.
const OUT: &str = "reports/demo";

/// Runs a few cases against the reference bank with a fault, and explains what they find.
pub(crate) async fn demo() -> Result<Exit, Failure> {
    let tree = Tree::embedded();
    let wrong = |why: String| Failure::input(format!("{FILE}: {why}"));
    let text = tree.text(FILE).ok_or_else(|| wrong("the file is missing".to_owned()))?;
    let file: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| wrong(error.to_string()))?;
    let value = |key: &str| file.get(key).and_then(|value| value.as_str()).unwrap_or_default();
    let (fault, only) = (value("fault"), value("only"));
    say!("1. Run the cases of {only} against the reference bank with the fault {fault}:\n");
    let run = command(&["run", "--fault", fault, "--only", only, "--out", OUT])?;
    let Command::Run(run) = run else { return Err(wrong("`run` is not a command".to_owned())) };
    let exit = again::run(&run).await?;
    if exit != Exit::Violation {
        return Err(wrong(format!("the run did not find the fault {fault}")));
    }
    let earlier = Earlier::open(Path::new(OUT))?;
    let first = earlier.summary.findings().all().first().map(|found| printed(&found.id));
    let first = first.ok_or_else(|| wrong(format!("{OUT} has no finding")))?;
    say!("\n2. Explain the finding:\n");
    let Command::Explain(explain) = command(&["explain", first, "--run", OUT])? else {
        return Err(wrong("`explain` is not a command".to_owned()));
    };
    explain::explain(&explain)?;
    say!("\n3. Test your bank:\n\n  xs2aspec init    # write its profile, xs2aspec.toml\n  xs2aspec run");
    Ok(Exit::Conforms)
}

/// Prints a command line and parses it.
fn command(words: &[&str]) -> Result<Command, Failure> {
    let line = || ["xs2aspec"].iter().chain(words).copied();
    say!("$ {}\n", line().collect::<Vec<_>>().join(" "));
    let matches = help::command().try_get_matches_from(line()).map_err(Failure::input)?;
    let args = Args::from_arg_matches(&matches).map_err(Failure::input)?;
    args.command.ok_or_else(|| Failure::input("no command"))
}
