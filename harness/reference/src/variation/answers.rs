//! What the document leaves open in answers: status codes, bodies of refusals, members, links, headers and
//! the HTTP around them.

use std::time::Duration;

use axum::http::StatusCode;

use crate::declaration::Declaration as D;
use crate::operation::Operation;
use crate::refusal::Code;
use crate::rules::{Alteration, Breach, Change, Coding, Effect, Entry, ErrorBody, Form, MixBreach, Variance};

const B: Operation = Operation::Basket;
const N: Operation = Operation::Ncbct;
const P: Operation = Operation::Periodic;
const S: Operation = Operation::Customers;
const T: Operation = Operation::Transaction;

pub(super) fn variations() -> Vec<Entry> {
    let mut all = Vec::new();
    all.extend(
        forms().into_iter().map(|(name, form, says)| Entry::new(name, vec![Effect::Forms(form)], says)),
    );
    all.extend(declared());
    all.extend(without_baskets());
    all.extend(CODES.map(|(name, rule, status, code, says)| {
        Entry::new(name, vec![Effect::Refuses(rule, status, code)], says)
    }));
    all.extend(MEMBERS.iter().map(|(name, places, says)| {
        let alters = |(operation, pointer, json): &(Operation, &'static str, &'static str)| {
            let change = match json.strip_prefix('=') {
                Some(json) => Change::Replace(json),
                None if *json == "-" => Change::Remove,
                None => Change::Set(json),
            };
            Effect::Alters(Alteration { operation: *operation, pointer, change })
        };
        Entry::new(*name, places.iter().map(alters).collect(), *says)
    }));
    all.extend(without_funds());
    all
}

/// What becomes of a payment that the account cannot pay.
fn without_funds() -> [Entry; 2] {
    let operation = N;
    let later = Alteration { operation, pointer: "/transactionStatus", change: Change::Set("\"RCVD\"") };
    [
        Entry::new(
            "error.funds/refused",
            vec![Effect::Variance(Variance::FundsRefused)],
            "A payment from an account without funds is refused and not created.",
        ),
        Entry::new(
            "error.funds/rejected-later",
            vec![Effect::Alters(later)],
            "A payment from an account without funds is received at first, and rejected when its status is read.",
        ),
    ]
}

