//! Payments that were made before (the document, section Endpoints > Create NCBCT payment,
//! `allowLogicalDuplicate`).

use http::StatusCode;
use serde_json::{Map, Value};

use super::Context;
use crate::fingerprint::{Fingerprint, TERMS};
use crate::operation::Product;
use crate::policy::{Compared, Twins};
use crate::refusal::{Code, Refusal};
use crate::state::{Owner, Payment, Status};

/// Refuses a payment that was made before on the same day, where the TPP allows no logical duplicate: the
/// same product and members, for the same PSU. Rejected and cancelled payments do not count.
pub(super) fn check(
    context: &Context,
    policy: &Twins,
    product: Product,
    members: &Map<String, Value>,
    owner: &Owner,
    allowed: Option<bool>,
) -> Result<(), Refusal> {
    if !policy.refused.includes(allowed) {
        return Ok(());
    }
    let fingerprint = Fingerprint::of(members);
    let is_same_content = |earlier: &Payment| {
        // There are thousands of them, and reading one takes long.
        let is_other = match policy.compared {
            Compared::All => earlier.fingerprint.members != fingerprint.members,
            Compared::Terms => earlier.fingerprint.terms != fingerprint.terms,
            Compared::Only(_) | Compared::But(_) => false,
        };
        if is_other {
            return false;
        }
        let made: Map<String, Value> = serde_json::from_str(&earlier.members).unwrap_or_default();
        match &policy.compared {
            Compared::All => made == *members,
            Compared::Terms => TERMS.iter().all(|name| made.get(*name) == members.get(*name)),
            Compared::Only(names) => names.iter().all(|name| made.get(name) == members.get(name)),
            Compared::But(pointer) => without(made, pointer) == without(members.clone(), pointer),
        }
    };
    let is_same = |earlier: &Payment| {
        earlier.product == product
            && earlier.made == Some(context.clock.today())
            && !matches!(earlier.status, Status::Rjct | Status::Canc)
            && (policy.of_anyone || earlier.owner.psu == owner.psu)
            && is_same_content(earlier)
    };
    if context.state.any_payment(policy.most, is_same) { Err(twin()) } else { Ok(()) }
}

/// The refusal of a payment that was made before.
pub fn twin() -> Refusal {
    let says = "expected another payment than those of this day, found one that was made before";
    let rule = "ncbct.allow-logical-duplicate.meaning";
    Refusal::new(StatusCode::CONFLICT, Code::Conflict, rule, says)
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
