//! Tests of the rules for requests, with a small document of one operation and with mistakes in its file.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use xs2aspec_spec::{
    RequestRules, Tree,
    request::{Due, Edit, FILE, Payload, Prepared, View, computed, draw},
};

/// A document with one operation: a string, a word of a list, months, an amount, and ids of earlier requests.
const SMALL: &str = r#"
nothing-created: [header]
lists:
  colours: { words: [red, green] }
  sizes: { table: sizes, column: code }
every-member:
  rules:
    - { missing: true, only: { required: true }, breaks: "<clause>.required" }
    - { absent: true, keeps: true }
  forms:
    - { name: absent, only: { sent: true }, else: the plain request has none, absent: true, clause: "<clause>.required" }
every-header:
  rules:
    - { absent: true, only: { presence: R }, breaks: "header.<name>" }
every-query: { rules: [{ in: colours, keeps: true }, { present: true, open: a colour of its own }] }
every-request:
  rules:
    - { unlisted: header, open: a header field that is not listed }
    - { where: { body: { unlisted: member } }, open: a member that is not listed }
kinds:
  text:
    rules:
      - { not: { type: string }, breaks: "<clause>.type" }
      - { ascii: true, longer: <most>, breaks: "<clause>.length" }
    forms:
      - { name: most, value: { $letters: <most> }, clause: "<clause>.length" }
      - { name: one more, value: { $letters: <most+1> }, clause: "<clause>.length" }
headers: {}
other-headers: {}
operations:
  post:
    plain: post.path
    members:
      - { at: title, kind: text, most: 5, required: true, clause: post.title }
      - at: colour
        clause: post.colour
        rules: [{ in-any-case: colours, not: { in: colours }, open: letter case }, { not: { in: colours }, breaks: post.colour.listed }]
      - at: size
        clause: post.size
        rules:
          - { unmatched: '^[0-9]+(\.[0-9]+)?$', breaks: post.size.form }
          - { fraction-over: { table: sizes, key: body/unit, column: digits }, breaks: post.size.digits }
          - { over: 100, where: { body/colour: { is: red } }, choice: post.size.red }
          - { over: 100, breaks: post.size.most, refused: { status: 400 } }
          - { under: 1, breaks: post.size.least, refused: { quota: true } }
      - { at: unit, rules: [{ not: { in: sizes }, breaks: post.unit }] }
      - at: ids
        rules:
          - { items-over: 2, breaks: post.ids.limit }
          - { repeated: true, breaks: post.ids.repeated }
          - { some-item: { made-by: get }, breaks: post.ids.kind }
          - { some-item: { made-by: nobody }, open: an unknown id }
      - at: days
        rules: [{ some-item: { not: { type: integer } }, breaks: post.days.type }, { some-item: { under: 1 }, breaks: post.days.range }]
    queries: [{ at: colour }]
signing:
  missing: signing.missing
  not-sent: signing.not-sent
  unsigned: signing.unsigned
  altered: signing.altered
  instead: { other: x }
  ways: [{ name: bare, clause: signing.bare, accepted: true, signing: { wrap: never } }, { name: wrong, clause: signing.wrong, signing: { corrupted: true } }]
"#;

const TABLES: [(&str, &str); 3] = [
    ("fixtures/tables/sizes.csv", "code,digits\ncm,1\nm,2\n"),
    (
        "fixtures/tables/headers.csv",
        "operation,header,name,presence,group,sample\npost,X-Id,x-id,R,required,\npost,Note,note,O,optional,n\n",
    ),
    ("fixtures/spec/signing.yaml", "signed-headers: [x-id, note]\n"),
];

fn plain_body() -> Value {
    json!({"title": "abc"})
}

fn load(text: &str) -> Result<RequestRules, String> {
    let mut files = TABLES.to_vec();
    files.push((FILE, text));
    let (signing, headers, body) = (Map::new(), [("X-Id".to_owned(), json!("1"))], plain_body());
    let plain = view("post", &headers, &body, &signing);
    let plain = BTreeMap::from([("post".to_owned(), plain)]);
    RequestRules::load(&Tree::of(&files), &plain).map_err(|problem| problem.to_string())
}

fn view<'a>(
    operation: &'a str,
    headers: &'a [(String, Value)],
    body: &'a Value,
    signing: &'a Map<String, Value>,
) -> View<'a> {
    View { operation, path: "/v1", query: &[], headers, payload: Payload::Json(body, false), signing }
}