fn forms() -> Vec<(&'static str, Form, &'static str)> {
    let mut forms = vec![
        ("error.body/none", Form::Errors(ErrorBody::Empty), "Refusals have no body."),
        ("error.body/problem", Form::Errors(ErrorBody::Problem), "Refusals are problem details (RFC 9457)."),
        ("error.body/nested", Form::Errors(ErrorBody::Nested), "Refusals have their messages in an object."),
        ("error.body/page", Form::Errors(ErrorBody::Page), "Refusals are an HTML page."),
        ("error.body/line", Form::Errors(ErrorBody::Line), "Refusals are a line of text."),
        ("error.body/list", Form::Errors(ErrorBody::List), "Refusals are a list of messages."),
        (
            "error.body/sentence",
            Form::Errors(ErrorBody::Sentence),
            "Refusals are a text with code and reason.",
        ),
        ("error.tpp-messages.absent/more", Form::Errors(ErrorBody::More), "Refusals have more members."),
        (
            "tpp-message.code.unlisted/synthetic",
            Form::Errors(ErrorBody::OtherCodes),
            "Refusals have an unlisted code.",
        ),
        (
            "tpp-message.path.syntax/none",
            Form::Errors(ErrorBody::Bare),
            "Refusals have neither path nor text.",
        ),
        (
            "payment.response.transaction-status/rejects",
            Form::Rejects,
            "A payment whose body breaks a rule is created and rejected.",
        ),
        (
            "json.unknown-members/answered",
            Form::MoreMembers,
            "Answers have members that the document does not list.",
        ),
        ("http.response-headers/backwards", Form::Backwards, "Members of answers come in another order."),
        ("http.response-headers/indented", Form::Indented, "Answers are written on many lines."),
        ("http.response-headers/no-request-id", Form::NoRequestId, "Answers do not repeat X-Request-ID."),
        ("http.response-headers/more", Form::Header("x-synthetic", "more"), "Answers have another header."),
        (
            "http.response-headers/redirect",
            Form::Header("aspsp-sca-approach", "REDIRECT"),
            "Answers say how the PSU is authenticated.",
        ),
        (
            "http.response-headers/cookie",
            Form::Header("set-cookie", "synthetic=1; Path=/"),
            "Answers set a cookie.",
        ),
        (
            "http.response-content-type/charset",
            Form::ContentType("application/json; charset=utf-8"),
            "Answers name their charset.",
        ),
        (
            "http.response-content-type/capitals",
            Form::ContentType("Application/JSON;Charset=UTF-8"),
            "Answers name their media type in capitals.",
        ),
        (
            "http.response-content-type/text",
            Form::ContentType("text/plain; charset=utf-8"),
            "Answers say that they are text.",
        ),
        (
            "http.response-content-type/problem-suffix",
            Form::ContentType("application/vnd.synthetic+json"),
            "Answers have a media type of their own.",
        ),
        ("http.response-headers/chunked", Form::Chunks(64), "Answers come in chunks."),
        ("http.response-headers/byte-by-byte", Form::Chunks(1), "Answers come in chunks of a byte."),
        ("http.response-headers/gzip", Form::Coded(Coding::Gzip), "Answers are compressed with gzip."),
        (
            "http.response-headers/deflate",
            Form::Coded(Coding::Deflate),
            "Answers are compressed with deflate.",
        ),
        (
            "http.response-headers/slow",
            Form::Slow(Duration::from_millis(100)),
            "The customer list takes 100 ms more.",
        ),
        ("link.href.relative/absolute", Form::AbsoluteLinks, "Links have scheme and host."),
        ("link.verbs.empty/empty", Form::NoVerbs, "Links allow no methods."),
    ];
    let refusals = [
        ("error.code-status/unauthorized", 401, "Refusals have status 401."),
        ("error.code-status/forbidden", 403, "Refusals have status 403."),
        ("error.code-status/not-found", 404, "Refusals have status 404."),
        ("error.code-status/conflict", 409, "Refusals have status 409."),
        ("error.code-status/unprocessable", 422, "Refusals have status 422."),
        ("error.code-status/teapot", 418, "Refusals have a status that is none of the usual ones."),
    ];
    forms.extend(refusals.map(|(name, status, says)| (name, Form::Refuses(status), says)));
    forms
}

const UNDECLARED: &[D] = &[
    D::NoChoice("payment.success-status"),
    D::NoChoice("basket.success-status"),
    D::NoChoice("customers.success-status"),
    D::NoChoice("transaction.success-status"),
];

/// What the target's profile declares as well, or no longer.
fn declared() -> Vec<Entry> {
    let status = |name: &str, form, declares, says: &str| Entry {
        declares,
        ..Entry::new(name, vec![Effect::Forms(form)], says)
    };
    vec![
        status(
            "payment.success-status/ok",
            Form::Creates(200),
            UNDECLARED,
            "What is created is answered with 200.",
        ),
        status(
            "basket.success-status/accepted",
            Form::Creates(202),
            UNDECLARED,
            "What is created is answered with 202.",
        ),
        status(
            "customers.success-status/non-authoritative",
            Form::Reads(203),
            UNDECLARED,
            "What is read is answered with 203.",
        ),
        status(
            "transaction.success-status/partial",
            Form::Reads(206),
            UNDECLARED,
            "What is read is answered with 206.",
        ),
        status(
            "service.base-url/one-part",
            Form::Below("/xs2a"),
            &[D::Prefix("/xs2a")],
            "Paths begin with /xs2a.",
        ),
        status(
            "service.base-url/three-parts",
            Form::Below("/psd2/bank-1/api"),
            &[D::Prefix("/psd2/bank-1/api")],
            "Paths begin with /psd2/bank-1/api.",
        ),
        status(
            "basket.path/other",
            Form::BasketAt("/v1/baskets"),
            &[D::Path("basket", "/v1/baskets")],
            "Baskets are made at /v1/baskets.",
        ),
        status(
            "basket.path/below-payments",
            Form::BasketAt("/v1/payments/signing-baskets"),
            &[D::Path("basket", "/v1/payments/signing-baskets")],
            "Baskets are made at /v1/payments/signing-baskets.",
        ),
        status(
            "service.sandbox/not-there",
            Form::NoSandbox(404),
            &[D::MayLack("sandbox")],
            "The endpoints for test data are not there.",
        ),
        status(
            "service.sandbox/not-implemented",
            Form::NoSandbox(501),
            &[D::Lacks("sandbox")],
            "The endpoints for test data are not there, as the profile says.",
        ),
        status(
            "customers.sandbox-only/forbidden",
            Form::NoSandbox(403),
            &[D::MayLack("sandbox")],
            "The customer list is for nobody.",
        ),
        status(
            "customers.sandbox-only/wrong-method",
            Form::NoSandbox(405),
            &[D::MayLack("sandbox")],
            "The customer list knows no GET.",
        ),
        status(
            "payment.success-status/ok-declared",
            Form::Creates(200),
            &[D::Choice("payment.success-status", "200"), D::Choice("basket.success-status", "200")],
            "What is created is answered with 200, as the profile says.",
        ),
        status(
            "basket.success-status/created-declared",
            Form::Creates(201),
            &[D::Choice("payment.success-status", "201"), D::Choice("basket.success-status", "201")],
            "What is created is answered with 201, as the profile says.",
        ),
        status(
            "transaction.success-status/ok-declared",
            Form::Reads(200),
            &[D::Choice("transaction.success-status", "200"), D::Choice("customers.success-status", "200")],
            "What is read is answered with 200, as the profile says.",
        ),
    ]
}

