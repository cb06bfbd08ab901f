//! Arguments that select the document.

use std::path::PathBuf;

/// The source of the document, its clauses and its cases.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Source {
    /// Use the case files in DIR instead of the embedded ones
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(crate) cases: Option<PathBuf>,
    /// Use the document in DIR instead of the embedded one
    ///
    /// DIR holds its clauses, cases and requests in `cases/` and `fixtures/`.
    #[arg(long, value_name = "DIR", conflicts_with = "cases", hide_short_help = true)]
    pub(crate) pack: Option<PathBuf>,
}

impl Source {
    /// Returns the arguments that select this source.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = String> {
        let options = [("--cases", &self.cases), ("--pack", &self.pack)];
        let given = options.into_iter().filter_map(|(option, path)| Some((option, path.as_ref()?)));
        given.flat_map(|(option, path)| [option.to_owned(), path.display().to_string()])
    }
}
