//! The command, and the crates behind it, tested together: one program, since linking takes longer than
//! testing. Only `conformance` stands apart, which makes each case a test of its own.

mod bank;
mod hostile;
mod house;
mod input;
mod pack;
mod prove;
mod proxy;
mod run;
mod signing;
mod support;
mod traffic;
