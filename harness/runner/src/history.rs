//! Writes the history of a run. Many tasks send requests, and a single writer appends their events: that a
//! request is about to be sent, and its result.

use std::io;

use tokio::sync::{
    mpsc::{self, UnboundedReceiver, UnboundedSender},
    oneshot,
};
use xs2aspec_judge::tally::Tally;
use xs2aspec_record::{Event, Exchange, RunFinished, Sending};
use xs2aspec_suite::Suite;

/// Receives each event, in order of time.
///
/// # Errors
///
/// Fails if the event cannot be stored. The run then sends nothing more, because there would be no evidence
/// for it.
pub type Tell<'a> = &'a mut (dyn FnMut(&Event) -> io::Result<()> + Send);

/// An event on its way to the writer.
#[derive(Debug)]
pub(crate) enum Told {
    /// A request that is about to be sent, with the channel to its sender, who waits until the event is
    /// written.
    Sending(Sending, oneshot::Sender<()>),
    /// A completed exchange.
    Exchange(Box<Exchange>),
}

/// The end of the channel for the sending tasks.
#[derive(Debug)]
pub(crate) struct Appender(UnboundedSender<Told>);

impl Appender {
    /// Reports a request that is about to be sent. Resolves to true once it is written, and to false if it
    /// cannot be written.
    pub(crate) fn sending(&self, sending: Sending) -> impl Future<Output = bool> + use<> {
        let (written, wait) = oneshot::channel();
        // If the writer is gone, the channel is dropped and the wait ends.
        drop(self.0.send(Told::Sending(sending, written)));
        async move { wait.await.is_ok() }
    }

    /// Reports a completed exchange.
    pub(crate) fn exchange(&self, exchange: Exchange) {
        drop(self.0.send(Told::Exchange(Box::new(exchange))));
    }
}

/// The end of the channel for the writer, which appends and counts the events.
pub(crate) struct History<'a> {
    told: UnboundedReceiver<Told>,
    tell: Tell<'a>,
    pub(crate) tally: Tally<'a>,
    is_broken: bool,
}

impl<'a> History<'a> {
    pub(crate) fn new(suite: &'a Suite, slow_ms: Option<u64>, tell: Tell<'a>) -> (Self, Appender) {
        let (appender, told) = mpsc::unbounded_channel();
        (Self { told, tell, tally: Tally::new(suite, slow_ms), is_broken: false }, Appender(appender))
    }

    /// Returns true if an event could not be stored.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Appends an event after all events reported before it.
    pub(crate) fn append(&mut self, event: &Event) {
        while let Ok(told) = self.told.try_recv() {
            self.take(told);
        }
        self.write(event);
    }

    /// Runs `work` and appends the events reported meanwhile.
    pub(crate) async fn beside<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                Some(told) = self.told.recv() => self.take(told),
                done = &mut work => return done,
            }
        }
    }

    /// Appends the end of the run, which `finished` builds from the counts.
    pub(crate) fn finish(mut self, finished: impl FnOnce(&Tally<'_>) -> RunFinished) -> RunFinished {
        let (checks, times) = self.tally.end();
        self.append(&Event::AnswerChecks(checks));
        let finished = RunFinished { exchanges: self.tally.exchanges(), times, ..finished(&self.tally) };
        self.append(&Event::RunFinished(finished.clone()));
        finished
    }

    fn take(&mut self, told: Told) {
        match told {
            Told::Sending(sending, written) => {
                self.write(&Event::Sending(sending));
                if !self.is_broken {
                    // The receiver is gone if its task was aborted.
                    _ = written.send(());
                }
            }
            Told::Exchange(exchange) => self.write(&Event::Exchange(*exchange)),
        }
    }

    fn write(&mut self, event: &Event) {
        self.tally.add(event);
        self.is_broken |= (self.tell)(event).is_err();
    }
}

#[cfg(test)]
mod tests {
    use xs2aspec_suite::Tree;

    use super::*;

    fn sending(number: u64) -> Sending {
        let text = |text: &str| text.to_owned();
        Sending { number, case: text("a/b"), step: text("request"), method: text("POST") }
    }

    fn exchange(number: u64) -> Exchange {
        serde_json::from_value(serde_json::json!({
            "number": number, "case": "a/b", "step": "request", "micros": 1,
            "request": {"method": "POST", "url": "/", "headers": []},
        }))
        .unwrap()
    }

    /// Returns what a sender saw and what was written, if only the first `kept` events can be stored.
    async fn sent(kept: usize) -> (Vec<bool>, Vec<String>, bool) {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let mut written = Vec::new();
        let mut tell = |event: &Event| {
            if written.len() == kept {
                return Err(io::ErrorKind::StorageFull.into());
            }
            written.push(match event {
                Event::Sending(sending) => format!("sending {}", sending.number),
                Event::Exchange(exchange) => format!("exchange {}", exchange.number),
                _ => "end".to_owned(),
            });
            Ok(())
        };
        let (mut history, appender) = History::new(&suite, None, &mut tell);
        let work = async {
            let mut may_send = Vec::new();
            for number in 1..=2 {
                let written = appender.sending(sending(number)).await;
                may_send.push(written);
                if written {
                    appender.exchange(exchange(number));
                }
            }
            may_send
        };
        let may_send = history.beside(work).await;
        history.append(&Event::AnswerChecks(xs2aspec_record::AnswerChecks::default()));
        assert_eq!(history.tally.exchanges(), may_send.iter().filter(|may| **may).count() as u64);
        let is_broken = history.is_broken();
        (may_send, written, is_broken)
    }

    #[tokio::test]
    async fn nothing_is_sent_that_was_not_written_before() {
        let all = ["sending 1", "exchange 1", "sending 2", "exchange 2", "end"];
        assert_eq!(sent(9).await, (vec![true, true], all.map(str::to_owned).into(), false));
        for (kept, may_send) in
            [(0, [false, false]), (1, [true, false]), (2, [true, false]), (3, [true, true])]
        {
            let (may, written, is_broken) = sent(kept).await;
            assert_eq!(
                (may.as_slice(), written.as_slice()),
                (&may_send[..], &all.map(str::to_owned)[..kept])
            );
            assert!(is_broken, "{kept}");
        }
    }
}
