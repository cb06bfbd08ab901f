use serde_json::json;
use xs2aspec_spec::masks::is_pseudonym;
use xs2aspec_suite::{ProfileSpec, Tree};

use super::*;

fn suite() -> &'static Suite {
    static SUITE: std::sync::LazyLock<Suite> =
        std::sync::LazyLock::new(|| Suite::load(Tree::embedded()).unwrap());
    &SUITE
}

fn profile(values: &[(&str, &str)]) -> Profile {
    let mut profile = Profile::of_url("http://127.0.0.1:1", ProfileSpec::embedded()).unwrap();
    profile.values = values.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    profile
}

fn masker(profile: &Profile) -> Masker {
    Masker::new(profile, suite(), MaskKey::random())
}

fn reference() -> Profile {
    Profile::reference("http://127.0.0.1:1").unwrap()
}

fn filled(body: &str) -> WireRequest {
    let url = "http://127.0.0.1:1/v1".into();
    WireRequest { method: "POST".into(), url, headers: vec![], body: body.into(), exact: false }
}

fn response_of(body: &str, headers: &[(&str, &str)]) -> Answer {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Answer { status: 200, headers, body: body.into() }
}

/// Returns the recorded form of a response.
fn recorded(masker: &Masker, request: &WireRequest, answer: &Answer) -> Response {
    let mut learned = Learned::default();
    masker.learn(request, answer, &mut learned);
    masker.response(answer, &learned)
}

fn text(body: Option<Body>) -> String {
    let Some(Body::Text(text)) = body else { panic!("a text: {body:?}") };
    text
}

#[test]
fn equal_values_are_equal_within_a_run_and_differ_between_runs() {
    let profile = reference();
    let (psu, iban) = (&profile.values["psu.private.id"], &profile.values["accounts.debtor.iban"]);
    let masker = masker(&profile);
    let mut request = filled(&format!("{{\"a\":\"{iban}\",\"b\":\"{iban}\"}}"));
    request.headers = vec![("PSU-ID".into(), psu.clone()), ("Signature".into(), "keyId=\"SN=1\"".into())];
    let shown = serde_json::to_string(&masker.request(&request)).unwrap();
    assert!(!shown.contains(psu) && !shown.contains(iban) && !shown.contains("SN=1"), "{shown}");
    assert!(shown.contains("keyId=\\\"signature~"), "{shown}");
    assert_eq!(shown.matches(&masker.text(iban)).count(), 2);
    let other = Masker::new(&profile, suite(), MaskKey::random());
    assert_ne!(other.text(psu), masker.text(psu));
    for (name, text) in profile.values.iter().filter(|(name, _)| !profile.public.contains(*name)) {
        assert!(is_pseudonym(&masker.value(name, text)), "{name}");
        assert_eq!(masker.value(name, text), masker.text(text), "{name}");
    }
}

