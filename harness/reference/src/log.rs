//! One line per request on stderr, when the bank was asked for it.

use std::io::Write as _;
use std::time::Duration;

/// Writes one line about a request that did not arrive whole, of which nothing else is known.
pub(crate) fn unfinished(says: &str) {
    let _ = writeln!(std::io::stderr().lock(), "reference bank: no operation 408 {says}");
}

/// Writes one line. It names operation, status and rule, and never the path or a header: those hold account
/// ids and PSU identities. A stderr that cannot be written to is no reason to stop serving, so the error is
/// dropped.
pub(crate) fn request(operation: &str, status: u16, rule: Option<&str>, took: Duration) {
    let rule = rule.unwrap_or("accepted");
    let micros = took.as_micros();
    let _ = writeln!(std::io::stderr().lock(), "reference bank: {operation} {status} {rule} ({micros} us)");
}
