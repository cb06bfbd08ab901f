//! Forwards the bytes of one connection and reads a copy of them.

use std::{
    io,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::{mpsc, watch},
    time::{Instant, sleep},
};

use crate::{
    conversation::{Conversation, From},
    exchange::Sighting,
    stream::BoxStream,
};

/// Maximum number of bytes in transit in one direction.
pub(crate) const PIECE: usize = 16 * 1024;

/// Time for which the bank may keep a connection open after its client has closed its direction and has all
/// responses.
const LINGER: Duration = Duration::from_secs(2);

/// The reason why a connection ended before both ends closed it.
enum Ended {
    Client(io::Error),
    Bank(io::Error),
}

/// Both ends of a connection.
pub(crate) struct Ends {
    pub(crate) client: BoxStream,
    /// Bytes that the client sent before the connection to the bank was open.
    pub(crate) ahead: Vec<u8>,
    pub(crate) bank: BoxStream,
}

/// State shared by both directions.
struct Passing<'a> {
    state: Mutex<State>,
    sightings: &'a mpsc::Sender<Vec<Sighting>>,
}

struct State {
    conversation: Conversation,
    /// Time of the last bytes in either direction.
    passed: Instant,
}

/// Forwards bytes between both ends. Stops when both have closed their direction, one disconnects, nothing
/// passes for `idle`, or `stop` is set.
pub(crate) async fn forward(
    ends: Ends,
    conversation: Conversation,
    sightings: &mpsc::Sender<Vec<Sighting>>,
    idle: Duration,
    mut stop: watch::Receiver<bool>,
) {
    let state = Mutex::new(State { conversation, passed: Instant::now() });
    let passing = Passing { state, sightings };
    let Ends { client, ahead, bank } = ends;
    let (from_client, to_client) = tokio::io::split(client);
    let (from_bank, to_bank) = tokio::io::split(bank);
    let from_client = io::Cursor::new(ahead).chain(from_client);
    let both = async {
        tokio::try_join!(
            passing.pass(From::Client, from_client, to_bank),
            passing.pass(From::Bank, from_bank, to_client),
        )
    };
    let why = tokio::select! {
        ended = both => match ended {
            Ok(_) => return,
            Err(Ended::Client(error)) => format!("the client disconnected: {error}"),
            Err(Ended::Bank(error)) => format!("the bank disconnected: {error}"),
        },
        () = passing.idle(idle) => format!("nothing passed for {} s", idle.as_secs()),
        _ = stop.wait_for(|stopped| *stopped) => "the proxy was stopped first".to_owned(),
    };
    passing.tell(|conversation| conversation.end(&why)).await;
}

impl Passing<'_> {
    /// Forwards one direction until it is closed, and forwards the close.
    async fn pass(
        &self,
        from: From,
        mut reader: impl AsyncRead + Unpin,
        mut writer: impl AsyncWrite + Unpin,
    ) -> Result<(), Ended> {
        let of_reader = |error| match from {
            From::Client => Ended::Client(error),
            From::Bank => Ended::Bank(error),
        };
        let of_writer = |error| match from {
            From::Client => Ended::Bank(error),
            From::Bank => Ended::Client(error),
        };
        let mut piece = vec![0; PIECE];
        loop {
            let count = reader.read(&mut piece).await.map_err(of_reader)?;
            let bytes = &piece[..count];
            // Reports the bytes before forwarding them, so that every response that an end receives is in the
            // record, however the connection ends.
            self.tell(|conversation| match (from, bytes) {
                (From::Client, []) => conversation.client_ended(),
                (From::Bank, []) => conversation.bank_ended(),
                (from, bytes) => conversation.read(from, bytes),
            })
            .await;
            if bytes.is_empty() {
                // The other end may already have closed the connection.
                drop(writer.shutdown().await);
                return Ok(());
            }
            writer.write_all(bytes).await.map_err(of_writer)?;
            writer.flush().await.map_err(of_writer)?;
            self.locked(|state| state.passed = Instant::now());
        }
    }

    /// Reports the sightings of `read`. Waits for room in the channel first. If the future is dropped while
    /// it waits, the conversation stays unchanged.
    async fn tell(&self, read: impl FnOnce(&mut Conversation) -> Vec<Sighting>) {
        let room = self.sightings.reserve().await;
        let seen = self.locked(|state| {
            state.passed = Instant::now();
            read(&mut state.conversation)
        });
        if let Ok(room) = room
            && !seen.is_empty()
        {
            room.send(seen);
        }
    }

    /// Returns once nothing has passed for `idle`, or for [`LINGER`] if no response is pending.
    async fn idle(&self, idle: Duration) {
        let is_over = |state: &mut State| {
            let limit = if state.conversation.is_over() { LINGER.min(idle) } else { idle };
            state.passed.elapsed() >= limit
        };
        while !self.locked(is_over) {
            sleep(LINGER.min(idle)).await;
        }
    }

    fn locked<T>(&self, what: impl FnOnce(&mut State) -> T) -> T {
        what(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