#[test]
fn short_values_are_masked_at_their_places_and_nowhere_else() {
    let profile = profile(&[
        ("transaction.account-id", "1"),
        ("transaction.transaction-id", "17"),
        ("psu.private.id", "2"),
        ("psu.corporate.corporate-id", "201"),
        ("session-id", "40"),
        ("payment.id", "7"),
        ("payment.product", "norwegian-cross-border-credit-transfers"),
        ("consent.over-90.account-id", "1000"),
    ]);
    let masker = masker(&profile);
    let of = |name: &str| masker.value(name, &profile.values[name]);
    let (account, transaction) = (of("transaction.account-id"), of("transaction.transaction-id"));
    for (url, expected) in [
        (
            "http://127.0.0.1:17/v1/accounts/1/transactions/17",
            format!("http://127.0.0.1:17/v1/accounts/{account}/transactions/{transaction}"),
        ),
        ("/v1/accounts/17/transactions/1", "/v1/accounts/17/transactions/1".to_owned()),
        (
            "/v1/payments/norwegian-cross-border-credit-transfers/7/status",
            format!("/v1/payments/norwegian-cross-border-credit-transfers/{}/status", of("payment.id")),
        ),
        (
            "/v1/accounts/%31?accountId=1&other=1",
            format!("/v1/accounts/{account}?accountId={account}&other=1"),
        ),
        ("404 to GET /v1/accounts/1.", format!("404 to GET /v1/accounts/{account}.")),
        ("/v1/accounts/1000/x", format!("/v1/accounts/{}/x", of("consent.over-90.account-id"))),
    ] {
        assert_eq!(masker.text(url), expected, "{url}");
    }
    let mut request = filled("");
    for (name, value) in [
        ("PSU-ID", "2"),
        ("PSU-Corporate-ID", "201, 201"),
        ("TPP-Session-ID", "40"),
        ("X-Request-ID", "1-2-40"),
    ] {
        request.headers.push((name.to_owned(), value.to_owned()));
    }
    let headers: Vec<String> = masker.request(&request).headers.into_iter().map(|header| header.1).collect();
    let agreement = of("psu.corporate.corporate-id");
    assert_eq!(
        headers,
        [of("psu.private.id"), format!("{agreement}, {agreement}"), of("session-id"), "1-2-40".to_owned()]
    );
    let body = json!({
        "accountId": "1", "transactionId": 17, "amount": "1000.00", "status": "201", "count": 17, "day": 2,
        "paymentId": "7", "note": "1 of 17", "code": "1000", "text": "the account 1000 has 1000.50",
        "_links": {"self": {"href": "/v1/accounts/1/transactions/17"}},
    });
    let shown = text(recorded(&masker, &filled(""), &response_of(&body.to_string(), &[])).body);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let weak = of("consent.over-90.account-id");
    let expected = json!({
        "accountId": account, "transactionId": transaction, "amount": "1000.00", "status": "201", "count": 17, "day": 2,
        "paymentId": of("payment.id"), "note": "1 of 17", "code": "1000",
        "text": format!("the account {weak} has 1000.50"),
        "_links": {"self": {"href": format!("/v1/accounts/{account}/transactions/{transaction}")}},
    });
    assert_eq!(shown, expected);
}

#[test]
fn a_short_value_of_a_response_is_masked_at_its_place() {
    let masker = masker(&profile(&[]));
    let body = r#"[{"customerId":"7","name":"Bo","accounts":[9],"customerType":"PRIVATE","count":7}]"#;
    let shown = text(recorded(&masker, &filled("7 Bo 9"), &response_of(body, &[])).body);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    for pointer in ["/0/customerId", "/0/name", "/0/accounts/0"] {
        assert!(
            shown.pointer(pointer).and_then(Value::as_str).is_some_and(is_pseudonym),
            "{pointer}: {shown}"
        );
    }
    assert_eq!((&shown[0]["customerType"], &shown[0]["count"]), (&json!("PRIVATE"), &json!(7)));
}

