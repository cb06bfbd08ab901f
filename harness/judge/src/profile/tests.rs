//! Valid profiles, and errors in profiles.

use super::*;
use xs2aspec_suite::{Suite, TEMPLATE, Tree};

fn error(text: &str) -> String {
    file::parse("bank.toml", text, None, ProfileSpec::embedded()).unwrap_err().to_string()
}

#[test]
fn the_shipped_profiles_can_be_read() {
    let reference = Profile::reference("http://127.0.0.1:1").unwrap();
    assert_eq!(reference.capabilities["basket"], Offered::Yes);
    let any = Profile::of_url("http://127.0.0.1:1/prefix/", xs2aspec_suite::ProfileSpec::embedded()).unwrap();
    assert_eq!(
        (any.base_url.as_str(), any.capabilities["sandbox"]),
        ("http://127.0.0.1:1/prefix", Offered::Ask)
    );
    assert!(any.value("transaction.account-id").is_none());
    let tree = Tree::embedded();
    let template = tree.text(TEMPLATE).unwrap();
    let profile = file::parse("template.toml", template, None, ProfileSpec::embedded()).unwrap();
    assert_eq!(profile.environment, Some(Environment::Sandbox));
    // Each commented line of the template is valid in a profile.
    let lines = template.lines().map(|line| match line.strip_prefix("# ") {
        Some(rest) if rest.starts_with('[') || rest.contains(" = ") => rest,
        _ => line,
    });
    let whole = lines.collect::<Vec<_>>().join("\n").replace("{ env = \"BANK_API_KEY\" }", "\"key\"");
    let whole = whole.replace("{ env = \"SIGNING_PASSPHRASE\" }", "{ file = \"../../LICENSE-MIT\" }");
    let whole = whole.replace("[\"./consent.sh\"]", "[\"echo\", \"{}\"]");
    let missing =
        file::parse("template.toml", &whole, None, ProfileSpec::embedded()).unwrap_err().to_string();
    assert!(missing.contains("cannot read signing.key.pem"), "{missing}");
    let schema = schema(&Suite::load(Tree::embedded()).unwrap());
    let validator = jsonschema::validator_for(&schema).unwrap();
    let is_valid = |text: &str| validator.is_valid(&toml::from_str::<Value>(text).unwrap());
    for text in [REFERENCE, template, &whole] {
        assert!(is_valid(text), "{text}");
    }
    for (from, to) in [
        ("base-url = ", "base-urls = "),
        ("[psu.private]", "[psu.privat]"),
        ("[accounts.debtor]\niban = ", "[accounts.debtor]\nibann = "),
        ("\n[capabilities]", "\n[capabilities]\nbaskets = true"),
        ("[choices]", "[choices]\n\"payment.status\" = \"201\""),
        ("environment = \"sandbox\"", "environment = \"test\""),
        ("deadline-ms = 10000", "deadline-ms = 0"),
        ("http = \"1.1\"", "http = \"3\""),
    ] {
        assert!(whole.contains(from), "{from}");
        assert!(!is_valid(&whole.replacen(from, to, 1)), "{to}");
    }
}

#[test]
fn a_document_that_says_nothing_of_any_bank_gives_it_no_values() {
    let profile = Profile::of_url("http://127.0.0.1:1", &ProfileSpec::default()).unwrap();
    assert_eq!((profile.base_url.as_str(), profile.values.len()), ("http://127.0.0.1:1", 0));
}

#[test]
fn what_is_declared_absent_has_no_parts_either() {
    let read = |lines: &str| {
        let text = format!("base-url = \"http://a\"\n[capabilities]\n{lines}");
        file::parse("bank.toml", &text, None, ProfileSpec::embedded()).unwrap()
    };
    let part = |lines: &str| read(lines).capability("rejected-for-funds");
    assert_eq!(part("rejected-payment = false"), Offered::No);
    assert_eq!(part("rejected-payment = true"), Offered::NotSaid);
    assert_eq!(part("rejected-payment = false\nrejected-for-funds = true"), Offered::Yes);
    assert_eq!(part("kid = false"), Offered::NotSaid);
}

