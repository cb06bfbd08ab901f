//! The log: one line per request on stderr.

use std::io::Write as _;
use std::time::Duration;

/// Logs an incomplete request. Only its error is known.
pub(crate) fn unfinished(says: &str) {
    let _ = writeln!(std::io::stderr().lock(), "reference bank: no operation 408 {says}");
}

/// Logs a request with operation, status and rule. Path and headers are omitted, because they hold account
/// ids and PSU identities. Errors of stderr are ignored, so that the bank keeps serving.
pub(crate) fn request(operation: &str, status: u16, rule: Option<&str>, took: Duration) {
    let rule = rule.unwrap_or("accepted");
    let micros = took.as_micros();
    let _ = writeln!(std::io::stderr().lock(), "reference bank: {operation} {status} {rule} ({micros} us)");
}
