//! JSON as it was sent: whether a member is there twice, which a parsed value no longer shows.

use std::{collections::HashSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};

/// Whether some object of a JSON text has a member twice. The text is known to be JSON.
pub(crate) fn has_member_twice(text: &[u8]) -> bool {
    serde_json::from_slice::<Twice>(text).is_ok_and(|found| found.0)
}

/// Whether a member is there twice, in a value or in one inside it.
struct Twice(bool);

impl<'de> Deserialize<'de> for Twice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Look)
    }
}

struct Look;

impl<'de> Visitor<'de> for Look {
    type Value = Twice;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Twice, E> {
        Ok(Twice(false))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Twice, E> {
        Ok(Twice(false))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Twice, E> {
        Ok(Twice(false))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Twice, E> {
        Ok(Twice(false))
    }

    fn visit_str<E>(self, _: &str) -> Result<Twice, E> {
        Ok(Twice(false))
    }

    fn visit_unit<E>(self) -> Result<Twice, E> {
        Ok(Twice(false))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Twice, A::Error> {
        let mut found = false;
        while let Some(Twice(inner)) = items.next_element()? {
            found |= inner;
        }
        Ok(Twice(found))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Twice, A::Error> {
        let (mut found, mut names) = (false, HashSet::<String>::new());
        while let Some((name, Twice(inner))) = members.next_entry::<String, Twice>()? {
            found |= inner | !names.insert(name);
        }
        Ok(Twice(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_that_is_there_twice_is_seen_at_any_depth() {
        for (text, expected) in [
            (r#"{"a":1,"a":1}"#, true),
            (r#"{"a":[{"b":null,"c":{"d":1.5,"d":true}}]}"#, true),
            (r#"{"a":{"b":1},"c":{"b":1}}"#, false),
            ("[]", false),
            ("not JSON", false),
        ] {
            assert_eq!(has_member_twice(text.as_bytes()), expected, "{text}");
        }
    }
}
