//! The history of a run as it is written. Requests are sent by many tasks, and one writer appends what they
//! tell: that a request is about to be sent, and what came back.

use std::io;

use tokio::sync::{
    mpsc::{self, UnboundedReceiver, UnboundedSender},
    oneshot,
};
use xs2aspec_judge::tally::Tally;
use xs2aspec_record::{Event, Exchange, RunFinished, Sending};
use xs2aspec_suite::Suite;

/// Who takes each event, in the order of time.
///
/// # Errors
///
/// The event cannot be kept. The run then sends nothing more, since nobody could prove it.
pub type Tell<'a> = &'a mut (dyn FnMut(&Event) -> io::Result<()> + Send);

/// An event on its way to the writer.
#[derive(Debug)]
pub(crate) enum Told {
    /// What is about to be sent, and who waits until it is written.
    Sending(Sending, oneshot::Sender<()>),
    /// What came back.
    Exchange(Box<Exchange>),
}

/// The side of those who send.
#[derive(Debug)]
pub(crate) struct Appender(UnboundedSender<Told>);

impl Appender {
    /// Tells what is about to be sent. Gives true once it is written, and false where it cannot be.
    pub(crate) fn sending(&self, sending: Sending) -> impl Future<Output = bool> + use<> {
        let (written, wait) = oneshot::channel();
        // Where nobody writes any more nobody waits in vain either: the other end is dropped.
        drop(self.0.send(Told::Sending(sending, written)));
        async move { wait.await.is_ok() }
    }

    /// Tells what came back.
    pub(crate) fn exchange(&self, exchange: Exchange) {
        drop(self.0.send(Told::Exchange(Box::new(exchange))));
    }
}

/// The side of the writer: appends events, and counts them.
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

    /// Returns true if an event could not be kept.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Appends an event, after everything that was told before it.
    pub(crate) fn append(&mut self, event: &Event) {
        while let Ok(told) = self.told.try_recv() {
            self.take(told);
        }
        self.write(event);
    }

    /// Appends what is told while this work is done.
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

    /// Appends the end of the run, which `finished` makes of what was counted.
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
                    // Who does not wait any more was stopped.
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

    /// What a sender saw, and what was written, where `kept` events can be.
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