/// Returns the required response to a request with this body, these headers and this way of signing.
fn due(body: &Value, headers: &[(&str, &str)], signing: &Value) -> Due {
    due_by(&load(SMALL).unwrap(), body, headers, signing)
}

fn due_by(rules: &RequestRules, body: &Value, headers: &[(&str, &str)], signing: &Value) -> Due {
    due_with(rules, body, headers, signing, &|_| false)
}

/// Returns the required response if some clauses are only expected.
fn due_with(
    rules: &RequestRules,
    body: &Value,
    headers: &[(&str, &str)],
    signing: &Value,
    is_expected: &dyn Fn(&str) -> bool,
) -> Due {
    let (as_usual, plain_headers, plain_body) = (Map::new(), [("X-Id".to_owned(), json!("1"))], plain_body());
    let headers: Vec<(String, Value)> =
        headers.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    let signing = signing.as_object().cloned().unwrap_or_default();
    let prepared = Prepared::from([
        ("made".to_owned(), ("post".to_owned(), 1)),
        ("three".to_owned(), ("post".to_owned(), 3)),
        ("other".to_owned(), ("get".to_owned(), 1)),
    ]);
    let plain = view("post", &plain_headers, &plain_body, &as_usual);
    rules.judge(&view("post", &headers, body, &signing), &plain, &prepared, is_expected)
}

fn of_body(mut body: Value) -> String {
    if body.get("title").is_none() {
        body["title"] = json!("abc");
    }
    said(&due(&body, &[("X-Id", "1")], &json!({})))
}

/// Formats a required response: `refused CLAUSE..`, `choice CLAUSE`, `open WHY` or `accepted`, with the
/// conditions of a rejection.
fn said(due: &Due) -> String {
    match due {
        Due::Accepted { clauses } if clauses.is_empty() => "accepted".to_owned(),
        Due::Accepted { clauses } => format!("accepted by {}", clauses.join(", ")),
        Due::Refused { clauses, conditions, .. } if conditions.is_empty() => {
            format!("refused {}", clauses.join(" "))
        }
        Due::Refused { clauses, conditions, .. } => {
            format!("refused {} {}", clauses.join(" "), json!(conditions))
        }
        Due::Choice { clause, .. } => format!("choice {clause}"),
        Due::Open(why) => format!("open {why}"),
    }
}