#[test]
fn who_is_a_private_person_too_is_no_corporate_one_by_himself() {
    let alone = |private: &str, more: &str| {
        let persons = format!("[psu]\nprivate.id = \"{private}\"\ncorporate.id = \"b\"\n");
        let text = format!("base-url = \"http://a\"\n{persons}[capabilities]\n{more}");
        let profile = file::parse("bank.toml", &text, None, ProfileSpec::embedded()).unwrap();
        profile.capability("corporate-alone")
    };
    assert_eq!(alone("a", "corporate = true"), Offered::Yes);
    assert_eq!(alone("b", "corporate = true"), Offered::No);
    assert_eq!(alone("a", "corporate = false"), Offered::No);
    assert_eq!(alone("a", "corporate-alone = false"), Offered::No);
    assert_eq!(alone("a", ""), Offered::NotSaid);
    let text = "base-url = \"http://a\"\n[psu]\nprivate.id = \"a\"\n";
    let profile = file::parse("bank.toml", text, None, ProfileSpec::embedded()).unwrap();
    assert_eq!(profile.capability("corporate-alone"), Offered::NotSaid);
}

#[test]
fn the_schema_of_profiles_is_current() {
    let made = format!("{:#}\n", schema(&Suite::load(Tree::embedded()).unwrap()));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/targets/profile.schema.json");
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(kept == made, "fixtures/targets/profile.schema.json is not current: bash .ci/bless");
}

/// Returns the schema with the properties of a value: itself, one of its alternatives, or a referenced one.
fn table_of<'a>(whole: &'a Value, value: &'a Value) -> Option<&'a Value> {
    if value["properties"].is_object() {
        return Some(value);
    }
    if let Some(name) = value["$ref"].as_str() {
        return table_of(whole, &whole["$defs"][name.rsplit('/').next()?]);
    }
    let alternatives = value["anyOf"].as_array().into_iter().flatten();
    alternatives.chain(value.get("items")).find_map(|one| table_of(whole, one))
}

/// Adds each key of a schema, prefixed with its table.
fn keys(whole: &Value, table: &str, schema: &Value, page: &mut String) {
    let name = |key: &str| if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") };
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        let says = property["description"].as_str().or(property["anyOf"][0]["description"].as_str());
        if let Some(says) = says {
            let says: Vec<&str> = says.split_whitespace().collect();
            let says = says.join(" ").replace('|', "\\|");
            page.extend(["| `", &name(key), "` | ", &says, " |\n"]);
        }
        if let Some(entry) = table_of(whole, property) {
            keys(whole, &name(key), entry, page);
        }
    }
}

