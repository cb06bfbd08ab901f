//! `xs2aspec completions` and `man`: shell completions, manual pages, and the page of the documentation.

use std::{fs, path::Path};

use clap::CommandFactory as _;
use xs2aspec_record::Exit;

use crate::{
    Failure,
    args::{Args, Completions, Man},
    report,
};

/// Prints the completion script of a shell.
pub(crate) fn completions(wanted: &Completions) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(wanted.shell, &mut Args::command(), "xs2aspec", &mut script);
    say_on!("{}", String::from_utf8_lossy(&script));
    Exit::Conforms
}

/// Writes a manual page for the program and for each command, or prints all as one page of Markdown.
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
    fs::create_dir_all(folder).map_err(|error| report::cannot_write(folder, &error))?;
    let mut command = Args::command().disable_help_subcommand(true);
    command.build();
    write_pages(&command, folder)?;
    say!("{}", folder.display());
    Ok(Exit::Conforms)
}

/// Writes the page of a command, and those of its subcommands.
fn write_pages(command: &clap::Command, folder: &Path) -> Result<(), Failure> {
    let page = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text).map_err(Failure::input)?;
    report::write_in(&folder.join(page.get_filename()), &text)?;
    let visible = command.get_subcommands().filter(|own| !own.is_hide_set());
    visible.into_iter().try_for_each(|own| write_pages(own, folder))
}
