//! What no record may show of an answer, beyond the values of the target profile.

use serde::Deserialize;

use crate::{problem::Problem, tree::Tree, yaml};

/// Where it stands in a tree.
pub const FILE: &str = "fixtures/spec/masks.yaml";

/// Whether a text stands in a record in place of a masked one: its kind, `~`, and eight hexadecimal digits.
pub fn is_pseudonym(text: &str) -> bool {
    text.rsplit_once('~').is_some_and(|(kind, mark)| {
        !kind.is_empty() && mark.len() == 8 && mark.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}

/// Whether a pseudonym stands somewhere in a text.
pub fn holds_pseudonym(text: &[u8]) -> bool {
    let is_mark = |mark: &[u8]| {
        mark.len() >= 8
            && mark[..8].iter().all(u8::is_ascii_hexdigit)
            && !mark.get(8).is_some_and(u8::is_ascii_alphanumeric)
    };
    let mut marks = text.iter().enumerate().filter(|(_, letter)| **letter == b'~');
    marks.any(|(at, _)| at > 0 && text[at - 1].is_ascii_alphanumeric() && is_mark(&text[at + 1..]))
}

/// Headers and members that are masked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MaskSpec {
    /// Headers that are masked whole.
    headers: Vec<String>,
    /// Headers of a request that say who somebody is: what a suite sends is made up, what others send is not.
    #[serde(default)]
    personal_headers: Vec<String>,
    /// Members that are masked with everything inside them; in small letters, without `-` and `_`.
    personal: Vec<String>,
    /// Members that are not, even inside one that is; written so too.
    plain: Vec<String>,
}

/// What the name of a member says of its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Privacy {
    /// It is about somebody; the name in small letters without `-` and `_`.
    Personal(String),
    /// It is about nobody, even inside a personal member.
    Plain,
    /// Nothing: it is what the member around it is.
    Inherited,
}

impl MaskSpec {
    /// Reads it from a tree. A tree without this file is refused: a record would show what it must not.
    pub fn load(tree: &Tree) -> Result<Self, Problem> {
        let text = tree.text(FILE).ok_or_else(|| {
            Problem::of_file(FILE, "the spec has no such file")
                .help("write which headers and members no record shows: `headers`, `personal` and `plain`, each a list")
        })?;
        let mut spec: Self = yaml::read(FILE, text)?;
        for name in spec.personal.iter_mut().chain(&mut spec.plain) {
            *name = normalized(name);
        }
        Ok(spec)
    }

    /// Whether a header is masked whole.
    pub fn hides_header(&self, name: &str) -> bool {
        self.headers.iter().any(|hidden| hidden.eq_ignore_ascii_case(name))
    }

    /// Whether a header of a request says who somebody is.
    pub fn is_personal_header(&self, name: &str) -> bool {
        self.personal_headers.iter().any(|personal| personal.eq_ignore_ascii_case(name))
    }

    /// What the name of a member says.
    pub fn privacy(&self, member: &str) -> Privacy {
        let name = normalized(member);
        match () {
            () if self.plain.contains(&name) => Privacy::Plain,
            () if self.personal.contains(&name) => Privacy::Personal(name),
            () => Privacy::Inherited,
        }
    }
}

fn normalized(name: &str) -> String {
    name.to_lowercase().replace(['-', '_'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<MaskSpec, String> {
        MaskSpec::load(&Tree::of(&[(FILE, text)])).map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_pseudonym_is_told_from_other_texts() {
        assert!(is_pseudonym("iban~0a1b2c3d"));
        for text in ["NO9386011117947", "iban~0a1b2c3", "iban~0a1b2c3g", "~0a1b2c3d", "iban~0a1b2c3d "] {
            assert!(!is_pseudonym(text), "{text}");
        }
    }

    #[test]
    fn a_text_in_which_something_is_masked_is_told_from_others() {
        for text in ["{\"iban\":\"iban~0a1b2c3d\"}", "a iban~0a1b2c3d, b", "iban~0a1b2c3d"] {
            assert!(holds_pseudonym(text.as_bytes()), "{text}");
        }
        for text in ["", "~", "~0a1b2c3d", "iban~0a1b2c3", "iban~0a1b2c3de", "iban~0a1b2c3g", " ~0a1b2c3d"] {
            assert!(!holds_pseudonym(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn names_are_the_same_in_each_way_of_writing() {
        let masks = load("headers: [X-Secret]\npersonal: [ownerName]\nplain: [_links]\n").unwrap();
        assert!(masks.hides_header("x-secret") && !masks.hides_header("Date"));
        assert_eq!(masks.privacy("OWNER_NAME"), Privacy::Personal("ownername".to_owned()));
        assert_eq!(masks.privacy("links"), Privacy::Plain);
        assert_eq!(masks.privacy("other"), Privacy::Inherited);
    }

    #[test]
    fn each_mistake_is_named() {
        let unknown = load("headers: []\npersonal: []\nplain: []\nheader: []\n").unwrap_err();
        assert!(
            unknown.contains(":4:1: unknown field `header`") && unknown.contains("`headers`"),
            "{unknown}"
        );
        let none = MaskSpec::load(&Tree::default()).unwrap_err().to_string();
        assert!(none.contains("no such file"), "{none}");
    }
}
