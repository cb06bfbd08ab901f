//! The first page of the help: the commands in groups.

use std::fmt::Write as _;

use clap::CommandFactory as _;

use crate::args::Args;

/// The commands by purpose. A command in no group is hidden.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Test", &["run", "doctor", "init", "explore", "demo"]),
    ("Understand", &["explain", "curl", "report", "diff", "list"]),
    ("Evidence", &["bundle", "verify", "rejudge"]),
    ("CI", &["merge", "waive"]),
    ("Clients", &["serve", "proxy", "judge", "client"]),
    ("Keys", &["sign", "keys"]),
    ("Contribute", &["lint", "coverage", "scaffold", "prove"]),
];

/// Returns the command line with its help in groups.
pub(crate) fn command() -> clap::Command {
    let command = Args::command();
    let header = *command.get_styles().get_header();
    let literal = *command.get_styles().get_literal();
    let mut groups = String::new();
    for (group, names) in GROUPS {
        _ = writeln!(groups, "\n{header}{group}:{header:#}");
        for own in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = own.get_about().map(ToString::to_string).unwrap_or_default();
            _ = writeln!(groups, "  {literal}{:<10}{literal:#}{about}", own.get_name());
        }
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{groups}\n{header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn each_command_that_is_not_hidden_is_in_one_group() {
        let mut seen = BTreeMap::<&str, usize>::new();
        for name in GROUPS.iter().flat_map(|(_, names)| *names) {
            *seen.entry(name).or_default() += 1;
        }
        let command = Args::command();
        let visible: BTreeMap<&str, usize> = command
            .get_subcommands()
            .filter(|own| !own.is_hide_set())
            .map(|own| (own.get_name(), 1))
            .collect();
        assert!(visible.len() > 20);
        assert_eq!(seen, visible);
    }

    #[test]
    fn the_first_page_shows_each_command_with_what_it_does() {
        let page = command().render_help().to_string();
        for own in command().get_subcommands().filter(|own| !own.is_hide_set() && own.get_name() != "help") {
            let about = own.get_about().unwrap().to_string();
            assert!(page.contains(&format!("  {:<10}{about}\n", own.get_name())), "{page}");
        }
    }
}
