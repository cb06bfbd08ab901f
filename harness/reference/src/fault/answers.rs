//! Faults of 2xx answers (the document, sections Resources, and Endpoints).

use crate::operation::Operation;
use crate::rules::{Alteration, Breach, Change, Effect, Entry, Form};

const B: Operation = Operation::Basket;
const N: Operation = Operation::Ncbct;
const P: Operation = Operation::Periodic;
const S: Operation = Operation::Customers;
const T: Operation = Operation::Transaction;

/// Clause, what is wrong, operation, pointer, and the JSON text that is there instead; `-` for nothing, `#n`
/// for n characters, `=` before what replaces a member that is there.
#[rustfmt::skip]
const ANSWERS: &[(&str, &str, Operation, &str, &str)] = &[
    ("basket.response", "array", B, "", "[]"),
    ("basket.response", "empty-text", B, "", "\"\""),
    ("basket.response.basket-id", "number", B, "/basketId", "17"),
    ("basket.response.transaction-status", "missing", B, "/transactionStatus", "-"),
    ("basket.response.transaction-status", "of-a-payment", B, "/transactionStatus", "\"ACCP\""),
    ("basket.response.transaction-status", "small-letters", B, "/transactionStatus", "\"rcvd\""),
    ("basket.response.transaction-status", "number", B, "/transactionStatus", "1"),
    ("basket.response.links", "array", B, "/_links", "[]"),
    ("payment.response", "array", N, "", "[]"),
    ("payment.response", "null-periodic", P, "", "null"),
    ("payment.response.payment-id", "missing", N, "/paymentId", "-"),
    ("payment.response.payment-id", "number", N, "/paymentId", "17"),
    ("payment.response.payment-id", "missing-periodic", P, "/paymentId", "-"),
    ("payment.response.payment-id", "null", N, "/paymentId", "null"),
    ("payment.response.transaction-status", "missing", N, "/transactionStatus", "-"),
    ("payment.response.transaction-status", "missing-periodic", P, "/transactionStatus", "-"),
    ("payment.response.transaction-status", "number", N, "/transactionStatus", "1"),
    ("transaction-status.listed", "of-a-basket", N, "/transactionStatus", "\"PATC\""),
    ("transaction-status.listed", "small-letters", P, "/transactionStatus", "\"rcvd\""),
    ("transaction-status.listed", "in-words", N, "/transactionStatus", "\"RECEIVED\""),
    ("payment.response.transaction-fees", "number", N, "/transactionFees", "50"),
    ("payment.response.transaction-fees", "text", P, "/transactionFees", "\"50.00\""),
    ("amount.string", "fee-number", N, "/transactionFees/amount", "50.00"),
    ("amount.string", "fee-without-amount", N, "/transactionFees", "{\"currency\":\"NOK\"}"),
    ("amount.currency", "fee-without-currency", N, "/transactionFees", "{\"amount\":\"50.00\"}"),
    ("amount.form", "fee-in-words", P, "/transactionFees/amount", "\"free\""),
    ("amount.digits", "fee-of-three", N, "/transactionFees/amount", "\"50.000\""),
    ("amount.digits.fewer.response", "fee-of-one", N, "/transactionFees/amount", "\"50.0\""),
    ("amount.digits.fewer.response", "fee-of-none", P, "/transactionFees/amount", "\"0\""),
    ("amount.digits", "fee-in-yen", N, "/transactionFees", "{\"amount\":\"50.00\",\"currency\":\"JPY\"}"),
    ("amount.digits.fewer.response", "fee-in-dinar", N, "/transactionFees", "{\"amount\":\"5.00\",\"currency\":\"KWD\"}"),
    ("amount.precision", "fee", N, "/transactionFees/amount", "\"1234567890123456789.00\""),
    ("amount.scale", "fee", N, "/transactionFees", "{\"amount\":\"50.000000\",\"currency\":\"XDR\"}"),
    ("payment.response.transaction-fee-indicator", "text", N, "/transactionFeeIndicator", "\"true\""),
    ("payment.response.transaction-fee-indicator", "number", P, "/transactionFeeIndicator", "0"),
    ("payment.response.tpp-messages", "object", N, "/tppMessages", "{\"category\":\"WARNING\",\"code\":\"FORMAT_ERROR\"}"),
    ("payment.response.tpp-messages", "text", P, "/tppMessages", "\"none\""),
    ("tpp-message.category", "missing", N, "/tppMessages", "[{\"code\":\"FORMAT_ERROR\"}]"),
    ("tpp-message.category", "info", N, "/tppMessages", "[{\"category\":\"INFO\",\"code\":\"FORMAT_ERROR\"}]"),
    ("tpp-message.code", "missing", N, "/tppMessages", "[{\"category\":\"WARNING\"}]"),
    ("tpp-message.code", "number", P, "/tppMessages", "[{\"category\":\"WARNING\",\"code\":17}]"),
    ("tpp-message.path", "list", N, "/tppMessages", "[{\"category\":\"WARNING\",\"code\":\"FORMAT_ERROR\",\"path\":[]}]"),
    ("tpp-message.text.length", "513", N, "/tppMessages", "#message"),
    ("payment.response.psu-message", "513", N, "/psuMessage", "#513"),
    ("payment.response.psu-message", "list", P, "/psuMessage", "[\"x\"]"),
    ("payment.response.links", "array", N, "/_links", "[]"),
    ("payment.response.links", "text", P, "/_links", "\"/v1\""),
    ("links.shape", "text-as-link", N, "/_links/self", "\"/v1\""),
    ("links.shape", "array-as-link", B, "/_links/status", "[]"),
    ("link.href", "missing", N, "/_links/self", "{\"verbs\":[\"GET\"]}"),
    ("link.href", "number", P, "/_links/self/href", "1"),
    ("link.verbs", "missing", N, "/_links/self", "{\"href\":\"/v1\"}"),
    ("link.verbs", "patch", N, "/_links/self/verbs", "[\"PATCH\"]"),
    ("link.verbs", "text", P, "/_links/self/verbs", "\"GET\""),
    ("link.verbs", "small-letters", B, "/_links/status/verbs", "[\"get\"]"),
    ("customer.customer-id", "missing", S, "/0/customerId", "-"),
    ("customer.customer-id", "number", S, "/0/customerId", "1"),
    ("customer.customer-number", "missing", S, "/0/customerNumber", "-"),
    ("customer.customer-number", "number", S, "/0/customerNumber", "1819000391"),
    ("customer.customer-type", "missing", S, "/1/customerType", "-"),
    ("customer.customer-type", "other", S, "/1/customerType", "\"COMPANY\""),
    ("customer.customer-type", "small-letters", S, "/0/customerType", "\"private\""),
    ("customer.customer-name", "missing", S, "/0/customerName", "-"),
    ("customer.customer-name", "object", S, "/0/customerName", "{\"first\":\"Synthetic\"}"),
    ("customer.agreements", "missing", S, "/0/agreements", "-"),
    ("customer.agreements", "null", S, "/0/agreements", "null"),
    ("customer.accounts", "missing", S, "/0/accounts", "-"),
    ("customer.accounts", "objects", S, "/0/accounts", "[{\"bban\":\"00004200179\"}]"),
    ("customer.card-accounts", "missing", S, "/1/cardAccounts", "-"),
    ("customer.card-accounts", "text", S, "/0/cardAccounts", "\"card-0001\""),
    ("customer.links", "missing", S, "/0/_links", "-"),
    ("customer.links.self", "missing", S, "/0/_links", "{}"),
    ("customer.links.self", "text", S, "/0/_links/self", "\"/v1\""),
    ("customer.agreement.id", "missing", S, "/1/agreements/0/id", "-"),
    ("customer.agreement.name", "missing", S, "/1/agreements/0/name", "-"),
    ("customer.agreement.engagements", "missing", S, "/1/agreements/0/engagements", "-"),
    ("customer.agreement.engagements", "text", S, "/1/agreements/0/engagements", "\"x\""),
    ("customer.agreement.links", "missing", S, "/1/agreements/0/_links", "-"),
    ("customer.agreement.links", "no-engagements", S, "/1/agreements/0/_links", "{\"self\":{\"href\":\"/v1\",\"verbs\":[\"GET\"]}}"),
    ("customers.response", "object", S, "", "{\"customers\":[]}"),
    ("transaction.wrapper", "bare", T, "", "{\"transactionId\":\"1\"}"),
    ("transaction.wrapper", "other-name", T, "", "{\"transactionDetails\":{\"transactionId\":\"1\"}}"),
    ("transaction.response", "array", T, "", "[]"),
    ("transaction.batch-indicator", "text", T, "/transactionsDetails/batchIndicator", "\"true\""),
    ("transaction.batch-number", "text", T, "/transactionsDetails", "{\"batchIndicator\":true,\"batchNumberOfTransactions\":\"two\"}"),
    ("transaction.batch-number.iff", "alone", T, "/transactionsDetails/batchNumberOfTransactions", "2"),
    ("transaction.batch-number.iff", "missing", T, "/transactionsDetails/batchIndicator", "true"),
    ("transaction.entry-details", "object", T, "/transactionsDetails/entryDetails", "{}"),
    ("transaction.entry.transaction-amount", "missing", T, "/transactionsDetails/entryDetails", "[{}]"),
    ("transaction.entry.creditor-name.length", "71", T, "/transactionsDetails/entryDetails", "#entry creditorName 71"),
    ("transaction.entry.debtor-name.length", "71", T, "/transactionsDetails/entryDetails", "#entry debtorName 71"),
    ("transaction.entry.remittance-unstructured.length", "141", T, "/transactionsDetails/entryDetails", "#entry remittanceInformationUnstructured 141"),
    ("transaction.entry.remittance-unstructured-array.length", "141", T, "/transactionsDetails/entryDetails", "#items remittanceInformationUnstructuredArray 141"),
    ("transaction.entry.remittance-structured-array", "no-reference", T, "/transactionsDetails/entryDetails", "#json remittanceInformationStructuredArray [1]"),
    ("transaction.entry.creditor-account", "text", T, "/transactionsDetails/entryDetails", "#json creditorAccount \"1\""),
    ("transaction.entry.debtor-account", "text", T, "/transactionsDetails/entryDetails", "#json debtorAccount \"1\""),
    ("transaction.entry.links", "array", T, "/transactionsDetails/entryDetails", "#json _links []"),
    ("transaction.bank-transaction-code.length", "three", T, "/transactionsDetails/bankTransactionCode", "#3"),
    ("transaction.bank-transaction-code.length", "fifteen", T, "/transactionsDetails/bankTransactionCode", "#15"),
    ("transaction.transaction-id", "number", T, "/transactionsDetails/transactionId", "17"),
    ("transaction.end-to-end-id.length", "36", T, "/transactionsDetails/endToEndId", "#36"),
    ("date.form.response", "booking-time", T, "/transactionsDetails/bookingDate", "\"2025-02-11T10:00:00Z\""),
    ("transaction.booking-date", "impossible", T, "/transactionsDetails/bookingDate", "\"2025-02-30\""),
    ("transaction.value-date", "other-order", T, "/transactionsDetails/valueDate", "\"11.02.2025\""),
    ("transaction.transaction-amount", "text", T, "/transactionsDetails/transactionAmount", "\"1250.50 NOK\""),
    ("amount.string", "transaction-number", T, "/transactionsDetails/transactionAmount/amount", "1250.5"),
    ("amount.digits.fewer.response", "transaction-of-one", T, "/transactionsDetails/transactionAmount/amount", "\"1250.5\""),
    ("transaction.currency-exchange", "list", T, "/transactionsDetails/currencyExchange", "[]"),
    ("transaction.currency-exchange.source-currency", "missing", T, "/transactionsDetails/currencyExchange/sourceCurrency", "-"),
    ("transaction.currency-exchange.exchange-rate", "number", T, "/transactionsDetails/currencyExchange/exchangeRate", "11.5"),
    ("transaction.currency-exchange.exchange-rate", "missing", T, "/transactionsDetails/currencyExchange/exchangeRate", "-"),
    ("transaction.currency-exchange.unit-currency", "missing", T, "/transactionsDetails/currencyExchange/unitCurrency", "-"),
    ("transaction.currency-exchange.target-currency", "missing", T, "/transactionsDetails/currencyExchange/targetCurrency", "-"),
    ("transaction.currency-exchange.quotation-date", "missing", T, "/transactionsDetails/currencyExchange/quotationDate", "-"),
    ("date.form.response", "quotation-time", T, "/transactionsDetails/currencyExchange/quotationDate", "\"2025-02-12T00:00:00Z\""),
    ("transaction.currency-exchange.contract-identification", "number", T, "/transactionsDetails/currencyExchange/contractIdentification", "1"),
    ("transaction.creditor-id.length", "36", T, "/transactionsDetails/creditorId", "#36"),
    ("transaction.creditor-name.length", "71", T, "/transactionsDetails/creditorName", "#71"),
    ("transaction.creditor-account", "text", T, "/transactionsDetails/creditorAccount", "\"1\""),
    ("transaction.creditor-agent", "number", T, "/transactionsDetails/creditorAgent", "1"),
    ("bic.pattern", "small-letters", T, "/transactionsDetails/creditorAgent", "\"testno22\""),
    ("bic.pattern", "seven", T, "/transactionsDetails/creditorAgent", "\"TESTNO2\""),
    ("transaction.ultimate-creditor.length", "71", T, "/transactionsDetails/ultimateCreditor", "#71"),
    ("transaction.debtor-name.length", "71", T, "/transactionsDetails/debtorName", "#71"),
    ("transaction.debtor-account", "list", T, "/transactionsDetails/debtorAccount", "[]"),
    ("transaction.debtor-agent", "number", T, "/transactionsDetails/debtorAgent", "1"),
    ("transaction.ultimate-debtor.length", "71", T, "/transactionsDetails/ultimateDebtor", "#71"),
    ("transaction.remittance-unstructured.length", "141", T, "/transactionsDetails/remittanceInformationUnstructured", "#141"),
    ("transaction.remittance-unstructured-array.length", "141", T, "/transactionsDetails/remittanceInformationUnstructuredArray", "#list 141"),
    ("transaction.remittance-structured-array", "texts", T, "/transactionsDetails/remittanceInformationStructuredArray", "[\"1\"]"),
    ("remittance-structured.reference", "missing", T, "/transactionsDetails/remittanceInformationStructuredArray", "[{\"referenceType\":\"SCOR\"}]"),
    ("remittance-structured.reference.length", "36", T, "/transactionsDetails/remittanceInformationStructuredArray", "#structured reference 36"),
    ("remittance-structured.reference-type.length", "36", T, "/transactionsDetails/remittanceInformationStructuredArray", "#structured referenceType 36"),
    ("remittance-structured.reference-issuer.length", "36", T, "/transactionsDetails/remittanceInformationStructuredArray", "#structured referenceIssuer 36"),
    ("transaction.purpose-code.length", "five", T, "/transactionsDetails/purposeCode", "\"OTHER\""),
    ("transaction.purpose-code.length", "empty", T, "/transactionsDetails/purposeCode", "\"\""),
    ("transaction.proprietary-bank-transaction-code.length", "36", T, "/transactionsDetails/proprietaryBankTransactionCode", "#36"),
    ("transaction.links", "text", T, "/transactionsDetails/_links", "\"/v1\""),
    ("account.iban.length", "in-an-answer", T, "/transactionsDetails/debtorAccount", "{\"iban\":\"NO14000042001790000420017900004200179\"}"),
    // What is read of the document where it leaves more open.
    ("link.verbs.empty", "none", N, "/_links/self/verbs", "[]"),
    ("link.verbs.empty", "none-periodic", P, "/_links/status/verbs", "[]"),
    ("link.verbs.empty", "none-basket", B, "/_links/status/verbs", "[]"),
    ("link.verbs.empty", "none-customer", S, "/0/_links/self/verbs", "[]"),
    ("bic.whole", "nine", T, "/transactionsDetails/creditorAgent", "\"TESTNO22X\""),
    ("bic.whole", "longer", T, "/transactionsDetails/debtorAgent", "\"TESTNO22XXXMORE\""),
    ("bic.whole", "blank-after", T, "/transactionsDetails/creditorAgent", "\"TESTNO22 \""),
    ("basket.response.basket-id.absent", "missing", B, "/basketId", "-"),
    ("tpp-message.code.unlisted", "small-letters", N, "/tppMessages", "[{\"category\":\"WARNING\",\"code\":\"format_error\"}]"),
    ("tpp-message.code.unlisted", "of-another-interface", P, "/tppMessages", "[{\"category\":\"WARNING\",\"code\":\"SERVICE_BLOCKED\"}]"),
    ("currency.response.code", "nobody", T, "/transactionsDetails/transactionAmount", "{\"amount\":\"1.00\",\"currency\":\"QQQ\"}"),
    ("currency.response.code", "fee-sign", N, "/transactionFees/currency", "\"kr\""),
    ("currency.response.code", "fee-number", P, "/transactionFees/currency", "\"578\""),
    ("currency.response.code", "fee-small-letters", N, "/transactionFees/currency", "\"nok\""),
    ("currency.response.code", "fee-of-none", P, "/transactionFees/currency", "\"\""),
    ("currency.response.code", "fee-in-words", N, "/transactionFees/currency", "\"EURO\""),
    ("amount.digits.fewer.response", "fee-with-exponent", P, "/transactionFees/amount", "\"1E+2\""),
    ("amount.digits", "fee-with-exponent", N, "/transactionFees/amount", "\"50000e-3\""),
    ("amount.form.exponent", "fee", N, "/transactionFees/amount", "\"5000e-2\""),
    ("amount.form.bare-point", "fee-without-whole", N, "/transactionFees/amount", "\".50\""),
    ("amount.form.bare-point", "fee-without-fraction", P, "/transactionFees", "{\"amount\":\"50.\",\"currency\":\"JPY\"}"),
    ("transaction.batch-number.string", "text", T, "/transactionsDetails/batchNumberOfTransactions", "=\"2\""),
    ("customers.with-accounts.named", "first-missing", S, "/0/accounts/0", "-"),
    ("currency.response.unlisted", "newer", T, "/transactionsDetails/transactionAmount", "{\"amount\":\"1.00\",\"currency\":\"BYN\"}"),
    ("currency.response.unlisted", "fee", N, "/transactionFees/currency", "\"ZWG\""),
    ("transaction.currency-exchange.unit-currency.relation", "third", T, "/transactionsDetails/currencyExchange/unitCurrency", "=\"USD\""),
    ("transaction.transaction-id.same", "other", T, "/transactionsDetails/transactionId", "\"20250211-0000009\""),
    ("customers.with-accounts.content", "none", S, "/0/accounts", "[]"),
    ("customers.with-agreements.content", "none", S, "/1/agreements", "[]"),
    ("basket.response.basket-id.text", "blank", B, "/basketId", "\" \""),
    ("payment.response.payment-id.text", "empty", N, "/paymentId", "\"\""),
    ("payment.response.payment-id.text", "line-break", P, "/paymentId", "\"p-1\\n\""),
    ("payment.response.transaction-fees.sign", "negative", N, "/transactionFees/amount", "\"-50.00\""),
    ("customer.ids.text", "empty", S, "/0/customerId", "\"\""),
    ("customer.ids.text", "blank-account", S, "/0/accounts/0", "\" \""),
    ("customer.ids.text", "agreement-with-control", S, "/1/agreements/0/id", "\"a\\u0007b\""),
    ("transaction.transaction-id.text", "blank-after", T, "/transactionsDetails/transactionId", "\"20250211-0000001 \""),
    ("transaction.batch-number.count", "zero", T, "/transactionsDetails", "{\"batchIndicator\":true,\"batchNumberOfTransactions\":0}"),
    ("transaction.batch-number.count", "negative", T, "/transactionsDetails", "{\"batchIndicator\":true,\"batchNumberOfTransactions\":-1}"),
    ("json.null", "creditor-id", T, "/transactionsDetails/creditorId", "null"),
    ("json.null", "purpose-code", T, "/transactionsDetails/purposeCode", "null"),
    ("transaction.entry-details.empty", "none", T, "/transactionsDetails/entryDetails", "[]"),
    ("transaction.purpose-code.form", "small-letters", T, "/transactionsDetails/purposeCode", "\"othr\""),
    ("transaction.purpose-code.form", "sign", T, "/transactionsDetails/purposeCode", "\"A-B\""),
    ("transaction.currency-exchange.currency.form", "words", T, "/transactionsDetails/currencyExchange/targetCurrency", "=\"kroner\""),
    ("transaction.currency-exchange.currency.form", "small-letters", T, "/transactionsDetails/currencyExchange/targetCurrency", "=\"nok\""),
    ("transaction.currency-exchange.exchange-rate.form", "comma", T, "/transactionsDetails/currencyExchange/exchangeRate", "=\"11,5\""),
    ("transaction.currency-exchange.exchange-rate.form", "zero", T, "/transactionsDetails/currencyExchange/exchangeRate", "=\"0.0\""),
    ("transaction.currency-exchange.exchange-rate.form", "words", T, "/transactionsDetails/currencyExchange/exchangeRate", "=\"daily\""),
    ("link.href.form", "empty", N, "/_links/self/href", "\"\""),
    ("link.href.form", "blank", P, "/_links/status/href", "\"/v1/a b\""),
    ("account.iban.response", "check-digits", T, "/transactionsDetails/debtorAccount", "{\"iban\":\"NO1500004200179\"}"),
    ("account.iban.response", "blanks", T, "/transactionsDetails/creditorAccount", "{\"iban\":\"NO14 0000 4200 179\"}"),
    ("account.bban.response", "blank", T, "/transactionsDetails/creditorAccount", "{\"bban\":\" \"}"),
    ("amount.form", "fee-with-comma", N, "/transactionFees/amount", "\"50,00\""),
    ("amount.form", "fee-with-currency", P, "/transactionFees/amount", "\"0.00 NOK\""),
    ("amount.string", "fee-null", N, "/transactionFees/amount", "null"),
];