#[test]
fn responses_tell_nothing_about_persons_beyond_the_request() {
    let masker = masker(&reference());
    let body = r#"{"creditorName":"Sent By Us","debtorName":"Canary One","agreements":[{"name":"K\u00e5re \"K\" Canary"}],
        "note":"paid by 12345678911 from DE89370400440532013000","code":"DE00370400440532013000","customerNumber":4711471147,
        "access_token":"canary-token-1"}"#;
    let headers = [("X-Account", "NO9386011117947"), ("Set-Cookie", "session=canary-cookie-1; Path=/")];
    let answer = response_of(body, &headers);
    let request = filled(r#"{"creditorName":"Sent By Us"}"#);
    let mut learned = Learned::default();
    masker.learn(&request, &answer, &mut learned);
    let response = masker.response(&answer, &learned);
    let shown = serde_json::to_string(&response).unwrap();
    for secret in
        ["Canary", "canary", "12345678911", "DE89370400440532013000", "NO9386011117947", "4711471147"]
    {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
    assert!(shown.contains("Sent By Us"), "a case sends it: {shown}");
    assert!(shown.contains("DE00370400440532013000"), "its check digits are wrong: {shown}");
    assert!(!masker.text_with("got Canary One", &learned).contains("Canary"));
    let document: Value = serde_json::from_str(&text(response.body)).unwrap();
    assert!(document["customerNumber"].is_string(), "a masked number is a string: {document}");
}

#[test]
fn the_beginning_of_a_response_tells_nothing_either() {
    let masker = masker(&reference());
    let body = r#"{"debtorName":"Canary One","other":"Shown","name":["K \"Canary", "Canary Tw"#;
    for end in 20..=body.len() {
        let shown =
            serde_json::to_string(&recorded(&masker, &filled(""), &response_of(&body[..end], &[]))).unwrap();
        assert!(!shown.contains("Canary"), "{shown}");
        assert_eq!(shown.contains("Shown"), body[..end].contains("Shown"), "{shown}");
    }
}

#[test]
fn exact_bytes_of_a_body_remain() {
    let masker = masker(&reference());
    let iban = &reference().values["accounts.debtor.iban"];
    for body in [
        "{ \"a\" : 1e2 ,\n\"a\":\"\\u0041\", \"amount\": 10.00 }",
        "{\"IBAN\":\"x\"",
        "[1,2,,3] trailing",
        "plain text",
        "\u{feff}{}",
    ] {
        assert_eq!(text(masker.request(&filled(body)).body), body);
        let with = format!("{{\"iban\" : \"{iban}\" ,\"rest\":{body}");
        let expected = with.replace(iban, &masker.text(iban));
        assert_eq!(text(masker.request(&filled(&with)).body), expected);
    }
}

#[test]
fn bodies_that_are_no_text_are_masked() {
    let masker = masker(&reference());
    let iban = &reference().values["accounts.debtor.iban"];
    let mark = masker.text(iban);
    let bytes_of = |body: &[u8]| {
        let request = WireRequest { body: body.to_vec(), ..filled("") };
        let Some(Body::Base64(code)) = masker.request(&request).body else { panic!("no text") };
        base64::Engine::decode(&base64::prelude::BASE64_STANDARD, code).unwrap()
    };
    let bytes = [&b"\xff"[..], iban.as_bytes(), b" ", iban.as_bytes()].concat();
    assert_eq!(bytes_of(&bytes), [&b"\xff"[..], mark.as_bytes(), b" ", mark.as_bytes()].concat());
    let zip = |text: &str| zipped("", text, &[]).into_owned();
    let body = format!("{{\"iban\":\"{iban}\"}}");
    assert_eq!(unzipped(&bytes_of(&zip(&body))), Some(body.replace(iban, &mark)));
    let other = zip("{\"a\":1}");
    assert_eq!(bytes_of(&other), other, "nothing is masked");
    // A bank that writes ISO 8859-1.
    let latin = Answer { body: encoded("{\"name\":\"Kåre Canary\",\"x\":\"å\"}"), ..response_of("", &[]) };
    let Some(Body::Base64(code)) = recorded(&masker, &filled(""), &latin).body else { panic!("no text") };
    let shown = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, code).unwrap();
    assert!(decoded(&shown).starts_with("{\"name\":\"name~") && decoded(&shown).ends_with("\"x\":\"å\"}"));
}

#[test]
fn a_digest_confirms_no_guess() {
    let profile = reference();
    let masker = masker(&profile);
    let iban = &profile.values["accounts.debtor.iban"];
    let digest = "SHA-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=";
    let shown = |body: &str| {
        let mut request = filled(body);
        request.headers = vec![("Digest".into(), digest.into())];
        let answer = response_of(body, &[("ETag", "\"5f3e\"")]);
        let of = |headers: Vec<Header>| headers[0].1.clone();
        (of(masker.request(&request).headers), of(masker.response(&answer, &Learned::default()).headers))
    };
    assert_eq!(shown("{\"a\":1}"), (digest.to_owned(), "\"5f3e\"".to_owned()));
    let (of_request, of_response) = shown(&format!("{{\"iban\":\"{iban}\"}}"));
    assert!(of_request.starts_with("SHA-256=digest~") && of_request.ends_with('='), "{of_request}");
    assert!(of_response.starts_with("\"etag~"), "{of_response}");
}

