//! Tests of the bank from outside, with signed requests over TCP.

mod description;
mod faults;
mod house;
mod http;
mod operations;
mod plain_reading;
mod refusals;
mod sandbox;
mod signing;
mod support;
mod tls;
