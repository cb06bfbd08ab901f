//! The signing basket (the document, section Endpoints > Create payments signing basket).

use axum::http::StatusCode;
use chrono::NaiveDate;
use serde_json::{Value, json};

use super::link;
use super::payment::{Asking, alike};
use crate::member::{Member, Object};
use crate::operation::{Operation, Product};
use crate::refusal::{Code, Refusal};
use crate::rules::{BasketRule, Breach, MixBreach, Rules, StateBreach, StateVariance, Variance};
use crate::state::{Payment, Status};

/// "At most 10 entries."
const LIMIT: usize = 10;

/// Creates a basket. The rules are asked in this order: how many ids, what type they are, which products they
/// name, and only then whether the bank knows them all, so that eleven ids are refused whatever they are.
pub(super) fn create(body: &Object<'_>, asking: &Asking<'_>, origin: u64) -> Result<Value, Refusal> {
    let Asking { state, today, rules, .. } = asking;
    let rules = *rules;
    let payment_ids = body.required("paymentIds")?;
    let items = payment_ids.items()?;
    let limit = match rules.breach() {
        Some(Breach::BasketLimit(other)) => other,
        _ => LIMIT,
    };
    let is_repeated = |at: &usize| items[..*at].iter().any(|other| other.is(&items[*at]));
    let forgiven = if rules.broken_by(Breach::BasketLimitOfOthers) {
        (0..items.len()).filter(is_repeated).count()
    } else {
        0
    };
    if items.len() - forgiven > limit || items.is_empty() {
        let rule = if items.is_empty() { "basket.payment-ids.empty" } else { "basket.payment-ids.limit" };
        let says = format!("expected 1 to {limit} payment ids, found {}", items.len());
        return Err(Refusal::format(rule, says).at(payment_ids.path()));
    }
    let ids = items.iter().map(Member::text).collect::<Result<Vec<_>, _>>()?;
    let is_of_any_tpp =
        |payment: &Payment| rules.state_breach() == Some(StateBreach::TppInBasket) && asking.is_psu(payment);
    let is_usable = |payment: &Payment| {
        asking.sees(payment) || rules.varied_by(Variance::PaymentsOfOthers) || is_of_any_tpp(payment)
    };
    let payments: Vec<_> = ids.iter().map(|id| found(asking, id)).collect();
    check_mix(&items, &payments, rules, || state.count("mix", &ids.join(" "))).inspect_err(|_| {
        if rules.state_breach() == Some(StateBreach::RefusedBasketCancels) {
            for id in &ids {
                state.cancel_anyway(id);
            }
        }
    })?;
    let is_unknown = |payment: &Option<Payment>| match payment {
        Some(payment) => !is_usable(payment),
        None => !rules.varied_by(Variance::AnyPayments),
    };
    let is_missed = |index: &usize| {
        let rule = if payments[*index].is_some() { BasketRule::Own } else { BasketRule::Known };
        is_unknown(&payments[*index]) && rules.looks_at(rule, *index, items.len())
    };
    let unknown = match rules.breach() {
        Some(Breach::BasketKnown(end)) => end.get(&payments).filter(|payment| is_unknown(payment)).map(|_| 0),
        _ => (0..items.len()).find(is_missed),
    };
    if let Some(index) = unknown {
        let says = "expected payments created before, found an unknown payment id";
        let rule = "basket.payment-ids.known";
        return Err(
            Refusal::new(StatusCode::BAD_REQUEST, Code::ResourceUnknown, rule, says).at(items[index].path())
        );
    }
    let is_deleted = |index: &usize| {
        payments[*index].as_ref().is_some_and(|payment| payment.status == Status::Canc)
            && rules.looks_at(BasketRule::Kept, *index, items.len())
    };
    let deleted = (0..items.len()).find(is_deleted);
    let is_rejected_for_it = rules.remembers_by(StateVariance::DeletedInBasketRejected);
    if let Some(index) = deleted.filter(|_| !is_rejected_for_it) {
        let says = "expected payments that can be signed, found one that was deleted";
        let rule = "basket.payment-ids.deleted";
        return Err(Refusal::new(StatusCode::CONFLICT, Code::Conflict, rule, says).at(items[index].path()));
    }
    if rules.remembers_by(StateVariance::OneBasket)
        && let Some(index) = ids.iter().position(|id| state.is_in_a_basket(id))
    {
        let says = "expected payments that are in no basket, found one that is";
        let rule = "basket.payment-ids.used";
        return Err(Refusal::new(StatusCode::CONFLICT, Code::Conflict, rule, says).at(items[index].path()));
    }
    let id = state.create_basket(ids.iter().map(|id| (*id).to_owned()).collect(), origin);
    let status = state.basket_status(&id, *today).filter(|_| !rules.broken_by(Breach::BasketStatus));
    let status = match rules.breach() {
        Some(Breach::BasketStatusOf(end)) => {
            end.get(&payments).and_then(Option::as_ref).map(|payment| payment.status_on(*today))
        }
        _ => status,
    };
    let passes = |payment: &Payment| {
        rules.state_breach() == Some(StateBreach::RejectedTodayPasses) && payment.made == Some(*today)
    };
    let counts = |index: usize| {
        rules.looks_at(BasketRule::Status, index, items.len())
            && !payments[index].as_ref().is_some_and(passes)
    };
    let status = status.filter(|status| *status != Status::Rjct || is_rejected(&payments, *today, counts));
    let status = if deleted.is_some() { Some(Status::Rjct) } else { status };
    let status = status.unwrap_or(Status::Rcvd);
    let href = format!("{}/{id}", Operation::Basket.route());
    let is_one = rules.state_breach() == Some(StateBreach::OneBasketId);
    Ok(json!({
        "basketId": if is_one { "basket" } else { id.as_str() },
        "transactionStatus": status.text(),
        "_links": {
            "status": link(&format!("{href}/status"), &["GET"])
        }
    }))
}