#[test]
fn what_requests_repeat_of_a_value_is_masked_too() {
    let profile = profile(&[
        ("transaction.transaction-id", "20250212!210000002="),
        ("accounts.without-funds.iban", "NO9386011117947"),
        ("payment.id", "urn:canary:4711-0001"),
    ]);
    let masker = masker(&profile);
    for text in ["20250212!2", "/transactions/20250212%21", "86011117947", "canary:4711-0001"] {
        // The text without its last character and the digits before it.
        let (shown, beginning) = (masker.text(text), text.trim_end_matches('2'));
        assert!(shown.contains('~') && !shown.contains(beginning), "{text}: {shown}");
    }
    let other = masker.text("20250212!210000002=x");
    assert!(other.starts_with("transaction-id~") && other.ends_with('x'), "{other}");
}

#[test]
fn secrets_of_a_gateway_are_masked_in_each_part() {
    let mut profile = profile(&[]);
    profile.headers.insert("Authorization".into(), "Bearer CANARYTOKEN123".into());
    profile.headers.insert("X-Basic".into(), "Basic Y2FuYXJ5LXVzZXI6Y2FuYXJ5LXB3LTE=".into());
    profile.prepared = vec!["canary-prepared".to_owned(), "42".to_owned()];
    let masker = masker(&profile);
    let mut request = filled("");
    request.headers = profile.headers.clone().into_iter().collect();
    let headers: Vec<String> = masker.request(&request).headers.into_iter().map(|header| header.1).collect();
    assert!(
        headers[0].starts_with("Bearer authorization~") && headers[1].starts_with("Basic x-basic~"),
        "{headers:?}"
    );
    for text in [
        "CANARYTOKEN123",
        "canarytoken123",
        "canary-user",
        "canary-pw-1",
        "canary-prepared",
        "canary%2Dprepared",
    ] {
        let shown = masker.text(&format!("the value {text} is invalid"));
        assert!(shown.starts_with("the value ") && shown.ends_with(" is invalid"), "{shown}");
        assert!(is_pseudonym(&shown[10..shown.len() - 11]), "{text}: {shown}");
    }
    assert_eq!(masker.text("42 cases"), "42 cases");
}

#[test]
fn a_finding_keeps_its_place_in_every_run() {
    let profile = profile(&[("transaction.account-id", "1"), ("accounts.debtor.iban", "NO9386011117947")]);
    let rule = |name: &str| suite().spec().masks.privacy(name);
    let of = |at: &str, actual: &str| {
        let masker = masker(&profile);
        let mut finding = Finding {
            clause: "a".into(),
            expected: "at most 1 item".into(),
            actual: actual.into(),
            at: at.into(),
            kind: xs2aspec_record::Mismatch::Value,
            level: xs2aspec_record::Level::Deny,
            end: xs2aspec_record::End::Bank,
        };
        masker.finding(&mut finding, &Learned::default(), &rule);
        finding
    };
    let (one, other) = (of("body/NO9386011117947/x", "\"1\""), of("body/NO9386011117947/x", "\"1\""));
    assert_eq!((one.at.as_str(), &one), ("body/*/x", &other));
    assert_eq!((one.expected.as_str(), one.actual.as_str()), ("at most 1 item", "\"1\""));
    for actual in ["\"1\"", "1", "a text, \"1\""] {
        let found = of("body/0/accountId", actual);
        assert_eq!((found.at.as_str(), found.expected.as_str()), ("body/0/accountId", "at most 1 item"));
        assert!(found.actual.contains("account-id~"), "{actual}: {}", found.actual);
    }
}

#[test]
fn a_record_is_not_masked_again() {
    let masker = Masker::of_record();
    let text = "id~0a1b2c3d4e5f6071 and 12345678911";
    assert_eq!(masker.text(text), text);
    assert_eq!(masker.place("body/id~0a1b2c3d4e5f6071/x", &Learned::default()), "body/*/x");
}
