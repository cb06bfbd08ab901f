//! What a target may lack: values that its profile must give before some requests can be made, and capabilities by name.
//!
//! Listed here so that a misspelt name in a case file is an error and not a case that never applies.

/// Something that a target profile offers or does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// Name: `psu.corporate.id` for a value (used as `${target.psu.corporate.id}`), `sandbox` for a capability (used in `needs`).
    pub name: &'static str,
    /// What to add to a profile that lacks it.
    pub line: &'static str,
    /// Of a value: the capability by which a profile declares that the target has no such thing, if there is one.
    pub capability: Option<&'static str>,
}

const fn offer(name: &'static str, line: &'static str) -> Offer {
    Offer { name, line, capability: None }
}

/// A value that a target without this capability does not have.
const fn only_with(capability: &'static str, name: &'static str, line: &'static str) -> Offer {
    Offer { name, line, capability: Some(capability) }
}

/// Values of a target profile that requests use.
pub const VALUES: [Offer; 30] = [
    offer("x-accept-fix.basket", "x-accept-fix = { basket = \"amount-as-string\" }"),
    offer("x-accept-fix.ncbct", "x-accept-fix = { ncbct = \"amount-as-string\" }"),
    offer("x-accept-fix.periodic", "x-accept-fix = { periodic = \"amount-as-string\" }"),
    offer("x-accept-fix.transaction", "x-accept-fix = { transaction = \"amount-as-string\" }"),
    offer("session-id", "session-id = \"..\" (TPP-Session-ID)"),
    offer("redirect-uri", "redirect-uri = \"https://..\" (TPP-Redirect-URI)"),
    offer("psu.private.id", "[psu.private] id = \"UUID\" (PSU-ID)"),
    only_with("identity", "psu.private.identity", "[psu.private] identity = \"..\" (X-PSU-IDENTITY)"),
    only_with("corporate", "psu.corporate.id", "[psu.corporate] id = \"UUID\" (PSU-ID)"),
    only_with(
        "corporate",
        "psu.corporate.corporate-id",
        "[psu.corporate] corporate-id = \"..\" (PSU-Corporate-ID)",
    ),
    offer("accounts.debtor.iban", "[accounts.debtor] iban = \"..\""),
    offer("accounts.debtor.bban", "[accounts.debtor] bban = \"..\""),
    offer("accounts.debtor.currency", "[accounts.debtor] currency = \"NOK\""),
    only_with("corporate", "accounts.corporate-debtor.iban", "[accounts.corporate-debtor] iban = \"..\""),
    only_with(
        "corporate",
        "accounts.corporate-debtor.currency",
        "[accounts.corporate-debtor] currency = \"NOK\"",
    ),
    offer("accounts.domestic-creditor.iban", "[accounts.domestic-creditor] iban = \"..\""),
    offer("accounts.domestic-creditor.bban", "[accounts.domestic-creditor] bban = \"..\""),
    offer("accounts.foreign-creditor.iban", "[accounts.foreign-creditor] iban = \"..\""),
    offer("accounts.foreign-creditor.bban", "[accounts.foreign-creditor] bban = \"..\""),
    offer(
        "accounts.foreign-creditor.agent",
        "[accounts.foreign-creditor] agent = \"..\" (creditorAgent of its bban)",
    ),
    offer("accounts.foreign-creditor.currency", "[accounts.foreign-creditor] currency = \"EUR\""),
    only_with("without-funds", "accounts.without-funds.iban", "[accounts.without-funds] iban = \"..\""),
    only_with(
        "rejected-payment",
        "rejected-payment.id",
        "[rejected-payment] id = \"..\" (a cross-border payment with status RJCT)",
    ),
    only_with(
        "pending-payment",
        "pending-payment.id",
        "[pending-payment] id = \"..\" (a cross-border payment with status PDNG)",
    ),
    only_with(
        "transaction",
        "transaction.account-id",
        "[transaction] account-id = \"..\" (a consented account)",
    ),
    only_with(
        "transaction",
        "transaction.transaction-id",
        "[transaction] transaction-id = \"..\" (a booked transaction of that account)",
    ),
    only_with(
        "quota",
        "transaction.quota-account-id",
        "[transaction] quota-account-id = \"..\" (a second consented account of the private PSU, of whose daily calls without PSU-IP-Address the run may use up all)",
    ),
    only_with(
        "quota",
        "transaction.quota-transaction-id",
        "[transaction] quota-transaction-id = \"..\" (a booked transaction of the second account)",
    ),
    only_with(
        "batch",
        "transaction.batch-account-id",
        "[transaction] batch-account-id = \"..\" (a consented account of [psu.corporate] with a batch)",
    ),
    only_with(
        "batch",
        "transaction.batch-transaction-id",
        "[transaction] batch-transaction-id = \"..\" (a booked batch of that account)",
    ),
];

/// Capabilities: those that cases name in `needs`, and those that stand for a group of values, by which a profile declares that the
/// target has none of them.
pub const CAPABILITIES: [Offer; 11] = [
    offer("sandbox", "[capabilities] sandbox = true (the endpoints for test data exist)"),
    offer("basket", "[capabilities] basket = true (signing baskets exist, and take cross-border payments)"),
    offer(
        "quota",
        "[capabilities] quota = true (the run may use up one of the 4 daily calls without PSU-IP-Address)",
    ),
    offer(
        "test-authority",
        "[capabilities] test-authority = true (the authority of fixtures/keys is trusted, as one would trust a real one)",
    ),
    offer("corporate", "[capabilities] corporate = true (the corporate PSU may initiate payments)"),
    offer("identity", "[psu.private] identity = \"..\" (X-PSU-IDENTITY)"),
    offer("transaction", "[transaction] account-id = \"..\" (a consented account)"),
    offer("batch", "[transaction] batch-account-id = \"..\" (a consented account with a batch)"),
    offer("without-funds", "[accounts.without-funds] iban = \"..\" (an account that cannot pay)"),
    offer("pending-payment", "[pending-payment] id = \"..\" (a cross-border payment with status PDNG)"),
    offer("rejected-payment", "[rejected-payment] id = \"..\" (a cross-border payment with status RJCT)"),
];

/// The value or capability of this name.
pub fn find(offers: &'static [Offer], name: &str) -> Option<&'static Offer> {
    offers.iter().find(|offer| offer.name == name)
}
