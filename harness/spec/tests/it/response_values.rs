//! Every text of the maximal bodies that has a limit, a list or a form, with each mistake of its kind: each is
//! found at its place, under its own clause.
//!
//! Limits, lists and clauses are written here by hand from the document's tables, not read from the schemas
//! under test.

use serde_json::{Value, json};
use xs2aspec_spec::{AnswerRules, Tree};

/// What a text may hold.
enum Kind {
    /// So many characters.
    Most(usize),
    /// One of these words.
    Words(&'static [&'static str]),
    /// A date.
    Date,
    /// A BIC.
    Bic,
    /// An amount of money in a currency of two digits.
    Amount,
}

use Kind::{Amount, Bic, Date, Most, Words};

const VERBS: &[&str] = &["GET", "PUT", "POST", "DELETE"];
const STATUSES: &[&str] =
    &["ACCP", "ACSC", "ACSP", "ACTC", "ACWC", "ACWP", "RCVD", "PDNG", "RJCT", "CANC", "PART"];

/// Body, place, what it may hold, and the clause of that.
const ROWS: &[(&str, &str, Kind, &str)] = &[
    ("payment", "/transactionStatus", Words(STATUSES), "transaction-status.listed"),
    ("payment", "/psuMessage", Most(512), "payment.response.psu-message"),
    ("payment", "/tppMessages/0/category", Words(&["ERROR", "WARNING"]), "tpp-message.category"),
    ("payment", "/tppMessages/0/text", Most(512), "tpp-message.text.length"),
    ("payment", "/transactionFees/amount", Amount, "amount"),
    ("payment", "/_links/status/verbs/0", Words(VERBS), "link.verbs"),
    (
        "basket",
        "/transactionStatus",
        Words(&["RCVD", "ACTC", "PATC", "RJCT"]),
        "basket.response.transaction-status",
    ),
    ("basket", "/_links/self/verbs/0", Words(VERBS), "link.verbs"),
    ("customers", "/0/customerType", Words(&["PRIVATE", "CORPORATE"]), "customer.customer-type"),
    ("transaction", "/transactionsDetails/endToEndId", Most(35), "transaction.end-to-end-id.length"),
    ("transaction", "/transactionsDetails/creditorId", Most(35), "transaction.creditor-id.length"),
    ("transaction", "/transactionsDetails/creditorName", Most(70), "transaction.creditor-name.length"),
    ("transaction", "/transactionsDetails/debtorName", Most(70), "transaction.debtor-name.length"),
    (
        "transaction",
        "/transactionsDetails/ultimateCreditor",
        Most(70),
        "transaction.ultimate-creditor.length",
    ),
    ("transaction", "/transactionsDetails/ultimateDebtor", Most(70), "transaction.ultimate-debtor.length"),
    (
        "transaction",
        "/transactionsDetails/remittanceInformationUnstructured",
        Most(140),
        "transaction.remittance-unstructured.length",
    ),
    (
        "transaction",
        "/transactionsDetails/remittanceInformationUnstructuredArray/0",
        Most(140),
        "transaction.remittance-unstructured-array.length",
    ),
    (
        "transaction",
        "/transactionsDetails/remittanceInformationStructuredArray/0/reference",
        Most(35),
        "remittance-structured.reference.length",
    ),
    (
        "transaction",
        "/transactionsDetails/remittanceInformationStructuredArray/0/referenceType",
        Most(35),
        "remittance-structured.reference-type.length",
    ),
    (
        "transaction",
        "/transactionsDetails/remittanceInformationStructuredArray/0/referenceIssuer",
        Most(35),
        "remittance-structured.reference-issuer.length",
    ),
    ("transaction", "/transactionsDetails/purposeCode", Most(4), "transaction.purpose-code.length"),
    (
        "transaction",
        "/transactionsDetails/proprietaryBankTransactionCode",
        Most(35),
        "transaction.proprietary-bank-transaction-code.length",
    ),
    (
        "transaction",
        "/transactionsDetails/bankTransactionCode",
        Most(14),
        "transaction.bank-transaction-code.length",
    ),
    ("transaction", "/transactionsDetails/creditorAccount/iban", Most(34), "account.iban.length"),
    ("transaction", "/transactionsDetails/debtorAccount/iban", Most(34), "account.iban.length"),
    ("transaction", "/transactionsDetails/creditorAgent", Bic, "bic.pattern"),
    ("transaction", "/transactionsDetails/debtorAgent", Bic, "bic.pattern"),
    ("transaction", "/transactionsDetails/bookingDate", Date, "transaction.booking-date"),
    ("transaction", "/transactionsDetails/valueDate", Date, "transaction.value-date"),
    (
        "transaction",
        "/transactionsDetails/currencyExchange/quotationDate",
        Date,
        "transaction.currency-exchange.quotation-date",
    ),
    ("transaction", "/transactionsDetails/transactionAmount/amount", Amount, "amount"),
    ("transaction", "/transactionsDetails/entryDetails/0/transactionAmount/amount", Amount, "amount"),
    (
        "transaction",
        "/transactionsDetails/entryDetails/0/creditorName",
        Most(70),
        "transaction.entry.creditor-name.length",
    ),
    (
        "transaction",
        "/transactionsDetails/entryDetails/0/debtorName",
        Most(70),
        "transaction.entry.debtor-name.length",
    ),
    (
        "transaction",
        "/transactionsDetails/entryDetails/0/remittanceInformationUnstructured",
        Most(140),
        "transaction.entry.remittance-unstructured.length",
    ),
];

