//! Signals that end a command gracefully, and those that must not end it.

#[cfg(unix)]
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use xs2aspec_signing::command;

/// True if the command handles a signal to end gracefully.
static IS_ORDERLY: AtomicBool = AtomicBool::new(false);

/// On a signal, ends the commands that a profile has started, and the program itself if it does not end
/// gracefully. A command of a profile has its own process group, which gets no signals from the terminal.
pub(crate) fn end_with_commands() {
    let asked = signals();
    tokio::spawn(async move {
        let signal = asked.await;
        command::end_all();
        if !IS_ORDERLY.load(Ordering::Relaxed) {
            // The exit status that shells use (POSIX.1-2024, XCU section 2.8.2).
            std::process::exit(128 + signal);
        }
    });
}

/// Waits for a signal that asks the command to end: an interrupt from the keyboard, a hangup of the terminal,
/// or a termination request. It listens from the call on, not from the first poll on. A client that connects
/// to what the command opens next can therefore interrupt it gracefully.
pub(crate) fn asked_to_end() -> impl Future<Output = ()> + Send + 'static {
    IS_ORDERLY.store(true, Ordering::Relaxed);
    let asked = signals();
    async move {
        _ = asked.await;
    }
}

/// Calls `tell` on the first signal that asks the command to end.
pub(crate) fn when_asked(tell: impl FnOnce() + Send + 'static) {
    let asked = asked_to_end();
    tokio::spawn(async move {
        asked.await;
        tell();
    });
}

/// Waits for a signal that asks the command to end, and returns its number.
#[cfg(unix)]
fn signals() -> impl Future<Output = i32> + Send + 'static {
    let kinds = [SignalKind::interrupt(), SignalKind::hangup(), SignalKind::terminate()];
    let signals = kinds.map(signal);
    async move {
        let [interrupt, hangup, terminate] = signals.map(came);
        let kind = tokio::select! {
            () = interrupt => kinds[0],
            () = hangup => kinds[1],
            () = terminate => kinds[2],
        };
        kind.as_raw_value()
    }
}

/// Waits for a signal. Waits forever if the signal cannot be handled, since it then ends the process itself.
#[cfg(unix)]
async fn came(signal: io::Result<Signal>) {
    match signal {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    }
}

/// Waits for an interrupt from the keyboard, and returns its number on Unix.
#[cfg(not(unix))]
async fn signals() -> i32 {
    drop(tokio::signal::ctrl_c().await);
    2
}

/// Turns the signal for a file beyond the size limit (`SIGXFSZ`) into a write error. Without this, the signal
/// ends the process (POSIX.1-2024, `write`).
#[cfg(unix)]
pub(crate) fn survive_the_limit_of_files() {
    // SIGXFSZ has this number on Linux and macOS.
    drop(signal(SignalKind::from_raw(25)));
}

/// Does nothing on systems without signals.
#[cfg(not(unix))]
pub(crate) fn survive_the_limit_of_files() {}
