//! Payments: their creation response (the document, section Resources > Payment creation response), and what
//! becomes of them, which the document only mentions.

use std::hash::{DefaultHasher, Hash, Hasher};

use axum::http::StatusCode;
use chrono::NaiveDate;
use rust_decimal::Decimal;
use serde_json::{Map, Value, json};

use super::{Context, link};
use crate::currency::Currency;
use crate::date;
use crate::fingerprint::Fingerprint;
use crate::money::{Amount, amount};
use crate::operation::Product;
use crate::refusal::{Code, Refusal};
use crate::rules::{Breach, IdLikeness, Rules, StateBreach, StateVariance, Variance};
use crate::state::{Owner, Payment, State, Status};

/// A payment that the bank began with: what one with a fault shows for any id.
const PENDING: &str = "payment-pending-0001";

/// Creates a payment and answers with its id. One that the debtor account cannot pay is created and rejected:
/// "a proper error response, not a server failure" (section Errors).
pub(super) fn create(
    context: &Context,
    product: Product,
    due: Amount,
    members: Map<String, Value>,
    owner: Owner,
    origin: u64,
) -> Result<Value, Refusal> {
    let Context { state, rules, clock, .. } = context;
    let (funds_available, takes) = funds(state, due, &members);
    let funds_available = funds_available || rules.broken_by(Breach::FundsIgnored);
    if !funds_available && rules.varied_by(Variance::FundsRefused) {
        let says = "expected an account with funds, found one without";
        return Err(Refusal::new(StatusCode::FORBIDDEN, Code::PaymentFailed, "payment.funds", says));
    }
    let is_large = due.value_in(Currency::NOK).is_some_and(|value| value > Decimal::from(1_000_000));
    for (breach, status) in [
        (Breach::FundsFail, StatusCode::INTERNAL_SERVER_ERROR),
        (Breach::LargeFundsFail, StatusCode::INTERNAL_SERVER_ERROR),
        (Breach::FundsUnavailable, StatusCode::SERVICE_UNAVAILABLE),
    ] {
        let is_meant = breach != Breach::LargeFundsFail || is_large;
        if !funds_available && is_meant && rules.broken_by(breach) {
            let says = "the bank failed on an account without funds";
            return Err(Refusal::new(status, Code::SystemError, "system.failure", says));
        }
    }
    let status = if funds_available { Status::Rcvd } else { Status::Rjct };
    let wanted =
        ["requestedExecutionDate", "startDate"].into_iter().find_map(|name| members.get(name)?.as_str());
    let today = clock.today();
    let from = wanted.and_then(|text| date::parse(text).ok()).map_or(today, |wanted| wanted.max(today));
    // A series takes nothing before its days.
    let takes = takes.filter(|_| product == Product::Ncbct);
    let fingerprint = Fingerprint::of(&members);
    let members = Value::Object(members).to_string().into();
    let (made, from) = (Some(today), Some(from));
    if rules.state_breach() == Some(StateBreach::DeletedUntilNext) {
        state.revive(owner.psu.as_deref());
    }
    let payment = Payment {
        product,
        is_bulk: false,
        status,
        funds_available,
        members,
        fingerprint,
        made,
        from,
        takes,
        owner,
    };
    let id = match rules.state_breach() {
        Some(StateBreach::IdOfTime) => state.keep_payment(clock.now().timestamp().to_string(), payment),
        Some(StateBreach::IdOfBody) => {
            let mut hasher = DefaultHasher::new();
            (product.path(), &payment.members).hash(&mut hasher);
            state.keep_payment(format!("payment-{:016x}", hasher.finish()), payment)
        }
        Some(StateBreach::IdOfDeleted) => match state.deleted_id(payment.owner.psu.as_deref(), today) {
            Some(id) => id,
            None => state.create_payment(payment, origin),
        },
        _ if rules.remembers_by(StateVariance::IdsAreNumbers) => {
            state.keep_payment(format!("{}", 1_000_000_000 + state.next_turn()), payment)
        }
        _ => state.create_payment(payment, origin),
    };
    // Made-up prices: a cross-border transfer costs something, a domestic one does not.
    let fee = match product {
        Product::Ncbct => 5_000,
        Product::Periodic => 0,
    };
    let href = format!("{}/{id}", product.path());
    let status_of = match rules.state_breach() {
        Some(StateBreach::LinkOfOne) => format!("{}/{PENDING}", Product::Ncbct.path()),
        _ => href.clone(),
    };
    let mut answer = json!({
        "paymentId": id,
        "transactionStatus": status.text(),
        "transactionFees": amount(fee, Currency::NOK),
        "transactionFeeIndicator": fee > 0,
        "_links": {
            "self": link(&href, &["GET", "DELETE"]),
            "status": link(&format!("{status_of}/status"), &["GET"])
        }
    });
    if !funds_available {
        let text = "payment.funds: expected an account with funds, found one without";
        answer["tppMessages"] =
            json!([{ "category": "ERROR", "code": Code::PaymentFailed.text(), "text": text }]);
    }
    Ok(answer)
}

