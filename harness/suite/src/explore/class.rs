//! Classes of what can be done to a valid request: for each member, header, parameter and way of signing the values that keep the
//! rules, those that break one, and those of which the document says nothing. A class draws a value of its own each time.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
};

use proptest::{
    collection::vec,
    prelude::{Strategy, any},
    sample::select,
    strategy::ValueTree,
    test_runner::TestRunner,
};
use serde_json::{Value, json};

use super::{
    draft::{Edit, Move, Payments},
    model::{Header, Kind, Member, Model, Operation},
    oracle,
};
use crate::{
    blend,
    definition::{Signing, Wrap},
    request::RequestSpec,
};

/// What a class is made for. What a request must come to is judged from the whole request all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// Keeps every rule.
    Valid,
    /// Breaks one.
    Broken,
    /// Neither: a server does not fail on it.
    Open,
}

type Draw = Box<dyn Fn(&mut TestRunner) -> Parts + Send + Sync>;

/// What a class does to a request.
#[derive(Debug, Clone, Default)]
struct Parts {
    edits: Vec<Edit>,
    signing: Option<Signing>,
    payments: Option<Payments>,
}

/// A class.
pub struct Class {
    /// Name, unique within its operation.
    pub name: String,
    /// The clause that it is about.
    pub clause: String,
    /// What it is made for.
    pub aim: Aim,
    /// Rules of the document that it touches ([`blend::rule`]): two classes that share one are not in one request.
    pub rules: Vec<String>,
    draw: Draw,
}

impl std::fmt::Debug for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({:?}, {})", self.name, self.aim, self.clause)
    }
}

impl Class {
    /// Draws what it does this time.
    pub fn draw(&self, runner: &mut TestRunner) -> Move {
        let Parts { edits, signing, payments } = (self.draw)(runner);
        Move {
            class: self.name.clone(),
            clause: self.clause.clone(),
            rules: self.rules.clone(),
            edits,
            signing,
            payments,
        }
    }
}

/// A value of a strategy.
pub(super) fn drawn<S: Strategy>(strategy: &S, runner: &mut TestRunner) -> S::Value {
    match strategy.new_tree(runner) {
        Ok(tree) => tree.current(),
        Err(reason) => unreachable!("a strategy without filters draws: {reason}"),
    }
}

/// Classes of one operation as they are collected.
struct Collector<'a> {
    model: &'a Model,
    plain: &'a RequestSpec,
    classes: Vec<Class>,
}

/// Every class of an operation. `plain` is its baseline.
pub fn of(model: &Model, operation: &str, plain: &RequestSpec) -> Vec<Class> {
    let mut collector = Collector { model, plain, classes: Vec::new() };
    let Some(shape) = model.operations.get(operation) else { return Vec::new() };
    collector.headers(operation, shape);
    for query in &shape.queries {
        for word in &query.words {
            let at = format!("query/{}", query.at);
            collector.fixed(&format!("{}={word}", query.at), &query.clause, Aim::Valid, &at, json!(word));
        }
    }
    for member in &shape.members {
        collector.member(operation, member);
    }
    if !shape.members.is_empty() {
        collector.bodies(operation);
    }
    collector.signing(operation);
    collector.wire(operation);
    // Two lists may come to the same value.
    let mut names = BTreeSet::new();
    collector.classes.retain(|class| names.insert(class.name.clone()));
    collector.classes
}

