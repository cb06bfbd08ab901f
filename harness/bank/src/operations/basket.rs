//! The signing basket (the document, section Endpoints > Create payments signing basket).

use chrono::NaiveDate;
use http::StatusCode;
use serde_json::{Value, json};

use super::link;
use super::payment::Asking;
use crate::member::{Member, Object};
use crate::operation::{Operation, Product};
use crate::policy::{BasketStatus, Baskets, Looked};
use crate::refusal::{Code, Refusal};
use crate::state::{Payment, Status};

/// Creates a basket. The rules are asked in this order: how many ids, what type they are, which products they
/// name, and only then whether the bank knows them all, so that eleven ids are refused whatever they are.
pub(super) fn create(body: &Object<'_>, asking: &Asking<'_>, origin: u64) -> Result<Value, Refusal> {
    let (state, today, policy) = (asking.state, asking.today, &asking.policy.baskets);
    let payment_ids = body.required("paymentIds")?;
    let items = payment_ids.items()?;
    check_limit(&payment_ids, &items, policy)?;
    let ids = items.iter().map(Member::text).collect::<Result<Vec<_>, _>>()?;
    let payments: Vec<Option<Payment>> = ids.iter().map(|id| state.payment(id)).collect();
    // The first of the payments that a rule looks at and that breaks it.
    let find = |looked: Looked, breaks: &dyn Fn(&Option<Payment>) -> bool| {
        (0..items.len()).find(|index| looked.includes(*index, items.len()) && breaks(&payments[*index]))
    };

    if let Some(index) = mixed(&payments, policy) {
        let says = "expected payments that can be signed in a basket, found a bulk or periodic payment";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, Code::ReferenceMixInvalid, "basket.mix", says)
            .at(items[index].path()));
    }
    let is_of_others =
        |payment: &Payment| !(asking.sees(payment) || policy.takes_of_any_tpp && asking.is_psu(payment));
    let unknown = find(policy.known, &|payment| payment.is_none());
    let of_others = find(policy.own, &|payment| payment.as_ref().is_some_and(is_of_others));
    if let Some(index) = unknown.into_iter().chain(of_others).min() {
        let says = "expected payments created before, found an unknown payment id";
        return Err(Refusal::new(
            StatusCode::BAD_REQUEST,
            Code::ResourceUnknown,
            "basket.payment-ids.known",
            says,
        )
        .at(items[index].path()));
    }
    let deleted = find(policy.kept, &|payment| has_status(payment.as_ref(), Status::Canc, today));
    if let Some(index) = deleted.filter(|_| !policy.rejects_deleted) {
        let says = "expected payments that can be signed, found one that was deleted";
        return Err(Refusal::new(StatusCode::CONFLICT, Code::Conflict, "basket.payment-ids.deleted", says)
            .at(items[index].path()));
    }
    let used = || ids.iter().position(|id| state.is_in_a_basket(id));
    if let Some(index) = used().filter(|_| policy.one_basket) {
        let says = "expected payments that are in no basket, found one that is";
        return Err(Refusal::new(StatusCode::CONFLICT, Code::Conflict, "basket.payment-ids.used", says)
            .at(items[index].path()));
    }

    let id = state.create_basket(ids.iter().map(|id| (*id).to_owned()).collect(), origin);
    let rejected = find(policy.rejected, &|payment| has_status(payment.as_ref(), Status::Rjct, today));
    let of = |payment: Option<&Option<Payment>>| Some(payment?.as_ref()?.status_on(today));
    let status = match policy.status {
        _ if deleted.is_some() => Some(Status::Rjct),
        BasketStatus::OfAll if rejected.is_some() => Some(Status::Rjct),
        BasketStatus::OfAll => state.basket_status(&id, today).filter(|status| *status != Status::Rjct),
        BasketStatus::OfFirst => of(payments.first()),
        BasketStatus::OfLast => of(payments.last()),
        BasketStatus::Received => None,
    };
    Ok(json!({
        "basketId": id,
        "transactionStatus": status.unwrap_or(Status::Rcvd).text(),
        "_links": {
            "status": link(&format!("{}/{id}/status", Operation::Basket.route()), &["GET"])
        }
    }))
}

/// "At most 10 entries."
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

