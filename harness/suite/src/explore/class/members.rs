//! Classes of the members of a body.

use proptest::{collection::vec, prelude::any, sample::select};
use serde_json::{Value, json};

use super::{Aim, Collector, Parts, drawn, edits, letters};
use crate::explore::{
    draft::{Edit, Payments},
    model::{Kind, Member},
};

impl Collector<'_> {
    pub(super) fn member(&mut self, operation: &str, member: &Member) {
        let at = format!("body/{}", member.at);
        let clause = |suffix: &str| format!("{}.{suffix}", member.clause);
        let is_sent = self.plain.members().is_some_and(|body| body.contains_key(&member.at));
        if is_sent && member.required {
            self.removed(&format!("{at} absent"), &clause("required"), Aim::Broken, &at);
            self.fixed(&format!("{at} null"), &clause("required"), Aim::Broken, &at, Value::Null);
        } else if !is_sent {
            self.fixed(&format!("{at} null"), &clause("optional"), Aim::Open, &at, Value::Null);
        }
        match member.kind {
            Kind::Text => self.text(member, &at, is_sent),
            Kind::Words => self.words(member, &at, is_sent),
            Kind::Amount => self.amount(operation, member, &at),
            Kind::Account => self.account(operation, member, &at),
            Kind::Address => self.address(operation, member, &at),
            Kind::Bic => self.bic(member),
            Kind::Date => self.date(member, &at, is_sent),
            Kind::Months => self.months(),
            Kind::Day => self.day(member, &at),
            Kind::Ids => self.ids(&at),
        }
        let types: &[Value] = match member.kind {
            Kind::Ids | Kind::Bic | Kind::Months => &[],
            _ => &[json!(3), json!(true), json!([]), json!(["1"]), json!({"value": "1"})],
        };
        for value in types {
            let aim = type_aim(member, value);
            self.fixed(&format!("{at} type: {value}"), &clause("type"), aim, &at, value.clone());
        }
        if matches!(member.kind, Kind::Amount | Kind::Account | Kind::Address) {
            self.fixed(&format!("{at} type: text"), &clause("type"), Aim::Broken, &at, json!("text"));
        }
    }

    pub(super) fn text(&mut self, member: &Member, at: &str, is_sent: bool) {
        let most = member.most.unwrap_or(1);
        let (length, optional) = (format!("{}.length", member.clause), format!("{}.optional", member.clause));
        let valid = if is_sent { &length } else { &optional };
        for (name, range) in [("1", 1..=1), ("any", 2..=most - 1), ("most", most..=most)] {
            self.letters(&format!("{at} {name}"), valid, Aim::Valid, at, range);
        }
        let place = at.to_owned();
        self.add(&format!("{at} words"), valid, Aim::Valid, &[at], move |runner| {
            let words = vec(letters(1..=9), 2..=6);
            edits([Edit::set(&place, json!(drawn(&words, runner).join(" ")))])
        });
        for (name, range) in
            [("one more", most + 1..=most + 1), ("more", most + 2..=4 * most), ("many more", 900..=1200)]
        {
            self.letters(&format!("{at} {name}"), &length, Aim::Broken, at, range);
        }
        if member.least == Some(1) {
            self.fixed(
                &format!("{at} empty"),
                &format!("{}.empty", member.clause),
                Aim::Broken,
                at,
                json!(""),
            );
        }
        let place = at.to_owned();
        let aim = if member.utf8 { Aim::Valid } else { Aim::Open };
        self.add(&format!("{at} other letters"), valid, aim, &[at], move |runner| {
            const SCRIPTS: [&str; 8] = ["æøå", "Ωλπ", "жщю", "שלו", "سلا", "漢字", "हिन", "🙂🚀"];
            let letters = drawn(&vec(select(&SCRIPTS[..]), 1..=3), runner).concat();
            edits([Edit::set(&place, json!(letters))])
        });
    }

    pub(super) fn words(&mut self, member: &Member, at: &str, is_sent: bool) {
        let listed = member.listed.clone().unwrap_or_default();
        let optional = format!("{}.optional", member.clause);
        for word in &member.words {
            let clause =
                if is_sent || member.listed.as_deref() != Some(&member.clause) { &listed } else { &optional };
            if word == "MonthlyVariable" {
                let places = [Edit::set(at, json!(word)), Edit::set("body/monthsOfExecution", json!([3, 6]))];
                let rules = [at, "body/monthsOfExecution"];
                self.add(&format!("{at} = {word}"), clause, Aim::Valid, &rules, move |_| {
                    edits(places.clone())
                });
            } else if !self.is_plain(at, &json!(word)) {
                self.fixed(&format!("{at} = {word}"), clause, Aim::Valid, at, json!(word));
            }
        }
        let word = member.words.first().cloned().unwrap_or_default();
        let last = member.words.last().cloned().unwrap_or_default();
        let mut wrong = vec![
            format!(" {word}"),
            format!("{word} "),
            format!("{word}{word}"),
            format!("{word}{last}"),
            word.chars().skip(1).collect(),
            String::new(),
        ];
        wrong.extend(
            ["MNTH", "Yearly", "GOVT", "nearest", "13", "15", "30", "44", "54", "80", "83", "144", "1"]
                .map(str::to_owned),
        );
        wrong.retain(|text| !member.words.contains(text) && !member.open.contains(text));
        for text in wrong {
            self.fixed(&format!("{at} wrong: {text}"), &listed, Aim::Broken, at, json!(text));
        }
        // A word of which one letter is another.
        let (place, words) = (at.to_owned(), member.words.clone());
        self.add(&format!("{at} nearly"), &listed, Aim::Broken, &[at], move |runner| {
            let mut word: Vec<char> = drawn(&select(words.clone()), runner).chars().collect();
            let at = drawn(&(0..word.len()), runner);
            word[at] = if word[at] == 'X' { 'Y' } else { 'X' };
            edits([Edit::set(&place, json!(word.into_iter().collect::<String>()))])
        });
        if member.words.iter().all(|word| word.to_lowercase() == *word) {
            return;
        }
        let (place, words) = (at.to_owned(), member.words.clone());
        self.add(&format!("{at} in small letters"), &listed, Aim::Open, &[at], move |runner| {
            edits([Edit::set(&place, json!(drawn(&select(words.clone()), runner).to_lowercase()))])
        });
    }

    pub(super) fn date(&mut self, member: &Member, at: &str, is_sent: bool) {
        let first = member.days.unwrap_or(10);
        let clause = if is_sent {
            format!("{}.required", member.clause)
        } else {
            format!("{}.optional", member.clause)
        };
        let place = at.to_owned();
        self.add(&format!("{at} any"), &clause, Aim::Valid, &[at], move |runner| {
            let days = drawn(&(first..=first + 40), runner);
            edits([Edit::set(&place, json!(format!("${{workday+{days}}}")))])
        });
        let format = format!("{}.format", member.clause);
        for text in [
            "2031-02-30",
            "2031-02-29",
            "2031-04-31",
            "2031-13-01",
            "2031-00-10",
            "2031-01-00",
            "2031-01-32",
            "15.02.2031",
            "02/15/2031",
            "2031-2-5",
            "31-02-05",
            "tomorrow",
            "",
            "2031-02-05x",
            "20310230",
        ] {
            self.fixed(&format!("{at} wrong: {text}"), &format, Aim::Broken, at, json!(text));
        }
        for text in ["20310205", "2020-02-05"] {
            self.fixed(&format!("{at} free: {text}"), &clause, Aim::Open, at, json!(text));
        }
    }

    pub(super) fn day(&mut self, member: &Member, at: &str) {
        for day in 1..=28 {
            self.fixed(
                &format!("{at} = {day}"),
                if day == 15 { "periodic.day.optional" } else { "periodic.day" },
                Aim::Valid,
                at,
                json!(day.to_string()),
            );
        }
        for text in ["last", "x", "-5", "1.", " 5", "", "100", "151", "5th"] {
            self.fixed(
                &format!("{at} wrong: {text}"),
                &format!("{}.form", member.clause),
                Aim::Broken,
                at,
                json!(text),
            );
        }
        for text in ["0", "00", "09", "29", "31", "32", "99"] {
            self.fixed(&format!("{at} free: {text}"), &member.clause, Aim::Open, at, json!(text));
        }
    }

    pub(super) fn months(&mut self) {
        let with = |months: Value| {
            [
                Edit::set("body/frequency", json!("MonthlyVariable")),
                Edit::set("body/monthsOfExecution", months),
            ]
        };
        let rules = ["body/frequency", "body/monthsOfExecution"];
        for month in 1..=11 {
            let all = with(json!([month]));
            self.add(&format!("months {month}"), "periodic.months", Aim::Valid, &rules, move |_| {
                edits(all.clone())
            });
            let all = with(json!([month, month]));
            self.add(
                &format!("months {month} twice"),
                "periodic.months.duplicate",
                Aim::Broken,
                &rules,
                move |_| edits(all.clone()),
            );
        }
        self.add("months any", "periodic.months", Aim::Valid, &rules, move |runner| {
            edits(with(json!(drawn(&some_months(1), runner))))
        });
        self.add("months all", "periodic.months", Aim::Valid, &rules, move |_| {
            edits(with(json!((1..=11).collect::<Vec<_>>())))
        });
        self.add("months with one twice", "periodic.months.duplicate", Aim::Broken, &rules, move |runner| {
            let mut months = drawn(&some_months(2), runner);
            let (again, place) = (drawn(&(0..months.len()), runner), drawn(&(0..=months.len()), runner));
            months.insert(place, months[again]);
            edits(with(json!(months)))
        });
        self.add("months the first again", "periodic.months.duplicate", Aim::Broken, &rules, move |runner| {
            let mut months = drawn(&some_months(2), runner);
            months.push(months[0]);
            edits(with(json!(months)))
        });
        self.add("months the last again", "periodic.months.duplicate", Aim::Broken, &rules, move |runner| {
            let mut months = drawn(&some_months(2), runner);
            months.push(months[months.len() - 1]);
            edits(with(json!(months)))
        });
        for (name, month) in [("zero", 0), ("thirteen", 13), ("below zero", -1), ("hundred", 100)] {
            self.add(
                &format!("months {name}"),
                "periodic.months.range",
                Aim::Broken,
                &rules,
                move |runner| {
                    let mut months: Vec<i64> =
                        if drawn(&any::<bool>(), runner) { vec![] } else { drawn(&some_months(1), runner) };
                    months.push(month);
                    edits(with(json!(months)))
                },
            );
        }
        for value in [
            json!("3"),
            json!(3),
            json!({"month": 3}),
            json!(true),
            json!(["March"]),
            json!([1, 6.5]),
            json!([1, null]),
            json!([[1, 6]]),
        ] {
            let all = with(value.clone());
            self.add(
                &format!("months type: {value}"),
                "periodic.months.type",
                Aim::Broken,
                &rules,
                move |_| edits(all.clone()),
            );
        }
        for (value, aim) in [(json!([]), Aim::Open), (json!([12]), Aim::Open), (json!([6, 1]), Aim::Valid)] {
            let all = with(value.clone());
            self.add(&format!("months = {value}"), "periodic.months", aim, &rules, move |_| {
                edits(all.clone())
            });
        }
    }

    pub(super) fn ids(&mut self, at: &str) {
        for times in [2, 3, 9, 10] {
            let payments = Payments { baseline: "ncbct".into(), times, standing: false };
            let place = at.to_owned();
            self.add(
                &format!("{at} of {times}"),
                if times == 10 { "basket.payment-ids.limit.ten" } else { "basket.payment-ids.type" },
                Aim::Valid,
                &[at, "payments"],
                move |_| Parts {
                    edits: vec![Edit::set(&place, json!("${payment.id}"))],
                    payments: Some(payments.clone()),
                    signing: None,
                },
            );
        }
        for times in [11, 12, 20] {
            let payments = Payments { baseline: "ncbct".into(), times, standing: false };
            let place = at.to_owned();
            self.add(
                &format!("{at} of {times}"),
                "basket.payment-ids.limit",
                Aim::Broken,
                &[at, "payments"],
                move |_| Parts {
                    edits: vec![Edit::set(&place, json!("${payment.id}"))],
                    payments: Some(payments.clone()),
                    signing: None,
                },
            );
        }
        for (name, list) in [
            ("alone", json!(["${standing.id}"])),
            ("first", json!(["${standing.id}", "${payment.id}"])),
            ("last", json!(["${payment.id}", "${standing.id}"])),
        ] {
            let payments = Payments { baseline: "ncbct".into(), times: 1, standing: true };
            let place = at.to_owned();
            self.add(
                &format!("{at} periodic {name}"),
                "basket.mix",
                Aim::Broken,
                &[at, "payments"],
                move |_| Parts {
                    edits: vec![Edit::set(&place, list.clone())],
                    payments: Some(payments.clone()),
                    signing: None,
                },
            );
        }
        for value in [
            json!("${payment.id}"),
            json!(""),
            json!(1),
            json!(true),
            json!({"id": "${payment.id}"}),
            json!([1]),
            json!([null]),
            json!([true]),
            json!([["${payment.id}"]]),
            json!([{"paymentId": "${payment.id}"}]),
            json!(["${payment.id}", 1]),
            json!(["${payment.id}", null]),
        ] {
            self.fixed(&format!("{at} type: {value}"), "basket.payment-ids.type", Aim::Broken, at, value);
        }
        for value in [
            json!([]),
            json!(["${payment.id}", "${payment.id}"]),
            json!(["${fresh.unknown}"]),
            json!(["unknown"]),
        ] {
            self.fixed(&format!("{at} free: {value}"), "basket.payment-ids.type", Aim::Open, at, value);
        }
    }

    pub(super) fn bodies(&mut self, operation: &str) {
        let clause = format!("{operation}.body.required");
        self.removed("body absent", &clause, Aim::Broken, "body");
        for value in
            [json!(null), json!(true), json!(1), json!("synthetic"), json!([]), json!([null]), json!([{}])]
        {
            self.fixed(&format!("body = {value}"), &clause, Aim::Broken, "body", value);
        }
        for text in [" ", "this is no JSON", "<payment/>", "{", "{a: 1}"] {
            let text = text.to_owned();
            self.add(&format!("body raw: {text}"), &clause, Aim::Broken, &["body"], move |_| {
                edits([Edit::Raw(text.clone())])
            });
        }
        self.add("body/unlisted", "http.no-server-error", Aim::Open, &["body/unlisted"], |runner| {
            let name = drawn(&letters(3..=12), runner);
            edits([Edit::set(&format!("body/synthetic{name}"), json!(name))])
        });
    }
}

/// Whether a value of another type breaks the rule of a member under every reading: a number may be taken for
/// its digits, and a truth value for its word.
fn type_aim(member: &Member, value: &Value) -> Aim {
    let is_word = matches!(value, Value::Number(_) | Value::Bool(_));
    let is_strict = match value {
        Value::Number(_) => member.at.starts_with("remittance"),
        _ => member.at.starts_with("regulatory") || member.at == "ultimateDebtor",
    };
    match member.kind {
        Kind::Text if is_word && !is_strict => Aim::Open,
        Kind::Day if value.is_number() => Aim::Open,
        _ => Aim::Broken,
    }
}

/// Months from 1 to 11 in order, at least so many.
fn some_months(least: usize) -> impl proptest::strategy::Strategy<Value = Vec<i64>> {
    proptest::sample::subsequence((1..=11).collect::<Vec<i64>>(), least..=11)
}
