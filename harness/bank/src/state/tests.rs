//! Tests of the memory of the bank.

use std::collections::HashSet;

use super::*;
use crate::operation::Product;

fn day(day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(2030, 1, day).unwrap()
}

fn bank() -> State {
    State::new(0, &Seed::built_in(), day(1))
}

#[test]
fn ids_follow_from_the_seed() {
    let ids = |seed| {
        let state = State::new(seed, &Seed::built_in(), day(1));
        (0..1000).map(|_| state.create_basket(vec![], 0)).collect::<Vec<_>>()
    };
    assert_eq!(ids(7), ids(7));
    let of = |origin| State::new(7, &Seed::built_in(), day(1)).create_basket(vec![], origin);
    assert_ne!(of(1), of(2), "another request");
    assert_eq!(ids(7).into_iter().chain(ids(8)).collect::<HashSet<_>>().len(), 2000);
    let id = &ids(0)[0];
    assert_eq!((id.len(), &id[14..15]), (36, "8"));
}

#[test]
fn payments_are_remembered() {
    let state = bank();
    let create = |product| state.create_payment(Payment::received(product), 0);
    let (one, two) = (create(Product::Ncbct), create(Product::Periodic));
    assert_eq!(state.payment(&one).unwrap().product, Product::Ncbct);
    assert_eq!(state.payment(&two).unwrap().product, Product::Periodic);
    assert!(state.payment(&state.create_basket(vec![], 0)).is_none());
}

#[test]
fn what_was_asked_for_longest_ago_is_forgotten_and_what_was_there_at_the_beginning_is_not() {
    let state = bank();
    let made = |origin: u64| state.create_payment(Payment::received(Product::Ncbct), origin);
    let (first, second) = (made(1), made(2));
    for origin in 0..REMEMBERED.get() as u64 - 1 {
        made(origin + 3);
        assert!(state.payment(&first).is_some());
    }
    assert!(state.payment(&second).is_none());
    let earlier: Vec<String> = state.memory().earlier.keys().cloned().collect();
    assert!(!earlier.is_empty() && earlier.iter().all(|id| state.payment(id).is_some()));
}

#[test]
fn a_payment_takes_from_its_account_until_it_is_cancelled_once() {
    let state = bank();
    let customer = state.customers()[0].0.id.clone();
    let account =
        state.create_account(&customer, Currency::NOK, Some("10.00".to_owned()), day(1), 1).unwrap();
    let left = || state.account_by_number(&account.bban).unwrap().1;
    assert_eq!(left(), Some(Decimal::from(10)));
    let takes = |status, hundredths| Payment {
        status,
        takes: Some((account.resource_id.clone(), Decimal::new(hundredths, 2))),
        ..Payment::received(Product::Ncbct)
    };
    let id = state.create_payment(takes(Status::Rcvd, 300), 2);
    state.create_payment(takes(Status::Rcvd, 50), 3);
    state.create_payment(takes(Status::Rjct, 600), 4);
    assert_eq!(left(), Some(Decimal::new(650, 2)));
    for _ in 0..2 {
        state.cancel(&id, Product::Ncbct, day(1));
        assert_eq!(left(), Some(Decimal::new(950, 2)));
    }
}

#[test]
fn a_payment_is_cancelled_unless_it_is_pending() {
    let state = bank();
    let id = state.create_payment(Payment::received(Product::Ncbct), 0);
    assert_eq!(state.cancel(&id, Product::Periodic, day(1)), None, "another product's path");
    assert_eq!(state.cancel(&id, Product::Ncbct, day(1)), Some(Status::Canc));
    assert_eq!(state.payment(&id).unwrap().status, Status::Canc);
    assert_eq!(state.cancel("payment-pending-0001", Product::Ncbct, day(1)), Some(Status::Pdng));
    assert_eq!(state.cancel("unknown", Product::Ncbct, day(1)), None);
}

#[test]
fn a_basket_is_as_bad_as_its_worst_payment() {
    let state = bank();
    let good = state.create_payment(Payment::received(Product::Ncbct), 0);
    let status = |ids: &[&str]| {
        let basket = state.create_basket(ids.iter().map(|id| (*id).to_owned()).collect(), 0);
        state.basket_status(&basket, day(1))
    };
    assert_eq!(status(&[&good]), Some(Status::Rcvd));
    assert_eq!(status(&[&good, "payment-rejected-0001"]), Some(Status::Rjct));
    assert_eq!(state.basket_status("unknown", day(1)), None);
}

#[test]
fn calls_are_counted_by_account_and_day() {
    let state = bank();
    let day = NaiveDate::from_ymd_opt(2025, 3, 1).unwrap();
    assert_eq!((1..=3).map(|_| state.count_unattended_call("a", day)).last(), Some(3));
    assert_eq!(state.count_unattended_call("b", day), 1);
    assert_eq!(state.count_unattended_call("a", day.succ_opt().unwrap()), 1);
}

#[test]
fn a_new_account_has_a_consent_of_its_first_day() {
    let state = bank();
    let customer = state.customers()[0].0.id.clone();
    let account = state.create_account(&customer, Currency::NOK, None, day(30), 1).unwrap();
    assert_eq!([30, 31].map(|on| state.consent_age(&account, day(on))), [0, 1]);
}
