//! Tests every string of the samples that has a limit, a list or a format, with each invalid value of its
//! kind. Each is found at its place, by its own clause.
//!
//! The invalid values are those of the matrix, which the schemas generate. Limits, lists and clauses are
//! listed here by hand from the document's tables, so that a limit that a schema lacks is noticed.

use std::collections::BTreeSet;

use serde_json::Value;
use xs2aspec_spec::{
    AnswerRules, Tree,
    answer::{FILE, Mutation, Said},
};

/// The allowed content of a string.
enum Kind {
    /// At most this many characters.
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

/// Body, place, allowed content, and the clause for it.
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
    /// Returns the invalid values that must exist. Each has the end of the clause that it violates, which
    /// follows the clause of the row.
    fn mistakes(&self) -> Vec<(&'static str, &'static str)> {
        let plain = |forms: &[&'static str]| forms.iter().map(|form| (*form, "")).collect::<Vec<_>>();
        match self {
            Most(_) => plain(&[
                "one-more",
                "one-more-of-two-bytes",
                "one-more-of-four-bytes",
                "one-more-with-blank",
                "twice-as-many",
                "very-long",
            ]),
            Words(_) => plain(&[
                "empty",
                "blank",
                "blank-before",
                "blank-after",
                "line-break-after",
                "small-letters",
                "letter-before",
                "letter-after",
                "first-left-out",
                "two-words",
                "two-with-comma",
                "turned-round",
                "unlisted",
            ]),
            Date => plain(&[
                "empty",
                "blank-before",
                "line-break-after",
                "words",
                "no-leap-day",
                "30-february",
                "31-april",
                "month-0",
                "month-13",
                "day-0",
                "day-32",
                "one-digit",
                "two-digits-of-year",
                "five-digits-of-year",
                "other-order",
                "points",
                "slashes",
                "negative",
                "other-digits",
                "seconds-since-1970",
            ]),
            Bic => plain(&["empty", "small-letters", "first-left-out", "digit-before", "sign-inside"]),
            Amount => {
                let forms = [
                    "empty",
                    "words",
                    "not-a-number",
                    "infinity",
                    "comma",
                    "comma-of-thousands",
                    "blank-of-thousands",
                    "two-points",
                    "with-currency",
                    "other-digits",
                    "hexadecimal",
                    "two-signs",
                    "sign-after",
                ];
                let digits = [
                    ("one-more-digit", ".digits"),
                    ("two-more-zeros", ".digits"),
                    ("six-digits", ".digits"),
                    ("one-digit-less", ".digits.fewer.response"),
                    ("no-fraction", ".digits.fewer.response"),
                    ("bare-point-after", ".digits.fewer.response"),
                    ("19-before-the-point", ".precision"),
                    ("type-number", ".string"),
                    ("type-fraction", ".string"),
                ];
                forms.map(|form| (form, ".form")).into_iter().chain(digits).collect()
            }
        }
    }

    /// Returns a message if the mutations of a place show another limit or other words than this row.
    fn differs(&self, at: &[&Mutation], pointer: &str) -> Option<String> {
        let text = |form: &str| {
            let mutation = at.iter().find(|mutation| mutation.form == form)?;
            let body: Value = serde_json::from_slice(&mutation.body).ok()?;
            Some(body.pointer(pointer)?.as_str()?.chars().count())
        };
        match self {
            Most(most) => {
                let limits = (text("at-limit"), text("one-more"));
                (limits != (Some(*most), Some(most + 1))).then(|| format!("{limits:?} and not {most}"))
            }
            Words(words) => {
                let sent = at.iter().filter_map(|mutation| mutation.form.strip_prefix("word-"));
                let sent: BTreeSet<&str> = sent.collect();
                let unlisted: Vec<_> = sent.iter().filter(|word| !words.contains(*word)).collect();
                // The word of the sample is not sent again.
                (!unlisted.is_empty() || sent.len() + 1 != words.len()).then(|| format!("{sent:?}"))
            }
            Date | Bic | Amount => None,
        }
    }
}

#[test]
fn each_mistake_of_a_kind_is_found_at_its_place_under_its_own_clause() {
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    let (mut count, mut wrong) = (0, Vec::new());
    for (name, pointer, kind, clause) in ROWS {
        let operation = if *name == "payment" { "ncbct" } else { name };
        let all = rules.mutations(operation);
        let place = format!("body{pointer}");
        let at: Vec<&Mutation> = all.iter().filter(|one| one.at == place && one.status == 200).collect();
        wrong.extend(kind.differs(&at, pointer).map(|how| format!("{name}{pointer}: {how}")));
        for (form, more) in kind.mistakes() {
            count += 1;
            let clause = format!("{clause}{more}");
            let said = at.iter().find(|one| one.form == form).map(|one| rules.said_of(operation, one));
            if said != Some(Said::Broken(clause.clone())) {
                wrong.push(format!("{name}{pointer} {form}: {said:?} and not {clause}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 300, "{count}");
}

/// For every response that differs from a sample in one place, the rules decide what is reported, and where.
#[test]
fn every_mutation_is_found_at_its_place_or_lawful_for_a_reason() {
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    assert_eq!(rules.problems(), []);
    let (mut count, mut elsewhere) = (0, BTreeSet::new());
    for operation in rules.operations() {
        for mutation in rules.mutations(operation) {
            count += 1;
            let checked =
                rules.check(operation, mutation.status, mutation.content_type, &mutation.body).findings;
            if !checked.is_empty() && checked.iter().all(|finding| !finding.at.starts_with(&mutation.at)) {
                elsewhere.insert(checked[0].clause.clone());
            }
        }
    }
    assert!(count > 5000, "{count}");
    // The indicator of a batch violates the relation with its number.
    assert_eq!(elsewhere, BTreeSet::from(["transaction.batch-number.iff".to_owned()]));
}

/// A removed rule leaves undecided responses, and an unneeded reason is reported.
#[test]
fn what_is_not_decided_and_what_is_decided_in_vain_are_problems() {
    let tree = Tree::embedded();
    let answers = tree.text(FILE).unwrap();
    let problems = |text: &str| {
        let tree = Tree::embedded().and(&[(FILE, text)]);
        AnswerRules::load(&tree).unwrap().problems().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let without = answers.replace("note: { below: 1 }", "note: { below: -9 }");
    assert_ne!(without, answers);
    let said = problems(&without);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        said[0].contains("no rule covers `zero` at answer/transactionsDetails/batchNumberOf"),
        "{said:?}"
    );
    let more = answers.replace(
        "lawful:\n",
        "lawful:\n  - { at: [answer/nothing], forms: [absent], because: nobody needs it }\n",
    );
    assert_ne!(more, answers);
    let said = problems(&more);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("nobody needs it"), "{said:?}");
    let sample = "fixtures/answers/basket.json";
    let broken = Tree::embedded().and(&[(sample, "{\"transactionStatus\": \"DONE\"}")]);
    let said = AnswerRules::load(&broken).unwrap().problems();
    assert!(
        said.iter()
            .any(|one| one.file == sample && one.to_string().contains("basket.response.transaction-status"))
    );
}
