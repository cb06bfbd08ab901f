//! What the bank notes of earlier requests, by a kind and a key.

use super::State;

impl State {
    /// Remembers a value of a header, and says whether it was there before.
    pub fn is_new(&self, header: &'static str, value: &str) -> bool {
        self.memory().seen.insert((header, value.to_owned()), String::new()).is_none()
    }

    /// Whether this is the value that came first with a key.
    pub fn is_first(&self, kind: &'static str, key: &str, value: &str) -> bool {
        self.memory().seen.entry((kind, key.to_owned())).or_insert_with(|| value.to_owned()) == value
    }

    /// Whether a value came with this key.
    pub fn is_known(&self, kind: &'static str, key: &str) -> bool {
        self.memory().seen.contains_key(&(kind, key.to_owned()))
    }

    /// Notes that this came with this key, and returns how often it did, this time included.
    pub fn count(&self, kind: &'static str, key: &str) -> u32 {
        let mut memory = self.memory();
        let counted = memory.seen.entry((kind, key.to_owned())).or_default();
        let count = counted.parse::<u32>().unwrap_or_default().saturating_add(1);
        *counted = count.to_string();
        count
    }

    /// How often this came with this key.
    pub fn times(&self, kind: &'static str, key: &str) -> u32 {
        let memory = self.memory();
        memory.seen.get(&(kind, key.to_owned())).and_then(|count| count.parse().ok()).unwrap_or_default()
    }
}