/// The payment that an id stands for.
fn found(asking: &Asking<'_>, id: &str) -> Option<Payment> {
    match asking.rules.state_breach() {
        Some(StateBreach::TakenInBasket(likeness)) => alike(asking.state, likeness, id),
        _ => asking.state.payment(id),
    }
}

/// Whether one of the payments that count is rejected.
fn is_rejected(payments: &[Option<Payment>], today: NaiveDate, counts: impl Fn(usize) -> bool) -> bool {
    let is_rejected = |payment: &Payment| payment.status_on(today) == Status::Rjct;
    payments
        .iter()
        .enumerate()
        .any(|(index, payment)| counts(index) && payment.as_ref().is_some_and(is_rejected))
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

/// The currency of a payment.
fn currency(payment: Option<&Payment>) -> Option<Value> {
    let members: Value = serde_json::from_str(&payment?.members).ok()?;
    members.pointer("/instructedAmount/currency").cloned()
}

/// "Bulk or periodic payment added to a signing basket: HTTP 400 with code `REFERENCE_MIX_INVALID`" (section
/// Errors).
fn check_mix(
    items: &[Member<'_>],
    payments: &[Option<Payment>],
    rules: Rules,
    times: impl FnOnce() -> u32,
) -> Result<(), Refusal> {
    let breach = rules.breaches().find_map(|breach| match breach {
        Breach::Mix(breach) => Some(breach),
        _ => None,
    });
    let is_unfit = |payment: &Option<Payment>| {
        payment.as_ref().is_some_and(|payment| {
            let is_bulk = payment.is_bulk && breach != Some(MixBreach::BulkToo);
            let passes = payment.status == Status::Pdng && breach == Some(MixBreach::PendingToo);
            is_bulk || payment.product == Product::Periodic && !passes
        })
    };
    let first = payments.iter().position(is_unfit);
    let wrong = match breach {
        Some(MixBreach::FirstOnly) => first.filter(|index| *index == 0),
        Some(MixBreach::LastOnly) => first.filter(|_| payments.last().is_some_and(is_unfit)),
        Some(MixBreach::OnlyMixed) => first.filter(|_| !payments.iter().all(is_unfit)),
        Some(MixBreach::Never) => None,
        Some(MixBreach::CrossBorderToo) => Some(0),
        Some(MixBreach::AtSecond) => first.filter(|_| times() == 1),
        Some(MixBreach::OneCurrency) => {
            let of_first = payments.first().and_then(|one| currency(one.as_ref()));
            first.or_else(|| payments.iter().position(|one| currency(one.as_ref()) != of_first))
        }
        Some(MixBreach::BulkToo | MixBreach::PendingToo) | None => first,
    };
    match wrong {
        None => Ok(()),
        Some(index) => {
            let says = "expected payments that can be signed in a basket, found a bulk or periodic payment";
            Err(Refusal::new(StatusCode::BAD_REQUEST, Code::ReferenceMixInvalid, "basket.mix", says)
                .at(items[index].path()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use crate::state::{Owner, State};

    fn bank() -> State {
        State::new(0, &Seed::built_in(), NaiveDate::default())
    }

    const PSU: &str = "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f";

    fn asking(state: &State, rules: Rules) -> Asking<'_> {
        // The earlier payments of the seed are this PSU's.
        Asking { state, owner: owner(PSU), today: NaiveDate::default(), rules }
    }

    fn owner(psu: &str) -> Owner {
        Owner { psu: Some(psu.to_owned()), tpp: None }
    }

    /// A bank with payments, and the answer it gives to a basket of these ids.
    fn answer(rules: Rules, ids: impl FnOnce(&State) -> Value) -> Result<Value, (String, Code)> {
        let state = bank();
        let body = json!({ "paymentIds": ids(&state) });
        create(&Object::root(body.as_object().unwrap(), "basket"), &asking(&state, rules), 0)
            .map_err(|refusal| (refusal.rule, refusal.code))
    }

    fn refused(ids: impl FnOnce(&State) -> Value) -> Option<(String, Code)> {
        answer(Rules::kept(), ids).err()
    }

    fn ncbct(state: &State, count: usize) -> Vec<String> {
        (0..count).map(|_| state.create_payment(Payment::received(Product::Ncbct), 0)).collect()
    }

    #[test]
    fn one_to_ten_payments() {
        for count in [1, 2, 10] {
            let basket = answer(Rules::kept(), |state| json!(ncbct(state, count))).unwrap();
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
        assert!(answer(Rules::broken(Breach::Mix(MixBreach::BulkToo)), bulk).is_ok());
        let broken = Rules::broken(Breach::Mix(MixBreach::FirstOnly));
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
        let asking = asking(&state, Rules::kept());
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
        assert!(answer(Rules::varied(Variance::PaymentsOfOthers), of_another).is_ok());
        assert!(answer(Rules::varied(Variance::AnyPayments), |_| json!(["unknown"])).is_ok());
        let state = bank();
        let asks = |psu| Asking { owner: owner(psu), ..asking(&state, Rules::kept()) };
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
        let refusal =
            create(&Object::root(empty.as_object().unwrap(), "basket"), &asking(&state, Rules::kept()), 0);
        assert_eq!(refusal.unwrap_err().rule, "basket.payment-ids.required");
    }
}
