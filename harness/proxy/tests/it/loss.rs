//! Every response that a client received was reported, however its connection ended.

use std::time::Duration;

use tokio::{net::TcpStream, sync::Barrier};
use xs2aspec_proxy::Sighting;

use crate::support::{LONG, bank, before, exchange};

const CLIENTS: usize = 60;
const EACH: usize = 25;

/// Sends more responses than the channel holds. Every other client resets its connection, and the receiver is
/// slower than the clients.
#[tokio::test(flavor = "multi_thread")]
async fn no_answer_of_a_client_is_lost_when_connections_end() {
    let (proxy, mut sightings) = before(bank().await, LONG).await;
    let address = proxy.address();
    let answered = std::sync::Arc::new(Barrier::new(CLIENTS + 1));
    for number in 0..CLIENTS {
        let answered = std::sync::Arc::clone(&answered);
        tokio::spawn(async move {
            let mut client = TcpStream::connect(address).await.unwrap();
            for _ in 0..EACH {
                exchange(&mut client).await;
            }
            let is_reset = number % 2 == 0;
            if is_reset {
                client.set_zero_linger().unwrap();
                drop(client);
                answered.wait().await;
            } else {
                answered.wait().await;
                tokio::time::sleep(LONG).await;
                drop(client);
            }
        });
    }
    let looking = tokio::spawn(async move {
        let mut seen = 0;
        while let Some(more) = sightings.recv().await {
            seen += more.iter().filter(|one| is_answered(one)).count();
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        seen
    });
    answered.wait().await;
    proxy.shutdown().await;
    assert_eq!(looking.await.unwrap(), CLIENTS * EACH);
}

fn is_answered(sighting: &Sighting) -> bool {
    matches!(sighting, Sighting::Exchange(one) if one.answer.as_ref().is_some_and(|answer| answer.is_whole))
}
