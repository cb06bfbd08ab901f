//! Signals that end a command in order, and those that must not end it.

#[cfg(unix)]
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use xs2aspec_signing::command;

/// True if the command ends in order when it is asked to.
static IS_ORDERLY: AtomicBool = AtomicBool::new(false);

/// Ends what a profile has started, and the program itself where it would not end in order, when it is asked
/// to end. A command of a profile is in a process group of its own, to which the terminal sends nothing.
pub(crate) fn end_with_commands() {
    let asked = signals();
    tokio::spawn(async move {
        let signal = asked.await;
        command::end_all();
        if !IS_ORDERLY.load(Ordering::Relaxed) {
            // As shells say it (POSIX.1-2024, XCU section 2.8.2).
            std::process::exit(128 + signal);
        }
    });
}

/// Waits until the command is to end: for an interrupt from the keyboard, a terminal that hangs up, or a
/// request of the system to terminate. It listens from the call on, not from the first wait on: whoever can
/// connect to what the command opens next can interrupt it in order.
pub(crate) fn asked_to_end() -> impl Future<Output = ()> + Send + 'static {
    IS_ORDERLY.store(true, Ordering::Relaxed);
    let asked = signals();
    async move {
        _ = asked.await;
    }
}

/// Calls `tell` once the command is asked to end.
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

/// Waits for a signal; for ever for one that cannot be listened for, which ends the process by itself.
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
