//! Tests of the command and all crates behind it. They are one program, since linking takes longer than
//! testing. Only `conformance` is separate, since it makes each case a test of its own.

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
