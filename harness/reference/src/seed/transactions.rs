//! The booked transactions, one of each kind that the document describes.

use serde_json::{Value, json};

use super::{CORPORATE_ACCOUNT, PRIVATE_ACCOUNT};
use crate::currency::Currency;
use crate::money::amount;
use crate::operations::link;

/// A booked transaction of an account.
pub(crate) struct Transaction {
    /// Resource id of the account.
    pub(crate) account: &'static str,
    pub(crate) id: &'static str,
    /// What `transactionsDetails` holds when every member may be shown.
    pub(crate) details: Value,
}

/// The id of the transaction in another currency. It holds characters that a path has to keep or encode.
const EXCHANGE_ID: &str = "20250212!0000002=";

/// All booked transactions.
pub(crate) fn transactions() -> Vec<Transaction> {
    let of = |account, id, details| Transaction { account, id, details };
    vec![
        of(PRIVATE_ACCOUNT.resource_id, "20250211-0000001", plain("20250211-0000001")),
        of(PRIVATE_ACCOUNT.resource_id, EXCHANGE_ID, exchange()),
        of(CORPORATE_ACCOUNT.resource_id, "20250211-0000001", plain("20250211-0000001")),
        of(CORPORATE_ACCOUNT.resource_id, EXCHANGE_ID, exchange()),
        of(CORPORATE_ACCOUNT.resource_id, "20250213-0000003", batch()),
    ]
}

/// A domestic payment with every member that a single transaction may have, but those that the document says are
/// not offered.
fn plain(id: &str) -> Value {
    json!({
        "bankTransactionCode": "PMNT-ICDT-ESCT",
        "transactionId": id,
        "endToEndId": "E2E-0001",
        "bookingDate": "2025-02-11",
        "valueDate": "2025-02-11",
        "transactionAmount": amount(125_050, Currency::NOK),
        "creditorName": "Synthetic Creditor AS",
        "creditorAccount": { "bban": "00004200411", "currency": "NOK" },
        "creditorAgent": "TESTNO22XXX",
        "debtorName": "Synthetic Debtor",
        "debtorAccount": { "iban": PRIVATE_ACCOUNT.iban, "currency": PRIVATE_ACCOUNT.currency.code() },
        "debtorAgent": "TESTNO22",
        "remittanceInformationUnstructured": "Invoice 1001",
        "remittanceInformationUnstructuredArray": ["Invoice 1001", "February"],
        "remittanceInformationStructuredArray": [
            { "reference": "1234567897", "referenceType": "SCOR", "referenceIssuer": "ISO" },
            { "reference": "1234567905" }
        ],
        "purposeCode": "OTHR",
        "proprietaryBankTransactionCode": "TRANSFER"
    })
}

/// A payment in another currency than the account's. The unit currency is the base of the rate: 11.5 NOK a EUR.
fn exchange() -> Value {
    json!({
        "bankTransactionCode": "PMNT-ICDT-XBCT",
        "transactionId": EXCHANGE_ID,
        "bookingDate": "2025-02-12",
        "valueDate": "2025-02-14",
        "transactionAmount": amount(115_000, Currency::NOK),
        "currencyExchange": {
            "sourceCurrency": "NOK",
            "exchangeRate": "11.5",
            "unitCurrency": "EUR",
            "targetCurrency": "EUR",
            "quotationDate": "2025-02-12",
            "contractIdentification": "FX-0001"
        },
        "creditorName": "Synthetic Supplier",
        "creditorAccount": { "iban": "NO6100004200594" },
        "creditorAgent": "TESTDEFFXXX"
    })
}

/// A batch of two transactions, for the corporate context.
fn batch() -> Value {
    let href = format!("/v1/accounts/{}/transactions/20250213-0000003", CORPORATE_ACCOUNT.resource_id);
    let entry = |units, reference: &str| {
        json!({
            "transactionAmount": amount(units, Currency::EUR),
            "creditorName": "Synthetic Employee",
            "creditorAccount": { "bban": "00004200675", "currency": "NOK" },
            "debtorName": "Synthetic Corporate Customer AS",
            "debtorAccount": { "bban": CORPORATE_ACCOUNT.bban, "currency": CORPORATE_ACCOUNT.currency.code() },
            "remittanceInformationUnstructured": "Salary",
            "remittanceInformationUnstructuredArray": ["Salary"],
            "remittanceInformationStructuredArray": [{ "reference": reference }],
            "_links": { "transactionDetails": link(&href, &["GET"]) }
        })
    };
    json!({
        "batchIndicator": true,
        "batchNumberOfTransactions": 2,
        "entryDetails": [entry(30_000, "1234567913"), entry(20_005, "1234567921")],
        "bankTransactionCode": "PMNT",
        "transactionId": "20250213-0000003",
        "bookingDate": "2025-02-13",
        "valueDate": "2025-02-13",
        "transactionAmount": amount(50_005, Currency::EUR),
        "debtorAccount": { "bban": CORPORATE_ACCOUNT.bban, "currency": CORPORATE_ACCOUNT.currency.code() },
        "_links": { "transactionDetails": link(&href, &["GET"]) }
    })
}