/// Writes the fee of an answer without its decimals, which are none.
pub(super) fn without_decimals(answer: &mut Value) {
    if let Some(amount) = answer.pointer_mut("/transactionFees/amount") {
        *amount = amount.as_str().unwrap_or_default().trim_end_matches(".00").into();
    }
}

/// The members that a payment was made with, its id and its status.
pub(super) fn details(product: Product, id: Option<&String>, asking: &Asking<'_>) -> Result<Value, Refusal> {
    let (id, payment) = known(asking, product, id)?;
    let status = payment.status_on(asking.today);
    let mut members: Map<String, Value> = serde_json::from_str(&payment.members).unwrap_or_default();
    members.insert("paymentId".to_owned(), json!(id));
    members.insert("transactionStatus".to_owned(), json!(status.text()));
    Ok(Value::Object(members))
}

/// The status of a payment. "Payment status responses carry a `fundsAvailable` attribute that marks a
/// rejection for lack of funds" (section Errors).
pub(super) fn status(product: Product, id: Option<&String>, asking: &Asking<'_>) -> Result<Value, Refusal> {
    let (id, payment) = known(asking, product, id)?;
    let breach = asking.rules.state_breach();
    if breach == Some(StateBreach::ReadNotDeleted) {
        asking.state.is_new("status", id);
    }
    if breach == Some(StateBreach::GoneAfterThree) && asking.state.count("read", id) > 3 {
        return Err(unknown());
    }
    let status = match (payment.status_on(asking.today), breach) {
        (status, Some(StateBreach::StatusTold(own, told))) if status == own => told,
        (Status::Rjct, Some(StateBreach::RevivedByBasket)) if asking.state.is_in_a_basket(id) => Status::Rcvd,
        (Status::Rjct, Some(StateBreach::RejectedGoesBack)) if asking.state.count("read", id) > 3 => {
            Status::Rcvd
        }
        (Status::Canc, _) if asking.rules.remembers_by(StateVariance::DeletedIsRejected) => Status::Rjct,
        (Status::Rcvd, _) if asking.rules.remembers_by(StateVariance::AcceptedAtOnce) => Status::Actc,
        (status, _) => status,
    };
    let is_unmarked = match breach {
        Some(StateBreach::FundsByTurns) => asking.state.is_turn(),
        Some(StateBreach::EarlierUnmarked) => payment.made.is_none(),
        Some(StateBreach::MarkedOnce) => asking.state.count("read", id) > 1,
        _ => false,
    };
    if is_unmarked {
        return Ok(json!({ "transactionStatus": status.text() }));
    }
    let has_funds = breach == Some(StateBreach::SeriesHasFunds) && product == Product::Periodic;
    let funds_available = payment.funds_available || has_funds;
    Ok(json!({ "transactionStatus": status.text(), "fundsAvailable": funds_available }))
}