#[test]
fn the_page_of_the_keys_is_current() {
    let schema = schema(&Suite::load(Tree::embedded()).unwrap());
    let mut made = String::from(
        "# Profile\n\nEvery key that the profile of a target may have; `xs2aspec init` writes one to fill in, and \
         `xs2aspec init --schema profile` prints this as a JSON Schema.\n\n| key | what it says |\n|---|---|\n",
    );
    keys(&schema, "", &schema, &mut made);
    for name in
        ["base-url", "limits.per-second", "psu.private.id", "transaction.account-id", "choices.key-id.serial"]
    {
        assert!(made.contains(&format!("| `{name}` | ")), "{name} is not in {made}");
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reference/profile.md");
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reference")).unwrap();
        std::fs::write(path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(kept == made, "docs/src/reference/profile.md is not current: bash .ci/bless");
}

#[test]
fn the_template_names_every_value() {
    let tree = Tree::embedded();
    let whole = tree.text(TEMPLATE).unwrap();
    for name in ProfileSpec::embedded().value_names() {
        let (_, key) = name.rsplit_once('.').unwrap_or(("", name));
        let table =
            name.trim_end_matches(key).trim_end_matches(|end: char| end == '.' || end.is_ascii_digit());
        assert!(whole.contains(table) && whole.contains(key), "the template lacks {name}");
    }
}

#[test]
fn a_table_that_is_a_list_has_an_entry_of_each_number() {
    let read = |tables: &str| {
        let text = format!("base-url = \"http://a\"\n{tables}");
        file::parse("bank.toml", &text, None, ProfileSpec::embedded()).map_err(|error| error.to_string())
    };
    let entry = "[[transaction]]\naccount-id = \"a\"\n";
    let profile = read(&format!("{entry}{}", entry.replace("\"a\"", "\"b\""))).unwrap();
    assert_eq!(profile.values["transaction.account-id"], "a");
    assert_eq!(profile.values["transaction.2.account-id"], "b");
    let many = read(&entry.repeat(300)).unwrap();
    assert_eq!(many.values["transaction.300.account-id"], "a");
    let public = "[[payment]]\nid = \"a\"\nstatus = \"RJCT\"\n".repeat(30);
    let public = read(&public).unwrap().public;
    assert!(public.contains("payment.30.status") && !public.contains("payment.30.id"));
    let empty = read(&format!("{entry}[[transaction]]\n{entry}")).unwrap_err();
    assert!(empty.starts_with("bank.toml:4:") && empty.contains("is empty"), "{empty}");
    let numbered = read("[transaction.2]\naccount-id = \"a\"\n").unwrap_err();
    assert!(numbered.contains("another `[[transaction]]`"), "{numbered}");
    assert!(read("[[rejected-payment]]\nid = \"a\"").unwrap_err().contains("expected a string"));
}

#[test]
fn the_digest_is_that_of_canonical_json() {
    let mut profile =
        file::parse("bank.toml", "base-url = \"http://a\"\nname = \"x\"", None, ProfileSpec::embedded())
            .unwrap();
    let text = |name: &str, text: &str| BTreeMap::from([(name.to_owned(), text.to_owned())]);
    profile.values = text("redirect-uri", "https://b");
    profile.paths = text("basket", "/v1/b");
    profile.choices = text("payment.success-status", "201");
    profile.capabilities = BTreeMap::from([("sandbox".into(), Offered::No), ("basket".into(), Offered::Ask)]);
    profile.environment = Some(Environment::Sandbox);
    assert_eq!(
        profile.canonical(),
        r#"{"capabilities":{"basket":"ask","sandbox":"false"},"choices":{"payment.success-status":"201"},"environment":"sandbox","paths":{"basket":"/v1/b"},"rejected-is-refusal":true,"values":{"redirect-uri":"https://b"}}"#
    );
    // Computed with `sha256sum`.
    assert_eq!(profile.sha256(), "c88bbfc02958fec9ca37f60eab5504ab3e91326c3e5a96752add3fc24a462f8a");
    // Fields that only name the target do not matter. Fields that influence judging do.
    let same = Profile { name: "y".into(), base_url: "http://b".into(), ..profile.clone() };
    assert_eq!(same.sha256(), profile.sha256());
    let other = Profile { rejected_is_refusal: false, ..profile.clone() };
    assert_ne!(other.sha256(), profile.sha256());
}

#[test]
fn the_digest_confirms_no_guess_of_a_masked_value() {
    let text = "base-url = \"http://a\"\nredirect-uri = \"https://b?state=ID\"\n[psu.private]\nid = \"ID\"";
    let of = |id: &str| {
        let text = text.replace("ID", id);
        let profile = file::parse("bank.toml", &text, None, ProfileSpec::embedded()).unwrap();
        Profile { prepared: vec![id.to_owned()], ..profile }
    };
    assert_eq!(of("canary-1").sha256(), of("canary-2").sha256());
    let more = Profile { values: BTreeMap::new(), ..of("canary-1") };
    assert_ne!(more.sha256(), of("canary-1").sha256(), "the digest covers the names of values");
}

#[test]
fn levels_stand_in_the_order_of_the_file() {
    let text =
        "base-url = \"http://a\"\n[levels]\n\"b.*\" = \"note\"\nwarnings = \"deny\"\n\"a.b\" = \"warn\"";
    let profile = file::parse("bank.toml", text, None, ProfileSpec::embedded()).unwrap();
    let rules = profile.levels.iter().map(|rule| (rule.pattern.as_str(), rule.level.word()));
    assert!(rules.eq([("b.*", "note"), ("warnings", "deny"), ("a.b", "warn")]), "{:?}", profile.levels);
    let same = Profile { levels: vec![], ..profile.clone() };
    assert_ne!(same.sha256(), profile.sha256(), "they decide how the target is judged");
}

#[test]
fn a_rate_that_cannot_be_kept_is_rejected_where_it_is_written() {
    let read = |limits: &str| {
        let text = format!("base-url = \"http://a\"\n[limits]\n{limits}\n");
        file::parse("bank.toml", &text, None, ProfileSpec::embedded()).map(|profile| profile.limits)
    };
    for (rate, seconds) in [("0.01", 100.0), ("0.5", 2.0), ("4", 0.25), ("200.0", 0.005)] {
        let limits = read(&format!("per-second = {rate}\noperations = {{ ncbct = {rate} }}")).unwrap();
        let interval = Some(Duration::from_secs_f64(seconds));
        assert_eq!((limits.interval, limits.intervals.get("ncbct").copied()), (interval, interval), "{rate}");
    }
    for rate in ["0.005", "0.0099", "1e-300", "0", "-1.0", "nan", "inf"] {
        for (limits, place) in [
            (format!("per-second = {rate}"), "bank.toml:3:14: `[limits] per-second`"),
            (format!("operations = {{ ncbct = {rate} }}"), "bank.toml:3:24: `[limits] operations.ncbct`"),
        ] {
            let error = read(&limits).unwrap_err().to_string();
            assert!(error.starts_with(place) && error.contains("0.01 or more"), "{error}");
        }
    }
}

/// Only the user may enable actions: a pack defines test values, and its template names the target.
#[test]
fn a_pack_gives_test_values_and_nothing_that_acts() {
    let spec = |text: &str| ProfileSpec {
        any_bank: Some(("pack/any-bank.toml".to_owned(), text.to_owned())),
        ..ProfileSpec::embedded().clone()
    };
    let values = "redirect-uri = \"https://a.example\"\n[psu.private]\nid = \"x\"\n";
    let profile = Profile::of_url("http://127.0.0.1:1", &spec(values)).unwrap();
    assert_eq!(profile.values["psu.private.id"], "x");
    Profile::check_template("template.toml", &format!("name = \"a\"\n{values}"), ProfileSpec::embedded())
        .unwrap();
    let of_template = ["name", "version", "contact", "base-url", "choices", "capabilities"];
    assert!(form::FIELDS.len() > of_template.len());
    for field in &*form::FIELDS {
        for (number, form) in
            ["KEY = 1", "KEY = {}", "[KEY]", "[[KEY]]", "KEY.x = \"y\"", "\"KEY\" = []"].iter().enumerate()
        {
            // Top-level keys come before the tables, and tables after them.
            let line = form.replace("KEY", field);
            let is_table = (2..=3).contains(&number);
            let text = if is_table { format!("{values}{line}\n") } else { format!("{line}\n{values}") };
            let found = Profile::of_url("http://127.0.0.1:1", &spec(&text));
            let error = found.unwrap_err().to_string();
            assert!(error.starts_with("pack/any-bank.toml:"), "{text}: {error}");
            assert!(error.contains(&format!("a pack cannot set `{field}`")), "{text}: {error}");
            let template = Profile::check_template("template.toml", &text, ProfileSpec::embedded());
            assert_eq!(template.is_ok(), of_template.contains(&field.as_str()), "{text}");
        }
    }
    for value in ["{ env = \"HOME\" }", "{ file = \"/etc/hostname\" }"] {
        let text = format!("[psu.private]\nid = {value}\n");
        let error = Profile::of_url("http://127.0.0.1:1", &spec(&text)).unwrap_err().to_string();
        assert!(error.starts_with("pack/any-bank.toml:2:"), "{error}");
    }
    // A placeholder for command output stays unfilled.
    let text = "[psu.private]\nid = \"${prepare.a.b}\"\n";
    let profile = Profile::of_url("http://127.0.0.1:1", &spec(text)).unwrap();
    assert_eq!(profile.values["psu.private.id"], "${prepare.a.b}");
}

#[test]
fn each_mistake_names_itself_and_the_near_name() {
    let cases = [
        (
            "base-url = \"http://a\"\nnmae = \"x\"",
            "bank.toml:2:1: unknown field `nmae`; did you mean `name`?",
        ),
        ("name = \"x\"", "bank.toml:1:1: missing field `base-url`"),
        ("base-url = 3", "bank.toml:1:12: invalid type: integer `3`, expected a string"),
        ("base-url = \"ftp://a\"", "bank.toml: `base-url`: invalid URL `ftp://a`"),
        ("base-url = \"a\"", "invalid URL `a`"),
        ("base-url = \"http://a?b\"", "has a query"),
        ("base-url = \"http://a\"\n[psu.privat]\nid = \"x\"", "did you mean `psu.private.id`?"),
        ("base-url = \"http://a\"\n[capabilities]\nbaskets = true", "did you mean `basket`?"),
        ("base-url = \"http://a\"\nenvironment = \"test\"", "expected `sandbox` or `production`"),
        (
            "base-url = \"http://a\"\n[levels]\na = \"fail\"",
            "bank.toml:3:5: unknown variant `fail`, expected one of `deny`, `warn`, `note`",
        ),
        ("base-url = \"http://a\"\n[signing]\nkey = \"k.pem\"", "requires both"),
        (
            "base-url = \"http://a\"\n[signing]\nkey = \"none.pem\"\ncertificate = \"none.pem\"",
            "cannot read none.pem",
        ),
        ("base-url = \"http://a\"\n[tls]\ncertificate = \"c.pem\"", "`[tls]` requires both"),
        ("base-url = \"http://a\"\n[headers]\nX-Key = { env = \"XS2ASPEC_NOT_SET\" }", "which is not set"),
        ("base-url = \"http://a\"\n[headers]\n\"X Key\" = \"a\"", "is not a valid header"),
    ];
    for (text, expected) in cases {
        assert!(error(text).contains(expected), "{text}\n{}", error(text));
    }
}
