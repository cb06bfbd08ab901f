//! What the reports need of a record that is longer than memory: everything but the exchanges of cases that nothing is to be said of.

use xs2aspec_record::{Event, Exchange, Verdict};

use crate::html;

/// Takes the events of a record in their order and keeps those that any report but the archive of exchanges is drawn from.
#[derive(Debug, Default)]
pub struct Keeper {
    events: Vec<Event>,
    /// Exchanges of the case that is told.
    exchanges: Vec<Exchange>,
    /// Cases whose exchanges were kept whole.
    detailed: usize,
}

impl Keeper {
    /// Takes the next event.
    pub fn add(&mut self, event: Event) {
        match event {
            Event::Exchange(exchange) => {
                if self.exchanges.first().is_some_and(|other| other.case != exchange.case) {
                    self.exchanges.clear();
                }
                self.exchanges.push(exchange);
            }
            Event::Verdict(verdict) => {
                self.exchanges.retain(|exchange| exchange.case == verdict.case);
                if shows_exchanges(verdict.verdict) {
                    self.detailed += 1;
                    let is_whole = self.detailed <= html::DETAILED;
                    for mut exchange in self.exchanges.drain(..) {
                        if !is_whole {
                            // A line says what was asked and answered.
                            exchange.request.headers.clear();
                            exchange.request.body = None;
                            if let Some(response) = &mut exchange.response {
                                response.headers.clear();
                                response.body = None;
                            }
                        }
                        self.events.push(Event::Exchange(exchange));
                    }
                }
                self.exchanges.clear();
                self.events.push(Event::Verdict(verdict));
            }
            other => self.events.push(other),
        }
    }

    /// The events that were kept.
    pub fn finish(self) -> Vec<Event> {
        self.events
    }
}

/// Whether a report shows the exchanges of a case with this verdict.
pub(crate) fn shows_exchanges(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Fail | Verdict::Waived | Verdict::Inconclusive | Verdict::Error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Run, files::Report, sample};

    #[test]
    fn reports_are_those_of_the_whole_record() {
        for events in [sample::mixed(), sample::hostile()] {
            let events = xs2aspec_record::settled(events);
            let mut keeper = Keeper::default();
            events.iter().cloned().for_each(|event| keeper.add(event));
            let kept = keeper.finish();
            assert!(kept.len() < events.len(), "what passed is left out");
            let (whole, short) = (Run::of(&events).unwrap(), Run::of(&kept).unwrap());
            for report in [Report::Junit, Report::Markdown, Report::Html, Report::Ctrf] {
                let text = |run, events| String::from_utf8(report.draw(run, events)).unwrap();
                assert_eq!(text(&short, &kept), text(&whole, &events), "{report:?}");
            }
        }
    }
}
