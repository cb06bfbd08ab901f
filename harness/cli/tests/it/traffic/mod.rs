//! `judge`: traffic of others, from files.

mod archives;
mod malformed;
mod measured;
mod own_archive;
