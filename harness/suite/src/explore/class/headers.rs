//! Classes of header fields.

use serde_json::{Value, json};

use super::{Aim, Collector, Parts, drawn, edits, letters};
use crate::explore::{
    draft::{Edit, Payments},
    model::{Header, Operation},
};

/// The transaction of the corporate PSU, which is a batch.
const BATCH: &str = "/v1/accounts/${target.transaction.batch-account-id}/transactions/${target.transaction.batch-transaction-id}";

/// Forms of Host that mean the same.
const HOSTS: [(&str, &str); 2] = [("capitals", "${host.capitals}"), ("with-port", "${host.with-port}")];

impl Collector<'_> {
    pub(super) fn headers(&mut self, operation: &str, shape: &Operation) {
        for field in &shape.headers {
            self.header(operation, field);
        }
        if shape.headers.iter().any(|field| field.header == "PSU-Corporate-ID") {
            self.corporate(operation);
        }
        // RFC 9110, sections 4.2.3 and 7.2: letter case and the default port do not count.
        for (form, text) in HOSTS {
            let clause = format!("header.host.{operation}");
            self.fixed(&format!("header/Host {form}"), &clause, Aim::Valid, "header/Host", json!(text));
        }
        // A name that nobody lists.
        self.add("header/unlisted", "http.field-names", Aim::Open, &["header/unlisted"], |runner| {
            let name = drawn(&letters(3..=12), runner);
            edits([Edit::set(&format!("header/X-Synthetic-{name}"), json!("synthetic"))])
        });
    }

    pub(super) fn header(&mut self, operation: &str, field: &Header) {
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
        if header == "X-PSU-IDENTITY" && !field.sample.is_empty() {
            let all = [Edit::Remove("header/PSU-ID".into()), Edit::set(&at, json!(field.sample))];
            self.add(&format!("{at} alone"), &clause, Aim::Open, &[&at.to_lowercase()], move |_| {
                edits(all.clone())
            });
        }
        if field.group == "optional" {
            self.fixed(&format!("{at} present"), &clause, Aim::Valid, &at, json!(field.sample));
        }
        let (valid, wrong) = self.values(operation, field);
        for value in valid {
            self.fixed(&format!("{at} = {value}"), &clause, Aim::Valid, &at, json!(value));
        }
        for (what, value) in wrong {
            self.fixed(&format!("{at} wrong: {what}"), &format, Aim::Broken, &at, value);
        }
        self.open_values(field);
    }

    /// Values that keep the form of a header, and those that break it, each with its name.
    fn values(&mut self, operation: &str, field: &Header) -> (Vec<&'static str>, Vec<(String, Value)>) {
        let (header, is_sent) = (&field.header, self.plain.header(&field.header).is_some());
        let (at, clause) = (format!("header/{header}"), format!("header.{}.{operation}", field.name));
        let broken = |values: &[&str]| -> Vec<(String, Value)> {
            values.iter().map(|value| ((*value).chars().take(24).collect(), json!(value))).collect()
        };
        let uuids = broken(&[
            "not-a-uuid",
            "8f14e45f-ceea-467f-a9c3-0c6b1a2d3e4",
            "8f14e45f-ceea-467f-a9c3-0c6b1a2d3e4f0",
            "8f14e45f-ceea-467f-a9c3-0c6b1a2d3e4g",
        ]);
        match header.as_str() {
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
            "Digest" => (vec![], self.digests(&at)),
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
                (vec![], broken(&["amount-as-number", "no-such-change", "amount-as"]))
            }
            _ => (vec![], vec![]),
        }
    }

    /// Digests of the two algorithms in other forms are added; those that are none are given back.
    fn digests(&mut self, at: &str) -> Vec<(String, Value)> {
        let lower = |of: &str| json!({"$lower-token": of});
        for (name, clause, value) in [
            ("sha-512", "digest.sha-512", json!("${digest.sha-512}")),
            ("small letters", "digest.token-case", lower("${digest.sha-256}")),
            ("sha-512 in small letters", "digest.token-case", lower("${digest.sha-512}")),
        ] {
            self.fixed(&format!("{at} {name}"), clause, Aim::Valid, at, value);
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
        wrong.map(|(name, value)| (name.to_owned(), json!(value))).to_vec()
    }

    /// Values of which the document does not speak, and those that are drawn.
    fn open_values(&mut self, field: &Header) {
        let (header, is_sent) = (&field.header, self.plain.header(&field.header).is_some());
        let operation = &self.operation;
        let (at, clause) = (format!("header/{header}"), format!("header.{}.{operation}", field.name));
        let free: &[&str] = match header.as_str() {
            "PSU-HTTP-Method" => &["get", "Post", ""],
            "PSU-Context" if is_sent => &["private", ""],
            "TPP-Redirect-Preferred" => &["TRUE", "1", "perhaps", ""],
            "PSU-Geo-Location" | "PSU-Accept" => &["words", ""],
            "TPP-Redirect-URI" if is_sent => &["/return", "not an address", ""],
            "X-Request-ID" | "TPP-Session-ID" if is_sent => &["not-a-uuid-${fresh.words}", ""],
            "x-accept-fix" if is_sent => &[""],
            "PSU-IP-Address" if is_sent && field.presence == "R" => &[""],
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

    pub(super) fn corporate(&mut self, operation: &str) {
        let mut who = vec![
            Edit::set("header/PSU-ID", json!("${target.psu.corporate.id}")),
            Edit::set("header/PSU-Corporate-ID", json!("${target.psu.corporate.corporate-id}")),
        ];
        if operation == "transaction" {
            // Which of the two accounts is read stands in the path.
            who.push(Edit::set("header/PSU-Context", json!("CORPORATE")));
            who.push(Edit::set("path", json!(BATCH)));
        } else if operation != "basket" {
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
        if !["basket", "transaction"].contains(&operation) {
            self.add("corporate without agreement", "error.corporate-id", Aim::Broken, &rules, move |_| {
                Parts { edits: without.clone(), ..Parts::default() }
            });
        }
    }
}