#[test]
fn beside_what_only_a_reading_accepts_neither_a_status_nor_a_choice_can_be_told() {
    let rules = load(SMALL).unwrap();
    let came = |body: Value, expected: &str| {
        let is_expected = |clause: &str| clause == expected;
        said(&due_with(&rules, &body, &[("X-Id", "1")], &json!({"wrap": "never"}), &is_expected))
    };
    let too_large = json!({"title": "abc", "size": "101"});
    assert_eq!(came(too_large.clone(), ""), r#"refused post.size.most {"status":400}"#);
    assert_eq!(came(too_large, "signing.bare"), "refused post.size.most");
    let red = json!({"title": "abc", "size": "101", "colour": "red"});
    assert_eq!(came(red.clone(), ""), "choice post.size.red");
    assert!(came(red, "signing.bare").starts_with("open a choice of the bank"));
}

#[test]
fn what_a_refusal_is_allowed_to_be_holds_beside_other_mistakes_too() {
    let rules = load(SMALL).unwrap();
    let came = |body: Value, expected: &str| {
        let is_expected = |clause: &str| clause == expected;
        said(&due_with(&rules, &body, &[("X-Id", "1")], &json!({"wrap": "never"}), &is_expected))
    };
    let least = json!({"title": "abc", "size": "0"});
    assert_eq!(came(least.clone(), ""), r#"refused post.size.least {"quota":true}"#);
    assert_eq!(came(least, "signing.bare"), r#"refused post.size.least {"quota":true}"#);
    let two = json!({"title": "abcdef", "size": "0"});
    assert_eq!(came(two, ""), r#"refused post.title.length post.size.least {"quota":true}"#);
}

#[test]
fn each_condition_decides_of_its_place() {
    for (body, expected) in [
        (json!({}), "accepted"),
        (json!({"title": "abcde"}), "accepted"),
        (json!({"title": "abcdef"}), "refused post.title.length"),
        (json!({"title": "abcdeé"}), "accepted"),
        (json!({"title": 3}), "refused post.title.type"),
        (json!({"title": null}), "refused post.title.required"),
        (json!({"colour": "red"}), "accepted"),
        (json!({"colour": "RED"}), "open letter case"),
        (json!({"colour": "blue"}), "refused post.colour.listed"),
        (json!({"size": "5.25", "unit": "m"}), "accepted"),
        (json!({"size": "5.25", "unit": "cm"}), "refused post.size.digits"),
        (json!({"size": "5.", "unit": "cm"}), "refused post.size.form"),
        (json!({"size": "${number.3}.${number.2}", "unit": "cm"}), "refused post.size.digits"),
        (json!({"size": "101"}), "refused post.size.most {\"status\":400}"),
        (json!({"size": "101", "colour": "red"}), "choice post.size.red"),
        (json!({"unit": "km"}), "refused post.unit"),
        // A rule requires one status. If two rules are violated, the bank names either.
        (json!({"size": "101", "unit": "km"}), "refused post.size.most post.unit"),
        (json!({"ids": ["${made.id}"]}), "accepted"),
        (json!({"ids": "${three.id}"}), "refused post.ids.limit"),
        (json!({"ids": ["${made.id}", "${made.id}"]}), "refused post.ids.repeated"),
        (json!({"ids": ["${other.id}"]}), "refused post.ids.kind"),
        (json!({"ids": ["x"]}), "open an unknown id"),
        (json!({"days": [1, 2]}), "accepted"),
        (json!({"days": [1, 2.5]}), "refused post.days.type"),
        (json!({"days": [0]}), "refused post.days.range"),
        (json!({"more": 1}), "open a member that is not listed"),
    ] {
        assert_eq!(of_body(body.clone()), expected, "{body}");
    }
}

#[test]
fn header_fields_and_signing_are_judged_as_well() {
    for (headers, signing, expected) in [
        (&[("x-id", "1")][..], json!({}), "accepted"),
        (&[], json!({}), "refused header.x-id {\"nothing-created\":true}"),
        (&[("X-Id", "1"), ("Else", "1")], json!({}), "open a header field that is not listed"),
        (&[("X-Id", "1")], json!({"wrap": "never"}), "accepted by signing.bare"),
        (&[("X-Id", "1")], json!({"corrupted": true}), "refused signing.wrong"),
        (&[("X-Id", "1"), ("Note", "n")], json!({"headers": ["x-id"]}), "refused signing.missing"),
        (&[("X-Id", "1")], json!({"stated-headers": ["x-id", "note"]}), "refused signing.not-sent"),
        (
            &[("X-Id", "1"), ("Note", "n")],
            json!({"headers": ["note"], "stated-headers": ["x-id", "note"]}),
            "refused signing.unsigned",
        ),
        (&[("X-Id", "1")], json!({"signed-as": {"x-id": "2"}}), "refused signing.altered"),
        (&[("X-Id", "1")], json!({"key-id": "x"}), "open the document does not define this way of signing"),
    ] {
        assert_eq!(said(&due(&plain_body(), headers, &signing)), expected, "{headers:?} {signing}");
    }
}

/// A list whose items have fields, and an owner that the baseline request lacks.
const LISTS: &str = r#"      - at: items
        rules: [{ repeated-member: name, breaks: post.items.distinct }]
        members:
          - at: "0"
            members:
              - { at: name, kind: text, most: 5, clause: post.item.name }
              - { at: count, rules: [{ where: { body/items/0/name: { is: many } }, keeps: true }, { over: 9, breaks: post.item.count }] }
      - at: owner
        whole: { name: abc, age: 3 }
        forms: [{ name: whole, value: <whole>, clause: post.owner }]
        members: [{ at: name, kind: text, most: 5, clause: post.owner.name }]
    queries:"#;

#[test]
fn rules_of_an_item_hold_for_every_item() {
    let rules = load(&SMALL.replacen("    queries:", LISTS, 1)).unwrap();
    for (items, expected) in [
        (json!([{"name": "a"}, {"name": "abcde"}]), "accepted"),
        (json!([{"name": "a"}, {"name": "abcdef"}]), "refused post.item.name.length"),
        (json!([{"name": "a"}, {"name": "b"}, {"name": "a", "count": 1}]), "refused post.items.distinct"),
        // A rule that names another field refers to that of the same item.
        (json!([{"name": "a"}, {"name": "many", "count": 10}]), "accepted"),
        (json!([{"name": "many"}, {"name": "a", "count": 10}]), "refused post.item.count"),
        (json!([3, {"name": "abcdef"}]), "refused post.item.name.length"),
        (json!({"0": {"name": "a"}}), "accepted"),
        (json!([]), "accepted"),
    ] {
        let body = json!({"title": "abc", "items": items});
        let due = due_by(&rules, &body, &[("X-Id", "1")], &json!({}));
        assert_eq!(said(&due), expected, "{body}");
    }
}

#[test]
fn a_form_sends_what_holds_its_place_where_the_plain_request_has_none() {
    let rules = load(&SMALL.replacen("    queries:", LISTS, 1)).unwrap();
    let form = |name: &str| rules.forms("post").iter().find(|form| form.name == name).unwrap();
    let longer = form("body/owner/name one_more");
    let whole = json!({"name": "abc", "age": 3});
    let value = json!({"$with": {"of": whole, "member": "name", "value": {"$letters": 6}}});
    assert_eq!(longer.edits, [Edit::Set("body/owner".to_owned(), value)]);
    assert_eq!(longer.twin, Some(("body/owner".to_owned(), "whole".to_owned())));
    assert_eq!(form("body/owner whole").edits, [Edit::Set("body/owner".to_owned(), whole)]);
    assert_eq!(form("body/title one_more").twin, None);
}

#[test]
fn a_list_of_signed_headers_in_another_order_is_as_the_document_says() {
    let turned = json!({"headers": ["note", "x-id"]});
    let headers = [("X-Id", "1"), ("Note", "n")];
    assert!(said(&due(&plain_body(), &headers, &turned)).starts_with("open "));
    let ordered =
        "  altered: signing.altered\n  order: signing.order\n  refused: { status: 401, code: SIGNATURE }\n";
    let rules = load(&SMALL.replacen("  altered: signing.altered\n", ordered, 1)).unwrap();
    let due = |signing: Value| said(&due_by(&rules, &plain_body(), &headers, &signing));
    assert_eq!(due(turned), "refused signing.order {\"status\":401,\"code\":\"SIGNATURE\"}");
    assert!(due(json!({"headers": ["x-id"]})).starts_with("refused signing.missing {"));
}

#[test]
fn forms_are_those_of_the_kind_with_the_numbers_of_the_place() {
    let rules = load(SMALL).unwrap();
    let names: Vec<&str> = rules.forms("post").iter().map(|form| form.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "body/title absent",
            "body/title most",
            "body/title one_more",
            "signing bare",
            "signing wrong",
            "signing without-x-id",
            "signing states-x-id-unsigned",
            "signing another-x-id",
            "signing states-what-is-not-sent"
        ]
    );
    let longer = &rules.forms("post")[2];
    assert_eq!(longer.edits, [Edit::Set("body/title".to_owned(), json!({"$letters": 6}))]);
    assert_eq!(longer.clause, "post.title.length");
    let texts: Vec<_> = rules.places().filter(|place| place.get("kind") == Some(&json!("text"))).collect();
    assert_eq!((texts.len(), &texts[0]["most"], &texts[0]["short"]), (1, &json!(5), &json!("title")));
}

#[test]
fn a_place_that_has_not_a_form_of_its_kind_says_why() {
    let rules = load(SMALL).unwrap();
    let left_out: Vec<_> =
        rules.left_out("post").iter().map(|one| (one.place.as_str(), one.name.as_str())).collect();
    let places = ["body/colour", "body/size", "body/unit", "body/ids", "body/days"];
    assert_eq!(left_out, places.map(|place| (place, "absent")));
    assert!(rules.left_out("post").iter().all(|one| one.reason == "the plain request has none"));
    // Another form with the same name replaces it.
    let more =
        "    - { name: absent, only: { sent: false }, absent: true, clause: post.colour }\nevery-header:";
    let both = load(&SMALL.replacen("every-header:", more, 1)).unwrap();
    assert_eq!(both.left_out("post").len(), 0);
}

#[test]
fn each_mistake_in_the_file_is_said_with_its_line_and_a_near_name() {
    for (right, wrong, expected) in [
        (
            "kind: text, most: 5",
            "kind: txt, most: 5",
            "is of kind `txt`, which does not exist; did you mean `text`?",
        ),
        ("kind: text, most: 5", "kind: text, mots: 5", "`<most>` in `<most>` is not defined"),
        (
            "required: true, clause: post.title",
            "requird: true, clause: post.title",
            "uses `requird`; did you mean `required`?",
        ),
        ("{ in: colours, keeps: true }", "{ in: colors, keeps: true }", "there is no list `colors`"),
        ("{ over: 100, breaks", "{ ovre: 100, breaks", "unknown field `ovre`"),
        (
            "breaks: post.unit",
            "breaks: post.unit, keeps: true",
            "needs exactly one of `keeps`, `accepts`, `breaks`, `choice` and `open`",
        ),
        (r"'^[0-9]+(\.[0-9]+)?$'", r"'^[0-9'", "not a valid regular expression"),
        ("table: sizes, key", "table: size, key", "there is no table `size`"),
        ("column: digits", "column: digit", "has no column `digit`"),
        ("value: { $letters: <most> }", "valeu: { $letters: <most> }", "unknown field `valeu`"),
        (
            "operations:\n  post:",
            "operations:\n  pots:",
            "operation `pots` has no baseline; did you mean `post`?",
        ),
        ("nothing-created: [header]", "nothing-made: [header]", "unknown field `nothing-made`"),
        (
            "only: { sent: true }, else: the plain request has none",
            "only: { sent: true }",
            ":35:9: the form `every-member absent` is skipped at `body/colour`, by its `only`",
        ),
        (
            "else: the plain request has none",
            "else: 3",
            "`else: 3` of the form `absent`: expected a reason as a string",
        ),
        (
            "{ name: most, value",
            "{ name: most, each: [], value",
            ":34:9: the form `text most` is skipped at `body/title`, by its `only` or because its `each`",
        ),
    ] {
        assert!(SMALL.contains(right), "{right}");
        let found = load(&SMALL.replacen(right, wrong, 1)).map(|_| ()).unwrap_err();
        let found = found.replace("\n  = ", "; ");
        assert!(found.starts_with(FILE) && found.contains(expected), "{wrong}: {found}");
    }
}

#[test]
fn what_is_drawn_is_what_its_function_says() {
    let mut state = 7u64;
    let mut number = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..200 {
        let mut drawn = |value: Value| draw(&value, &mut number);
        let letters = drawn(json!({"$letters": [2, 4]}));
        assert!((2..=4).contains(&letters.as_str().unwrap().len()), "{letters}");
        let fraction = drawn(json!({"$fraction": 3}));
        let fraction = fraction.as_str().unwrap();
        assert!(fraction.len() == 4 && fraction.starts_with('.') && !fraction.ends_with('0'), "{fraction}");
        assert_eq!(drawn(json!({"$fraction": "0"})), json!(""));
        let some = drawn(json!({"$some-of": [1, 2, 3]}));
        assert!((1..=3).contains(&some.as_array().unwrap().len()), "{some}");
        let again = drawn(json!({"$with-again": {"of": [1, 2], "which": "any"}}));
        let again = again.as_array().unwrap();
        assert!(again.len() == 3 && (again[1..].contains(&again[0]) || again[1] == again[2]), "{again:?}");
        let other = drawn(json!({"$one-letter-else": ["abc"]}));
        assert!(other != "abc" && other.as_str().unwrap().len() == 3, "{other}");
        let joined = drawn(json!({"$concat": ["a", {"$number": [5, 5]}, "b"]}));
        assert_eq!(joined, "a5b");
        assert_eq!(drawn(json!({"a": 1, "$merge": {"b": 2}})), json!({"a": 1, "b": 2}));
        assert_eq!(drawn(json!({"$with-last": {"of": [1], "item": 2}})), json!([1, 2]));
    }
}

#[test]
fn names_of_numbers_can_be_computed_with() {
    let lookup = |name: &str| match name {
        "most" => Some(json!(70)),
        "digits" => Some(json!("2")),
        "utf-8" => Some(json!(true)),
        _ => None,
    };
    for (name, expected) in [
        ("most", Some(json!(70))),
        ("most+1", Some(json!(71))),
        ("most/2+1", Some(json!(36))),
        ("digits*3", Some(json!(6))),
        ("utf-8", Some(json!(true))),
        ("utf-8+1", None),
        ("most/0", None),
        ("least+1", None),
    ] {
        assert_eq!(computed(name, &lookup), expected, "{name}");
    }
}
