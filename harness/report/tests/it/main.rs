//! Tests of reports as other programs read them.

mod junit;
mod sample;
