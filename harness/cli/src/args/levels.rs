//! `--deny`, `--warn` and `--allow`. If several match one clause, the last one on the command line wins.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use xs2aspec_record::{Level, LevelRule, LevelSource};

/// The options as `clap` describes them. [`Levels`] parses them, since it needs their order.
#[derive(Debug, Args)]
struct Options {
    /// Report failures of these clauses as violations; may be repeated
    ///
    /// PATTERN is a clause id, the start of one, or a pattern with `*`. `warnings` turns all warnings into
    /// violations, `flaky` all flaky cases.
    #[arg(long, short = 'D', value_name = "PATTERN")]
    deny: Vec<String>,
    /// Report failures of these clauses as warnings; may be repeated
    #[arg(long, short = 'W', value_name = "PATTERN", hide_short_help = true)]
    warn: Vec<String>,
    /// Only record failures of these clauses; may be repeated
    #[arg(long, short = 'A', value_name = "PATTERN", hide_short_help = true)]
    allow: Vec<String>,
}

/// The levels that the command line sets, in its order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Levels(pub(crate) Vec<LevelRule>);

/// Each option with the level that it sets.
const OPTIONS: [(&str, Level); 3] = [("deny", Level::Deny), ("warn", Level::Warn), ("allow", Level::Note)];

impl Levels {
    /// Returns the arguments that set these levels.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = String> {
        let option = |rule: &LevelRule| OPTIONS.into_iter().find(|(_, level)| *level == rule.level);
        let given = self.0.iter().filter_map(move |rule| Some((option(rule)?.0, rule.pattern.clone())));
        given.flat_map(|(option, pattern)| [format!("--{option}"), pattern])
    }
}

impl Args for Levels {
    fn augment_args(command: Command) -> Command {
        Options::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Options::augment_args_for_update(command)
    }
}

impl FromArgMatches for Levels {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut rules = Vec::new();
        for (option, level) in OPTIONS {
            let positions = matches.indices_of(option).into_iter().flatten();
            let patterns = matches.get_many::<String>(option).into_iter().flatten();
            let by = LevelSource::CommandLine;
            rules.extend(
                positions
                    .zip(patterns)
                    .map(|(at, pattern)| (at, LevelRule { pattern: pattern.clone(), level, by })),
            );
        }
        rules.sort_by_key(|(at, _)| *at);
        Ok(Self(rules.into_iter().map(|(_, rule)| rule).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
