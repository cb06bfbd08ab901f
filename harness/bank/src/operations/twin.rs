//! Logical duplicates (the document, section Endpoints > Create NCBCT payment, `allowLogicalDuplicate`).

use serde_json::{Map, Value};

use crate::fingerprint::Fingerprint;
use crate::operation::Product;
use crate::policy::Compared;
use crate::psu::Caller;
use crate::refusal::Refusal;
use crate::state::{Payment, Status};

/// Rejects a logical duplicate unless the TPP allows it: a payment of the same product with the same fields,
/// created earlier on the same day for the same PSU. Rejected and cancelled payments do not count.
pub(super) fn check(
    caller: &Caller<'_>,
    product: Product,
    members: &Map<String, Value>,
    allowed: Option<bool>,
) -> Result<(), Refusal> {
    let policy = &caller.policy.twins;
    if !policy.refused.includes(allowed) {
        return Ok(());
    }
    let fingerprint = Fingerprint::of(members);
    let is_same_content = |earlier: &Payment| {
        // Parsing is slow, and there are thousands of earlier payments.
        let made = || serde_json::from_str::<Map<_, _>>(&earlier.members).unwrap_or_default();
        match &policy.compared {
            Compared::All => earlier.fingerprint.members == fingerprint.members && made() == *members,
            Compared::Terms => earlier.fingerprint.terms == fingerprint.terms,
            Compared::Only(names) => {
                let made = made();
                names.iter().all(|name| made.get(name) == members.get(name))
            }
            Compared::But(pointer) => without(made(), pointer) == without(members.clone(), pointer),
        }
    };
    let is_same = |earlier: &Payment| {
        earlier.product == product
            && earlier.made == Some(caller.today)
            && !matches!(earlier.status, Status::Rjct | Status::Canc)
            && (policy.of_anyone || earlier.owner.psu == caller.owner.psu)
            && is_same_content(earlier)
    };
    if caller.bank.state.any_payment(policy.most.unwrap_or(usize::MAX), is_same) {
        Err(twin())
    } else {
        Ok(())
    }
}

/// Rejects a logical duplicate.
pub fn twin() -> Refusal {
    let says = "expected a payment that differs from the earlier ones of this day, found a duplicate";
    Refusal::conflict("ncbct.allow-logical-duplicate.meaning", says)
}

/// Removes the field at a JSON pointer.
fn without(members: Map<String, Value>, pointer: &str) -> Value {
    let mut body = Value::Object(members);
    let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
    if let Some(Value::Object(members)) = body.pointer_mut(parent) {
        members.remove(name);
    }
    body
}
