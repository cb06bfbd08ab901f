//! Lookup of ids that the bank confuses with others.

use serde::Deserialize;
use serde_json::Value;
use xs2aspec_bank::operation::Operation;

use super::Call;

/// A payment of the seed data, which a faulty bank finds for any id.
const PENDING: &str = "payment-pending-0001";

/// The part of an id that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Likeness {
    /// No part: any id is found.
    Nothing,
    /// The form of a UUID: any UUID is found.
    Uuid,
    /// The form of a number: any number is found.
    Number,
    /// All characters except the last.
    Beginning,
    /// The beginning: a prefix of an id is found.
    Part,
    /// All characters except leading zeros.
    LeadingZeros,
}

impl Likeness {
    /// Returns the path parameters and the body of a request with unknown ids replaced.
    pub(super) fn rewrite(self, call: &Call<'_>) -> Option<(Vec<String>, Vec<u8>)> {
        let (state, body) = (&call.context.state, call.request.body);
        let mut parameters = call.request.path_parameters.to_vec();
        let payment = |id: &str| {
            let ids = || state.payments(|_, _| true).into_iter().map(|(id, _)| id);
            self.found(id, PENDING, ids, |id| state.payment(id).is_some())
        };
        match call.operation {
            Operation::Payment(_) | Operation::Status(_) | Operation::Deletion(_) => {
                let id = parameters.first_mut()?;
                *id = payment(id)?;
            }
            Operation::Transaction => {
                let [account, id] = parameters.as_mut_slice() else { return None };
                let booked = state.transactions(account);
                let any = booked.first()?.id();
                let ids = || booked.iter().map(|booked| booked.id().to_owned());
                *id = self.found(id, any, ids, |id| booked.iter().any(|booked| booked.id() == id))?;
            }
            Operation::Basket => {
                let mut members: Value = serde_json::from_slice(body).ok()?;
                let ids = members["paymentIds"].as_array_mut()?.iter_mut();
                let others = ids.filter_map(|id| Some((payment(id.as_str()?)?, id)));
                let replaced = others.map(|(other, id)| *id = other.into()).count();
                return (replaced > 0).then(|| (parameters, members.to_string().into()));
            }
            _ => return None,
        }
        Some((parameters, body.to_vec()))
    }

    /// Returns the id that is found for an unknown one: `any` if only the form is compared, or one of `ids`.
    fn found<I: Iterator<Item = String>>(
        self,
        id: &str,
        any: &str,
        ids: impl Fn() -> I,
        is_known: impl Fn(&str) -> bool,
    ) -> Option<String> {
        if is_known(id) {
            return None;
        }
        let is_one = |is_so: bool| is_so.then(|| any.to_owned());
        let known = |id: &str| is_known(id).then(|| id.to_owned());
        match self {
            Self::Nothing => is_one(true),
            Self::Uuid => is_one(id.len() == 36 && id.matches('-').count() == 4),
            Self::Number => is_one(id.bytes().all(|byte| byte.is_ascii_digit())),
            Self::Beginning => id.char_indices().next_back().and_then(|(end, _)| known(&id[..end])),
            Self::Part => ids().find(|known| known.starts_with(id)),
            Self::LeadingZeros => known(id.trim_start_matches('0')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_are_not_known_are_found_by_what_is_compared() {
        let found = |likeness: Likeness, id: &str| {
            let ids = ["12", "ab"];
            let known = || ids.iter().map(|id| (*id).to_owned());
            likeness.found(id, "any", known, |id| ids.contains(&id)).unwrap_or_default()
        };
        let uuid = "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f";
        for (likeness, id, expected) in [
            (Likeness::Nothing, "x", "any"),
            (Likeness::Nothing, "12", ""),
            (Likeness::Uuid, uuid, "any"),
            (Likeness::Uuid, "x", ""),
            (Likeness::Number, "3", "any"),
            (Likeness::Number, "x", ""),
            (Likeness::Beginning, "abx", "ab"),
            (Likeness::Part, "a", "ab"),
            (Likeness::LeadingZeros, "0012", "12"),
            (Likeness::LeadingZeros, "0013", ""),
        ] {
            assert_eq!(found(likeness, id), expected, "{likeness:?} {id}");
        }
    }
}
