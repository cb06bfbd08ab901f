//! Places where the document can be read in several ways, and this bank takes the plain one: banks that took
//! another.

use axum::http::StatusCode;

use super::requests::{PAYMENTS, on};
use crate::date;
use crate::header::Header;
use crate::operation::{Operation, Product};
use crate::refusal::Code;
use crate::rules::{
    Breach, Corporate, DigestBreach, Effect, Entry, Form, JsonBreach, Likeness, Place, SignatureBreach as S,
    Then, Treatment, Variance, When,
};

const B: Operation = Operation::Basket;
const N: Operation = Operation::Ncbct;
const P: Operation = Operation::Periodic;
const T: Operation = Operation::Transaction;

pub(super) fn variations() -> Vec<Entry> {
    let mut all = Vec::new();
    for (name, operations, place, when, then, says) in VALUES {
        all.extend(on(name, operations, *place, *when, *then, says));
    }
    all.extend(breaches());
    all.extend(of_more());
    all.extend(not_implemented());
    all.push(other_letters());
    all
}

/// Name, operations, place, values, what is done with them, and a sentence.
type Values = (&'static str, &'static [Operation], Place, When, Then, &'static str);

#[rustfmt::skip]
const VALUES: &[Values] = &[
    ("account.bban.letters/refused", PAYMENTS, Place::Body("/creditorAccount/bban"), When::Text(has_letters), Then::Refuse, "A bban has digits alone."),
    ("account.iban.any-country/digits", PAYMENTS, Place::Body("/creditorAccount/iban"), When::Text(|iban| has_letters(iban.get(4..).unwrap_or_default())), Then::Refuse, "Creditors have accounts in countries whose ibans have digits alone."),
    ("address.free-text/postal-code", PAYMENTS, Place::Body("/creditorAddress/postalCode"), When::Text(|code| code.is_ascii() && (code.len() > 10 || code.contains('-'))), Then::Refuse, "A postal code in ASCII has at most ten letters, digits and blanks."),
    ("address.free-text/building", PAYMENTS, Place::Body("/creditorAddress/buildingNumber"), When::Text(|number| number.is_ascii() && !number.starts_with(|first: char| first.is_ascii_digit())), Then::Refuse, "A building number in ASCII begins with a digit."),
    ("amount.form.exponent/plus", PAYMENTS, Place::Body("/instructedAmount/amount"), When::Text(|text| text.strip_prefix('+').is_some_and(is_amount)), Then::TakeFor("\"250000.00\""), "An amount may have a plus sign."),
    ("amount.form.exponent/exponent", PAYMENTS, Place::Body("/instructedAmount/amount"), When::Text(has_exponent), Then::TakeFor("\"250000.00\""), "An amount may have an exponent."),
    ("date.form/basic", &[N], Place::Body("/requestedExecutionDate"), When::Text(is_basic), Then::TakeFor("\"2099-12-01\""), "A date may be written without hyphens."),
    ("date.form/time", &[P], Place::Body("/startDate"), When::Text(|text| text.get(10..).is_some_and(|rest| rest.starts_with('T')) && date::parse(&text[..10]).is_ok()), Then::Cut(10), "A date may have a time."),
    ("header.tpp-redirect-uri.absolute/only-https", &[B, N, P, T], Place::Header("tpp-redirect-uri"), When::Text(|value| !value.starts_with("https://")), Then::Refuse, "TPP-Redirect-URI has to be an https address."),
    ("header.tpp-redirect-uri.absolute/no-fragment", &[B, N, P, T], Place::Header("tpp-redirect-uri"), When::Text(|value| value.contains('#')), Then::Refuse, "TPP-Redirect-URI has no fragment."),
    ("http.content-type.charset/refused", &[B, N, P], Place::Header("content-type"), When::Text(|value| value.contains(';')), Then::Refuse, "The media type of a body has no parameter."),
    ("text.characters/utf-16", PAYMENTS, Place::Body("/creditorName"), When::Text(|text| text.encode_utf16().count() > 70), Then::Refuse, "A name has at most 70 UTF-16 units."),
];

fn breaches() -> Vec<Entry> {
    let taken = |operation| Effect::Breach(Breach::UnknownPsu(operation));
    let signature = |breach| Effect::Breach(Breach::Signature(breach));
    vec![
        Entry::breach(
            "amount.precision.total/whole-digits",
            Breach::WholeDigitsOnly,
            "Eighteen digits are the limit of those before the point.",
        ),
        Entry::new(
            "header.psu-id.unknown/taken",
            [B, N, P, T].map(taken).into(),
            "A PSU whom the bank does not know is asked who that is later.",
        ),
        Entry::new(
            "signature.parameters.blanks/refused",
            vec![signature(S::NoBlanks)],
            "Blanks around the equals signs and commas of a Signature header are refused.",
        ),
        Entry::new(
            "signature.algorithm.rsa-sha1/taken",
            vec![signature(S::Sha1AsNamed)],
            "Signatures with SHA-1 are accepted under their label.",
        ),
        Entry::new(
            "signature.key-id.part/common-name",
            vec![signature(S::CommonNameAlone)],
            "The issuer in keyId may be its common name alone.",
        ),
    ]
}

/// Freedoms that have a branch of their own in the bank.
fn of_more() -> Vec<Entry> {
    let breaches = [
        (
            "error.funds.rejected/later",
            Breach::FundsIgnored,
            "Funds are looked at when a payment is executed.",
        ),
        (
            "json.trailing/passed-over",
            Breach::Json(JsonBreach::Trailing),
            "A body ends where its JSON text does, and what follows is passed over.",
        ),
        (
            "json.utf-8/lossy",
            Breach::Json(JsonBreach::Lossy),
            "Bytes that are no UTF-8 become replacement characters.",
        ),
        (
            "json.extensions/comma",
            Breach::Json(JsonBreach::LastComma),
            "A comma may follow the last member of a body.",
        ),
        (
            "digest.token-spelling/without-hyphen",
            Breach::Digest(DigestBreach::Passes("sha256")),
            "The algorithm of a Digest may be written as the document writes it, sha256.",
        ),
    ];
    let mut all: Vec<Entry> =
        breaches.into_iter().map(|(name, breach, says)| Entry::breach(name, breach, says)).collect();
    let words = ["TRUE", "True", "FALSE", "1", "0", "yes", "no", "on", "t", "", "true "];
    let boolean = |word| Effect::Breach(Breach::BooleanOf("allowLogicalDuplicate", word));
    all.push(Entry::new(
        "ncbct.allow-logical-duplicate.words/taken",
        words.map(boolean).into(),
        "allowLogicalDuplicate may be any word that is usual for a boolean.",
    ));
    let person = |operation| Effect::Breach(Breach::NoAgreement(operation, Corporate::Person));
    all.push(Entry::new(
        "error.corporate-id.person/private",
        [N, P].map(person).into(),
        "A person who has an agreement may pay as a private person.",
    ));
    all.push(Entry::new(
        "error.corporate-id/context-forbidden",
        vec![Effect::Variance(Variance::ContextForbidden)],
        "A private person in corporate context is forbidden.",
    ));
    all.push(Entry::new(
        "amount.digits.fewer.response.other/as-named",
        vec![Effect::Variance(Variance::DigitsAsNamed)],
        "Fees have no decimals where the request does not name amount-as-string.",
    ));
    all.push(Entry::new(
        "json.duplicate-keys.response/last",
        vec![Effect::Forms(Form::Twice("transactionStatus"))],
        "Answers have their status twice, the last time the right one.",
    ));
    all
}

/// Operations that the document does not show, and a bank may not have (RFC 9110 section 15.6.2).
fn not_implemented() -> [Entry; 2] {
    let refused = |name: &'static str, operations: &[Operation], says| {
        let (clause, _) = name.split_once('/').unwrap_or((name, ""));
        let place = Place::Header("x-request-id");
        let treats = operations.iter().map(|operation| {
            Effect::Treats(Treatment {
                operation: *operation,
                place,
                when: When::Present,
                then: Then::Refuse,
            })
        });
        let status = Effect::Refuses(clause, StatusCode::NOT_IMPLEMENTED, Code::NotFound);
        Entry::new(name, treats.chain([status]).collect(), says)
    };
    let deletion = [Product::Ncbct, Product::Periodic].map(Operation::Deletion);
    [
        refused(
            "status.pdng.deletion-path/not-implemented",
            &deletion,
            "The deletion of payments is not implemented, and answered with 501.",
        ),
        refused(
            "customers.creation/not-implemented",
            &[Operation::CreateCustomer],
            "The creation of customers is not implemented, and answered with 501.",
        ),
    ]
}

