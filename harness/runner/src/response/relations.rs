//! What a schema cannot say of a 2xx body: money, members that depend on each other, and what is only recorded.
//!
//! A value of the wrong type is the schema's finding and is passed over here.

use serde_json::{Map, Value};

use super::{Operation, amount, clause, currency::Currencies, notes::Notes, pointer::At, words};

/// Members that the current implementation does not offer; nothing forbids them (readings, row 55).
const NOT_OFFERED: [(&str, &str); 3] = [
    ("creditorId", clause::CREDITOR_ID_NOT_OFFERED),
    ("ultimateCreditor", clause::ULTIMATE_CREDITOR_NOT_OFFERED),
    ("ultimateDebtor", clause::ULTIMATE_DEBTOR_NOT_OFFERED),
];

/// Clauses that each amount in an answer has to keep.
const OF_AMOUNTS: [&str; 5] = [
    clause::AMOUNT_FORM,
    clause::AMOUNT_PRECISION,
    clause::AMOUNT_SCALE,
    clause::AMOUNT_DIGITS,
    clause::AMOUNT_DIGITS_FEWER,
];

type Members = Map<String, Value>;

/// The clauses that these rules demand of an answer of `operation`.
pub(super) fn clauses(operation: Operation) -> Vec<&'static str> {
    match operation {
        Operation::Basket | Operation::Customers => vec![],
        Operation::Ncbct | Operation::Periodic => OF_AMOUNTS.to_vec(),
        Operation::Transaction => [&OF_AMOUNTS[..], &[clause::BATCH_NUMBER_IFF]].concat(),
    }
}

/// Those of them that this body of an answer has something to look at for.
pub(super) fn exercised(operation: Operation, document: &Value) -> Vec<&'static str> {
    let details = document.get("transactionsDetails");
    let is_amount = |holder: &Value, member: &str| holder.get(member).is_some_and(|value| !value.is_null());
    let entries = items(details.and_then(|details| details.get("entryDetails")));
    let mut entries = entries.map(|(_, entry)| entry).chain(details);
    let has_amount =
        is_amount(document, "transactionFees") || entries.any(|entry| is_amount(entry, "transactionAmount"));
    let has_batch = details.and_then(Value::as_object).is_some_and(|details| {
        present(details, "batchIndicator").or(present(details, "batchNumberOfTransactions")).is_some()
    });
    let is_exercised =
        |clause: &&str| if *clause == clause::BATCH_NUMBER_IFF { has_batch } else { has_amount };
    clauses(operation).into_iter().filter(is_exercised).collect()
}

/// Checks the body of an answer of `operation`.
pub(super) fn check(operation: Operation, document: &Value, currencies: &Currencies, notes: &mut Notes) {
    match operation {
        Operation::Basket => basket(document, notes),
        Operation::Ncbct | Operation::Periodic => payment(document, currencies, notes),
        Operation::Customers => customers(document, notes),
        Operation::Transaction => transaction(document, currencies, notes),
    }
}

/// A basket without an id or links can hardly be used, and yet both are optional (readings, row 16).
fn basket(document: &Value, notes: &mut Notes) {
    let Some(basket) = document.as_object() else { return };
    for (member, clause) in [("basketId", clause::BASKET_ID_ABSENT), ("_links", clause::BASKET_LINKS_ABSENT)]
    {
        notes.checked();
        if !basket.contains_key(member) {
            notes.observe(clause, At::Body.member(member), "absent");
        }
    }
    links(basket, At::Body, notes);
}

fn payment(document: &Value, currencies: &Currencies, notes: &mut Notes) {
    let Some(payment) = document.as_object() else { return };
    if let Some(fees) = payment.get("transactionFees") {
        let at = At::Body.member("transactionFees");
        amount::check(fees, at, currencies, notes);
        fee(fees, payment.get("transactionFeeIndicator"), at, notes);
    }
    links(payment, At::Body, notes);
}

/// A fee below zero, or one that the indicator denies; the document relates neither (readings, row 101).
fn fee(fees: &Value, indicator: Option<&Value>, at: At<'_>, notes: &mut Notes) {
    let Some(text) = fees.get("amount").and_then(Value::as_str) else { return };
    notes.checked();
    if text.trim_start().starts_with('-') {
        notes.observe(clause::FEES_MEANING, at, "a fee below zero");
    }
    if indicator == Some(&Value::Bool(false)) && text.contains(|digit| matches!(digit, '1'..='9')) {
        notes.observe(clause::FEE_INDICATOR_RELATION, at, "a fee, although transactionFeeIndicator is false");
    }
}

fn customers(document: &Value, notes: &mut Notes) {
    for (index, customer) in items(Some(document)) {
        let Some(customer) = customer.as_object() else { continue };
        let at = At::Body.element(index);
        links(customer, at, notes);
        for (index, agreement) in items(customer.get("agreements")) {
            if let Some(agreement) = agreement.as_object() {
                links(agreement, at.member("agreements").element(index), notes);
            }
        }
    }
}

