//! What a target minds in a lawful request that it refuses.

use serde::{Deserialize, Serialize};

/// What is known of why a target refuses a lawful request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Culprit {
    /// A request with these alone was refused, and one without any one of them was accepted.
    Found {
        /// Each of them.
        forms: Vec<RefusedForm>,
        /// The case that showed it, where that is another one that makes them too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown_by: Option<String>,
    },
    /// The lawful request of the case was refused, and another lawful one was accepted that is this one thing
    /// away from it.
    Accepted {
        /// What is another.
        form: RefusedForm,
        /// Whether the refused request has something else there, which is as lawful.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        replaces: bool,
    },
    /// The lawful request of the case was refused, and every other that was tried in its place; with the same
    /// key one of another operation was accepted, and nothing else in the request need be known to the
    /// target.
    OtherOperation {
        /// That operation.
        operation: String,
    },
    /// The lawful request of the case was refused, and accepted once it was signed as a bank may choose. A
    /// profile declares what its bank chose.
    Chosen {
        /// The line of a profile that declares it.
        add: String,
    },
    /// The valid request of the case was rejected after the requests of these cases, twice, and accepted
    /// alone.
    Company {
        /// The cases whose requests came before it, in the order in which they were sent.
        cases: Vec<String>,
    },
    /// It was not found.
    Unknown {
        /// Why not.
        why: String,
    },
}

/// A lawful form of one place, on which it depends whether a request is refused.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RefusedForm {
    /// The place (`body/creditorName`).
    pub place: String,
    /// What it changes in the baseline, in words.
    pub changes: Vec<String>,
    /// The clause that leaves it to the caller, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clause: Option<String>,
}

impl Culprit {
    /// What is refused, as far as it is known.
    pub fn forms(&self) -> &[RefusedForm] {
        match self {
            Self::Found { forms, .. } => forms,
            _ => &[],
        }
    }

    /// What was found, in one sentence about the changes that are shown.
    pub fn says(&self) -> String {
        let (forms, shown_by) = match self {
            Self::Found { forms, shown_by } => (forms, shown_by),
            Self::Accepted { form, replaces: true } => {
                let changes = form.changes.join("; ");
                return format!(
                    "accepted with this in place of what is there, which is as lawful: {changes}"
                );
            }
            Self::Accepted { form, .. } => {
                return format!("accepted with this, which nobody has to send: {}", form.changes.join("; "));
            }
            Self::OtherOperation { operation } => {
                return format!(
                    "the same key is accepted by {operation}, and the request has nothing else to know"
                );
            }
            Self::Chosen { add } => return format!("accepted as this line of a profile declares: {add}"),
            Self::Company { cases } => {
                return format!("accepted alone, rejected after the requests of {}", cases.join(", "));
            }
            Self::Unknown { why } => return format!("which of these changes is refused is not known: {why}"),
        };
        let says = match forms.len() {
            1 => "refused with this alone, accepted without it".to_owned(),
            2 => "refused with these two together, accepted without either of them".to_owned(),
            count => format!("refused with these {count} together, accepted without any one of them"),
        };
        shown_by.as_ref().map_or(says.clone(), |case| format!("{says}, as {case} shows"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_counts_what_is_refused_together() {
        let found = |count: usize, shown_by: Option<&str>| {
            let form = RefusedForm {
                place: "body/a".to_owned(),
                changes: vec!["body/a removed".to_owned()],
                clause: None,
            };
            Culprit::Found { forms: vec![form; count], shown_by: shown_by.map(str::to_owned) }.says()
        };
        assert_eq!(found(1, None), "refused with this alone, accepted without it");
        assert_eq!(
            found(2, Some("a.b/pairs-1")),
            "refused with these two together, accepted without either of them, as a.b/pairs-1 shows"
        );
        assert_eq!(found(3, None), "refused with these 3 together, accepted without any one of them");
        let form = RefusedForm {
            place: "header/A".to_owned(),
            changes: vec!["header/A = \"b\"".to_owned(), "header/C removed".to_owned()],
            clause: None,
        };
        let says = "accepted with this, which nobody has to send: header/A = \"b\"; header/C removed";
        assert_eq!(Culprit::Accepted { form: form.clone(), replaces: false }.says(), says);
        let says = "accepted with this in place of what is there, which is as lawful: header/A = \"b\"; header/C removed";
        assert_eq!(Culprit::Accepted { form, replaces: true }.says(), says);
        let chosen = Culprit::Chosen { add: "[choices] a = \"b\"".to_owned() };
        assert_eq!(chosen.says(), "accepted as this line of a profile declares: [choices] a = \"b\"");
        let unknown = Culprit::Unknown { why: "got 503".to_owned() };
        assert_eq!(unknown.says(), "which of these changes is refused is not known: got 503");
    }
}
