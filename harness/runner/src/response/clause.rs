//! The clauses that the rules speak of beside those that the schemas are annotated with.

/// Declares the ids once, each with its name, and the list of all of them.
macro_rules! clauses {
    ($($name:ident = $id:literal;)*) => {
        $(pub(super) const $name: &str = $id;)*

        /// All ids of this file.
        pub(super) const ALL: &[&str] = &[$($id),*];
    };
}

clauses! {
    BASKET_SHAPE = "basket.response";
    PAYMENT_SHAPE = "payment.response";
    CUSTOMERS_SHAPE = "customers.response";
    TRANSACTION_SHAPE = "transaction.response";
    CONTENT_TYPE = "http.response-content-type";
    REMITTANCE_STRUCTURED = "version.remittance-structured";
    ERROR_BODY = "error.body";
    NULL = "json.null";
    AMOUNT_FORM = "amount.form";
    AMOUNT_FORM_UNUSUAL = "amount.form.unusual";
    AMOUNT_PRECISION = "amount.precision";
    AMOUNT_PRECISION_NEAR = "amount.precision.near";
    AMOUNT_SCALE = "amount.scale";
    AMOUNT_DIGITS = "amount.digits";
    AMOUNT_DIGITS_FEWER = "amount.digits.fewer.response";
    AMOUNT_DIGITS_WITHDRAWN = "amount.digits.withdrawn";
    AMOUNT_DIGITS_XDR = "amount.digits.xdr";
    ACCOUNT_IDENTIFIER = "account.identifier.response";
    BASKET_ID_ABSENT = "basket.response.basket-id.absent";
    BASKET_LINKS_ABSENT = "basket.response.links.absent";
    FEES_MEANING = "payment.response.transaction-fees.meaning";
    FEE_INDICATOR_RELATION = "payment.response.transaction-fee-indicator.relation";
    BIC_WHOLE = "bic.whole";
    LINK_HREF_RELATIVE = "link.href.relative";
    LINK_VERBS_EMPTY = "link.verbs.empty";
    BATCH_NUMBER_IFF = "transaction.batch-number.iff";
    UNIT_CURRENCY = "transaction.currency-exchange.unit-currency.relation";
    CREDITOR_ID_NOT_OFFERED = "transaction.creditor-id.not-offered";
    ULTIMATE_CREDITOR_NOT_OFFERED = "transaction.ultimate-creditor.not-offered";
    ULTIMATE_DEBTOR_NOT_OFFERED = "transaction.ultimate-debtor.not-offered";
}
