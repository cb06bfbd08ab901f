//! A summary of a response, to display and compare.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A summary of a response. Its `Display` text is a phrase: `201 with transactionStatus RCVD`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Got {
    /// Status code.
    pub status: u16,
    /// The field with the status of the resource, and its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<(String, String)>,
    /// The first codes in the body. They are displayed only for an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<String>,
    /// The kind of a body that belongs to no operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<Foreign>,
    /// True if the response came three times, while the baseline request was accepted in between.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_repeated: bool,
}

/// A body that belongs to no operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Foreign {
    /// An HTML page.
    Page,
    /// Anything else.
    Other,
}

impl Got {
    /// Returns a summary with only the status.
    pub fn status(status: u16) -> Self {
        Self { status, ..Self::default() }
    }
}

impl fmt::Display for Got {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, resource, codes, foreign, is_repeated } = self;
        write!(f, "{status}")?;
        if let Some((member, value)) = resource {
            write!(f, " with {member} {value}")?;
        }
        if *status >= 400 && !codes.is_empty() {
            write!(f, " with code {}", codes.join(", "))?;
        }
        f.write_str(match foreign {
            Some(Foreign::Page) => " with an HTML page",
            Some(Foreign::Other) => " with a body that is not the operation's",
            None => "",
        })?;
        f.write_str(if *is_repeated { " three times, while the baseline request is accepted" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_told_in_words() {
        let codes = vec!["A".to_owned(), "B".to_owned()];
        for (got, words) in [
            (Got::status(204), "204"),
            (
                Got { resource: Some(("state".to_owned(), "NEW".to_owned())), ..Got::status(201) },
                "201 with state NEW",
            ),
            (Got { codes: codes.clone(), ..Got::status(400) }, "400 with code A, B"),
            (Got { codes: codes.clone(), ..Got::status(201) }, "201"),
            (
                Got { codes, foreign: Some(Foreign::Page), ..Got::status(404) },
                "404 with code A, B with an HTML page",
            ),
            (
                Got { foreign: Some(Foreign::Other), ..Got::status(200) },
                "200 with a body that is not the operation's",
            ),
            (
                Got { is_repeated: true, ..Got::status(503) },
                "503 three times, while the baseline request is accepted",
            ),
        ] {
            assert_eq!(got.to_string(), words);
            let line = serde_json::to_string(&got).unwrap();
            assert_eq!(serde_json::from_str::<Got>(&line).unwrap(), got);
        }
    }
}
