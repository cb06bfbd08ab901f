//! Signals that end a command in order, and those that must not end it.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Interrupts from the keyboard, a terminal that hangs up, and requests of the system to terminate.
pub(crate) struct Interrupts {
    #[cfg(unix)]
    signals: [Signal; 3],
}

impl Interrupts {
    /// Listens from now on.
    #[cfg(unix)]
    pub(crate) fn listen() -> io::Result<Self> {
        let [interrupt, hangup, terminate] =
            [SignalKind::interrupt(), SignalKind::hangup(), SignalKind::terminate()].map(signal);
        Ok(Self { signals: [interrupt?, hangup?, terminate?] })
    }

    /// Listens from now on.
    #[cfg(not(unix))]
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for the first one.
    pub(crate) async fn asked_to_end(self) {
        #[cfg(unix)]
        {
            let [mut interrupt, mut hangup, mut terminate] = self.signals;
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = hangup.recv() => {}
                _ = terminate.recv() => {}
            }
        }
        #[cfg(not(unix))]
        drop(tokio::signal::ctrl_c().await);
    }
}

/// Waits until the command is to end.
pub(crate) async fn asked_to_end() {
    match Interrupts::listen() {
        Ok(interrupts) => interrupts.asked_to_end().await,
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
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
