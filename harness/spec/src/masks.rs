//! What no record may show of an answer, beyond the values of the target profile.

use serde::Deserialize;

use crate::{problem::Problem, tree::Tree, yaml, yaml::At};

/// Where it stands in a tree.
pub const FILE: &str = "fixtures/spec/masks.yaml";

/// Headers and members that are masked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MaskSpec {
    headers: Vec<String>,
    /// In small letters, without `-` and `_`; so are those that follow.
    personal: Vec<String>,
    plain: Vec<String>,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Headers that are masked whole.
    headers: Vec<At<String>>,
    /// Members that are masked with everything inside them.
    personal: Vec<At<String>>,
    /// Members that are not, even inside one that is.
    plain: Vec<At<String>>,
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
        let file: File = yaml::read(FILE, text)?;
        let mut names: Vec<String> = Vec::new();
        for name in file.personal.iter().chain(&file.plain) {
            let plain = normalized(&name.value);
            if names.contains(&plain) {
                return Err(name.problem(FILE, format!("member `{}` is there twice", name.value)));
            }
            names.push(plain);
        }
        let list = |names: &[At<String>]| names.iter().map(|name| normalized(&name.value)).collect();
        Ok(Self {
            personal: list(&file.personal),
            plain: list(&file.plain),
            headers: file.headers.into_iter().map(|name| name.value).collect(),
        })
    }

    /// Whether a header is masked whole.
    pub fn hides_header(&self, name: &str) -> bool {
        self.headers.iter().any(|hidden| hidden.eq_ignore_ascii_case(name))
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
    fn names_are_the_same_in_each_way_of_writing() {
        let masks = load("headers: [X-Secret]\npersonal: [ownerName]\nplain: [_links]\n").unwrap();
        assert!(masks.hides_header("x-secret") && !masks.hides_header("Date"));
        assert_eq!(masks.privacy("OWNER_NAME"), Privacy::Personal("ownername".to_owned()));
        assert_eq!(masks.privacy("links"), Privacy::Plain);
        assert_eq!(masks.privacy("other"), Privacy::Inherited);
    }

    #[test]
    fn each_mistake_is_named() {
        let twice = load("headers: []\npersonal: [name]\nplain: [NAME]\n").unwrap_err();
        assert!(twice.starts_with("fixtures/spec/masks.yaml:3:9: member `NAME` is there twice"), "{twice}");
        let unknown = load("headers: []\npersonal: []\nplain: []\nheader: []\n").unwrap_err();
        assert!(
            unknown.contains(":4:1: unknown field `header`") && unknown.contains("`headers`"),
            "{unknown}"
        );
        let none = MaskSpec::load(&Tree::default()).unwrap_err().to_string();
        assert!(none.contains("no such file"), "{none}");
    }
}
