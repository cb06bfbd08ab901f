//! Reads HTTP archives (HAR 1.2) as a stream. Only one entry is in memory at a time.

use std::{
    cell::Cell,
    collections::{HashSet, VecDeque},
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    io::Read,
    rc::Rc,
};

use chrono::{DateTime, TimeDelta, Utc};
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde_json::{Deserializer as Json, Value, error::Category};

use super::{
    InputError, Masked, Piece,
    budget::{LONGEST, LONGEST_WORDS, Within},
    entry, quirks,
    surrogates::WithoutHalves,
};
use xs2aspec_judge::traffic::Traffic;

/// Longest time between the two entries of one request.
const MOMENT: TimeDelta = TimeDelta::seconds(5);

/// Maximum number of recent requests to compare.
const MOST: usize = 256;

/// Reads an archive. `now` is the time of entries without one.
pub(super) fn read(
    name: &str,
    file: impl Read,
    now: DateTime<Utc>,
    take: &mut dyn FnMut(Piece) -> bool,
) -> Result<(), InputError> {
    let left = Rc::new(Cell::new(LONGEST));
    let mut json = Json::from_reader(WithoutHalves::new(Within(file, Rc::clone(&left))));
    let mut state = State {
        take,
        now,
        number: 0,
        level: Level::Archive,
        is_enough: false,
        found: false,
        is_of_a_run: true,
        once: VecDeque::new(),
        left,
    };
    let read = json.deserialize_any(Part(&mut state, Level::Archive)).and_then(|()| json.end());
    let State { number, level, is_enough, found, left, .. } = state;
    let error = match read {
        _ if is_enough => return Ok(()),
        Ok(()) if found => return Ok(()),
        Ok(()) => {
            let what = "expected an HTTP archive: an object `log` with a list `entries`, found none";
            return Err(InputError::Form(name.to_owned(), what.to_owned()));
        }
        Err(error) => error,
    };
    let at = format!("line {}, column {}", error.line(), error.column());
    let what = match error.classify() {
        Category::Eof => format!("the archive is truncated ({at})"),
        _ if left.get() == 0 => format!("expected at most {LONGEST_WORDS}, found more ({at})"),
        Category::Io => return Err(InputError::File(name.to_owned(), error.into())),
        Category::Data => {
            let what = format!("expected {}, found something else ({at})", level.expected());
            return Err(InputError::Form(name.to_owned(), what));
        }
        Category::Syntax => format!("expected JSON (RFC 8259), found none at {at}"),
    };
    Err(if found {
        InputError::Entry { file: name.to_owned(), number: number + 1, what }
    } else {
        InputError::Form(name.to_owned(), what)
    })
}

struct State<'a> {
    take: &'a mut dyn FnMut(Piece) -> bool,
    now: DateTime<Utc>,
    /// Number of entries read so far.
    number: u64,
    /// The innermost part that was started.
    level: Level,
    /// True if `take` wants no more.
    is_enough: bool,
    /// True if a list of entries was found.
    found: bool,
    /// True if this program's archive is from a run. Holds until the archive says otherwise.
    is_of_a_run: bool,
    /// Hashes of recent requests that may have a second entry.
    once: VecDeque<Once>,
    /// Number of bytes that the entry may still have.
    left: Rc<Cell<u64>>,
}

/// A request that may have a second entry.
struct Once {
    began: DateTime<Utc>,
    request: u64,
    headers: HashSet<(String, String)>,
    is_of_worker: bool,
}

impl State<'_> {
    fn entry(&mut self, value: &Value) {
        self.left.set(LONGEST);
        self.number += 1;
        let piece = match entry::read(self.number, value, self.now) {
            Piece::Traffic(traffic) if self.is_second(&traffic, quirks::is_of_worker(value)) => {
                Piece::Twice(self.number)
            }
            piece => piece,
        };
        self.is_enough = !(self.take)(piece);
    }

    /// Returns true if the page and its service worker both list the request. A request has at most two
    /// entries, so a third one is another request.
    fn is_second(&mut self, traffic: &Traffic, is_of_worker: bool) -> bool {
        let Traffic { began, request, answer, .. } = traffic;
        let mut hasher = DefaultHasher::new();
        let body = request.body.bytes();
        let status = answer.as_ref().map(|answer| answer.status);
        (&request.method, &request.url, body, status).hash(&mut hasher);
        let headers =
            request.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect();
        let this = Once { began: *began, request: hasher.finish(), headers, is_of_worker };
        self.once.retain(|one| (this.began - one.began).abs() <= MOMENT);
        // A worker sees its headers in another case and order, and before some are added.
        let is_part =
            |one: &Once| one.headers.is_subset(&this.headers) || this.headers.is_subset(&one.headers);
        let is_same =
            |one: &Once| one.request == this.request && one.is_of_worker != is_of_worker && is_part(one);
        let other = self.once.iter().position(is_same);
        match other {
            Some(at) => _ = self.once.remove(at),
            None => self.once.push_back(this),
        }
        while self.once.len() > MOST {
            self.once.pop_front();
        }
        other.is_some()
    }
}

/// The parts around the entries.
#[derive(Clone, Copy)]
enum Level {
    Archive,
    Log,
    Entries,
}

impl Level {
    const fn expected(self) -> &'static str {
        match self {
            Self::Archive => "an object with `log`",
            Self::Log => "`log`: an object with `entries`",
            Self::Entries => "`log.entries`: a list",
        }
    }
}

/// A part of an archive that is being read.
struct Part<'a, 'b>(&'a mut State<'b>, Level);

impl<'de> Visitor<'de> for Part<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.1.expected())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Self(state, level) = self;
        if matches!(level, Level::Entries) {
            return Err(A::Error::invalid_type(Unexpected::Map, &level.expected()));
        }
        while let Some(name) = members.next_key::<String>()? {
            match (level, name.as_str()) {
                (Level::Archive, "log") => members.next_value_seed(Part(&mut *state, Level::Log))?,
                (Level::Log, "entries") => members.next_value_seed(Part(&mut *state, Level::Entries))?,
                // Archives of this program name the masked values.
                (Level::Log, "_values") => {
                    let values = members.next_value::<Value>()?;
                    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                    let values = values.as_object().into_iter().flatten();
                    let values = values.map(|(name, value)| (name.clone(), text(value))).collect();
                    (state.take)(Piece::Masked(Masked { values, is_of_a_run: state.is_of_a_run }));
                }
                (_, name) => {
                    state.is_of_a_run &= name != "_traffic";
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Self(state, level) = self;
        if !matches!(level, Level::Entries) {
            return Err(A::Error::invalid_type(Unexpected::Seq, &level.expected()));
        }
        state.found = true;
        while let Some(value) = items.next_element::<Value>()? {
            state.entry(&value);
            if state.is_enough {
                return Err(A::Error::custom("enough"));
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Part<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.level = self.1;
        deserializer.deserialize_any(self)
    }
}
