//! Notes about earlier requests, by kind and key.

use super::State;

impl State {
    /// Records a header value. Returns true if it is new.
    pub fn is_new(&self, header: &'static str, value: &str) -> bool {
        self.memory().seen.insert((header, value.to_owned()), String::new()).is_none()
    }

    /// Records the first value under a key. Returns true if this is that value.
    pub fn is_first(&self, kind: &'static str, key: &str, value: &str) -> bool {
        self.memory().seen.entry((kind, key.to_owned())).or_insert_with(|| value.to_owned()) == value
    }

    /// Returns true if the key is recorded.
    pub fn is_known(&self, kind: &'static str, key: &str) -> bool {
        self.memory().seen.contains_key(&(kind, key.to_owned()))
    }

    /// Increments the counter of a key, and returns it.
    pub fn count(&self, kind: &'static str, key: &str) -> u32 {
        let mut memory = self.memory();
        let counted = memory.seen.entry((kind, key.to_owned())).or_default();
        let count = counted.parse::<u32>().unwrap_or_default().saturating_add(1);
        *counted = count.to_string();
        count
    }

    /// Returns the counter of a key.
    pub fn times(&self, kind: &'static str, key: &str) -> u32 {
        let memory = self.memory();
        memory.seen.get(&(kind, key.to_owned())).and_then(|count| count.parse().ok()).unwrap_or_default()
    }
}
