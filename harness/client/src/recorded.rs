//! What a record has of a client.

use std::collections::BTreeMap;

use xs2aspec_record::{CaseVerdict, ClauseText, DocumentText, Event, Exchange, RunStarted};

/// Before what an observation says that an exchange shows, since the record masks it.
const SHOWS: &str = "the client shows: ";

/// What stands for no item.
const NOTHING: &str = "nothing";

/// What an observation says of items that an exchange shows though the record masks what shows them.
pub fn observation(items: &[&str]) -> String {
    format!("{SHOWS}{}", if items.is_empty() { NOTHING.to_owned() } else { items.join(", ") })
}

/// What a record has of a client: its requests with their answers in the order in which they began, and what
/// was made of them.
#[derive(Debug, Default)]
pub struct Recorded {
    /// What the record says of itself.
    pub start: RunStarted,
    /// The document.
    pub document: Option<DocumentText>,
    /// Clauses by id.
    pub clauses: BTreeMap<String, ClauseText>,
    /// Exchanges.
    pub exchanges: Vec<Exchange>,
    /// Verdicts, by the number of their exchange.
    pub verdicts: BTreeMap<u64, CaseVerdict>,
    /// Microseconds that the whole took.
    pub micros: u64,
}

impl Recorded {
    /// Takes what the events of a record say.
    pub fn of(events: impl IntoIterator<Item = Event>) -> Self {
        let mut recorded = Self::default();
        for event in events {
            match event {
                Event::RunStarted(start) => recorded.start = start,
                Event::Document(document) => recorded.document = Some(document),
                Event::Clause(clause) => _ = recorded.clauses.insert(clause.id.clone(), clause),
                Event::Exchange(exchange) => recorded.exchanges.push(exchange),
                Event::Verdict(verdict) => {
                    if let Some(number) = verdict.exchange {
                        recorded.verdicts.insert(number, verdict);
                    }
                }
                Event::RunFinished(finish) => recorded.micros = finish.micros,
                _ => {}
            }
        }
        recorded.exchanges.sort_by_key(|exchange| (exchange.at, exchange.number));
        recorded
    }

    /// Whether an observation says that an exchange shows an item; `None` where none speaks of items.
    pub(crate) fn says_shown(&self, exchange: &Exchange, item: &str) -> Option<bool> {
        let verdict = self.verdicts.get(&exchange.number);
        let mut said = verdict.into_iter().flat_map(|verdict| &verdict.observations);
        let items = said.find_map(|text| text.strip_prefix(SHOWS))?;
        Some(items.split(", ").any(|known| known == item))
    }
}
