//! Where a command takes the document from.

use std::path::PathBuf;

/// Where the document, its clauses and cases come from.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Source {
    /// Folder of case files to use in place of the embedded ones
    #[arg(long, value_name = "DIR")]
    pub(crate) cases: Option<PathBuf>,
    /// Folder of another document, with its clauses, cases and requests: `cases/` and `fixtures/`; nothing of
    /// the embedded one is used
    #[arg(long, value_name = "DIR", conflicts_with = "cases")]
    pub(crate) pack: Option<PathBuf>,
}

impl Source {
    /// The arguments that say the same again.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = String> {
        let options = [("--cases", &self.cases), ("--pack", &self.pack)];
        let given = options.into_iter().filter_map(|(option, path)| Some((option, path.as_ref()?)));
        given.flat_map(|(option, path)| [option.to_owned(), path.display().to_string()])
    }
}
