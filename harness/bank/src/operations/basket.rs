//! The signing basket (the document, section Endpoints > Create payments signing basket).

use chrono::NaiveDate;
use http::StatusCode;
use serde_json::{Value, json};

use super::link;
use crate::member::{Member, Object};
use crate::operation::{Operation, Product};
use crate::policy::{BasketStatus, Baskets};
use crate::psu::Caller;
use crate::refusal::{Code, Refusal};
use crate::state::{Payment, Status};

/// Creates a basket.
///
/// The rules apply in this order: number of ids, their type, products, unknown ids, deleted payments. Eleven
/// ids are therefore rejected whatever they name.
pub(super) fn create(body: &Object<'_>, caller: &Caller<'_>, origin: u64) -> Result<Value, Refusal> {
    let (state, policy) = (&caller.bank.state, &caller.policy.baskets);
    let payment_ids = body.required("paymentIds")?;
    let items = payment_ids.items()?;
    check_limit(&payment_ids, &items, policy)?;
    let ids = items.iter().map(Member::text).collect::<Result<Vec<_>, _>>()?;
    let entries: Vec<Entry> = ids.iter().map(|id| Entry::new(state.payment(id), caller)).collect();
    let refuse = |index: usize, refusal: Refusal| Err(refusal.at(items[index].path()));
    if let Some(index) = mixed(&entries, policy) {
        let says = "expected payments that can be signed in a basket, found a bulk or periodic payment";
        let (status, code) = (StatusCode::BAD_REQUEST, Code::ReferenceMixInvalid);
        return refuse(index, Refusal::new(status, code, "basket.mix", says));
    }
    let unknown = policy.known.first(&entries, |entry| matches!(entry, Entry::Unknown));
    let of_others = policy.own.first(&entries, |entry| matches!(entry, Entry::OfOthers(_)));
    if let Some(index) = unknown.into_iter().chain(of_others).min() {
        let says = "expected payments created earlier, found an unknown payment id";
        let (status, code) = (StatusCode::BAD_REQUEST, Code::ResourceUnknown);
        return refuse(index, Refusal::new(status, code, "basket.payment-ids.known", says));
    }
    let has = |status| move |entry: &Entry| entry.status(caller.today) == Some(status);
    let deleted = policy.kept.first(&entries, has(Status::Canc));
    if let Some(index) = deleted.filter(|_| !policy.rejects_deleted) {
        let says = "expected payments that can be signed, found one that was deleted";
        return refuse(index, Refusal::conflict("basket.payment-ids.deleted", says));
    }
    if policy.one_basket
        && let Some(index) = ids.iter().position(|id| state.is_in_a_basket(id))
    {
        let says = "expected payments without a basket, found one in a basket";
        return refuse(index, Refusal::conflict("basket.payment-ids.used", says));
    }
    let rejected = deleted.is_some() || policy.rejected.first(&entries, has(Status::Rjct)).is_some();
    let id = state.create_basket(ids.into_iter().map(str::to_owned).collect(), origin);
    let status = match policy.status {
        BasketStatus::OfAll if rejected => Some(Status::Rjct),
        BasketStatus::OfAll => state.basket_status(&id, caller.today).filter(|of| *of != Status::Rjct),
        BasketStatus::OfFirst => entries[0].status(caller.today),
        BasketStatus::OfLast => entries[entries.len() - 1].status(caller.today),
        BasketStatus::Received => None,
    };
    Ok(json!({
        "basketId": id,
        "transactionStatus": status.unwrap_or(Status::Rcvd),
        "_links": {
            "status": link(&format!("{}/{id}/status", Operation::Basket.route()), &["GET"])
        }
    }))
}

/// The payment that an id of a basket names.
enum Entry {
    /// No payment.
    Unknown,
    /// A payment that the caller may not see, which counts as unknown.
    OfOthers(Payment),
    /// A payment of the caller.
    Own(Payment),
}

impl Entry {
    fn new(payment: Option<Payment>, caller: &Caller<'_>) -> Self {
        let any_tpp = caller.policy.baskets.takes_of_any_tpp;
        match payment {
            None => Self::Unknown,
            Some(own) if caller.sees(&own) || any_tpp && caller.is_psu(&own) => Self::Own(own),
            Some(other) => Self::OfOthers(other),
        }
    }

