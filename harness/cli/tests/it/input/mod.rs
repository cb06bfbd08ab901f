//! What is typed and what lies about: command lines, files that are not written over, case files and keys
//! that are none.

mod case_files;
mod clock;
mod command_lines;
mod lost_output;
mod output_files;

use std::path::Path;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
