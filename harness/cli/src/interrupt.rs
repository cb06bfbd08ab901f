//! Interrupts of a command that runs until it is asked to end: listened to before it says that it runs.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Interrupts from the keyboard, and requests of the system to terminate.
pub(crate) struct Interrupts {
    #[cfg(unix)]
    signals: [Signal; 2],
}

impl Interrupts {
    /// Listens from now on.
    #[cfg(unix)]
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self { signals: [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?] })
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
            let [mut interrupt, mut terminate] = self.signals;
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        }
        #[cfg(not(unix))]
        drop(tokio::signal::ctrl_c().await);
    }
}