/// A bank to which the letter case of codes and words does not count.
fn other_letters() -> Entry {
    const PURPOSES: &[&str] = &[
        "INVS", "SALA", "IDCP", "CASH", "CORT", "INTC", "PENS", "SSBE", "SUPP", "TAXS", "TREA", "VATX",
        "LOAN", "OTHR",
    ];
    const FREQUENCIES: &[&str] = &["Daily", "Weekly", "Monthly", "Quarterly", "Annual", "MonthlyVariable"];
    let body = |operation, pointer, list, valid| {
        let (place, when) = (Place::Body(pointer), When::Like(Likeness::LetterCase, list));
        Effect::Treats(Treatment { operation, place, when, then: Then::TakeFor(valid) })
    };
    Entry::new(
        "listed.case/taken",
        vec![
            body(N, "/purposeCode", PURPOSES, "\"OTHR\""),
            body(P, "/purposeCode", PURPOSES, "\"OTHR\""),
            body(P, "/frequency", FREQUENCIES, "\"Monthly\""),
            body(P, "/executionRule", &["following", "preceeding"], "\"following\""),
            Effect::Variance(Variance::AnyLetterCase(Header::PsuContext)),
            Effect::Variance(Variance::AnyLetterCase(Header::PsuHttpMethod)),
        ],
        "The letter case of codes and words does not count.",
    )
}

fn has_letters(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn is_amount(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn has_exponent(text: &str) -> bool {
    text.split_once(['e', 'E'])
        .is_some_and(|(number, power)| is_amount(number) && is_amount(power.trim_start_matches(['+', '-'])))
}

/// Eight digits that are a day.
fn is_basic(text: &str) -> bool {
    text.len() == 8 && chrono::NaiveDate::parse_from_str(text, "%Y%m%d").is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_apart() {
        assert!(
            has_exponent("1e5") && has_exponent("2.5E+04") && !has_exponent("100") && !has_exponent("e5")
        );
        assert!(is_basic("20310205") && !is_basic("20310230") && !is_basic("2031-02-05"));
        assert!(has_letters("12A") && !has_letters("12-3"));
    }
}
