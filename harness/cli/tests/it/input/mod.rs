//! What is typed and what lies about: command lines, files that are not written over, case files and keys that are none.

mod command_lines;
mod output_files;
