//! Signals that end a command in order, and those that must not end it.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Waits until the command is to end: for an interrupt from the keyboard, a terminal that hangs up, or a
/// request of the system to terminate. It listens from the call on, not from the first wait on: whoever can
/// connect to what the command opens next can interrupt it in order.
#[cfg(unix)]
pub(crate) fn asked_to_end() -> impl Future<Output = ()> + Send + 'static {
    let signals = [SignalKind::interrupt(), SignalKind::hangup(), SignalKind::terminate()].map(signal);
    async move {
        let [interrupt, hangup, terminate] = signals.map(came);
        tokio::select! {
            () = interrupt => {}
            () = hangup => {}
            () = terminate => {}
        }
    }
}

/// Waits for a signal; for ever for one that cannot be listened for, which ends the process by itself.
#[cfg(unix)]
async fn came(signal: io::Result<Signal>) {
    match signal {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    }
}

/// Waits until the command is to end.
#[cfg(not(unix))]
pub(crate) async fn asked_to_end() {
    drop(tokio::signal::ctrl_c().await);
}

/// Makes a file that grows beyond the limit of the process an error of its write, instead of the end of the
/// process (`SIGXFSZ`; POSIX.1-2024, `write`).
#[cfg(unix)]
pub(crate) fn survive_the_limit_of_files() {
    // Its number is the same on Linux and macOS. Without the handler the process ends, as before.
    drop(signal(SignalKind::from_raw(25)));
}

/// Does nothing where there are no signals.
#[cfg(not(unix))]
pub(crate) fn survive_the_limit_of_files() {}
