//! The target of a command: an argument, `XS2ASPEC_TARGET` or `xs2aspec.toml`.

use std::path::Path;

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// The environment variable with the target.
const VARIABLE: &str = "XS2ASPEC_TARGET";

/// The profile in the current folder that is the target if no other is named.
pub(crate) const FILE: &str = "xs2aspec.toml";

/// The options that select a reference bank.
const OF_REFERENCE: [&str; 3] = ["fault", "variation", "style"];

/// The options as `clap` describes them. [`TargetArg`] parses them, since it looks for a target elsewhere,
/// too.
#[derive(Debug, Args)]
#[group(id = "a target", multiple = false)]
struct Options {
    /// Test this bank profile or base URL
    ///
    /// [default: `XS2ASPEC_TARGET`, or xs2aspec.toml in the current folder, or the reference bank]
    #[arg(value_name = "TARGET", id = "target")]
    target: Option<String>,
    /// Test this bank profile or base URL, like TARGET
    #[arg(long = "target", value_name = "TARGET", id = "--target", hide_short_help = true)]
    option: Option<String>,
}

/// A bank profile or base URL, or `None` for the reference bank.
#[derive(Debug, Clone, Default)]
pub(crate) struct TargetArg(pub(crate) Option<String>);

impl TargetArg {
    /// Returns the profile or base URL.
    pub(crate) fn name(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Returns the path of the profile, or `None` for a URL or the reference bank.
    pub(crate) fn profile(&self) -> Option<&Path> {
        self.name().filter(|target| !target.contains("://")).map(Path::new)
    }

    /// Returns the arguments that select this target.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = String> {
        self.0.iter().flat_map(|target| ["--target".to_owned(), target.clone()])
    }
}

/// Returns the target that no argument names: that of `XS2ASPEC_TARGET`, or `xs2aspec.toml` in the current
/// folder.
pub(crate) fn found() -> Option<String> {
    let (target, place) = match std::env::var(VARIABLE) {
        Ok(target) if !target.is_empty() => (target, format!(" (from {VARIABLE})")),
        _ if Path::new(FILE).is_file() => (FILE.to_owned(), String::new()),
        _ => return None,
    };
    note!("target: {target}{place}");
    Some(target)
}

impl Args for TargetArg {
    fn augment_args(command: Command) -> Command {
        Options::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Options::augment_args_for_update(command)
    }
}

impl FromArgMatches for TargetArg {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = ["target", "--target"].iter().find_map(|id| matches.get_one::<String>(id)).cloned();
        let is_reference = OF_REFERENCE.iter().any(|id| matches!(matches.try_get_raw(id), Ok(Some(_))));
        Ok(Self(given.or_else(|| if is_reference { None } else { found() })))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
