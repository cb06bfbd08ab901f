//! Classes of signing, and of what means nothing on the wire.

use proptest::{prelude::any, sample::select};
use serde_json::json;

use super::{Aim, Collector, Parts, drawn, edits};
use crate::{
    definition::{Signing, Wrap},
    explore::{draft::Edit, oracle},
    request::BodySpec,
};

/// Parameters that the draft does not list, and those that stand there twice, of which the last one counts
/// (section 2.2).
const PARAMETERS: [(&str, &str, Aim, &str); 6] = [
    ("unknown first", UNKNOWN, Aim::Valid, "origin=\"synthetic\",${signature}"),
    ("unknown last", UNKNOWN, Aim::Valid, "${signature},origin=\"synthetic\""),
    ("twice", TWICE, Aim::Valid, "${signature},${signature}"),
    ("right signature last", TWICE, Aim::Valid, "signature=\"bm90IGEgc2lnbmF0dXJl\",${signature}"),
    ("right list last", TWICE, Aim::Valid, "headers=\"date\",${signature}"),
    ("right signature first", TWICE, Aim::Broken, "${signature},signature=\"bm90IGEgc2lnbmF0dXJl\""),
];
const UNKNOWN: &str = "signature.parameters.unknown";
const TWICE: &str = "signature.parameters.duplicate";

impl Collector<'_> {
    pub(super) fn signing(&mut self, operation: &str) {
        for class in &self.model.signing {
            let (name, clause) = (format!("signing {}", class.name), class.clause.clone());
            let (aim, signing) =
                (if class.accepted { Aim::Valid } else { Aim::Broken }, class.signing.clone());
            self.add(&name, &clause, aim, &["signing", "header/signature"], move |_| Parts {
                signing: Some(signing.clone()),
                ..Parts::default()
            });
        }
        for (name, clause, aim, text) in PARAMETERS {
            let rules = ["signing", "header/signature"];
            self.add(&format!("signing {name}"), clause, aim, &rules, move |_| Parts {
                edits: vec![Edit::set("header/Signature", json!(text))],
                signing: Some(Signing { wrap: Some(Wrap::Never), ..Signing::default() }),
                payments: None,
            });
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

    pub(super) fn wire(&mut self, operation: &str) {
        let clause = format!("{operation}.path");
        let clause = if operation == "basket" { "basket.body".to_owned() } else { clause };
        if !matches!(self.plain.body, BodySpec::None) {
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
