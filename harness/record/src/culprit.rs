//! The minimal cause of the rejection of a valid request.

use serde::{Deserialize, Serialize};

/// The known cause of the rejection of a valid request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Culprit {
    /// A request with only these variants was rejected. Without any one of them it was accepted.
    Found {
        /// The variants.
        forms: Vec<RefusedForm>,
        /// The other case with the same variants that showed it, if the case itself did not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown_by: Option<String>,
    },
    /// The valid request of the case was rejected. Another valid request, which differs only in this variant,
    /// was accepted.
    Accepted {
        /// The difference.
        form: RefusedForm,
        /// True if the rejected request has another value there, which is equally valid.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        replaces: bool,
    },
    /// The valid request of the case and every substitute were rejected. A request of another operation with
    /// the same key was accepted, and the rejected request contains nothing else that the target must know.
    OtherOperation {
        /// The other operation.
        operation: String,
    },
    /// The valid request of the case was rejected, and accepted when signed in a way that a bank may choose.
    /// A profile declares the choice of its bank.
    Chosen {
        /// The profile line that declares it.
        add: String,
    },
    /// The valid request of the case was rejected twice after the requests of these cases, and accepted
    /// alone.
    Company {
        /// The cases whose requests came before it, in the order in which they were sent.
        cases: Vec<String>,
    },
    /// The cause was not found.
    Unknown {
        /// Reason why.
        why: String,
    },
}

/// A valid variant of one place that decides if a request is rejected.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RefusedForm {
    /// The place (`body/creditorName`).
    pub place: String,
    /// Descriptions of its changes to the baseline.
    pub changes: Vec<String>,
    /// The clause that makes it the caller's choice, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clause: Option<String>,
}

impl Culprit {
    /// Returns the rejected variants, as far as they are known.
    pub fn forms(&self) -> &[RefusedForm] {
        match self {
            Self::Found { forms, .. } => forms,
            _ => &[],
        }
    }

    /// Returns one sentence about the changes shown with it.
    pub fn says(&self) -> String {
        let (forms, shown_by) = match self {
            Self::Found { forms, shown_by } => (forms, shown_by),
            Self::Accepted { form, replaces: true } => {
                let changes = form.changes.join("; ");
                return format!("accepted with this instead, which is equally valid: {changes}");
            }
            Self::Accepted { form, .. } => {
                return format!("accepted with this, which is optional: {}", form.changes.join("; "));
            }
            Self::OtherOperation { operation } => {
                return format!(
                    "{operation} accepts the same key, and the request contains nothing else that the bank must know"
                );
            }
            Self::Chosen { add } => {
                return format!("accepted when signed as this profile line declares: {add}");
            }
            Self::Company { cases } => {
                return format!("accepted alone, rejected after the requests of {}", cases.join(", "));
            }
            Self::Unknown { why } => return format!("cannot tell which of these changes is rejected: {why}"),
        };
        let says = match forms.len() {
            1 => "rejected with this alone, accepted without it".to_owned(),
            2 => "rejected with these two together, accepted without either of them".to_owned(),
            count => format!("rejected with these {count} together, accepted without any one of them"),
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
        assert_eq!(found(1, None), "rejected with this alone, accepted without it");
        assert_eq!(
            found(2, Some("a.b/pairs-1")),
            "rejected with these two together, accepted without either of them, as a.b/pairs-1 shows"
        );
        assert_eq!(found(3, None), "rejected with these 3 together, accepted without any one of them");
        let form = RefusedForm {
            place: "header/A".to_owned(),
            changes: vec!["header/A = \"b\"".to_owned(), "header/C removed".to_owned()],
            clause: None,
        };
        let says = "accepted with this, which is optional: header/A = \"b\"; header/C removed";
        assert_eq!(Culprit::Accepted { form: form.clone(), replaces: false }.says(), says);
        let says = "accepted with this instead, which is equally valid: header/A = \"b\"; header/C removed";
        assert_eq!(Culprit::Accepted { form, replaces: true }.says(), says);
        let chosen = Culprit::Chosen { add: "[choices] a = \"b\"".to_owned() };
        assert_eq!(chosen.says(), "accepted when signed as this profile line declares: [choices] a = \"b\"");
        let unknown = Culprit::Unknown { why: "got 503".to_owned() };
        assert_eq!(unknown.says(), "cannot tell which of these changes is rejected: got 503");
    }
}
