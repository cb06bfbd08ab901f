//! A custom form of a name that a bank accepts and no standard describes: a string with placeholders for
//! parts of the name, or a fixed string.
//!
//! In `CN={CN}, O={O}, C={C}`, each placeholder is replaced by the value of the first attribute of its type,
//! escaped as in RFC 4514. `{OU:2}` is the second organizational unit, in the order of the certificate.
//! `{#2.5.4.97}` is `#` and the encoding of the value. `{{` and `}}` are literal braces.

use std::fmt;

use super::{Attribute, Name, escaped, kind};

/// A string with or without placeholders.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Template {
    source: String,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Piece {
    Text(String),
    Value {
        /// The text between the braces.
        said: String,
        /// The type, as a dotted number.
        kind: String,
        /// Position among the attributes of this type, from 1.
        number: usize,
        /// True for `#` and the encoding.
        is_encoded: bool,
    },
}

/// The reason that a string is not a template, or does not fit a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A brace without its other half.
    #[error("expected `{{TYPE}}`, or `{{{{` and `}}}}` for braces, found a single brace in `{text}`")]
    Brace {
        /// The template.
        text: String,
    },
    /// A placeholder of an unknown type.
    #[error(
        "expected in `{{{found}}}` a type such as CN, O, organizationIdentifier or 2.5.4.97, with `#` before it for the encoding or `:2` after it for the second one"
    )]
    Kind {
        /// The text between the braces.
        found: String,
    },
    /// A character that keyId cannot contain.
    #[error("keyId cannot contain {found:?}; write a quotation mark as \\22 (RFC 4514, section 2.4)")]
    Letter {
        /// The character.
        found: char,
    },
    /// The name has no such attribute.
    #[error("the issuer of the certificate has no attribute for `{{{said}}}`, only {has}")]
    Missing {
        /// The text between the braces.
        said: String,
        /// The attributes of the name.
        has: String,
    },
}

impl Template {
    /// Returns true if a string may be intended as a template: it has a placeholder, or a part `TYPE=VALUE`.
    pub fn is_meant(text: &str) -> bool {
        text.contains(['{', '='])
    }

    /// Parses a template.
    pub fn read(text: &str) -> Result<Self, TemplateError> {
        if let Some(found) = text.chars().find(|letter| *letter == '"' || letter.is_control()) {
            return Err(TemplateError::Letter { found });
        }
        let alone = || TemplateError::Brace { text: text.to_owned() };
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let braces = &rest[at..];
            if let Some(after) = braces.strip_prefix("{{").or_else(|| braces.strip_prefix("}}")) {
                plain.push_str(&braces[..1]);
                rest = after;
                continue;
            }
            let inner = braces.strip_prefix('{').and_then(|inner| inner.split_once('}'));
            let (said, after) = inner.ok_or_else(alone)?;
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(Piece::read(said)?);
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self { source: text.to_owned(), pieces })
    }

    /// Returns true if it is the same for every name.
    pub fn is_literal(&self) -> bool {
        self.pieces.iter().all(|piece| matches!(piece, Piece::Text(_)))
    }

    /// Writes the string for this name. The error names the placeholder without a value.
    pub fn write(&self, name: &Name) -> Result<String, TemplateError> {
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => Ok(text.clone()),
            Piece::Value { said, kind, number, is_encoded } => {
                let of_kind = |one: &&Attribute| one.kind() == kind;
                match name.attributes().filter(of_kind).nth(number - 1) {
                    Some(attribute) => Ok(attribute
                        .text()
                        .filter(|_| !is_encoded)
                        .map_or_else(|| attribute.encoded(), escaped)),
                    None => Err(TemplateError::Missing { said: said.clone(), has: has(name) }),
                }
            }
        });
        pieces.collect()
    }
}

impl Piece {
    /// Parses the text between the braces of a placeholder.
    fn read(said: &str) -> Result<Self, TemplateError> {
        let unknown = || TemplateError::Kind { found: said.to_owned() };
        let (is_encoded, rest) = said.strip_prefix('#').map_or((false, said), |rest| (true, rest));
        let (kind, number) = match rest.split_once(':') {
            None => (rest, 1),
            Some((kind, number)) => {
                (kind, number.parse().ok().filter(|number| *number > 0).ok_or_else(unknown)?)
            }
        };
        let kind = kind::number(kind).ok_or_else(unknown)?;
        Ok(Self::Value { said: said.to_owned(), kind, number, is_encoded })
    }
}

/// Lists the types of a name's attributes, as placeholders would name them.
fn has(name: &Name) -> String {
    let mut seen: Vec<(&str, usize)> = Vec::new();
    for attribute in name.attributes() {
        let known_as = attribute.known_as();
        match seen.iter_mut().find(|(known, _)| *known == known_as) {
            Some((_, count)) => *count += 1,
            None => seen.push((known_as, 1)),
        }
    }
    let names = seen.iter().map(|(name, count)| match count {
        1 => (*name).to_owned(),
        _ => format!("{name} ({count} of them)"),
    });
    names.collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Template {
    /// Writes the original string.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;

    fn name() -> Name {
        let text = "CN=Seal\\, CA,OU=Seals,OU=Trust,2.5.4.97=#0c0161,C=NO";
        Name::of(&x509_cert::name::Name::from_str(text).unwrap())
    }

    #[test]
    fn placeholders_give_way_to_what_the_name_says() {
        for (template, written) in [
            ("CN={CN}, C={C}", "CN=Seal\\, CA, C=NO"),
            ("{c}/{OU}/{OU:2}", "NO/Trust/Seals"),
            ("{organizationIdentifier} {OID.2.5.4.97} {#2.5.4.97}", "a a #0c0161"),
            ("{#CN:1}", "#0c085365616c2c204341"),
            ("{{{C}}}", "{NO}"),
            ("C=NO", "C=NO"),
        ] {
            let read = Template::read(template).unwrap();
            assert_eq!(read.write(&name()).as_deref(), Ok(written), "{template}");
            assert_eq!((read.to_string().as_str(), read.is_literal()), (template, template == "C=NO"));
        }
    }

    #[test]
    fn what_does_not_fit_says_why() {
        for (template, why) in [
            ("CN={CN", "found a single brace in `CN={CN`"),
            ("CN=}", "found a single brace"),
            ("{XY}", "expected in `{XY}` a type such as CN"),
            ("{OU:0}", "expected in `{OU:0}` a type"),
            ("{}", "expected in `{}` a type"),
            ("O=\"{O}\"", "cannot contain '\"'; write a quotation mark as \\22"),
            ("C=\n", "cannot contain '\\n'"),
        ] {
            let error = Template::read(template).unwrap_err().to_string();
            assert!(error.contains(why), "{template}: {error}");
        }
        for (template, why) in [
            (
                "L={L}",
                "the issuer of the certificate has no attribute for `{L}`, only C, organizationIdentifier, OU (2 of them), CN",
            ),
            ("{OU:3}", "`{OU:3}`"),
        ] {
            let error = Template::read(template).unwrap().write(&name()).unwrap_err().to_string();
            assert!(error.contains(why), "{template}: {error}");
        }
    }
}
