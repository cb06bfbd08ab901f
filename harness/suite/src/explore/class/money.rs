//! Classes of amounts, accounts and addresses.

use proptest::{collection::vec, sample::select};
use serde_json::{Value, json};

use super::{Aim, Collector, drawn, edits, letters};
use std::collections::BTreeMap;

use crate::explore::{draft::Edit, model::Member};

impl Collector<'_> {
    pub(super) fn amount(&mut self, operation: &str, member: &Member, at: &str) {
        let set = |text: String, currency: &str| {
            Edit::set("body/instructedAmount", json!({"amount": text, "currency": currency}))
        };
        let amounts: BTreeMap<String, String> = self.model.amounts.clone();
        let digits: Vec<(String, usize)> =
            self.model.digits.iter().map(|(code, digits)| (code.clone(), *digits)).collect();
        for (code, digits) in digits {
            let Some(whole) =
                amounts.get(&code).cloned().or_else(|| (code == "NOK").then(|| "1${number.5}".to_owned()))
            else {
                continue;
            };
            if member.domestic
                && code != "NOK"
                && !["SEK", "EUR", "JPY", "ISK", "KWD", "TND", "USD"].contains(&code.as_str())
            {
                continue;
            }
            let aim = if member.domestic && code != "NOK" { Aim::Open } else { Aim::Valid };
            let (currency, front) = (code.clone(), whole.clone());
            self.add(&format!("{at} {code} exact"), "amount.digits", aim, &[at], move |runner| {
                let fraction = fraction(digits, runner);
                edits([set(format!("{front}{fraction}"), &currency)])
            });
            for more in 1..=6usize.saturating_sub(digits) {
                let (currency, front) = (code.clone(), whole.clone());
                // Every currency with one digit more and with six digits; those between where the digits are
                // others than usual.
                if more > 1 && digits + more < 6 && digits == 2 && !["NOK", "EUR"].contains(&code.as_str()) {
                    continue;
                }
                self.add(
                    &format!("{at} {code} {} digits", digits + more),
                    "amount.digits",
                    Aim::Broken,
                    &[at],
                    move |runner| {
                        let fraction = fraction(digits + more, runner);
                        edits([set(format!("{front}{fraction}"), &currency)])
                    },
                );
            }
            if digits == 2 && code == "NOK" {
                let front = whole.clone();
                self.add(
                    &format!("{at} trailing zeros"),
                    "amount.digits",
                    Aim::Broken,
                    &[at],
                    move |runner| {
                        let zeros = "0".repeat(drawn(&(3usize..=6), runner));
                        edits([set(format!("{front}.{zeros}"), "NOK")])
                    },
                );
            }
        }
        self.amount_forms(operation, at);
    }

    /// Amounts around the threshold (L215, L216), and what is no amount.
    fn amount_forms(&mut self, operation: &str, at: &str) {
        if operation == "ncbct" {
            for (name, text) in
                [("threshold", "100000.00"), ("just above", "100000.01"), ("well above", "250000.00")]
            {
                self.fixed(
                    &format!("{at} {name}"),
                    "ncbct.regulatory-reporting-code.required",
                    Aim::Valid,
                    "body/instructedAmount/amount",
                    json!(text),
                );
                for absent in ["regulatoryReportingCode", "regulatoryReportingInformation"] {
                    let (amount, gone) = (
                        Edit::set("body/instructedAmount/amount", json!(text)),
                        Edit::Remove(format!("body/{absent}")),
                    );
                    self.add(
                        &format!("{at} {name} without {absent}"),
                        "ncbct.regulatory-reporting-code.required",
                        Aim::Broken,
                        &[at, &format!("body/{absent}")],
                        move |_| edits([amount.clone(), gone.clone()]),
                    );
                }
            }
        }
        let amount = format!("{at}/amount");
        for (name, value) in
            [("list", json!(["150000.00"])), ("object", json!({"value": "150000.00"})), ("true", json!(true))]
        {
            self.fixed(&format!("{amount} {name}"), "amount.string", Aim::Broken, &amount, value);
        }
        self.removed(&format!("{amount} absent"), "amount.required", Aim::Broken, &amount);
        self.removed(
            &format!("{at}/currency absent"),
            "amount.currency",
            Aim::Broken,
            &format!("{at}/currency"),
        );
        for digits in [19usize, 25] {
            self.add(
                &format!("{amount} of {digits} digits"),
                "amount.precision",
                Aim::Broken,
                &[at],
                move |runner| {
                    let rest: String = drawn(&vec(select(&["1", "4", "9"][..]), digits - 1), runner).concat();
                    edits([Edit::set("body/instructedAmount/amount", json!(format!("1{rest}.00")))])
                },
            );
        }
        for text in ["150000", "150000.1", "-150000.00", "1e5", "150 000.00", "ten", "", "0.00", "150000.00 "]
        {
            self.fixed(&format!("{amount} free: {text}"), "amount.form", Aim::Open, &amount, json!(text));
        }
        self.fixed(&format!("{amount} number"), "amount.string", Aim::Open, &amount, json!(150_000));
        self.currencies(at, false);
    }

    pub(super) fn currencies(&mut self, at: &str, any: bool) {
        let place = format!("{at}/currency");
        if any {
            for code in self.model.currencies.clone() {
                self.fixed(&format!("{place} = {code}"), "currency.listed", Aim::Valid, &place, json!(code));
            }
        }
        for code in ["NOX", "QQQ", "NO", "NOKK", "NOR", " NOK", "NOK "] {
            self.fixed(
                &format!("{place} wrong: {code}"),
                "currency.listed",
                Aim::Broken,
                &place,
                json!(code),
            );
        }
        let listed = self.model.currencies.clone();
        let to = place.clone();
        self.add(&format!("{place} nearly"), "currency.listed", Aim::Broken, &[at], move |runner| {
            let code = drawn(&vec(select(('A'..='Z').collect::<Vec<_>>()), 3), runner)
                .into_iter()
                .collect::<String>();
            let code = if listed.contains(&code) { "QQX".to_owned() } else { code };
            edits([Edit::set(&to, json!(code))])
        });
    }

    pub(super) fn account(&mut self, operation: &str, member: &Member, at: &str) {
        let account = member.account.clone().unwrap_or_default();
        let currency = format!("{at}/currency");
        self.removed(
            &format!("{currency} absent"),
            &format!("{}.currency", member.clause),
            Aim::Broken,
            &currency,
        );
        self.fixed(
            &format!("{currency} null"),
            &format!("{}.currency", member.clause),
            Aim::Broken,
            &currency,
            Value::Null,
        );
        self.fixed(&format!("{currency} empty"), "account.currency", Aim::Broken, &currency, json!(""));
        self.currencies(at, member.any_currency);
        self.removed(&format!("{at}/iban absent"), "account.identifier", Aim::Broken, &format!("{at}/iban"));
        let rules = [at, "body/creditorAgent"];
        let rules =
            if operation == "ncbct" && member.at == "creditorAccount" { &rules[..] } else { &rules[..1] };
        let bban = |value: Value| {
            let mut all = vec![Edit::Remove(format!("{at}/iban")), Edit::set(&format!("{at}/bban"), value)];
            if rules.len() > 1 {
                all.push(Edit::set("body/creditorAgent", json!("${target.accounts.foreign-creditor.agent}")));
            }
            all
        };
        let own = bban(json!(format!("${{target.accounts.{account}.bban}}")));
        self.add(&format!("{at} bban"), "account.identifier", Aim::Valid, rules, move |_| edits(own.clone()));
        for (name, length) in [("one more", 31..=31), ("more", 32..=90), ("many more", 900..=1100)] {
            let template = bban(Value::Null);
            self.add(
                &format!("{at} bban {name}"),
                "account.bban.length",
                Aim::Broken,
                rules,
                move |runner| {
                    let mut all = template.clone();
                    let digits = drawn(&vec(select(&["1", "2", "7"][..]), length.clone()), runner).concat();
                    if let Edit::Set(_, value) = &mut all[1] {
                        *value = json!(digits);
                    }
                    edits(all)
                },
            );
        }
        let iban = format!("{at}/iban");
        for (name, length) in [("one more", 31..=31), ("more", 32..=90), ("many more", 900..=1100)] {
            let place = iban.clone();
            self.add(&format!("{iban} {name}"), "account.iban.length", Aim::Broken, &[at], move |runner| {
                let digits = drawn(&vec(select(&["1", "2", "7"][..]), length.clone()), runner).concat();
                edits([Edit::set(&place, json!(format!("NO93{digits}")))])
            });
        }
        if rules.len() > 1 {
            let without: Vec<Edit> =
                bban(json!(format!("${{target.accounts.{account}.bban}}"))).into_iter().take(2).collect();
            self.add(
                &format!("{at} bban without agent"),
                "ncbct.creditor-agent.bban",
                Aim::Broken,
                rules,
                move |_| edits(without.clone()),
            );
        }
    }

    pub(super) fn bic(&mut self, member: &Member) {
        let own = "${target.accounts.foreign-creditor.bban}";
        let around = move |agent: Value| {
            [
                Edit::Remove("body/creditorAccount/iban".into()),
                Edit::set("body/creditorAccount/bban", json!(own)),
                Edit::set("body/creditorAgent", agent),
            ]
        };
        let rules = ["body/creditorAccount", "body/creditorAgent"];
        for (clause, value) in [
            ("ncbct.creditor-agent.bban", json!("AAAA")),
            ("ncbct.creditor-agent.bban", json!("aaaadef0xxx")),
            ("ncbct.creditor-agent.bban", json!("AAAADEF0XX")),
            ("ncbct.creditor-agent.bban", json!("AAA1DEF0XXX")),
            ("ncbct.creditor-agent.bban", json!("AAAADE10")),
            ("ncbct.creditor-agent.bban", json!("AAAADEFOXXX")),
            ("ncbct.creditor-agent.bban", json!("")),
            ("ncbct.creditor-agent.type", json!(3)),
            ("ncbct.creditor-agent.type", json!(["AAAADEF0XXX"])),
            ("ncbct.creditor-agent.type", json!({"bic": "AAAADEF0XXX"})),
        ] {
            let all = around(value.clone());
            let aim = if value.is_string() { Aim::Open } else { Aim::Broken };
            self.add(&format!("body/{} wrong: {value}", member.at), clause, aim, &rules, move |_| {
                edits(all.clone())
            });
        }
    }

    pub(super) fn address(&mut self, operation: &str, member: &Member, at: &str) {
        let optional = format!("{}.optional", member.clause);
        let country = |code: &str| json!({"country": code});
        for code in self.model.countries.clone() {
            // Each country once; a domestic creditor is somewhere too.
            if operation == "ncbct" || ["NO", "SE", "GB", "AX"].contains(&code.as_str()) {
                let clause = if code == "SE" { optional.as_str() } else { "country.listed" };
                self.fixed(&format!("{at} {code}"), clause, Aim::Valid, at, country(&code));
            }
        }
        let place = at.to_owned();
        self.add(&format!("{at} whole"), &optional, Aim::Valid, &[at], move |runner| {
            let value = json!({
                "street": drawn(&letters(1..=70), runner), "buildingNumber": drawn(&letters(1..=8), runner),
                "postalCode": drawn(&letters(2..=10), runner), "city": drawn(&letters(1..=16), runner), "country": "SE",
            });
            edits([Edit::set(&place, value)])
        });
        for (name, range, aim) in [
            ("most", 70..=70, Aim::Valid),
            ("one more", 71..=71, Aim::Broken),
            ("more", 72..=200, Aim::Broken),
            ("many more", 900..=1100, Aim::Broken),
        ] {
            let place = at.to_owned();
            self.add(&format!("{at}/street {name}"), "address.street.length", aim, &[at], move |runner| {
                let street = drawn(&letters(range.clone()), runner);
                edits([Edit::set(&place, json!({"street": street, "country": "SE"}))])
            });
        }
        for (clause, value) in [
            (format!("{}.country", member.clause), json!({"street": "Synthetic Street 1"})),
            (format!("{}.country", member.clause), json!({})),
            ("address.country".to_owned(), json!({"country": null})),
            ("address.country".to_owned(), country("")),
            ("country.length".to_owned(), country("SWE")),
            ("country.length".to_owned(), country("SESESESESESE")),
        ] {
            self.fixed(&format!("{at} wrong: {value}"), &clause, Aim::Broken, at, value);
        }
        for code in ["QZ", "ZZ", "12", "N1", "X"] {
            self.fixed(&format!("{at} wrong: {code}"), "country.listed", Aim::Broken, at, country(code));
        }
        for part in ["buildingNumber", "postalCode", "city"] {
            for value in [json!(["1"]), json!({"value": "1"})] {
                let all = json!({"country": "SE", part: value});
                self.fixed(&format!("{at}/{part} type: {value}"), "address.shape", Aim::Broken, at, all);
            }
        }
    }
}

/// So many fraction digits, the last of them not zero.
fn fraction(digits: usize, runner: &mut proptest::test_runner::TestRunner) -> String {
    if digits == 0 {
        return String::new();
    }
    let front = drawn(&vec(select(&["0", "1", "5", "9"][..]), digits - 1), runner).concat();
    format!(".{front}{}", drawn(&(1..=9), runner))
}
