//! `judge`: recorded traffic from files.

mod archives;
mod canaries;
mod malformed;
mod measured;
mod own_archive;