pub(super) fn faults() -> Vec<Entry> {
    let mut faults = of_members();
    let types = [("text", "text/plain; charset=utf-8"), ("binary", "application/octet-stream")];
    faults.extend(types.map(|(name, media_type)| {
        Entry::new(
            format!("http.response-content-type/{name}"),
            vec![Effect::Forms(Form::ContentType(media_type))],
            format!("Answers say that they are {media_type}."),
        )
    }));
    let hidden = [
        ("batch-indicator", "batchIndicator"),
        ("batch-number", "batchNumberOfTransactions"),
        ("entry-details", "entryDetails"),
        ("links", "_links"),
    ];
    faults.extend(hidden.map(|(name, member)| {
        Entry::breach(
            format!("transaction.corporate-only/{name}"),
            Breach::ShownInPrivate(member),
            format!("Transactions show {member} in private context."),
        )
    }));
    let of_no_batch = [
        ("batch-number.iff", "batchNumberOfTransactions", "0"),
        ("entry-details.empty", "entryDetails", "[]"),
    ];
    faults.extend(of_no_batch.map(|(clause, member, value)| {
        Entry::breach(
            format!("transaction.{clause}/of-no-batch"),
            Breach::ShownOfNoBatch(member),
            format!("Transactions of a company that are no batch have {value} as {member}."),
        )
    }));
    faults.extend([
        Entry::breach(
            "transaction.path.unknown/another",
            Breach::AnyTransaction,
            "An unknown transaction is answered with another one of the account.",
        ),
        Entry::breach(
            "transaction.path.unknown/of-another-account",
            Breach::AnyAccount,
            "A transaction is found in whatever account it is.",
        ),
    ]);
    faults
}