/// Cancels a payment. "Deletion of a payment with status PDNG: refused with an error message" (section
/// Errors).
pub(super) fn delete(product: Product, id: Option<&String>, asking: &Asking<'_>) -> Result<(), Refusal> {
    if asking.rules.state_breach() == Some(StateBreach::DeletedByAnyone) && asking.owner != Owner::default() {
        let anyone = Asking { owner: Owner::default(), ..*asking };
        return delete(product, id, &anyone);
    }
    let breach = asking.rules.state_breach();
    if let (Some(StateBreach::PendingDeletedByNobody), None, Some(id)) = (breach, &asking.owner.psu, id)
        && asking.state.payment(id).is_some_and(|payment| payment.status == Status::Pdng)
    {
        asking.state.cancel_anyway(id);
        return Ok(());
    }
    if let (Some(StateBreach::DeletedUnseen), Some(id)) = (breach, id)
        && known(asking, product, Some(id)).is_err()
    {
        asking.state.cancel(id, product, asking.today);
    }
    let (id, payment) = known(asking, product, id)?;
    match (breach, payment.status) {
        (Some(StateBreach::NotDeleted), Status::Rcvd) => return Ok(()),
        (Some(StateBreach::SeriesNotDeleted), Status::Rcvd) if product == Product::Periodic => return Ok(()),
        (Some(StateBreach::SecondDeletionUndoes), Status::Canc)
        | (Some(StateBreach::RevivedByDeletion), Status::Rjct) => {
            asking.state.set_status(id, Status::Rcvd);
            return Ok(());
        }
        (Some(StateBreach::AllDeleted), _) => asking.state.cancel_all_with(id, |_, _| true),
        (Some(StateBreach::TwinsDeleted), _) => {
            asking.state.cancel_all_with(id, |one, other| one.members == other.members);
        }
        (Some(StateBreach::ReadNotDeleted), Status::Rcvd) if asking.state.is_known("status", id) => {
            return Ok(());
        }
        (Some(StateBreach::BasketDeleted), _) => asking.state.cancel_baskets_with(id),
        (Some(StateBreach::PendingSeriesCancelled), Status::Pdng) if product == Product::Periodic => {
            asking.state.cancel_anyway(id);
            return Err(pending(Status::Pdng));
        }
        (Some(StateBreach::PendingDeletedAtSecond), Status::Pdng)
            if asking.state.count("deletion", id) > 1 =>
        {
            return Ok(());
        }
        _ => {}
    }
    let before = asking.state.cancel(id, product, asking.today);
    if asking.rules.broken_by(Breach::PendingCancelled) {
        asking.state.cancel_anyway(id);
    }
    match before {
        Some(Status::Pdng) if asking.rules.broken_by(Breach::PendingDeleted(product)) => Ok(()),
        None => Err(unknown()),
        Some(status @ (Status::Pdng | Status::Acsc)) => Err(pending(status)),
        Some(_) => Ok(()),
    }
}

fn pending(status: Status) -> Refusal {
    let says = format!("expected a payment that is not under way, found one with status {}", status.text());
    Refusal::new(StatusCode::CONFLICT, Code::Conflict, "payment.deletion.pending", says)
}

/// Who asks for a payment, and when.
pub(super) struct Asking<'a> {
    pub(super) state: &'a State,
    pub(super) owner: Owner,
    pub(super) today: NaiveDate,
    pub(super) rules: Rules,
}