impl Collector<'_> {
    fn add(
        &mut self,
        name: &str,
        clause: &str,
        aim: Aim,
        rules: &[&str],
        draw: impl Fn(&mut TestRunner) -> Parts + Send + Sync + 'static,
    ) {
        let rules = rules.iter().map(|place| blend::rule(place).to_owned()).collect();
        let (name, clause) = (name.to_owned(), clause.to_owned());
        self.classes.push(Class { name, clause, aim, rules, draw: Box::new(draw) });
    }

    /// A class with one value at one place.
    fn fixed(&mut self, name: &str, clause: &str, aim: Aim, at: &str, value: Value) {
        let place = at.to_owned();
        self.add(name, clause, aim, &[&member_of(at)], move |_| edits([Edit::set(&place, value.clone())]));
    }

    fn removed(&mut self, name: &str, clause: &str, aim: Aim, at: &str) {
        let place = at.to_owned();
        self.add(name, clause, aim, &[&member_of(at)], move |_| edits([Edit::Remove(place.clone())]));
    }

    /// A class whose values are letters and digits, so many.
    fn letters(&mut self, name: &str, clause: &str, aim: Aim, at: &str, length: RangeInclusive<usize>) {
        let place = at.to_owned();
        self.add(name, clause, aim, &[&member_of(at)], move |runner| {
            edits([Edit::set(&place, json!(drawn(&letters(length.clone()), runner)))])
        });
    }

    fn headers(&mut self, operation: &str, shape: &Operation) {
        for field in &shape.headers {
            self.header(operation, field);
        }
        if shape.headers.iter().any(|field| field.header == "PSU-Corporate-ID") && operation != "transaction"
        {
            self.corporate(operation);
        }
        // A name that nobody lists.
        self.add("header/unlisted", "http.field-names", Aim::Open, &["header/unlisted"], |runner| {
            let name = drawn(&letters(3..=12), runner);
            edits([Edit::set(&format!("header/X-Synthetic-{name}"), json!("synthetic"))])
        });
    }

    fn header(&mut self, operation: &str, field: &Header) {
        let Header { header, name, .. } = field;
        let (at, clause, format) = (
            format!("header/{header}"),
            format!("header.{name}.{operation}"),
            format!("header.{name}.format"),
        );
        let is_sent = self.plain.header(header).is_some();
        if is_sent && field.presence == "R" && (header != "PSU-IP-Address" || operation != "transaction") {
            self.removed(&format!("{at} absent"), &clause, Aim::Broken, &at);
        }
        if is_sent && field.group == "kept" {
            self.removed(&format!("{at} absent"), &clause, Aim::Valid, &at);
        }
        if field.group == "optional" {
            self.fixed(&format!("{at} present"), &clause, Aim::Valid, &at, json!(field.sample));
        }
        let broken = |values: &[&str]| -> Vec<(String, Value)> {
            values.iter().map(|value| ((*value).chars().take(24).collect(), json!(value))).collect()
        };
        let uuids = broken(&[
            "not-a-uuid",
            "8f14e45f-ceea-467f-a9c3-0c6b1a2d3e4",
            "8f14e45f-ceea-467f-a9c3-0c6b1a2d3e4f0",
            "8f14e45f-ceea-467f-a9c3-0c6b1a2d3e4g",
        ]);
        let (valid, wrong): (Vec<&str>, Vec<(String, Value)>) = match header.as_str() {
            "PSU-ID" if operation != "customers" => {
                let mut wrong = uuids;
                wrong.extend(broken(&["${target.psu.private.id}0", "x${target.psu.private.id}"]));
                if field.presence == "R" {
                    wrong.push(("empty".to_owned(), json!("")));
                } else {
                    self.fixed(&format!("{at} present"), &clause, Aim::Valid, &at, json!(field.sample));
                }
                (vec![], wrong)
            }
            "PSU-Device-ID" => (vec![], uuids),
            "PSU-Context" => {
                let valid = if is_sent { vec![] } else { vec!["PRIVATE"] };
                (valid, broken(&["BUSINESS", "PRIVAT", "PRIVATECORPORATE", "0"]))
            }
            "PSU-HTTP-Method" => {
                (vec!["GET", "PUT", "PATCH", "DELETE"], broken(&["FETCH", "TRACE", "HEAD", "GETPOST"]))
            }
            "TPP-Redirect-Preferred" => (vec!["false"], vec![]),
            "Digest" => {
                let lower = |of: &str| json!({"$lower-token": of});
                for (name, clause, value) in [
                    ("sha-512", "digest.sha-512", json!("${digest.sha-512}")),
                    ("small letters", "digest.token-case", lower("${digest.sha-256}")),
                    ("sha-512 in small letters", "digest.token-case", lower("${digest.sha-512}")),
                ] {
                    self.fixed(&format!("{at} {name}"), clause, Aim::Valid, &at, value);
                }
                let wrong = [
                    ("empty", ""),
                    ("token alone", "SHA-256"),
                    ("hash alone", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"),
                    ("of no body", "SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
                    ("zeros", "SHA-256=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
                    (
                        "of no body 512",
                        "SHA-512=z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
                    ),
                    ("sixteen bytes", "SHA-256=AAAAAAAAAAAAAAAAAAAAAA=="),
                    ("no bytes", "SHA-256="),
                    ("of the other length", "SHA-512=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
                    ("punctuation", "SHA-256=!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!"),
                    ("after the padding", "${digest.sha-256}!x!"),
                    ("unknown token", "X${digest.sha-256}"),
                    ("md5", "MD5=1B2M2Y8AsgTpgAmY7PhCfg=="),
                ];
                (vec![], wrong.map(|(name, value)| (name.to_owned(), json!(value))).to_vec())
            }
            "TPP-Signature-Certificate" => {
                let cut = json!({"$drop-last": {"of": "${certificate}", "characters": 400}});
                let mut wrong = broken(&["", "!! this is not base64 !!", "bm90IGEgY2VydGlmaWNhdGU="]);
                wrong.push(("cut".to_owned(), cut));
                (vec![], wrong)
            }
            "Signature" => (
                vec![],
                broken(&[
                    "",
                    "not a list of parameters",
                    "bm90IGEgc2lnbmF0dXJl",
                    ",,,",
                    "keyId,algorithm,headers,signature",
                    "=?utf-8?B?a2V5SWQ9",
                    "=?utf-8?B?!!!!?=",
                    "=?utf-8?B??=",
                ]),
            ),
            "x-accept-fix" if operation == "basket" => {
                (vec![], broken(&["", "amount-as-number", "no-such-change", "amount-as"]))
            }
            "x-accept-fix" | "TPP-Redirect-URI" => (vec![], broken(&[""])),
            "PSU-IP-Address" if is_sent && field.presence == "R" => (vec![], broken(&[""])),
            _ => (vec![], vec![]),
        };
        for value in valid {
            self.fixed(&format!("{at} = {value}"), &clause, Aim::Valid, &at, json!(value));
        }
        for (what, value) in wrong {
            self.fixed(&format!("{at} wrong: {what}"), &format, Aim::Broken, &at, value);
        }
        let free: &[&str] = match header.as_str() {
            "PSU-HTTP-Method" => &["get", "Post", ""],
            "PSU-Context" if is_sent => &["private", ""],
            "TPP-Redirect-Preferred" => &["TRUE", "1", "perhaps", ""],
            "PSU-Geo-Location" | "PSU-Accept" => &["words", ""],
            "TPP-Redirect-URI" if is_sent => &["/return", "not an address"],
            "X-Request-ID" | "TPP-Session-ID" if is_sent => &["not-a-uuid-${fresh.words}"],
            _ => &[],
        };
        for value in free {
            self.fixed(&format!("{at} free: {value}"), &clause, Aim::Open, &at, json!(value));
        }
        if header == "PSU-IP-Port" {
            let place = at.clone();
            self.add(&format!("{at} any"), &clause, Aim::Valid, &[&at], move |runner| {
                edits([Edit::set(&place, json!(drawn(&(1u16..), runner).to_string()))])
            });
        }
        if ["PSU-User-Agent", "TPP-Brand-Logging-Information"].contains(&header.as_str()) {
            self.letters(&format!("{at} any"), &clause, Aim::Valid, &at, 1..=60);
        }
    }

    /// A corporate PSU, its agreement and its account.
    fn corporate(&mut self, operation: &str) {
        let mut who = vec![
            Edit::set("header/PSU-ID", json!("${target.psu.corporate.id}")),
            Edit::set("header/PSU-Corporate-ID", json!("${target.psu.corporate.corporate-id}")),
        ];
        if operation != "basket" {
            who.extend([
                Edit::set("header/PSU-Context", json!("CORPORATE")),
                Edit::set("body/debtorAccount/iban", json!("${target.accounts.corporate-debtor.iban}")),
                Edit::set(
                    "body/debtorAccount/currency",
                    json!("${target.accounts.corporate-debtor.currency}"),
                ),
            ]);
        }
        let clause = format!("header.psu-corporate-id.{operation}");
        let rules = [
            "header/psu-id".to_owned(),
            "header/psu-corporate-id".into(),
            "body/debtorAccount".into(),
            "payments".into(),
        ];
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        // A basket holds payments of its own PSU.
        let payments = (operation == "basket").then(|| Payments {
            baseline: "ncbct-corporate".into(),
            times: 1,
            standing: false,
        });
        let (all, without) =
            (who.clone(), [who[0].clone()].into_iter().chain(who[2..].iter().cloned()).collect::<Vec<_>>());
        self.add("corporate", &clause, Aim::Valid, &rules, move |_| Parts {
            edits: all.clone(),
            signing: None,
            payments: payments.clone(),
        });
        if operation != "basket" {
            self.add("corporate without agreement", "error.corporate-id", Aim::Broken, &rules, move |_| {
                Parts { edits: without.clone(), ..Parts::default() }
            });
        }
    }

    fn member(&mut self, operation: &str, member: &Member) {
        let at = format!("body/{}", member.at);
        let clause = |suffix: &str| format!("{}.{suffix}", member.clause);
        let is_sent = matches!(&self.plain.body, crate::request::BodySpec::Json(Value::Object(body), _) if body.contains_key(&member.at));
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

    fn text(&mut self, member: &Member, at: &str, is_sent: bool) {
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

    fn words(&mut self, member: &Member, at: &str, is_sent: bool) {
        let listed = member.listed.clone().unwrap_or_default();
        let optional = format!("{}.optional", member.clause);
        for word in &member.words {
            let clause =
                if is_sent || member.listed.as_deref() != Some(&member.clause) { &listed } else { &optional };
            if word == "MonthlyVariable" {
                let places = [Edit::set(at, json!(word)), Edit::set("body/monthsOfExecution", json!([3, 6]))];
                self.add(&format!("{at} = {word}"), clause, Aim::Valid, &[at], move |_| {
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

    fn is_plain(&self, at: &str, value: &Value) -> bool {
        match &self.plain.body {
            crate::request::BodySpec::Json(body, _) => {
                body.pointer(at.trim_start_matches("body")) == Some(value)
            }
            _ => false,
        }
    }

    fn amount(&mut self, operation: &str, member: &Member, at: &str) {
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
                // Every currency with one digit more and with six digits; those between where the digits are others than usual.
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
                        &[at],
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

    /// Currencies of an amount or an account.
    fn currencies(&mut self, at: &str, any: bool) {
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

    fn account(&mut self, operation: &str, member: &Member, at: &str) {
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

    fn bic(&mut self, member: &Member) {
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

    fn address(&mut self, operation: &str, member: &Member, at: &str) {
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
        for (name, range) in [("one more", 71..=71), ("more", 72..=200), ("many more", 900..=1100)] {
            let place = at.to_owned();
            self.add(
                &format!("{at}/street {name}"),
                "address.street.length",
                Aim::Broken,
                &[at],
                move |runner| {
                    let street = drawn(&letters(range.clone()), runner);
                    edits([Edit::set(&place, json!({"street": street, "country": "SE"}))])
                },
            );
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

    fn date(&mut self, member: &Member, at: &str, is_sent: bool) {
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

    fn months(&mut self) {
        let with = |months: Value| {
            [
                Edit::set("body/frequency", json!("MonthlyVariable")),
                Edit::set("body/monthsOfExecution", months),
            ]
        };
        let rules = ["body/frequency"];
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
        for value in [json!([]), json!([12]), json!([6, 1])] {
            let all = with(value.clone());
            self.add(&format!("months free: {value}"), "periodic.months", Aim::Open, &rules, move |_| {
                edits(all.clone())
            });
        }
    }

    fn day(&mut self, member: &Member, at: &str) {
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

    fn ids(&mut self, at: &str) {
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

    fn bodies(&mut self, operation: &str) {
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

    fn signing(&mut self, operation: &str) {
        for class in &self.model.signing {
            let (name, clause) = (format!("signing {}", class.name), class.clause.clone());
            let (aim, signing) =
                (if class.accepted { Aim::Valid } else { Aim::Broken }, class.signing.clone());
            self.add(&name, &clause, aim, &["signing", "header/signature"], move |_| Parts {
                signing: Some(signing.clone()),
                ..Parts::default()
            });
        }
        for (name, text) in
            [("first", "origin=\"synthetic\",${signature}"), ("last", "${signature},origin=\"synthetic\"")]
        {
            let rules = ["signing", "header/signature"];
            self.add(
                &format!("signing unknown {name}"),
                "signature.parameters.unknown",
                Aim::Valid,
                &rules,
                move |_| Parts {
                    edits: vec![Edit::set("header/Signature", json!(text))],
                    signing: Some(Signing { wrap: Some(Wrap::Never), ..Signing::default() }),
                    payments: None,
                },
            );
        }
        let due = oracle::due(self.plain);
        let rules = ["signing", "header/signature", "header/psu-id", "header/psu-corporate-id"];
        let mut ways = Vec::new();
        for name in &due {
            let rest: Vec<String> = due.iter().filter(|other| *other != name).cloned().collect();
            let all_but_one = rest.clone();
            ways.push((
                format!("signing without {name}"),
                "signature.headers.missing",
                Signing { headers: Some(rest), ..Signing::default() },
            ));
            let other = match name.as_str() {
                "date" => "Thu, 01 Jan 1970 00:00:00 GMT",
                "digest" => "SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
                "tpp-redirect-uri" => "https://tpp.example/other",
                _ => "8f14e45f-ceea-467f-a9c3-0c6b1a2d3e4f",
            };
            let unsigned = Signing {
                headers: Some(all_but_one.clone()),
                stated_headers: Some(due.clone()),
                ..Signing::default()
            };
            ways.push((format!("signing states {name} unsigned"), "signature.value", unsigned));
            let altered = Signing {
                signed_as: [(name.clone(), other.to_owned())].into_iter().collect(),
                ..Signing::default()
            };
            ways.push((format!("signing another {name}"), "signature.altered", altered));
        }
        let mut stated = due.clone();
        stated.push("psu-corporate-id".to_owned());
        ways.push((
            "signing states what is not sent".to_owned(),
            "signature.headers.not-sent",
            Signing { stated_headers: Some(stated), ..Signing::default() },
        ));
        // The corporate PSU signs one header more.
        let corporate = (operation != "transaction" && operation != "customers").then(|| {
            let mut with: Vec<String> = due.clone();
            with.retain(|name| name != "psu-corporate-id");
            with
        });
        if let Some(list) = corporate {
            let mut who = vec![
                Edit::set("header/PSU-ID", json!("${target.psu.corporate.id}")),
                Edit::set("header/PSU-Corporate-ID", json!("${target.psu.corporate.corporate-id}")),
            ];
            if operation != "basket" {
                who.push(Edit::set("header/PSU-Context", json!("CORPORATE")));
            }
            let signing = Signing { headers: Some(list), ..Signing::default() };
            self.add(
                "signing without psu-corporate-id",
                "signature.headers.missing",
                Aim::Broken,
                &rules,
                move |_| Parts { edits: who.clone(), signing: Some(signing.clone()), payments: None },
            );
        }
        for (name, clause, signing) in ways {
            self.add(&name, clause, Aim::Broken, &rules, move |_| Parts {
                signing: Some(signing.clone()),
                ..Parts::default()
            });
        }
    }

    /// What means nothing: the order of members and headers, and the letter case of header names.
    fn wire(&mut self, operation: &str) {
        let clause = format!("{operation}.path");
        let clause = if operation == "basket" { "basket.body".to_owned() } else { clause };
        if !matches!(self.plain.body, crate::request::BodySpec::None) {
            self.add("order of members", &clause, Aim::Valid, &["order"], |runner| {
                edits([Edit::Order(drawn(&any::<u64>(), runner))])
            });
        }
        let names: Vec<String> = self.plain.headers.iter().map(|(name, _)| name.clone()).collect();
        let (moved, written) = (names.clone(), names);
        self.add("order of headers", &clause, Aim::Valid, &["header order"], move |runner| {
            edits([Edit::Last(drawn(&select(moved.clone()), runner))])
        });
        self.add("letter case of headers", "http.field-names", Aim::Valid, &["header case"], move |runner| {
            let name = drawn(&select(written.clone()), runner);
            let mixed = |(at, letter): (usize, char)| {
                if at % 2 == 0 { letter.to_ascii_lowercase() } else { letter.to_ascii_uppercase() }
            };
            let to = match drawn(&(0..3u8), runner) {
                0 => name.to_lowercase(),
                1 => name.to_uppercase(),
                _ => name.chars().enumerate().map(mixed).collect(),
            };
            edits([Edit::Rename(name, to)])
        });
    }
}

/// Whether a value of another type breaks the rule of a member under every reading: a number may be taken for its digits, and a truth
/// value for its word.
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

fn edits(edits: impl IntoIterator<Item = Edit>) -> Parts {
    Parts { edits: edits.into_iter().collect(), ..Parts::default() }
}

/// Letters and digits, so many.
fn letters(length: RangeInclusive<usize>) -> impl Strategy<Value = String> {
    let letters: Vec<char> = ('a'..='z').chain('A'..='Z').chain('0'..='9').collect();
    vec(select(letters), length).prop_map(|letters| letters.into_iter().collect())
}

/// Months from 1 to 11 in order, at least so many.
fn some_months(least: usize) -> impl Strategy<Value = Vec<i64>> {
    proptest::sample::subsequence((1..=11).collect::<Vec<i64>>(), least..=11)
}

/// So many fraction digits, the last of them not zero.
fn fraction(digits: usize, runner: &mut TestRunner) -> String {
    if digits == 0 {
        return String::new();
    }
    let front = drawn(&vec(select(&["0", "1", "5", "9"][..]), digits - 1), runner).concat();
    format!(".{front}{}", drawn(&(1..=9), runner))
}

/// The member of the body that a place belongs to; other places as they are, header names in small letters.
fn member_of(at: &str) -> String {
    match at.split('/').collect::<Vec<_>>().as_slice() {
        ["body", member, ..] => format!("body/{member}"),
        ["header", name] => format!("header/{}", name.to_lowercase()),
        _ => at.to_owned(),
    }
}
