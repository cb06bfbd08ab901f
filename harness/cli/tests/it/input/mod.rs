//! Input from users: command lines, files that must not be overwritten, and invalid case files and keys.

mod bounded;
mod case_files;
mod clock;
mod command_lines;
mod lost_output;
mod one_writer;
mod output_files;

use std::path::Path;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