impl Asking<'_> {
    /// Whether a payment shows. To whom the document does not say; here to its own PSU and TPP.
    pub(super) fn sees(&self, payment: &Payment) -> bool {
        let mut asking = self.owner.clone();
        match self.rules.state_breach() {
            Some(StateBreach::AnyPsu) => asking.psu = None,
            Some(StateBreach::AnyTpp) => asking.tpp = None,
            Some(StateBreach::SeriesToAnyPsu) if payment.product == Product::Periodic => asking.psu = None,
            Some(StateBreach::RejectedToAnyPsu) if payment.status == Status::Rjct => asking.psu = None,
            _ => {}
        }
        payment.owner.shows_to(&asking)
            || self.rules.varied_by(Variance::ShownToAnyone)
            || self.rules.broken_by(Breach::ShownToAnyone)
    }

    /// Whether a payment is that of the PSU who asks, whatever the TPP.
    pub(super) fn is_psu(&self, payment: &Payment) -> bool {
        payment.owner.shows_to(&Owner { tpp: None, ..self.owner.clone() })
    }
}

/// The payment with this id, where there is one of the product.
fn known<'a>(
    asking: &Asking<'_>,
    product: Product,
    id: Option<&'a String>,
) -> Result<(&'a str, Payment), Refusal> {
    let id = id.ok_or_else(unknown)?;
    let payment = found(asking, id).filter(|payment| payment.product == product);
    let payment = payment.filter(|payment| {
        payment.status != Status::Canc || !asking.rules.remembers_by(StateVariance::DeletedIsGone)
    });
    if asking.rules.state_breach() == Some(StateBreach::GoneWhenAsked) {
        if payment.as_ref().is_some_and(|payment| !asking.sees(payment)) {
            asking.state.is_new("asked", id);
        } else if asking.state.is_known("asked", id) {
            return Err(unknown());
        }
    }
    Ok((id, payment.filter(|payment| asking.sees(payment)).ok_or_else(unknown)?))
}

/// What the bank finds under an id of a payment.
fn found(asking: &Asking<'_>, id: &str) -> Option<Payment> {
    let state = asking.state;
    match asking.rules.state_breach() {
        Some(StateBreach::Forgets(most)) => state.is_recent(id, most).then(|| state.payment(id)).flatten(),
        Some(StateBreach::GoneInBasket) => state.payment(id).filter(|_| !state.is_in_a_basket(id)),
        Some(StateBreach::IdTaken(likeness)) => alike(state, likeness, id),
        _ => state.payment(id),
    }
}

/// What a bank that compares ids in another way finds under one.
pub(super) fn alike(state: &State, likeness: IdLikeness, id: &str) -> Option<Payment> {
    state.payment(id).or_else(|| match (likeness, likeness.other(id)) {
        (IdLikeness::Part, _) => state.payment_begun_by(id),
        (_, Some("")) => state.payment(PENDING),
        (_, other) => state.payment(other?),
    })
}

fn unknown() -> Refusal {
    let says = "expected a payment of this product, found an unknown id";
    Refusal::new(StatusCode::NOT_FOUND, Code::ResourceUnknown, "payment.id.known", says).at("paymentId")
}

