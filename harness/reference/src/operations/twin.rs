//! Payments that were made before (the document, section Endpoints > Create NCBCT payment,
//! `allowLogicalDuplicate`).

use axum::http::StatusCode;
use serde_json::{Map, Value};

use super::Context;
use crate::fingerprint::{Fingerprint, TERMS};
use crate::operation::Product;
use crate::refusal::{Code, Refusal};
use crate::rules::{Breach, StateBreach, TwinBreach};
use crate::state::{Owner, Payment, Status};

/// Refuses a payment that was made before on the same day, where the TPP allows no logical duplicate: the
/// same product and members, for the same PSU. Rejected and cancelled payments do not count.
pub(super) fn check(
    context: &Context,
    product: Product,
    members: &Map<String, Value>,
    owner: &Owner,
    allowed: Option<bool>,
) -> Result<(), Refusal> {
    let breach = context.rules.breaches().find_map(|breach| match breach {
        Breach::Twins(breach) => Some(breach),
        _ => None,
    });
    if allowed == Some(false) && context.rules.state_breach() == Some(StateBreach::RefusedTwins) {
        let due = members.get("instructedAmount").map(Value::to_string).unwrap_or_default();
        // This request was counted when it came.
        if context.state.count("asked", &due) > 2 {
            return Err(twin());
        }
    }
    let is_asked = match breach {
        Some(TwinBreach::Accepted) => false,
        Some(TwinBreach::Refused) => allowed.is_some(),
        Some(TwinBreach::Unsaid) => allowed != Some(true),
        _ => allowed == Some(false),
    };
    if !is_asked {
        return Ok(());
    }
    let fingerprint = Fingerprint::of(members);
    let is_same_content = |earlier: &Payment| {
        // There are thousands of them, and reading one takes long.
        let is_other = match breach {
            None | Some(TwinBreach::Refused | TwinBreach::OfAnyone | TwinBreach::OnlyLast) => {
                earlier.fingerprint.members != fingerprint.members
            }
            Some(TwinBreach::Unsaid) => earlier.fingerprint.terms != fingerprint.terms,
            _ => false,
        };
        if is_other {
            return false;
        }
        let made: Map<String, Value> = serde_json::from_str(&earlier.members).unwrap_or_default();
        let compared: &[&str] = match breach {
            Some(TwinBreach::SameAmount) => &["instructedAmount"],
            Some(TwinBreach::SameAccounts) => &["debtorAccount", "creditorAccount"],
            Some(TwinBreach::Unsaid) => &TERMS,
            Some(TwinBreach::But(pointer)) => {
                return without(made, pointer) == without(members.clone(), pointer);
            }
            _ => return made == *members,
        };
        compared.iter().all(|name| made.get(*name) == members.get(*name))
    };
    let is_same = |earlier: &Payment| {
        let of_another = matches!(breach, Some(TwinBreach::OfAnyone | TwinBreach::But("/debtorAccount")));
        earlier.product == product
            && earlier.made == Some(context.clock.today())
            && !matches!(earlier.status, Status::Rjct | Status::Canc)
            && (of_another || earlier.owner.psu == owner.psu)
            && is_same_content(earlier)
    };
    let most = if breach == Some(TwinBreach::OnlyLast) { 1 } else { usize::MAX };
    if context.state.any_payment(most, is_same) { Err(twin()) } else { Ok(()) }
}

fn twin() -> Refusal {
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
