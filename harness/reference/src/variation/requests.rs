//! What the document leaves open in request headers, queries and bodies: what one bank takes and another
//! refuses.

use serde_json::{Map, Value};

use crate::account_number::has_check_digits;
use crate::country;
use crate::currency::{self, Currency};
use crate::date;
use crate::declaration::Declaration;
use crate::money;
use crate::operation::Operation;
use crate::rules::{Count, Effect, Entry, Likeness, Place, Then, Treatment, Variance, When};

const B: Operation = Operation::Basket;
const N: Operation = Operation::Ncbct;
const P: Operation = Operation::Periodic;
const S: Operation = Operation::Customers;
const T: Operation = Operation::Transaction;

pub(super) const PAYMENTS: &[Operation] = &[N, P];

pub(super) fn variations() -> Vec<Entry> {
    let mut all = Vec::new();
    for (name, operations, header, when, says) in headers() {
        all.extend(on(name, operations, Place::Header(header), when, Then::Refuse, says));
    }
    for (name, operations, pointer, when, then, says) in bodies() {
        all.extend(on(name, operations, Place::Body(pointer), when, then, says));
    }
    all.extend(declared());
    all
}

/// Name, operations, header, values that are refused, and a sentence.
type Headers = (&'static str, &'static [Operation], &'static str, When, &'static str);

#[rustfmt::skip]
fn headers() -> Vec<Headers> {
    let is_no_json: fn(&str) -> bool = |value| !value.to_ascii_lowercase().starts_with("application/json");
    vec![
        ("header.psu-context.absent/demanded", PAYMENTS, "psu-context", When::Absent, "A payment without PSU-Context is refused."),
        ("header.x-request-id.format/uuid", &[B, N, P, S, T], "x-request-id", When::Text(|value| !is_uuid(value)), "X-Request-ID has to be a UUID."),
        ("header.tpp-session-id.format/uuid", &[B, N, P, T], "tpp-session-id", When::Text(|value| !is_uuid(value)), "TPP-Session-ID has to be a UUID."),
        ("header.psu-ip-address.format/only-ipv4", &[B, N, P, T], "psu-ip-address", When::Text(|value| value.contains(':')), "PSU-IP-Address has to be an IPv4 address."),
        ("header.psu-geo-location.format/geo", &[B, N, P, T], "psu-geo-location", When::Text(|value| !value.starts_with("GEO:")), "PSU-Geo-Location has to begin with GEO."),
        ("header.x-accept-fix.several/one", &[N, P, T], "x-accept-fix", When::Text(|value| value.contains(',')), "X-Accept-Fix has to name one change."),
        ("header.x-accept-fix.format/only-amounts", &[N, P, T], "x-accept-fix", When::Text(|value| value != "amount-as-string"), "X-Accept-Fix has to be amount-as-string everywhere."),
        ("version.longer-name/none", &[N, P, T], "x-accept-fix", When::Text(|value| value.contains("longer")), "Longer names are not offered."),
        ("http.content-type/only-json", &[B, N, P], "content-type", When::Text(is_no_json), "Bodies have to be application/json."),
        ("http.content-type/demanded", &[B, N, P], "content-type", When::Absent, "Bodies have to say what they are."),
        ("http.accept/only-json", &[B, N, P, S, T], "accept", When::Text(|value| !["json", "*/*", "application/*"].iter().any(|range| value.contains(range))), "Accept has to allow JSON."),
        ("header.not-part.sent/digest-refused", &[S, T], "digest", When::Present, "A Digest on what is read is refused."),
        ("header.not-part.sent/context-refused", &[B, S], "psu-context", When::Present, "PSU-Context on baskets and customers is refused."),
        ("digest.basket/refused", &[B], "digest", When::Present, "A Digest on the basket is refused."),
        ("header.psu-corporate-id.transaction/refused", &[T], "psu-corporate-id", When::Without("psu-context"), "PSU-Corporate-ID on the transactions of a private PSU is refused."),
        ("header.psu-id.case/as-known", &[B, N, P, T], "psu-id", When::Text(|id| id.bytes().any(|letter| letter.is_ascii_uppercase())), "The letter case of a PSU-ID counts."),
        ("header.x-psu-authmethod-preferred.unavailable/refused", PAYMENTS, "x-psu-authmethod-preferred", When::Present, "The bank offers no authentication method by name."),
        ("signature.algorithm.rsa-sha512/refused", &[N, P], "signature", When::Text(|value| value.contains("rsa-sha512")), "Signatures with rsa-sha512 are refused."),
        ("signature.headers.request-target/refused", &[B, N, P, S, T], "signature", When::Text(|value| value.contains("(request-target)")), "Signatures over the request target are refused."),
    ]
}