/// A bank whose baskets take no NCBCT, or whose release is older than those that do.
fn without_baskets() -> Vec<Entry> {
    let entry = |name: &str, declares, says: &str| Entry {
        declares,
        ..Entry::breach(name, Breach::Mix(MixBreach::CrossBorderToo), says)
    };
    vec![
        entry("basket.ncbct/none", &[D::Lacks("basket")], "Baskets take no cross-border payments."),
        entry(
            "version.release/before-baskets",
            &[D::Lacks("basket"), D::Choice("release", "1.21.17")],
            "The release is 1.21.17, whose baskets take no cross-border payments.",
        ),
    ]
}

/// Refusals by a rule, and by all whose ids begin so, that have another status and code.
const CODES: [(&str, &str, StatusCode, Code, &str); 12] = [
    (
        "header.required.code/format-error",
        "header.",
        StatusCode::BAD_REQUEST,
        Code::FormatError,
        "A missing header is answered with FORMAT_ERROR.",
    ),
    (
        "header.required.code/unauthorized",
        "header.",
        StatusCode::UNAUTHORIZED,
        Code::BadRequest,
        "A missing header is answered with 401.",
    ),
    (
        "signature.status/bad-request",
        "signature.",
        StatusCode::BAD_REQUEST,
        Code::FormatError,
        "A wrong signature is answered with 400.",
    ),
    (
        "signature.status/forbidden",
        "signature.",
        StatusCode::FORBIDDEN,
        Code::Forbidden,
        "A wrong signature is answered with 403.",
    ),
    (
        "periodic.months.duplicate.code/conflict",
        "periodic.months.duplicate",
        StatusCode::CONFLICT,
        Code::Conflict,
        "Duplicate months are answered with 409.",
    ),
    (
        "limit.without-psu-ip.code/forbidden",
        "limit",
        StatusCode::FORBIDDEN,
        Code::Forbidden,
        "The fifth call of a day is answered with 403.",
    ),
    (
        "transaction.path.unknown/bad-request",
        "transaction.",
        StatusCode::BAD_REQUEST,
        Code::FormatError,
        "An unknown transaction is answered with 400.",
    ),
    (
        "error.corporate-id.code/header-required",
        "error.corporate-id-missing",
        StatusCode::BAD_REQUEST,
        Code::HttpHeaderRequired,
        "A corporate user without PSU-Corporate-ID is refused with HTTP_HEADER_REQUIRED.",
    ),
    (
        "periodic.months.duplicate.code/unprocessable",
        "periodic.months.duplicate",
        StatusCode::UNPROCESSABLE_ENTITY,
        Code::BadRequest,
        "Duplicate months are answered with 422.",
    ),
    (
        "status.pdng.deletion-path/no-such-method",
        "payment.deletion",
        StatusCode::METHOD_NOT_ALLOWED,
        Code::BadRequest,
        "The deletion of a pending payment is answered with 405.",
    ),
    (
        "limit.without-psu-ip.code/bad-request",
        "limit",
        StatusCode::BAD_REQUEST,
        Code::AccessExceeded,
        "The fifth call of a day is answered with 400.",
    ),
    (
        "transaction.path.unknown/forbidden",
        "transaction.",
        StatusCode::FORBIDDEN,
        Code::Forbidden,
        "An unknown transaction is answered with 403.",
    ),
];

