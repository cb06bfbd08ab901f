//! HTTP archives (HAR 1.2), read as a stream: one entry is in memory at a time, however long the archive is.

use std::{fmt, io::Read};

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Deserializer as Json, Value};
use xs2aspec_record::lines::LONGEST_WORDS;

use super::{InputError, Masked, Piece, budget::Budget, entry, surrogates::WithoutHalves};

/// Why the reading ended.
enum Stop {
    /// Whoever reads has enough.
    Enough,
    /// What is wrong with the entry of this number; without one with the archive itself.
    Wrong(Option<u64>, String),
}

/// Reads an archive.
pub fn read(name: &str, file: impl Read, take: &mut dyn FnMut(Piece) -> bool) -> Result<(), InputError> {
    let budget = Budget::new();
    let mut json = Json::from_reader(WithoutHalves::new(budget.of(file)));
    let mut state = State { take, number: 0, stop: None, found: false, is_of_a_run: true, budget };
    let read = json.deserialize_any(Whole(&mut state)).and_then(|()| json.end());
    let State { number, stop, found, budget, .. } = state;
    let error = match (stop, read) {
        (Some(Stop::Wrong(number, what)), _) => (number, what),
        (None, Err(error)) => {
            let at = format!("line {}, column {}", error.line(), error.column());
            let what = if error.is_eof() {
                format!("the archive ends in the middle ({at})")
            } else if budget.is_used_up() {
                format!("expected at most {LONGEST_WORDS}, found more ({at})")
            } else if error.is_io() {
                return Err(InputError::File(name.to_owned(), error.into()));
            } else {
                format!("expected JSON (RFC 8259), found none at {at}")
            };
            (found.then_some(number + 1), what)
        }
        (None, Ok(())) if !found => {
            (None, "expected an HTTP archive: an object `log` with a list `entries`, found none".to_owned())
        }
        (Some(Stop::Enough), _) | (None, Ok(())) => return Ok(()),
    };
    Err(match error {
        (Some(number), what) => InputError::Entry { file: name.to_owned(), number, what },
        (None, what) => InputError::Form(name.to_owned(), what),
    })
}

struct State<'a> {
    take: &'a mut dyn FnMut(Piece) -> bool,
    /// Entries that were read to their end.
    number: u64,
    stop: Option<Stop>,
    /// Whether there is a list of entries.
    found: bool,
    /// Whether the archive of this program is that of a run, as long as it does not say otherwise.
    is_of_a_run: bool,
    /// What each entry may still have.
    budget: Budget,
}

impl State<'_> {
    fn wrong(&mut self, what: impl Into<String>) {
        self.stop = Some(Stop::Wrong(None, what.into()));
    }

    fn entry(&mut self, value: &Value) {
        self.budget.renew();
        match entry::traffic(self.number + 1, value) {
            Ok(traffic) => {
                self.number += 1;
                if !(self.take)(Piece::Traffic(Box::new(traffic))) {
                    self.stop = Some(Stop::Enough);
                }
            }
            Err(what) => self.stop = Some(Stop::Wrong(Some(self.number + 1), what)),
        }
    }
}

/// The text of an error that only ends the reading: what it means is in the state.
const STOPPED: &str = "stopped";

/// A value of one type, where others are a mistake of the archive.
macro_rules! others_are_wrong {
    ($what:literal) => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str($what)
        }

        fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<(), E> {
            self.0.wrong(concat!("expected ", $what, ", found true or false"));
            Err(E::custom(STOPPED))
        }

        fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<(), E> {
            self.0.wrong(concat!("expected ", $what, ", found a number"));
            Err(E::custom(STOPPED))
        }

        fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<(), E> {
            self.0.wrong(concat!("expected ", $what, ", found a number"));
            Err(E::custom(STOPPED))
        }

        fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<(), E> {
            self.0.wrong(concat!("expected ", $what, ", found a number"));
            Err(E::custom(STOPPED))
        }

        fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<(), E> {
            self.0.wrong(concat!("expected ", $what, ", found a text"));
            Err(E::custom(STOPPED))
        }

        fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
            self.0.wrong(concat!("expected ", $what, ", found null"));
            Err(E::custom(STOPPED))
        }
    };
}

struct Whole<'a, 'b>(&'a mut State<'b>);
struct Log<'a, 'b>(&'a mut State<'b>);
struct Entries<'a, 'b>(&'a mut State<'b>);

impl<'de> Visitor<'de> for Whole<'_, '_> {
    type Value = ();
    others_are_wrong!("an object with `log`");

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        self.0.wrong("expected an object with `log`, found a list");
        Err(A::Error::custom(STOPPED))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            if name == "log" {
                members.next_value_seed(Log(&mut *self.0))?;
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Log<'_, '_> {
    type Value = ();
    others_are_wrong!("`log`: an object with `entries`");

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        self.0.wrong("expected `log`: an object with `entries`, found a list");
        Err(A::Error::custom(STOPPED))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "entries" => members.next_value_seed(Entries(&mut *self.0))?,
                // What `exchanges.har` of a run says of how it was masked.
                "_seed" => {
                    if let Some(seed) = members.next_value::<Value>()?.as_u64() {
                        (self.0.take)(Piece::Masked(Masked { seed, is_of_a_run: self.0.is_of_a_run }));
                    }
                }
                name => {
                    self.0.is_of_a_run &= name != "_traffic";
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Entries<'_, '_> {
    type Value = ();
    others_are_wrong!("`log.entries`: a list");

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        self.0.wrong("expected `log.entries`: a list, found an object");
        Err(A::Error::custom(STOPPED))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.0.found = true;
        while let Some(value) = items.next_element::<Value>()? {
            self.0.entry(&value);
            if self.0.stop.is_some() {
                return Err(A::Error::custom(STOPPED));
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Log<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> DeserializeSeed<'de> for Entries<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}
