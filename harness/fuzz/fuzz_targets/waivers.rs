//! See `readers::waivers`.

#![no_main]

#[path = "../src/readers.rs"]
#[allow(dead_code, reason = "each target has one of them")]
mod readers;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::waivers(bytes));