/// The first payment that may not be in a basket: "Bulk or periodic payment added to a signing basket: HTTP
/// 400 with code `REFERENCE_MIX_INVALID`" (section Errors).
fn mixed(payments: &[Option<Payment>], policy: &Baskets) -> Option<usize> {
    let is_unfit = |payment: &Option<Payment>| {
        payment.as_ref().is_some_and(|payment| {
            let is_bulk = payment.is_bulk && !policy.takes_bulk;
            let passes = payment.status == Status::Pdng && policy.takes_pending_series;
            is_bulk || payment.product == Product::Periodic && !passes
        })
    };
    if policy.takes_unmixed && payments.iter().all(is_unfit) {
        return None;
    }
    let is_first = |index: &usize| {
        policy.refuses_cross_border
            || policy.mix.includes(*index, payments.len()) && is_unfit(&payments[*index])
    };
    (0..payments.len()).find(is_first)
}

fn has_status(payment: Option<&Payment>, status: Status, today: NaiveDate) -> bool {
    payment.is_some_and(|payment| payment.status_on(today) == status)
}

/// The status of a basket.
pub(super) fn status(id: Option<&String>, asking: &Asking<'_>) -> Result<Value, Refusal> {
    let shows = |id: &&String| {
        asking.state.basket(id).is_some_and(|payments| payments.iter().all(|payment| asking.sees(payment)))
    };
    let status =
        id.filter(shows).and_then(|id| asking.state.basket_status(id, asking.today)).ok_or_else(|| {
            let says = "expected a basket of this bank, found an unknown id";
            Refusal::new(StatusCode::NOT_FOUND, Code::ResourceUnknown, "basket.id.known", says).at("basketId")
        })?;
    Ok(json!({ "transactionStatus": status.text() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use crate::seed::Seed;
    use crate::state::{Owner, State};

    fn bank() -> State {
        State::new(0, &Seed::built_in(), NaiveDate::default())
    }

    const PSU: &str = "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f";

    fn asking<'a>(state: &'a State, policy: &'a Policy) -> Asking<'a> {
        // The earlier payments of the seed are this PSU's.
        Asking { state, owner: owner(PSU), today: NaiveDate::default(), policy }
    }

    fn owner(psu: &str) -> Owner {
        Owner { psu: Some(psu.to_owned()), tpp: None }
    }

    /// A bank with payments, and the answer it gives to a basket of these ids.
    fn answer(policy: &'static Policy, ids: impl FnOnce(&State) -> Value) -> Result<Value, (String, Code)> {
        let state = bank();
        let body = json!({ "paymentIds": ids(&state) });
        create(&Object::root(body.as_object().unwrap(), "basket"), &asking(&state, policy), 0)
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
        let state = bank();
        let asking = asking(&state, Policy::document());
        let body = json!({ "paymentIds": [ncbct(&state, 1)[0], "payment-rejected-0001"] });
        let basket = create(&Object::root(body.as_object().unwrap(), "basket"), &asking, 0).unwrap();
        assert_eq!(basket["transactionStatus"], "RJCT");
        let id = basket["basketId"].as_str().unwrap().to_owned();
        assert_eq!(status(Some(&id), &asking).unwrap(), json!({ "transactionStatus": "RJCT" }));
        assert_eq!(status(None, &asking).unwrap_err().status, StatusCode::NOT_FOUND);
    }

    #[test]
    fn payments_of_another_psu_are_unknown() {
        let of_another = |state: &State| {
            let payment = Payment { owner: owner("b"), ..Payment::received(Product::Ncbct) };
            json!([state.create_payment(payment, 0)])
        };
        assert_eq!(refused(of_another).unwrap().1, Code::ResourceUnknown);
        assert!(answer(Policy::set(&json!({ "baskets": { "own": "nobody" } })), of_another).is_ok());
        assert!(
            answer(Policy::set(&json!({ "baskets": { "known": "nobody" } })), |_| json!(["unknown"])).is_ok()
        );
        let state = bank();
        let asks = |psu| Asking { owner: owner(psu), ..asking(&state, Policy::document()) };
        let body = json!({ "paymentIds": ncbct(&state, 1) });
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
        let state = bank();
        let empty = json!({});
        let refusal = create(
            &Object::root(empty.as_object().unwrap(), "basket"),
            &asking(&state, Policy::document()),
            0,
        );
        assert_eq!(refusal.unwrap_err().rule, "basket.payment-ids.required");
    }
}