impl Kind {
    /// Each mistake of the kind, and what of a clause it breaks besides the one of the row.
    fn mistakes(&self) -> Vec<(Value, &'static str)> {
        let texts = |texts: &[&str]| texts.iter().map(|text| (json!(text), "")).collect::<Vec<_>>();
        match self {
            Most(most) => {
                let long = |letter: &str, count: usize| letter.repeat(count);
                [
                    long("A", most + 1),
                    long("A", 2 * most),
                    long("A", 1000),
                    long("ø", most + 1),
                    long("🙂", most + 1),
                    long("A", *most) + " ",
                    " ".to_owned() + &long("A", *most),
                ]
                .map(|text| (json!(text), ""))
                .to_vec()
            }
            Words(words) => {
                let (first, last) = (words[0], words[words.len() - 1]);
                let near = [
                    first.to_lowercase(),
                    format!("{first} "),
                    format!(" {first}"),
                    format!("{first}{last}"),
                    format!("X{first}"),
                    format!("{last}S"),
                    first[1..].to_owned(),
                    String::new(),
                    "UNKNOWN".to_owned(),
                    "ACCC".to_owned(),
                ];
                near.into_iter().map(|text| (json!(text), "")).collect()
            }
            Date => texts(&[
                "",
                "tomorrow",
                "2031-02-30",
                "2031-13-01",
                "2031-2-05",
                "31-02-05",
                "05.02.2031",
                "2031/02/05",
                "2031-02-05T00:00:00",
                "2031-02-05Z",
                "2031-02-05\n",
                " 2031-02-05",
                "2031-W06-3",
            ]),
            Bic => texts(&["", "AAAA", "aaaadef0xxx", "AAA1DEF0XXX", "AAAADE10", "AAAADEFO", " AAAADEF0XXX"]),
            Amount => {
                let forms =
                    ["", "much", "NaN", "100,00", "1 000.00", "1.000.00", "100.00 NOK", "٢٥٠", "0x10"];
                let digits = ["100.001", "100.123456", "100", "100.1"];
                let forms = forms.iter().map(|text| (json!(text), ".form"));
                forms
                    .chain(digits[..2].iter().map(|text| (json!(text), ".digits")))
                    .chain(digits[2..].iter().map(|text| (json!(text), ".digits.fewer.response")))
                    .chain([(json!(100), ".string"), (json!(100.25), ".string")])
                    .collect()
            }
        }
    }
}

#[test]
fn each_mistake_of_a_kind_is_found_at_its_place_under_its_own_clause() {
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    let bodies: Value = serde_json::from_str(include_str!("response/bodies.json")).unwrap();
    let (mut mutations, mut wrong) = (0, Vec::new());
    for (name, pointer, kind, clause) in ROWS {
        let operation = if *name == "payment" { "ncbct" } else { name };
        for (value, more) in kind.mistakes() {
            let mut body = bodies[*name].clone();
            let (outer, member) = pointer.rsplit_once('/').unwrap();
            match body.pointer_mut(outer).unwrap_or_else(|| panic!("{name} has no {outer}")) {
                Value::Object(members) => _ = members.insert(member.to_owned(), value.clone()),
                Value::Array(items) => items[member.parse::<usize>().unwrap()] = value.clone(),
                other => panic!("{name} has {other} at {outer}"),
            }
            let bytes = serde_json::to_vec(&body).unwrap();
            let checked = rules.check(operation, 200, Some("application/json"), &bytes);
            mutations += 1;
            let clause = format!("{clause}{more}");
            let found: Vec<&str> = checked.findings.iter().map(|one| one.clause.as_str()).collect();
            let is_there = checked.findings.iter().all(|one| one.at == format!("body{pointer}"));
            if found != [clause.as_str()] || !is_there {
                wrong.push(format!("{name}{pointer} = {value}: {found:?} and not {clause}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {mutations}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(mutations > 250, "{mutations}");
}
