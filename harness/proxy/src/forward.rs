//! One connection: what comes from one end goes to the other, and a copy of it is read.

use std::{
    io,
    sync::{Mutex, PoisonError},
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::{
        mpsc::{self, error::TrySendError},
        watch,
    },
};

use crate::{conversation::Conversation, exchange::Sighting, stream::BoxStream};

/// Bytes that are on their way in one direction at most.
const PIECE: usize = 16 * 1024;

/// Which end sends.
#[derive(Debug, Clone, Copy)]
enum From {
    Client,
    Bank,
}

/// Why a connection ended before both ends had closed it.
enum Ended {
    Client(io::Error),
    Bank(io::Error),
}

/// Passes on what both ends send until both have ended, one is gone, or everything is to end.
pub(crate) async fn forward(
    client: BoxStream,
    bank: BoxStream,
    conversation: Conversation,
    sightings: &mpsc::Sender<Sighting>,
    mut stop: watch::Receiver<bool>,
) {
    let conversation = Mutex::new(conversation);
    let (from_client, to_client) = tokio::io::split(client);
    let (from_bank, to_bank) = tokio::io::split(bank);
    let both = async {
        tokio::try_join!(
            pass(From::Client, from_client, to_bank, &conversation, sightings),
            pass(From::Bank, from_bank, to_client, &conversation, sightings),
        )
    };
    let why = tokio::select! {
        ended = both => match ended {
            Ok(_) => return,
            Err(Ended::Client(error)) => format!("the client is gone: {error}"),
            Err(Ended::Bank(error)) => format!("the bank is gone: {error}"),
        },
        _ = stop.wait_for(|stopped| *stopped) => "the proxy was ended before it".to_owned(),
    };
    let seen = locked(&conversation, |conversation| conversation.end(&why));
    send(sightings, seen).await;
}

/// One direction, until its end sends nothing more. That is passed on too.
async fn pass(
    from: From,
    mut reader: impl AsyncRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
    conversation: &Mutex<Conversation>,
    sightings: &mpsc::Sender<Sighting>,
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
        // Read before it is passed on: no answer can come before its request is known.
        let seen = locked(conversation, |conversation| match (from, bytes) {
            (From::Client, []) => conversation.client_ended(),
            (From::Bank, []) => conversation.bank_ended(),
            (From::Client, bytes) => conversation.read_client(bytes),
            (From::Bank, bytes) => conversation.read_bank(bytes),
        });
        // Told before it is passed on as well, as long as somebody looks: what follows from it elsewhere is
        // told later.
        let late = told(sightings, seen);
        let passed = if bytes.is_empty() {
            // The other end may have closed already.
            drop(writer.shutdown().await);
            Ok(())
        } else {
            match writer.write_all(bytes).await {
                Ok(()) => writer.flush().await,
                error => error,
            }
        };
        // Who cannot keep up with looking holds up what comes next, and not this.
        send(sightings, late).await;
        passed.map_err(of_writer)?;
        if count == 0 {
            return Ok(());
        }
    }
}

fn locked<T>(conversation: &Mutex<Conversation>, what: impl FnOnce(&mut Conversation) -> T) -> T {
    what(&mut conversation.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Tells what was seen; gives back what there is no room for.
fn told(sightings: &mpsc::Sender<Sighting>, seen: Vec<Sighting>) -> Vec<Sighting> {
    let mut late = Vec::new();
    for sighting in seen {
        if !late.is_empty() {
            late.push(sighting);
        } else if let Err(TrySendError::Full(sighting)) = sightings.try_send(sighting) {
            late.push(sighting);
        }
    }
    late
}

async fn send(sightings: &mpsc::Sender<Sighting>, seen: Vec<Sighting>) {
    for sighting in seen {
        // Nobody may be looking any more.
        drop(sightings.send(sighting).await);
    }
}