    fn status(&self, today: NaiveDate) -> Option<Status> {
        match self {
            Self::Unknown => None,
            Self::OfOthers(payment) | Self::Own(payment) => Some(payment.status_on(today)),
        }
    }
}

/// Checks `paymentIds`: "at most 10 entries". An empty array is rejected as well.
fn check_limit(payment_ids: &Member<'_>, items: &[Member<'_>], policy: &Baskets) -> Result<(), Refusal> {
    let is_counted =
        |at: &usize| policy.counts_repeated || !items[..*at].iter().any(|other| other.is(&items[*at]));
    let count = (0..items.len()).filter(is_counted).count();
    let rule = match count {
        0 => "basket.payment-ids.empty",
        count if count > policy.limit => "basket.payment-ids.limit",
        _ => return Ok(()),
    };
    let says = format!("expected 1 to {} payment ids, found {}", policy.limit, items.len());
    Err(Refusal::format(rule, says).at(payment_ids.path()))
}

/// Returns the index of the first payment that cannot be in a basket: "Bulk or periodic payment added to a
/// signing basket: HTTP 400 with code `REFERENCE_MIX_INVALID`" (section Errors).
fn mixed(entries: &[Entry], policy: &Baskets) -> Option<usize> {
    let is_unfit = |entry: &Entry| match entry {
        Entry::Own(Payment { is_bulk: true, .. }) => !policy.takes_bulk,
        Entry::Own(payment) => {
            let passes = payment.status == Status::Pdng && policy.takes_pending_series;
            payment.product == Product::Periodic && !passes
        }
        Entry::Unknown | Entry::OfOthers(_) => false,
    };
    if policy.takes_unmixed && entries.iter().all(is_unfit) {
        return None;
    }
    if policy.refuses_cross_border {
        return Some(0);
    }
    policy.mix.first(entries, is_unfit)
}

