//! The folder of a repeated run, which differs from that of the run that it repeats.

use std::path::{Path, PathBuf};

/// The folder of a repetition, next to the run that it repeats.
const AGAIN: &str = "again";
/// The folder of the repetition of a repetition.
const AGAIN_OF_AGAIN: &str = "again-2";
/// The option that names a folder to write to.
const OUT: &str = "--out";

/// Returns the folder for a repetition of the run in this folder, next to it.
pub(crate) fn folder(out: &Path) -> PathBuf {
    out.with_file_name(name(out))
}

/// Returns the arguments that write a repetition of the run in this folder elsewhere. They name a folder
/// below the current one, since a record does not contain its location.
pub(crate) fn out(folder: &Path) -> [String; 2] {
    [OUT.to_owned(), format!("reports/{}", name(folder))]
}

/// Returns the folder name for a repetition, which differs from that of the run.
fn name(out: &Path) -> &'static str {
    if out.file_name().is_some_and(|name| name == AGAIN) { AGAIN_OF_AGAIN } else { AGAIN }
}

/// Returns these arguments without `--out`.
pub(crate) fn without_out(arguments: &[String]) -> Vec<String> {
    let mut rest = arguments.to_vec();
    if let Some(at) = rest.iter().position(|argument| argument == OUT) {
        rest.drain(at..(at + 2).min(rest.len()));
    }
    rest
}