fn transaction(document: &Value, currencies: &Currencies, notes: &mut Notes) {
    let Some(details) = document.get("transactionsDetails").and_then(Value::as_object) else { return };
    let at = At::Body.member("transactionsDetails");
    if let Some(value) = details.get("transactionAmount") {
        amount::check(value, at.member("transactionAmount"), currencies, notes);
    }
    batch(details, at, notes);
    let entries = at.member("entryDetails");
    for (index, entry) in items(details.get("entryDetails")) {
        let Some(entry) = entry.as_object() else { continue };
        let at = entries.element(index);
        if let Some(value) = entry.get("transactionAmount") {
            amount::check(value, at.member("transactionAmount"), currencies, notes);
        }
        parties(entry, at, notes);
        links(entry, at, notes);
    }
    parties(details, at, notes);
    exchange(details, at, notes);
    agents(details, at, notes);
    links(details, at, notes);
    if present(details, "remittanceInformationStructured").is_some() {
        notes.observe(clause::REMITTANCE_STRUCTURED, at.member("remittanceInformationStructured"), "present");
    }
    for (member, clause) in NOT_OFFERED {
        if present(details, member).is_some() {
            notes.observe(
                clause,
                at.member(member),
                "present, although not offered by the current implementation",
            );
        }
    }
}

/// The number of transactions is there if and only if the entry is a batch entry (readings, row 54).
fn batch(details: &Members, at: At<'_>, notes: &mut Notes) {
    let number = present(details, "batchNumberOfTransactions");
    let (is_batch, indicator) = match present(details, "batchIndicator") {
        None => (false, "absent"),
        Some(Value::Bool(false)) => (false, "false"),
        Some(Value::Bool(true)) => (true, "true"),
        Some(_) => return,
    };
    notes.checked();
    let here = at.member("batchNumberOfTransactions");
    match (is_batch, number) {
        (true, None) => {
            notes.finding(clause::BATCH_NUMBER_IFF, here, "a number, since batchIndicator is true", "absent");
        }
        (false, Some(number)) => {
            let expected = format!("absent, since batchIndicator is {indicator}");
            notes.finding(clause::BATCH_NUMBER_IFF, here, expected, words::value(number));
        }
        (true, Some(_)) | (false, None) => {}
    }
}

/// "Either bban or iban identifies the account" is asserted of requests only: in these responses every member is optional.
fn parties(members: &Members, at: At<'_>, notes: &mut Notes) {
    for name in ["creditorAccount", "debtorAccount"] {
        let Some(account) = present(members, name).and_then(Value::as_object) else { continue };
        notes.checked();
        if present(account, "bban").is_none() && present(account, "iban").is_none() {
            notes.observe(clause::ACCOUNT_IDENTIFIER, at.member(name), "neither bban nor iban");
        }
    }
}

/// The pattern of a BIC has no end, so that longer texts match it (readings, row 21).
fn agents(details: &Members, at: At<'_>, notes: &mut Notes) {
    for name in ["creditorAgent", "debtorAgent"] {
        let Some(bic) = present(details, name).and_then(Value::as_str) else { continue };
        notes.checked();
        if goes_on_after_the_pattern(bic.as_bytes()) {
            let text = format!("{} matches the pattern and goes on", words::quoted(bic));
            notes.observe(clause::BIC_WHOLE, at.member(name), text);
        }
    }
}

/// Whether a text begins as the pattern says and neither ends there nor with a branch of three; one that does not even begin so
/// is the schema's finding.
fn goes_on_after_the_pattern(bic: &[u8]) -> bool {
    let Some((start, branch)) = bic.split_at_checked(8) else { return false };
    start[..6].iter().all(u8::is_ascii_uppercase)
        && matches!(start[6], b'A'..=b'Z' | b'2'..=b'9')
        && matches!(start[7], b'A'..=b'N' | b'P'..=b'Z' | b'0'..=b'9')
        && !branch.is_empty()
        && !(branch.len() == 3 && branch.iter().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit()))
}

/// The unit currency is the base of the rate, hence one of the two currencies (readings, row 56).
fn exchange(details: &Members, at: At<'_>, notes: &mut Notes) {
    let Some(exchange) = present(details, "currencyExchange").and_then(Value::as_object) else { return };
    let code = |name| exchange.get(name).and_then(Value::as_str);
    let (Some(unit), Some(source), Some(target)) =
        (code("unitCurrency"), code("sourceCurrency"), code("targetCurrency"))
    else {
        return;
    };
    notes.checked();
    if unit != source && unit != target {
        let at = at.member("currencyExchange");
        let text = format!(
            "{} is neither the source {} nor the target {}",
            words::quoted(unit),
            words::quoted(source),
            words::quoted(target)
        );
        notes.observe(clause::UNIT_CURRENCY, at.member("unitCurrency"), text);
    }
}

/// Links without verbs and relative references are allowed as far as the document goes (readings, row 48).
fn links(members: &Members, at: At<'_>, notes: &mut Notes) {
    let at = at.member("_links");
    for (name, link) in present(members, "_links").and_then(Value::as_object).into_iter().flatten() {
        let at = at.member(name);
        notes.checked();
        if let Some(href) = link.get("href").and_then(Value::as_str)
            && !is_absolute(href)
        {
            notes.observe(
                clause::LINK_HREF_RELATIVE,
                at.member("href"),
                format!("{} is relative", words::quoted(href)),
            );
        }
        if link.get("verbs").and_then(Value::as_array).is_some_and(Vec::is_empty) {
            notes.observe(clause::LINK_VERBS_EMPTY, at.member("verbs"), "an empty array");
        }
    }
}

/// Whether a reference begins with a scheme (RFC 3986 section 3.1).
fn is_absolute(href: &str) -> bool {
    href.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

/// A member that is there; `null` counts as absent.
fn present<'a>(members: &'a Members, name: &str) -> Option<&'a Value> {
    members.get(name).filter(|value| !value.is_null())
}

fn items(array: Option<&Value>) -> impl Iterator<Item = (usize, &Value)> {
    array.and_then(Value::as_array).into_iter().flatten().enumerate()
}
