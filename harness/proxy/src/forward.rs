//! One connection: what comes from one end goes to the other, and a copy of it is read.

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

/// Most bytes in transit in one direction.
pub(crate) const PIECE: usize = 16 * 1024;

/// How long the bank may keep a connection open once its client has ended and nothing is left to answer.
const LINGER: Duration = Duration::from_secs(2);

/// Why a connection ended before both ends had closed it.
enum Ended {
    Client(io::Error),
    Bank(io::Error),
}

/// Both ends of a connection.
pub(crate) struct Ends {
    pub(crate) client: BoxStream,
    /// What the client sent before there was a connection to the bank.
    pub(crate) ahead: Vec<u8>,
    pub(crate) bank: BoxStream,
}

/// What both directions share.
struct Passing<'a> {
    state: Mutex<State>,
    sightings: &'a mpsc::Sender<Vec<Sighting>>,
}

struct State {
    conversation: Conversation,
    /// When bytes passed last, either way.
    passed: Instant,
}

/// Forwards what both ends send until both have ended, one is gone, nothing passes for `idle`, or `stop` says
/// so.
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
            Err(Ended::Client(error)) => format!("the client is gone: {error}"),
            Err(Ended::Bank(error)) => format!("the bank is gone: {error}"),
        },
        () = passing.idle(idle) => format!("nothing passed for {} s", idle.as_secs()),
        _ = stop.wait_for(|stopped| *stopped) => "the proxy was ended before it".to_owned(),
    };
    passing.tell(|conversation| conversation.end(&why)).await;
}

impl Passing<'_> {
    /// Forwards one direction until its end sends nothing more, and forwards that end as well.
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
            // Told before it is forwarded: an end that has an answer finds it in the record, whatever ends
            // the connection next.
            self.tell(|conversation| match (from, bytes) {
                (From::Client, []) => conversation.client_ended(),
                (From::Bank, []) => conversation.bank_ended(),
                (from, bytes) => conversation.read(from, bytes),
            })
            .await;
            if bytes.is_empty() {
                // The other end may have closed already.
                drop(writer.shutdown().await);
                return Ok(());
            }
            writer.write_all(bytes).await.map_err(of_writer)?;
            writer.flush().await.map_err(of_writer)?;
            self.locked(|state| state.passed = Instant::now());
        }
    }

    /// Hands over what `read` sees. Waits for room before reading, so that a future that is dropped while it
    /// waits has taken nothing out of the conversation.
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

    /// Returns once nothing has passed for `idle`, or for [`LINGER`] where nothing is left to answer.
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
