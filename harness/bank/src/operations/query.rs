//! Query parameters. Unknown ones are ignored.

use http::Uri;

use crate::member::kebab_case;
use crate::operation::Operation;
use crate::policy::Policy;
use crate::refusal::{Refusal, excerpt};

/// The boolean parameters of one request.
pub(super) struct Flags(Vec<(&'static str, bool)>);

impl Flags {
    /// Returns the value of a parameter. The last one counts if it occurs more than once.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.0.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// Returns the parameters of an operation. All are booleans.
pub fn known(operation: Operation) -> &'static [&'static str] {
    match operation {
        Operation::Ncbct => &["allowLogicalDuplicate"],
        Operation::Customers => &["withAccounts", "withAgreements"],
        _ => &[],
    }
}

/// Reads the parameters of an operation, all of them optional booleans in the document.
pub(super) fn check(uri: &Uri, operation: Operation, policy: &Policy) -> Result<Flags, Refusal> {
    let known = known(operation);
    if known.is_empty() {
        return Ok(Flags(Vec::new()));
    }
    let mut flags = Vec::new();
    for (name, value) in form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
        let Some(name) = known.iter().find(|known| **known == name) else { continue };
        match if policy.query.is_true(name, &value) { Ok(true) } else { value.parse() } {
            Ok(value) => flags.push((*name, value)),
            Err(_) if policy.query.passes_over(name) => {}
            Err(_) => {
                let says = format!("expected true or false, found {}", excerpt(&value));
                let rule = format!("{operation}.{}.type", kebab_case(name));
                return Err(Refusal::format(rule, says).at(*name));
            }
        }
    }
    if policy.customers.first_parameter_alone {
        flags.truncate(1);
    }
    Ok(Flags(flags))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str, operation: Operation) -> Result<Flags, String> {
        check(&format!("/v1/path{query}").parse().unwrap(), operation, &Policy::default())
            .map_err(|refusal| refusal.rule)
    }

    #[test]
    fn booleans_and_nothing_else() {
        let flags = read("?withAccounts=false&x=y&withAgreements=true", Operation::Customers).unwrap();
        assert_eq!(flags.flag("withAccounts"), Some(false));
        assert_eq!(flags.flag("withAgreements"), Some(true));
        assert_eq!(read("", Operation::Customers).unwrap().flag("withAccounts"), None);
        for query in
            ["?withAccounts=", "?withAccounts", "?withAccounts=TRUE", "?withAccounts=1", "?withAccounts=%ff"]
        {
            assert!(read(query, Operation::Customers).is_err(), "{query}");
        }
        assert!(read("?allowLogicalDuplicate=true", Operation::Ncbct).is_ok());
        assert!(read("?allowLogicalDuplicate=maybe", Operation::Ncbct).is_err());
        assert!(read("?allowLogicalDuplicate=maybe", Operation::Periodic).is_ok());
    }
}
