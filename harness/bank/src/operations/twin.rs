//! Payments that were made before (the document, section Endpoints > Create NCBCT payment,
//! `allowLogicalDuplicate`).

use serde_json::{Map, Value};

use crate::fingerprint::Fingerprint;
use crate::operation::Product;
use crate::policy::Compared;
use crate::psu::Caller;
use crate::refusal::Refusal;
use crate::state::{Payment, Status};

/// Refuses a payment that was made before on the same day, where the TPP allows no logical duplicate: the
/// same product and members, for the same PSU. Rejected and cancelled payments do not count.
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
        // There are thousands of them, and reading one takes long.
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

/// The refusal of a payment that was made before.
pub fn twin() -> Refusal {
    let says = "expected another payment than those of this day, found one that was made before";
    Refusal::conflict("ncbct.allow-logical-duplicate.meaning", says)
}

/// The members but the one at a pointer.
fn without(members: Map<String, Value>, pointer: &str) -> Value {
    let mut body = Value::Object(members);
    let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
    if let Some(Value::Object(members)) = body.pointer_mut(parent) {
        members.remove(name);
    }
    body
}
