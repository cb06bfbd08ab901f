//! The crate from outside: signatures of others, and what is said of wrong ones.

mod diagnosis;
mod vectors;