/// Name, operations, pointer, values, what is done with them, and a sentence.
type Bodies = (&'static str, &'static [Operation], &'static str, When, Then, &'static str);

#[rustfmt::skip]
fn bodies() -> Vec<Bodies> {
    use Then::{Capitals, Refuse, TakeFor};
    const AMOUNT: Then = TakeFor(r#"{"amount":"250000.00","currency":"NOK"}"#);
    vec![
        ("account.bban.check-digit/eleven", &[P], "/creditorAccount/bban", When::Text(|text| text.len() == 11 && !has_check_digit(text)), Refuse, "The check digit of domestic account numbers is looked at."),
        ("account.bban.check-digit/domestic-only", &[P], "/creditorAccount/bban", When::Text(|text| !text.is_empty() && text.len() != 11), Refuse, "Domestic account numbers have eleven digits."),
        ("account.iban.check-digits/creditor", PAYMENTS, "/creditorAccount/iban", When::Text(has_wrong_check_digits), TakeFor("\"NO6100004200594\""), "The check digits of the creditor's iban are not looked at."),
        ("account.iban.check-digits/debtor", PAYMENTS, "/debtorAccount/iban", When::Text(has_wrong_check_digits), TakeFor("\"NO1400004200179\""), "The check digits of the debtor's iban are not looked at."),
        ("account.identifier.both/refused", PAYMENTS, "/creditorAccount", When::Value(|account| account["iban"].is_string() && account["bban"].is_string()), Refuse, "An account has one number."),
        ("address.other-lengths/city", PAYMENTS, "/creditorAddress/city", When::Longer(35), Refuse, "Cities have at most 35 characters."),
        ("address.other-lengths/building", PAYMENTS, "/creditorAddress/buildingNumber", When::Longer(16), Refuse, "Building numbers have at most 16 characters."),
        ("amount.digits.fewer/taken", PAYMENTS, "/instructedAmount", When::Value(has_fewer_digits), AMOUNT, "An amount need not have all digits of its currency."),
        ("amount.digits.withdrawn/refused", PAYMENTS, "/instructedAmount/currency", When::Text(is_withdrawn), Refuse, "Withdrawn currencies cannot be paid in."),
        ("amount.digits.xdr/refused", PAYMENTS, "/instructedAmount/currency", When::Is("XDR"), Refuse, "Special drawing rights cannot be paid in."),
        ("amount.form.unusual/refused", PAYMENTS, "/instructedAmount/amount", When::Text(|text| text.len() > 1 && text.starts_with('0') && !text.starts_with("0.")), Refuse, "An amount has no leading zeros."),
        ("amount.form.unusual/taken", PAYMENTS, "/instructedAmount", When::Value(is_unusual), AMOUNT, "An amount may have no digit before the point, or none after it."),
        ("amount.negative/taken", PAYMENTS, "/instructedAmount", When::Value(is_negative), AMOUNT, "An amount below zero is taken."),
        ("amount.zero/taken", PAYMENTS, "/instructedAmount", When::Value(is_zero), AMOUNT, "Nothing can be paid."),
        ("amount.precision.near/refused", PAYMENTS, "/instructedAmount/amount", When::Text(|text| text.split('.').next().unwrap_or_default().len() > 13), Refuse, "An amount has at most 13 digits before the point."),
        ("basket.payment-ids.duplicate/refused", &[B], "/paymentIds", When::Value(has_duplicates), Refuse, "A payment is in a basket once."),
        ("basket.payment-ids.empty/taken", &[B], "/paymentIds", When::Value(|ids| ids.as_array().is_some_and(Vec::is_empty)), TakeFor(r#"["payment-pending-0001"]"#), "A basket may be empty."),
        ("basket.payment-ids.one/refused", &[B], "/paymentIds", When::Value(|ids| ids.as_array().is_some_and(|ids| ids.len() == 1)), Refuse, "A basket has two payments at least."),
        ("country.case/taken", PAYMENTS, "/creditorAddress/country", When::Like(Likeness::LetterCase, &country::LISTED), TakeFor("\"NO\""), "Countries may be in small letters."),
        ("currency.case/taken", PAYMENTS, "/instructedAmount/currency", When::Like(Likeness::LetterCase, &currency::LISTED), Capitals, "Currencies of amounts may be in small letters."),
        ("currency.case/taken-of-creditors", PAYMENTS, "/creditorAccount/currency", When::Like(Likeness::LetterCase, &currency::LISTED), Capitals, "Currencies of creditors' accounts may be in small letters."),
        ("currency.case/taken-of-debtors", PAYMENTS, "/debtorAccount/currency", When::Like(Likeness::LetterCase, &currency::LISTED), Capitals, "Currencies of debtors' accounts may be in small letters."),
        ("json.unknown-members/refused", &[N, P, B], "", When::Value(has_unknown_members), Refuse, "Members that the document does not list are refused."),
        ("ncbct.creditor-agent.form/any", &[N], "/creditorAgent", When::Text(|text| !text.is_empty()), TakeFor("\"TESTDEFF\""), "The agent of the creditor may be any text."),
        ("currency.listed.withdrawn/refused", &[N], "/creditorAccount/currency", When::Text(currency::is_withdrawn), Refuse, "No account is in a currency that ISO 4217 does not have."),
        ("currency.listed.sanctioned/accounts-refused", &[N], "/creditorAccount/currency", When::Among(&currency::SANCTIONED), Refuse, "Payments to accounts in some currencies are forbidden by law."),
        ("currency.listed.sanctioned/amounts-refused", &[N], "/instructedAmount/currency", When::Among(&currency::SANCTIONED), Refuse, "Payments in some currencies are forbidden by law."),
        ("country.listed.sanctioned/refused", PAYMENTS, "/creditorAddress/country", When::Among(&country::SANCTIONED), Refuse, "Payments to some countries are forbidden by law."),
        ("text.blanks/names-trimmed", PAYMENTS, "/creditorName", When::Forgiven(Count::Trimmed, 70), Then::Cut(70), "Blanks around a name do not count."),
        ("text.blanks/remittance-collapsed", PAYMENTS, "/remittanceInformationUnstructured", When::Forgiven(Count::OneBlank, 140), Then::Cut(140), "Several blanks of a remittance text are one."),
        ("text.blanks/creditor-iban", PAYMENTS, "/creditorAccount/iban", When::Forgiven(Count::WithoutBlanks, 34), TakeFor("\"NO6100004200594\""), "Blanks of a creditor's iban are dropped."),
        ("text.blanks/debtor-bban", PAYMENTS, "/debtorAccount/bban", When::Forgiven(Count::WithoutBlanks, 30), TakeFor("\"00004200179\""), "Blanks of a debtor's bban are dropped."),
        ("text.characters/utf-16-remittance", PAYMENTS, "/remittanceInformationUnstructured", When::Text(|text| text.encode_utf16().count() > 140), Refuse, "A remittance text has at most 140 UTF-16 units."),
        ("text.characters/no-marks", PAYMENTS, "/creditorName", When::Text(|text| text.chars().any(|letter| matches!(letter, '\u{300}'..='\u{36f}'))), Refuse, "Names have no marks that combine with letters."),
        ("ncbct.creditor-agent.both/demanded", &[N], "/creditorAgent", When::AbsentWith("/creditorAccount/bban"), Refuse, "Who gives a bban gives an agent."),
        ("ncbct.purpose/demanded-below", &[N], "/regulatoryReportingCode", When::Is("13"), Refuse, "The reporting code 13 is not taken below the threshold."),
        ("ncbct.regulatory-reporting.below/demanded", &[N], "/regulatoryReportingInformation", When::AbsentWith("/regulatoryReportingCode"), Refuse, "Who gives a reporting code gives the information."),
        ("ncbct.regulatory-reporting.other-currency/demanded", &[N], "", When::Value(|body| body["instructedAmount"]["currency"] != "NOK" && body.get("regulatoryReportingCode").is_none()), Refuse, "Reporting members are required in every other currency."),
        ("ncbct.regulatory-reporting-information.length.non-ascii/bytes", &[N], "/regulatoryReportingInformation", When::Text(|text| text.len() > 140), Refuse, "Reporting information has at most 140 bytes."),
        ("periodic.remittance-unstructured.length.non-ascii/bytes", &[P], "/remittanceInformationUnstructured", When::Text(|text| text.len() > 140), Refuse, "A remittance text has at most 140 bytes."),
        ("periodic.end-date.before-start/taken", &[P], "/endDate", When::Together(ends_before_it_starts), TakeFor("\"2099-12-31\""), "A series may end before it starts."),
        ("periodic.execution-rule.preceding/taken", &[P], "/executionRule", When::Is("preceding"), TakeFor("\"preceeding\""), "The usual spelling of preceding is taken as well."),
        ("periodic.months.absent/taken", &[P], "/monthsOfExecution", When::Together(lacks_months), TakeFor("[1]"), "MonthlyVariable may come without months."),
        ("periodic.months.empty/taken", &[P], "/monthsOfExecution", When::Value(|months| months.as_array().is_some_and(Vec::is_empty)), TakeFor("[1]"), "A list of months may be empty."),
        ("periodic.months.other-frequency/refused", &[P], "", When::Value(|body| body["frequency"] != "MonthlyVariable" && !body["monthsOfExecution"].is_null()), Refuse, "Months go with MonthlyVariable alone."),
        ("periodic.day.end-of-month/refused", &[P], "/dayOfExecution", When::Text(|text| matches!(text, "29" | "30" | "31")), Refuse, "Days that not every month has are refused."),
        ("periodic.day.leading-zero/refused", &[P], "/dayOfExecution", When::Text(|text| text.len() == 2 && text.starts_with('0')), Refuse, "Days have no leading zero."),
    ]
}

/// The variation on all of its operations, and on the first of them alone: what one part of a bank does
/// another need not do.
pub(super) fn on(
    name: &str,
    operations: &[Operation],
    place: Place,
    when: When,
    then: Then,
    says: &str,
) -> Vec<Entry> {
    let mut all = vec![Entry::new(name, treats(operations, place, when, then), says)];
    if let [first, _, ..] = operations {
        let says = format!("{} ({first} alone).", says.trim_end_matches('.'));
        all.push(Entry::new(format!("{name}-on-{first}"), treats(&[*first], place, when, then), says));
    }
    all
}

/// A value that is treated in the same way on several operations.
fn treats(operations: &[Operation], place: Place, when: When, then: Then) -> Vec<Effect> {
    let treats =
        |operation: &Operation| Effect::Treats(Treatment { operation: *operation, place, when, then });
    operations.iter().map(treats).collect()
}

/// What the target's profile declares as well, or no longer.
fn declared() -> Vec<Entry> {
    let has_december: fn(&Value) -> bool =
        |months| months.as_array().is_some_and(|months| months.iter().any(|month| *month == 12));
    let entry =
        |name: &str, declares, effects, says: &str| Entry { declares, ..Entry::new(name, effects, says) };
    let december =
        || treats(&[P], Place::Body("/monthsOfExecution"), When::Value(has_december), Then::Refuse);
    let alone = || treats(PAYMENTS, Place::Header("x-psu-identity"), When::Present, Then::Refuse);
    let longer: fn(&str) -> bool = |value| value.contains("longer");
    let day = || {
        let when = When::Text(is_impossible_day);
        treats(&[P], Place::Body("/dayOfExecution"), when, Then::TakeFor("\"1\""))
    };
    vec![
        entry(
            "basket.payment-status.shown-to/anyone",
            &[Declaration::Choice("payment.shown-to", "anyone")],
            vec![Effect::Variance(Variance::ShownToAnyone)],
            "Payments show to anyone who knows their id, as the profile says.",
        ),
        entry(
            "basket.payment-status.shown-to/anyone-undeclared",
            &[Declaration::NoChoice("payment.shown-to")],
            vec![Effect::Variance(Variance::ShownToAnyone)],
            "Payments show to anyone who knows their id.",
        ),
        entry("periodic.months.twelve/refused", &[], december(), "There is no twelfth month."),
        entry(
            "periodic.months.twelve/refused-declared",
            &[Declaration::Choice("periodic.month-twelve", "refuse")],
            december(),
            "There is no twelfth month, as the profile says.",
        ),
        entry(
            "periodic.months.twelve/taken-declared",
            &[Declaration::Choice("periodic.month-twelve", "accept")],
            vec![],
            "There is a twelfth month, as the profile says.",
        ),
        entry(
            "periodic.day.impossible/refused-declared",
            &[Declaration::Choice("periodic.day-impossible", "refuse")],
            vec![],
            "Days that no month has are refused, as the profile says.",
        ),
        entry(
            "header.x-psu-identity.ncbct/refused",
            &[Declaration::NoChoice("psu-identity.alone")],
            alone(),
            "X-PSU-IDENTITY is not taken.",
        ),
        entry(
            "periodic.day.impossible/taken",
            &[Declaration::NoChoice("periodic.day-impossible")],
            day(),
            "Any two digits are a day.",
        ),
        entry(
            "periodic.day.impossible/taken-declared",
            &[Declaration::Choice("periodic.day-impossible", "accept")],
            day(),
            "Any two digits are a day, as the profile says.",
        ),
        entry(
            "header.x-psu-identity.ncbct/refused-declared",
            &[Declaration::Choice("psu-identity.alone", "refuse")],
            alone(),
            "X-PSU-IDENTITY is not taken, as the profile says.",
        ),
        entry(
            "header.x-psu-identity.periodic/taken-declared",
            &[Declaration::Choice("psu-identity.alone", "accept")],
            vec![],
            "X-PSU-IDENTITY is taken alone, as the profile says.",
        ),
        entry(
            "version.longer-name/taken-declared",
            &[Declaration::Choice("x-accept-fix.longer-name", "longer-name")],
            vec![],
            "Longer names are offered by that name, as the profile says.",
        ),
        entry(
            "version.longer-name/none-declared",
            &[Declaration::Choice("x-accept-fix.longer-name", "none")],
            treats(&[N, P, T], Place::Header("x-accept-fix"), When::Text(longer), Then::Refuse),
            "Longer names are not offered, as the profile says.",
        ),
    ]
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The eleventh digit of a Norwegian account number, modulo 11 with the weights 5 4 3 2 7 6 5 4 3 2.
pub(super) fn has_check_digit(bban: &str) -> bool {
    let digits: Vec<u32> = bban.chars().filter_map(|digit| digit.to_digit(10)).collect();
    let weights = [5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1];
    digits.len() == 11
        && digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum::<u32>() % 11 == 0
}

/// In the form of an iban, within its limit.
fn has_wrong_check_digits(iban: &str) -> bool {
    let has_form = (5..=34).contains(&iban.len()) && iban.bytes().all(|byte| byte.is_ascii_alphanumeric());
    has_form && !has_check_digits(iban)
}

/// Above zero, within the limit of digits, and with too few of them behind the point.
fn has_fewer_digits(amount: &Value) -> bool {
    let text = amount["amount"].as_str().unwrap_or_default();
    let count = text.bytes().filter(u8::is_ascii_digit).count();
    count <= 18
        && money::decimal(text).is_some_and(|value| !value.is_zero())
        && decimals(amount).is_some_and(|(found, digits)| found < digits)
}

/// With all its digits.
fn is_zero(amount: &Value) -> bool {
    let text = amount["amount"].as_str().unwrap_or_default();
    money::decimal(text).is_some_and(|value| value.is_zero())
        && decimals(amount).is_some_and(|(found, digits)| found == digits)
}

/// With all its digits behind a minus.
fn is_negative(amount: &Value) -> bool {
    let Some(text) = amount["amount"].as_str().and_then(|text| text.strip_prefix('-')) else { return false };
    let amount = serde_json::json!({ "amount": text, "currency": amount["currency"] });
    decimals(&amount).is_some_and(|(found, digits)| found == digits)
}

/// How many digits an amount has behind the point, and its currency.
fn decimals(amount: &Value) -> Option<(usize, usize)> {
    let currency = Currency::listed(amount["currency"].as_str()?)?;
    let value = money::decimal(amount["amount"].as_str()?)?;
    Some((usize::try_from(value.scale()).ok()?, currency.minor_units()?))
}

/// A form of an amount in kroner that JSON numbers do not have.
fn is_unusual(amount: &Value) -> bool {
    let text = amount["amount"].as_str().unwrap_or_default();
    let bare = text.starts_with('.') || text.ends_with('.');
    amount["currency"] == "NOK" && bare && text.len() > 1 && money::decimal(&format!("0{text}0")).is_some()
}

fn is_withdrawn(code: &str) -> bool {
    matches!(code, "ANG" | "BYR" | "CUC" | "HRK" | "LTL" | "LVL" | "MRO" | "STD" | "VEF" | "ZMK" | "ZWD")
}

fn has_duplicates(ids: &Value) -> bool {
    let ids = ids.as_array().map(Vec::as_slice).unwrap_or_default();
    ids.iter().enumerate().any(|(index, id)| ids[..index].contains(id))
}

/// Members of the three bodies (the document, section Endpoints).
const MEMBERS: [&str; 19] = [
    "paymentIds",
    "instructedAmount",
    "creditorName",
    "creditorAccount",
    "creditorAddress",
    "creditorAgent",
    "debtorAccount",
    "ultimateDebtor",
    "remittanceInformationUnstructured",
    "purposeCode",
    "requestedExecutionDate",
    "regulatoryReportingCode",
    "regulatoryReportingInformation",
    "startDate",
    "executionRule",
    "endDate",
    "frequency",
    "monthsOfExecution",
    "dayOfExecution",
];

fn has_unknown_members(body: &Value) -> bool {
    body.as_object().is_some_and(|members| members.keys().any(|name| !MEMBERS.contains(&name.as_str())))
}

fn ends_before_it_starts(body: &Map<String, Value>) -> bool {
    let day = |name: &str| body.get(name)?.as_str().and_then(|text| date::parse(text).ok());
    day("startDate").zip(day("endDate")).is_some_and(|(start, end)| end < start)
}

fn lacks_months(body: &Map<String, Value>) -> bool {
    body.get("frequency").is_some_and(|frequency| frequency == "MonthlyVariable")
        && !body.contains_key("monthsOfExecution")
}

/// One or two digits that are no day of any month.
fn is_impossible_day(text: &str) -> bool {
    matches!(text.len(), 1 | 2)
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && !text.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn check_digits_are_those_of_the_numbers() {
        assert!(has_wrong_check_digits("NO1500004200179") && !has_wrong_check_digits("NO1400004200179"));
        assert!(has_check_digit("00004200179") && !has_check_digit("00004200178") && !has_check_digit("1"));
    }

    #[test]
    fn values_are_told_apart() {
        let amount = |amount: &str| json!({ "amount": amount, "currency": "NOK" });
        assert!(
            has_fewer_digits(&amount("1.0"))
                && has_fewer_digits(&amount("1"))
                && !has_fewer_digits(&amount("1.00"))
        );
        assert!(is_unusual(&amount(".50")) && is_unusual(&amount("1.")) && !is_unusual(&amount("1.00")));
        assert!(!is_unusual(&amount("+.5")) && !is_unusual(&amount(".")) && !is_unusual(&amount("1..")));
        assert!(
            is_negative(&amount("-1.00")) && !is_negative(&amount("-1")) && !is_negative(&amount("1.00"))
        );
        assert!(is_zero(&amount("0.00")) && !is_zero(&amount("0")) && !is_zero(&amount("0.01")));
        assert!(has_duplicates(&json!(["a", "b", "a"])) && !has_duplicates(&json!(["a", "b"])));
        assert!(
            has_unknown_members(&json!({ "synthetic": 1 }))
                && !has_unknown_members(&json!({ "frequency": 1 }))
        );
        let body = |json: Value| json.as_object().unwrap().clone();
        let series =
            json!({ "startDate": "2030-02-02", "endDate": "2030-02-01", "frequency": "MonthlyVariable" });
        assert!(ends_before_it_starts(&body(series.clone())) && lacks_months(&body(series)));
        assert!(
            is_impossible_day("0")
                && is_impossible_day("32")
                && !is_impossible_day("31")
                && !is_impossible_day("x")
        );
        assert!(is_uuid("8f14e45f-ceea-467f-a9c3-0c6b1a2d3e4f") && !is_uuid("8f14e45f"));
    }
}