fn of_members() -> Vec<Entry> {
    ANSWERS
        .iter()
        .map(|(clause, fault, operation, pointer, json)| {
            let change = change(json);
            let place = if pointer.is_empty() {
                "the whole answer".to_owned()
            } else {
                pointer[1..].replace('/', " ")
            };
            let says = match change {
                Change::Remove | Change::Rename(_) => format!("Answers of {operation} lack {place}."),
                Change::Write(_) => format!("Answers of {operation} have another text in {place}."),
                Change::Characters(count) => {
                    format!("Answers of {operation} have {count} characters in {place}.")
                }
                Change::Set(json) if json.len() > 80 => {
                    format!("Answers of {operation} have {} bytes of JSON as {place}.", json.len())
                }
                Change::Set(json) | Change::Replace(json) => {
                    format!("Answers of {operation} have {json} as {place}.")
                }
            };
            let alteration = Alteration { operation: *operation, pointer, change };
            Entry::alters(format!("{clause}/answer-{fault}"), alteration, says)
        })
        .collect()
}

/// What the last column says.
fn change(json: &'static str) -> Change {
    if let Some(json) = json.strip_prefix('=') {
        return Change::Replace(json);
    }
    let Some(form) = json.strip_prefix('#') else {
        return if json == "-" { Change::Remove } else { Change::Set(json) };
    };
    if let Ok(count) = form.parse() {
        return Change::Characters(count);
    }
    let mut words = form.splitn(3, ' ');
    let (kind, name, last) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let text = |count: &str| format!("\"{}\"", "x".repeat(count.parse().unwrap_or_default()));
    let entry = |value: String| {
        format!("[{{\"transactionAmount\":{{\"amount\":\"1.00\",\"currency\":\"NOK\"}},\"{name}\":{value}}}]")
    };
    let json = match kind {
        "message" => {
            format!("[{{\"category\":\"WARNING\",\"code\":\"FORMAT_ERROR\",\"text\":{}}}]", text("513"))
        }
        "list" => format!("[{}]", text(name)),
        "structured" if name == "reference" => format!("[{{\"reference\":{}}}]", text(last)),
        "structured" => format!("[{{\"reference\":\"1\",\"{name}\":{}}}]", text(last)),
        "entry" => entry(text(last)),
        "items" => entry(format!("[{}]", text(last))),
        _ => entry(last.to_owned()),
    };
    // Made once, for as long as the program runs.
    Change::Set(json.leak())
}