/// Returns the status of a basket.
pub(super) fn status(id: Option<&String>, caller: &Caller<'_>) -> Result<Value, Refusal> {
    let state = &caller.bank.state;
    let shows =
        |id: &&String| state.basket(id).is_some_and(|payments| payments.iter().all(|one| caller.sees(one)));
    let status = id
        .filter(shows)
        .and_then(|id| state.basket_status(id, caller.today))
        .ok_or_else(|| Refusal::unknown("basket.id.known", "basketId", "a basket of this bank"))?;
    Ok(json!({ "transactionStatus": status }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::Context;
    use crate::policy::Policy;
    use crate::state::{Owner, State};

    fn bank() -> Context {
        Context::built_in(chrono::DateTime::default())
    }

    const PSU: &str = "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f";

    // The earlier payments of the seed belong to this PSU.
    fn caller(bank: &Context) -> Caller<'_> {
        Caller::of(bank, owner(PSU), NaiveDate::default())
    }

    fn owner(psu: &str) -> Owner {
        Owner { psu: Some(psu.to_owned()), tpp: None }
    }

    /// Creates a basket with the ids that the closure returns.
    fn answer(policy: &'static Policy, ids: impl FnOnce(&State) -> Value) -> Result<Value, (String, Code)> {
        let bank = bank();
        let body = json!({ "paymentIds": ids(&bank.state) });
        let caller = Caller { policy, ..caller(&bank) };
        create(&Object::root(body.as_object().unwrap(), "basket"), &caller, 0)
            .map_err(|refusal| (refusal.rule, refusal.code))
    }

    fn refused(ids: impl FnOnce(&State) -> Value) -> Option<(String, Code)> {
        answer(Policy::document(), ids).err()
    }

    fn ncbct(state: &State, count: usize) -> Vec<String> {
        (0..count).map(|_| state.create_payment(Payment::received(Product::Ncbct), 0)).collect()
    }

    #[test]
    fn one_to_ten_payments() {
        for count in [1, 2, 10] {
            let basket = answer(Policy::document(), |state| json!(ncbct(state, count))).unwrap();
            assert_eq!(basket["transactionStatus"], "RCVD");
            assert!(basket["basketId"].is_string());
        }
        let limit = Some(("basket.payment-ids.limit".to_owned(), Code::FormatError));
        assert_eq!(refused(|state| json!(ncbct(state, 11))), limit);
        assert_eq!(refused(|_| json!(vec!["unknown"; 11])), limit);
        assert_eq!(refused(|_| json!(vec![7; 11])), limit);
        assert!(refused(|_| json!([])).is_some());
    }

    #[test]
    fn bulk_and_periodic_payments_wherever_they_stand() {
        let mix = Some(("basket.mix".to_owned(), Code::ReferenceMixInvalid));
        assert_eq!(
            refused(|state| json!([state.create_payment(Payment::received(Product::Periodic), 0)])),
            mix
        );
        let last = |state: &State| {
            let mut ids = ncbct(state, 3);
            ids.push(state.create_payment(Payment::received(Product::Periodic), 0));
            json!(ids)
        };
        assert_eq!(refused(last), mix);
        assert_eq!(
            refused(|state| json!([
                "unknown",
                state.create_payment(Payment::received(Product::Periodic), 0)
            ])),
            mix
        );
        let bulk = |_: &State| json!(["payment-bulk-0001"]);
        assert_eq!(refused(bulk), mix);
        assert!(answer(Policy::set(&json!({ "baskets": { "takes-bulk": true } })), bulk).is_ok());
        let broken = Policy::set(&json!({ "baskets": { "mix": "first" } }));
        assert!(answer(broken, last).is_ok());
        assert_eq!(
            answer(broken, |state| json!([state.create_payment(Payment::received(Product::Periodic), 0)]))
                .err(),
            mix
        );
    }

    #[test]
    fn a_basket_with_a_rejected_payment_is_rejected() {
        let bank = bank();
        let caller = caller(&bank);
        let body = json!({ "paymentIds": [ncbct(&bank.state, 1)[0], "payment-rejected-0001"] });
        let basket = create(&Object::root(body.as_object().unwrap(), "basket"), &caller, 0).unwrap();
        assert_eq!(basket["transactionStatus"], "RJCT");
        let id = basket["basketId"].as_str().unwrap().to_owned();
        assert_eq!(status(Some(&id), &caller).unwrap(), json!({ "transactionStatus": "RJCT" }));
        bank.state.cancel("payment-rejected-0001", Product::Ncbct, caller.today);
        assert_eq!(status(Some(&id), &caller).unwrap(), json!({ "transactionStatus": "RJCT" }), "deleted");
        assert_eq!(status(None, &caller).unwrap_err().status, StatusCode::NOT_FOUND);
    }

    #[test]
    fn payments_of_another_psu_are_unknown() {
        let of_another = |state: &State| {
            let payment = Payment { owner: owner("b"), ..Payment::received(Product::Ncbct) };
            json!([state.create_payment(payment, 0)])
        };
        assert_eq!(refused(of_another).unwrap().1, Code::ResourceUnknown);
        let series = |state: &State| {
            let payment = Payment { owner: owner("b"), ..Payment::received(Product::Periodic) };
            json!([state.create_payment(payment, 0)])
        };
        assert_eq!(refused(series).unwrap().1, Code::ResourceUnknown, "unknown comes before mixed");
        assert!(answer(Policy::set(&json!({ "baskets": { "own": "nobody" } })), of_another).is_ok());
        assert!(
            answer(Policy::set(&json!({ "baskets": { "known": "nobody" } })), |_| json!(["unknown"])).is_ok()
        );
        let bank = bank();
        let asks = |psu| Caller { owner: owner(psu), ..caller(&bank) };
        let body = json!({ "paymentIds": ncbct(&bank.state, 1) });
        let basket = create(&Object::root(body.as_object().unwrap(), "basket"), &asks("a"), 0).unwrap();
        assert!(status(basket["basketId"].as_str().map(str::to_owned).as_ref(), &asks("a")).is_ok());
    }

    #[test]
    fn ids_that_are_none() {
        let unknown = Some(("basket.payment-ids.known".to_owned(), Code::ResourceUnknown));
        assert_eq!(refused(|_| json!(["unknown"])), unknown);
        assert_eq!(refused(|_| json!([""])), unknown);
        for ids in [json!([7]), json!("x"), json!(null), json!([["x"]])] {
            let (rule, _) = refused(|_| ids).unwrap();
            assert_eq!(rule, "basket.payment-ids.type");
        }
        let bank = bank();
        let empty = json!({});
        let refusal = create(&Object::root(empty.as_object().unwrap(), "basket"), &caller(&bank), 0);
        assert_eq!(refusal.unwrap_err().rule, "basket.payment-ids.required");
    }
}