/// Name, the members that are otherwise, and a sentence. `-` is nothing; `=` is for what is there
/// already.
type Members = (&'static str, &'static [(Operation, &'static str, &'static str)], &'static str);

#[rustfmt::skip]
const MEMBERS: &[Members] = &[
    ("basket.response.basket-id.absent/absent", &[(B, "/basketId", "-")], "New baskets are answered without an id."),
    ("basket.response.basket-id.absent/null", &[(B, "/basketId", "null")], "New baskets are answered with null as their id."),
    ("basket.response.links.absent/absent", &[(B, "/_links", "-")], "New baskets are answered without links."),
    ("basket.response.links.absent/empty", &[(B, "/_links", "{}")], "New baskets are answered with no link in their links."),
    ("links.names/other", &[(N, "/_links", r#"{"scaRedirect":{"href":"/sca","verbs":["GET"]},"start-authorisation":{"href":"/a","verbs":["POST"]}}"#), (P, "/_links", r#"{"scaRedirect":{"href":"/sca","verbs":["GET"]}}"#), (B, "/_links", r#"{"scaRedirect":{"href":"/sca","verbs":["GET"]}}"#)], "Links have other names."),
    ("links.names/none", &[(N, "/_links", "{}"), (P, "/_links", "{}")], "Payments are answered with no link in their links."),
    ("payment.response.transaction-fees.meaning/absent", &[(N, "/transactionFees", "-"), (P, "/transactionFees", "-")], "Payments are answered without fees."),
    ("payment.response.transaction-fees.meaning/in-euro", &[(N, "/transactionFees", r#"{"amount":"4.50","currency":"EUR"}"#)], "Fees are in euro."),
    ("payment.response.transaction-fee-indicator.relation/contrary", &[(N, "/transactionFeeIndicator", "false"), (P, "/transactionFeeIndicator", "true")], "The fee indicator is the contrary of the fee."),
    ("payment.response.transaction-fee-indicator.relation/absent", &[(N, "/transactionFeeIndicator", "-"), (P, "/transactionFeeIndicator", "-")], "Payments are answered without a fee indicator."),
    ("tpp-message.code.unlisted/warning", &[(N, "/tppMessages", r#"[{"category":"WARNING","code":"SYNTHETIC_CODE","text":"a","path":"/creditorName"}]"#)], "Payments are answered with a message whose code is unlisted."),
    ("tpp-message.path.syntax/words", &[(N, "/tppMessages", r#"[{"category":"WARNING","code":"FORMAT_ERROR","path":"creditor name"}]"#)], "Messages have words as path."),
    ("error.tpp-messages.absent/none", &[(N, "/tppMessages", "[]"), (P, "/tppMessages", "[]")], "Payments are answered with an empty list of messages."),
    ("payment.response.transaction-fees.meaning/message", &[(N, "/psuMessage", "\"Please confirm\""), (P, "/psuMessage", "\"\"")], "Payments are answered with a message for the PSU."),
    ("payment.response.transaction-status/accp-payments", &[(N, "/transactionStatus", "\"ACCP\""), (P, "/transactionStatus", "\"ACTC\"")], "New payments are ACCP or ACTC."),
    ("payment.response.transaction-status/pdng-payments", &[(N, "/transactionStatus", "\"PDNG\""), (P, "/transactionStatus", "\"PDNG\"")], "New payments are PDNG."),
    ("customers.all/none", &[(S, "/1", "-"), (S, "/0", "-")], "The customer list has none but those that were created."),
    ("customers.all/one", &[(S, "/1", "-")], "The customer list is shorter."),
    ("customers.with-accounts.content/empty", &[(S, "/0/accounts", "[]"), (S, "/1/accounts", "[]"), (S, "/0/cardAccounts", "[]")], "Customers have no accounts."),
    ("customers.with-agreements.content/empty", &[(S, "/0/agreements", "[]"), (S, "/1/agreements", "[]")], "Customers have no agreements."),
    ("transaction.batch-number.string/string", &[(T, "/transactionsDetails/batchNumberOfTransactions", "=\"2\"")], "The number of a batch is written as a text."),
    ("transaction.bank-transaction-code.form/other", &[(T, "/transactionsDetails/bankTransactionCode", "\"pmnt\"")], "The bank transaction code has a form of its own."),
    ("transaction.creditor-id.not-offered/offered", &[(T, "/transactionsDetails/creditorId", "\"CREDITOR-1\"")], "Transactions have a creditorId."),
    ("transaction.ultimate-creditor.not-offered/offered", &[(T, "/transactionsDetails/ultimateCreditor", "\"Synthetic\"")], "Transactions have an ultimate creditor."),
    ("transaction.ultimate-debtor.not-offered/offered", &[(T, "/transactionsDetails/ultimateDebtor", "\"Synthetic\"")], "Transactions have an ultimate debtor."),
    ("date.form.response/week", &[(T, "/transactionsDetails/bookingDate", "\"2025-W07-2\""), (T, "/transactionsDetails/valueDate", "\"2025-042\"")], "Dates in answers are those of a week, and of a day of the year."),
    ("date.form.response/time", &[(T, "/transactionsDetails/bookingDate", "\"2025-02-11T10:00:00Z\""), (T, "/transactionsDetails/valueDate", "\"20250211\"")], "Dates in answers have a time, or no hyphens."),
    ("transaction.transaction-id.same/other", &[(T, "/transactionsDetails/transactionId", "\"another-form-of-the-same\"")], "Transactions have their id in another form."),
    ("transaction.transaction-id.same/absent", &[(T, "/transactionsDetails/transactionId", "-")], "Transactions have no id."),
    ("account.identifier.response/both", &[(T, "/transactionsDetails/debtorAccount", r#"{"iban":"NO1400004200179","bban":"00004200179"}"#), (T, "/transactionsDetails/creditorAccount", r#"{"iban":"NO1400004200179","bban":"00004200179","currency":"NOK"}"#)], "Accounts in answers have both numbers."),
    ("account.identifier.response/neither", &[(T, "/transactionsDetails/debtorAccount", "{}"), (T, "/transactionsDetails/creditorAccount", r#"{"currency":"NOK"}"#)], "Accounts in answers have no number."),
    ("currency.response.unlisted/other", &[(T, "/transactionsDetails/transactionAmount", r#"{"amount":"1.00","currency":"BYN"}"#)], "An amount in a response is in a currency of ISO 4217 that is not listed."),
    ("currency.response.unlisted/withdrawn", &[(T, "/transactionsDetails/transactionAmount", r#"{"amount":"1.00","currency":"DEM"}"#)], "An amount in a response is in a withdrawn currency that is not listed."),
    ("amount.form.bare-point/no-whole", &[(T, "/transactionsDetails/transactionAmount/amount", "\".64\"")], "An amount in a response has no digit before its point."),
    ("amount.form.bare-point/no-fraction", &[(T, "/transactionsDetails/transactionAmount", r#"{"amount":"100.","currency":"JPY"}"#)], "An amount in a response has no digit after its point."),
    ("amount.form.exponent/answered", &[(T, "/transactionsDetails/transactionAmount/amount", "\"64E-2\"")], "An amount in a response has an exponent, and the digits of its currency."),
    ("amount.digits.withdrawn/answered", &[(T, "/transactionsDetails/transactionAmount", r#"{"amount":"1.0","currency":"MRO"}"#)], "An amount in an answer has a withdrawn currency."),
    ("amount.digits.xdr/answered", &[(T, "/transactionsDetails/transactionAmount", r#"{"amount":"1.2345","currency":"XDR"}"#)], "An amount in an answer is in special drawing rights."),
    ("amount.negative/answered", &[(T, "/transactionsDetails/transactionAmount/amount", "\"-17.00\"")], "An amount in an answer is below zero."),
    ("amount.zero/answered", &[(T, "/transactionsDetails/transactionAmount/amount", "\"0.00\"")], "An amount in an answer is zero."),
    ("transaction.currency-exchange.unit-currency.relation/other", &[(T, "/transactionsDetails/currencyExchange", r#"{"sourceCurrency":"EUR","exchangeRate":"11.5","unitCurrency":"USD","targetCurrency":"NOK","quotationDate":"2025-02-12"}"#)], "The unit currency of an exchange is a third one."),
    ("transaction.currency-exchange.unit-currency.relation/target", &[(T, "/transactionsDetails/currencyExchange", r#"{"sourceCurrency":"EUR","exchangeRate":"0.087","unitCurrency":"NOK","targetCurrency":"NOK","quotationDate":"2025-02-12"}"#)], "The unit currency of an exchange is the target's."),
    ("version.remittance-structured/both", &[(T, "/transactionsDetails/remittanceInformationStructuredArray", r#"[{"reference":"RF18539007547034","referenceType":"SCOR","referenceIssuer":"ISO"}]"#), (T, "/transactionsDetails/remittanceInformationStructured", "\"RF18539007547034\"")], "Transactions have structured remittance in both forms."),
    ("version.end-to-end-identification/both", &[(T, "/transactionsDetails/endToEndIdentification", "\"E2E-1\"")], "Transactions have the end-to-end id under its longer name as well."),
    ("bic.whole/eleven", &[(T, "/transactionsDetails/creditorAgent", "\"TESTNO22XXX\"")], "Agents have BICs of eleven characters."),
    ("transaction.transaction-id.same/least", &[(T, "/transactionsDetails", "{}")], "Transactions have no member at all."),
    ("transaction.remittance-unstructured-array.length/at-limit", &[(T, "/transactionsDetails/remittanceInformationUnstructuredArray", r#"["","å"]"#)], "Transactions have short remittance texts."),
    ("bic.whole/eight", &[(T, "/transactionsDetails/creditorAgent", "\"TESTNO22\""), (T, "/transactionsDetails/debtorAgent", "\"TESTNO22123\"")], "Agents have BICs of eight or eleven characters."),
    ("currency.response.unlisted/exchange", &[(T, "/transactionsDetails/currencyExchange", r#"{"sourceCurrency":"QQQ","exchangeRate":"1.5","unitCurrency":"QQQ","targetCurrency":"NOK","quotationDate":"2025-02-12"}"#)], "An exchange in an answer is from a currency that is not listed."),
    ("transaction.bank-transaction-code.form/iso", &[(T, "/transactionsDetails/bankTransactionCode", "\"PMNT-RCDT-ESCT\"")], "The bank transaction code has the whole form of ISO 20022."),
    ("transaction.batch-number.string/padded", &[(T, "/transactionsDetails/batchNumberOfTransactions", "=\"002\"")], "The number of a batch is a text with leading zeros."),
    ("transaction.creditor-id.not-offered/empty", &[(T, "/transactionsDetails/creditorId", "\"\"")], "Transactions have an empty creditorId."),
    ("transaction.ultimate-creditor.not-offered/empty", &[(T, "/transactionsDetails/ultimateCreditor", "\"\"")], "Transactions have an empty ultimate creditor."),
    ("transaction.ultimate-debtor.not-offered/empty", &[(T, "/transactionsDetails/ultimateDebtor", "\"\"")], "Transactions have an empty ultimate debtor."),
    ("version.end-to-end-identification/alone", &[(T, "/transactionsDetails/endToEndIdentification", "\"E2E-1\""), (T, "/transactionsDetails/endToEndId", "-")], "Transactions have the end-to-end id under its longer name alone."),
    ("version.remittance-structured/old", &[(T, "/transactionsDetails/remittanceInformationStructured", "{\"reference\":\"1\"}"), (T, "/transactionsDetails/remittanceInformationStructuredArray", "-")], "Transactions have structured remittance in the old form alone."),
    ("version.longer-name.effect/more", &[(T, "/transactionsDetails/accountName", "\"A name of the account that has a good deal more than thirty-five letters\"")], "Transactions name the account at length."),
    ("version.longer-name.effect/short", &[(T, "/transactionsDetails/accountName", "\"A\"")], "Transactions name the account in short."),
    ("version.numbers-as-strings/position", &[(T, "/transactionsDetails/entryNumber", "\"7\"")], "A number that the document does not list is a text."),
    ("version.numbers-as-strings/number", &[(T, "/transactionsDetails/entryNumber", "7")], "A number that the document does not list is a number."),
    ("link.href.relative/to-the-host", &[(N, "/_links/self/href", "\"payments/1\""), (P, "/_links/self/href", "\"?id=1\"")], "Links are relative to the request."),
    ("link.verbs.empty/repeated", &[(N, "/_links/self/verbs", "[\"GET\",\"GET\"]")], "Links allow a method twice."),
    ("customers.with-agreements.content/more", &[(S, "/0/agreements", r#"[{"id":"1","name":"Synthetic","engagements":[],"_links":{"self":{"href":"/a","verbs":["GET"]},"engagements":{"href":"/b","verbs":["GET"]}}}]"#)], "Private customers have agreements."),
];
