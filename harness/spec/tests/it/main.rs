//! The spec from outside: what is wrong with an answer.

mod requests;
mod response_clauses;
mod response_mutations;
mod response_rows;
mod response_values;
