//! The command line itself, as other programs want it: completions of shells, pages of the manual, a page for
//! the documentation.

use std::{fs, io, path::Path};

use clap::CommandFactory as _;
use xs2aspec_record::Exit;

use crate::{
    Failure,
    args::{Args, Completions, Man},
    report,
};

/// Prints the completions of a shell.
pub(crate) fn completions(wanted: &Completions) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(wanted.shell, &mut Args::command(), "xs2aspec", &mut script);
    say_on!("{}", String::from_utf8_lossy(&script));
    Exit::Conforms
}

/// Writes a page of the manual for the program and for each of its commands, or prints all as one page.
pub(crate) fn pages(args: &Man) -> Result<Exit, Failure> {
    let Some(folder) = &args.out else {
        say_on!(
            "{}",
            clap_markdown::help_markdown_custom::<Args>(
                &clap_markdown::MarkdownOptions::new().show_footer(false).title("Commands".to_owned()),
            )
        );
        return Ok(Exit::Conforms);
    };
    let cannot = |error: &io::Error| report::cannot_write(folder, error);
    fs::create_dir_all(folder).map_err(|error| cannot(&error))?;
    clap_mangen::generate_to(Args::command(), Path::new(folder)).map_err(|error| cannot(&error))?;
    say!("{}", folder.display());
    Ok(Exit::Conforms)
}
