//! The suite, proven: against banks with a fault and lawful ones, and by requests that nobody wrote.

mod explore;
mod findings;
mod kill_matrix;
mod record_of_drawn;
mod styles;