/// Whether the debtor account can pay, and what then is taken from it. An account that is not this bank's is
/// not asked, and amounts in other currencies than the account's are not converted: they are held against an
/// account without any funds alone.
fn funds(state: &State, due: Amount, members: &Map<String, Value>) -> (bool, Option<(String, Decimal)>) {
    let debtor = members.get("debtorAccount");
    let mut numbers = ["iban", "bban"].into_iter().filter_map(|name| debtor?.get(name)?.as_str());
    let account = numbers.find_map(|number| state.account_by_number(number));
    let Some((account, Some(left))) = account else { return (true, None) };
    let value = due.value_in(account.currency());
    let is_enough = left > Decimal::ZERO && value.is_none_or(|value| value <= left);
    (is_enough, value.map(|value| (account.resource_id.clone(), value)))
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};

    use super::*;
    use crate::certificate::Certificates;
    use crate::clock::Clock;
    use crate::member::Object;
    use crate::rules::Rules;
    use crate::seed::{PRIVATE_ACCOUNT, Seed};

    fn at(day: u32) -> DateTime<Utc> {
        DateTime::parse_from_rfc3339(&format!("2030-01-{day:02}T12:00:00Z")).unwrap().to_utc()
    }

    fn day(day: u32) -> NaiveDate {
        at(day).date_naive()
    }

    fn bank() -> Context {
        Context {
            rules: Rules::kept(),
            clock: Clock::at(Some(at(1))),
            state: State::new(0, &Seed::built_in(), day(1)),
            certificates: Certificates::default(),
        }
    }

    fn owner(name: &str) -> Owner {
        Owner { psu: Some(name.to_owned()), tpp: Some(name.into()) }
    }

    fn asking(bank: &Context, day: NaiveDate) -> Asking<'_> {
        Asking { state: &bank.state, owner: owner("a"), today: day, rules: Rules::kept() }
    }

    fn created(bank: &Context, product: Product, members: &Value) -> Value {
        let due = json!({ "amount": "100000.00", "currency": "NOK" });
        let due = Object::root(due.as_object().unwrap(), "amount");
        let due = Amount::read(&due, Rules::kept()).unwrap();
        create(bank, product, due, members.as_object().unwrap().clone(), owner("a"), 0).unwrap()
    }

    fn id(answer: &Value) -> String {
        answer["paymentId"].as_str().unwrap().to_owned()
    }

    #[test]
    fn the_answer_names_the_payment() {
        let bank = bank();
        let answer = created(&bank, Product::Ncbct, &json!({}));
        let id = id(&answer);
        assert_eq!(bank.state.payment(&id).unwrap().product, Product::Ncbct);
        assert_eq!(answer["transactionFees"], json!({ "amount": "50.00", "currency": "NOK" }));
        assert_eq!(answer["transactionFeeIndicator"], true);
        let status = format!("/v1/payments/norwegian-cross-border-credit-transfers/{id}/status");
        assert_eq!(answer["_links"]["status"], json!({ "href": status, "verbs": ["GET"] }));
        assert_eq!(created(&bank, Product::Periodic, &json!({}))["transactionFeeIndicator"], false);
    }

    #[test]
    fn lack_of_funds_is_a_rejected_payment_and_its_status_says_so() {
        let bank = bank();
        for number in [json!({ "iban": "NO8900004200187" }), json!({ "bban": "00004200187" })] {
            let answer = created(&bank, Product::Ncbct, &json!({ "debtorAccount": number }));
            assert_eq!(answer["transactionStatus"], "RJCT");
            assert_eq!(answer["tppMessages"][0]["code"], "PAYMENT_FAILED");
            let status = status(Product::Ncbct, Some(&id(&answer)), &asking(&bank, day(1))).unwrap();
            assert_eq!(status, json!({ "transactionStatus": "RJCT", "fundsAvailable": false }));
        }
        let funded = json!({ "debtorAccount": { "iban": "NO1400004200179" } });
        assert_eq!(created(&bank, Product::Ncbct, &funded)["transactionStatus"], "RCVD");
    }

    #[test]
    fn a_balance_is_used_up_until_payments_are_cancelled() {
        let bank = bank();
        bank.state.set_balance(PRIVATE_ACCOUNT, "250000.00".to_owned()).unwrap();
        let from = json!({ "debtorAccount": { "iban": "NO1400004200179" } });
        let create = || created(&bank, Product::Ncbct, &from);
        let first = create();
        let statuses: Vec<Value> =
            [create(), create()].map(|answer| answer["transactionStatus"].clone()).into();
        assert_eq!(statuses, ["RCVD", "RJCT"], "two of 100 000 are paid, and a third is not");
        delete(Product::Ncbct, Some(&id(&first)), &asking(&bank, day(1))).unwrap();
        assert_eq!(create()["transactionStatus"], "RCVD", "what was cancelled is there again");
    }

    #[test]
    fn payments_go_through_their_statuses_day_by_day() {
        let bank = bank();
        let status = |product, id: &String, day| {
            status(product, Some(id), &asking(&bank, day)).unwrap()["transactionStatus"].clone()
        };
        let single = id(&created(&bank, Product::Ncbct, &json!({ "requestedExecutionDate": "2030-01-05" })));
        let seen = [1, 5, 6, 7, 30].map(|on| status(Product::Ncbct, &single, day(on)));
        assert_eq!(seen, ["RCVD", "RCVD", "PDNG", "ACSC", "ACSC"]);
        let series = id(&created(&bank, Product::Periodic, &json!({ "startDate": "2030-01-03" })));
        let seen = [1, 3, 4].map(|on| status(Product::Periodic, &series, day(on)));
        assert_eq!(seen, ["RCVD", "RCVD", "ACTC"]);
        for under_way in [6, 7] {
            let refusal = delete(Product::Ncbct, Some(&single), &asking(&bank, day(under_way)));
            assert_eq!(refusal.unwrap_err().status, StatusCode::CONFLICT);
        }
        let basket = bank.state.create_basket(vec![single], 0);
        let seen = [1, 6, 7].map(|on| bank.state.basket_status(&basket, day(on)).unwrap().text());
        assert_eq!(seen, ["RCVD", "ACTC", "ACTC"]);
    }

    #[test]
    fn a_payment_is_found_and_deleted_at_its_own_path_only() {
        let bank = bank();
        let today = asking(&bank, day(1));
        let id = id(&created(&bank, Product::Ncbct, &json!({ "creditorName": "Synthetic" })));
        let shown = details(Product::Ncbct, Some(&id), &today).unwrap();
        assert_eq!((&shown["creditorName"], &shown["paymentId"]), (&json!("Synthetic"), &json!(id)));
        assert!(details(Product::Periodic, Some(&id), &today).is_err());
        assert!(delete(Product::Periodic, Some(&id), &today).is_err());
        assert!(delete(Product::Ncbct, Some(&id), &today).is_ok());
        let status = status(Product::Ncbct, Some(&id), &today).unwrap();
        assert_eq!(status, json!({ "transactionStatus": "CANC", "fundsAvailable": true }));
    }

    #[test]
    fn a_pending_payment_is_not_deleted() {
        let bank = bank();
        let asking = Asking { owner: Owner::default(), ..asking(&bank, day(1)) };
        let delete = |id: Option<&String>| delete(Product::Ncbct, id, &asking).unwrap_err();
        let refusal = delete(Some(&"payment-pending-0001".to_owned()));
        assert_eq!((refusal.status, refusal.code), (StatusCode::CONFLICT, Code::Conflict));
        assert_eq!(delete(None).status, StatusCode::NOT_FOUND);
    }

    #[test]
    fn a_payment_shows_to_its_psu_and_tpp() {
        let bank = bank();
        let id = id(&created(&bank, Product::Ncbct, &json!({})));
        let read = |owner: Owner, rules: Rules| {
            let asking = Asking { owner, rules, ..asking(&bank, day(1)) };
            status(Product::Ncbct, Some(&id), &asking).map_err(|refusal| refusal.status)
        };
        let unknown = Err(StatusCode::NOT_FOUND);
        assert!(read(owner("a"), Rules::kept()).is_ok());
        assert!(read(Owner::default(), Rules::kept()).is_ok(), "who is not named is not another");
        assert_eq!(read(Owner { psu: owner("b").psu, ..owner("a") }, Rules::kept()), unknown);
        assert_eq!(read(Owner { tpp: owner("b").tpp, ..owner("a") }, Rules::kept()), unknown);
        assert!(read(owner("b"), Rules::varied(Variance::ShownToAnyone)).is_ok());
        assert!(read(owner("b"), Rules::broken(Breach::ShownToAnyone)).is_ok());
        let delete = |owner| delete(Product::Ncbct, Some(&id), &Asking { owner, ..asking(&bank, day(1)) });
        assert_eq!(delete(owner("b")).unwrap_err().status, StatusCode::NOT_FOUND);
        assert!(delete(owner("a")).is_ok());
    }
}
