//! Tests of the suite: against banks with faults, conforming banks, and with generated requests.

mod explore;
mod findings;
mod kill_matrix;
mod record_of_drawn;
mod styles;
