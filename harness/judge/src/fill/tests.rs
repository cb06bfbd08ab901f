//! Filling requests.

use super::*;
use crate::certificate_encoding::CertificateEncoding;
use serde_json::json;

/// Returns the root of the ids of a run.
fn root(run_id: &str) -> Root {
    crate::identity::Identity::new(1, run_id.parse().unwrap(), None).root()
}

/// Returns the sent form of a request with this body and signing.
fn filled(body: BodySpec, signing: &Value) -> WireRequest {
    filled_by(&Profile::reference("http://127.0.0.1:1").unwrap(), body, signing).unwrap()
}

fn filled_by(profile: &Profile, body: BodySpec, signing: &Value) -> Result<WireRequest, FillError> {
    filled_as(profile, SIGNATURE, body, signing)
}

/// Returns the sent form of a request with this value of Signature.
fn filled_as(
    profile: &Profile,
    signature: &str,
    body: BodySpec,
    signing: &Value,
) -> Result<WireRequest, FillError> {
    let signature = format!("Signature: {signature}");
    with_headers(
        profile,
        &["Date: ${now}", "TPP-Signature-Certificate: ${certificate}", &signature],
        body,
        signing,
    )
}

/// Returns a request with these headers, whose values may be JSON.
fn with_headers(
    profile: &Profile,
    headers: &[&str],
    body: BodySpec,
    signing: &Value,
) -> Result<WireRequest, FillError> {
    let spec = RequestSpec {
        operation: "ncbct".into(),
        method: "POST".into(),
        path: "/v1".into(),
        query: vec![],
        headers: headers
            .iter()
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| {
                let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
                (name.to_owned(), value)
            })
            .collect::<Vec<_>>()
            .into(),
        body,
        signing: serde_json::from_value(signing.clone()).unwrap(),
        exact: false,
        spelled: Vec::new(),
    };
    let builder = RequestBuilder {
        request_signer: &RequestSigner::new(
            profile.signer().unwrap(),
            CertificateEncoding::default(),
            &["date".to_owned()],
        )
        .unwrap(),
        profile,
        root: root("a"),
        now: DateTime::UNIX_EPOCH,
        case: "case",
        step: "request",
        attempt: 1,
        signatures: None,
        kept: &BTreeMap::new(),
    };
    builder.fill(&spec)
}

#[test]
fn what_a_person_has_of_its_own_goes_before_what_serves_for_all() {
    let mut profile = Profile::reference("http://127.0.0.1:1").unwrap();
    profile.values.insert("psu.second.session-id".to_owned(), "of the second".to_owned());
    let session = |lines: &[&str]| {
        let lines: Vec<&str> = ["A: ${target.session-id}"].iter().chain(lines).copied().collect();
        let filled = with_headers(&profile, &lines, BodySpec::None, &json!({})).unwrap();
        filled.headers[0].1.clone()
    };
    let of_all = profile.values["session-id"].clone();
    assert_eq!(session(&["PSU-ID: ${target.psu.second.id}"]), "of the second");
    assert_eq!(
        session(&["B: ${target.x-accept-fix.ncbct}", "PSU-ID: ${target.psu.second.id}"]),
        "of the second"
    );
    assert_eq!(session(&["PSU-ID: ${target.psu.private.id}"]), of_all);
    assert_eq!(session(&[]), of_all);
}

#[test]
fn a_header_that_has_to_be_wrapped_is_not_sent_bare() {
    let profile = profile_with_letters();
    let plain = filled_by(&profile, BodySpec::None, &json!({})).unwrap();
    assert!(plain.headers[2].1.starts_with("=?utf-8?B?"), "{}", plain.headers[2].1);
    for signing in [json!({"wrap": "never"}), json!({"wrap": "signature-alone"})] {
        let stopped = filled_by(&profile, BodySpec::None, &signing).map(|filled| filled.headers);
        assert!(
            matches!(&stopped, Err(FillError::NotApplicable(why)) if why.contains("wrapped")),
            "{stopped:?}"
        );
    }
}

#[test]
fn what_is_rewritten_in_a_header_is_wrapped_with_it() {
    let profile = profile_with_letters();
    let unwrapped = |template: &str, signing: &Value| {
        let filled = filled_as(&profile, template, BodySpec::None, signing).unwrap();
        let word = filled.headers[2].1.clone();
        let bytes = word.strip_prefix("=?utf-8?B?").and_then(|rest| rest.strip_suffix("?="));
        let bytes = bytes.and_then(|base64| BASE64_STANDARD.decode(base64).ok());
        String::from_utf8(bytes.unwrap_or_else(|| panic!("{word}"))).unwrap()
    };
    let plain = unwrapped("${signature}", &json!({}));
    assert!(plain.starts_with("keyId=") && !plain.is_ascii(), "{plain}");
    for signing in [json!({}), json!({"wrap": "never"})] {
        assert_eq!(unwrapped("a=\"1\",${signature}", &signing), format!("a=\"1\",{plain}"));
        assert_eq!(unwrapped("${signature},${signature}", &signing), format!("{plain},{plain}"));
        assert_eq!(unwrapped("=?utf-8?B?${signature.base64}?=", &signing), plain);
    }
    assert!(unwrapped("${signature}", &json!({"spaced": true})).starts_with("keyId = \""));
    assert!(!unwrapped("${signature}", &json!({"written": "url-safe"})).contains('+'));
}

#[test]
fn a_function_around_a_signature_is_computed() {
    let profile = Profile::reference("http://127.0.0.1:1").unwrap();
    let around = json!({"$concat": [{"$drop-last": {"of": "${signature}", "characters": 9}}, "!", {"$last": {"of": "${signature}", "characters": 9}}]});
    let value = |template: &str| {
        let filled = filled_as(&profile, template, BodySpec::None, &json!({})).unwrap();
        filled.headers[2].1.clone()
    };
    let plain = value(SIGNATURE);
    let (before, after) = plain.split_at(plain.len() - 9);
    assert_eq!(value(&around.to_string()), format!("{before}!{after}"));
}

/// Returns the reference bank's profile with a certificate whose issuer has non-ASCII characters.
fn profile_with_letters() -> Profile {
    let mut profile = Profile::reference("http://127.0.0.1:1").unwrap();
    profile.certificate = include_str!("../../../../fixtures/vectors/issuers/letters.pem").to_owned();
    profile
}

#[test]
fn a_raw_body_can_hold_any_bytes_around_the_values_of_the_target() {
    let raw = json!({"$bytes": [{"$drop-last": {"of": "${target.accounts.debtor.currency}", "characters": 1}}, 255]});
    assert_eq!(filled(BodySpec::Raw(raw), &json!({})).body, b"NO\xFF");
}

#[test]
fn signing_is_filled_and_another_certificate_is_sent_and_named() {
    let header = |filled: &WireRequest, at: usize| filled.headers[at].1.clone();
    let own = filled(BodySpec::None, &json!({}));
    let other = filled(BodySpec::None, &json!({"certificate": "other"}));
    assert_ne!(header(&own, 1), header(&other, 1));
    let named = filled(
        BodySpec::None,
        &json!({"key-id": "SN=${certificate.other.serial},CA=${certificate.other.issuer}"}),
    );
    assert_eq!((header(&named, 1), header(&named, 2)), (header(&own, 1), header(&other, 2)));
    let lower = filled(BodySpec::None, &json!({"key-id": {"$lower": "SN=${certificate.serial}"}}));
    assert!(header(&lower, 2).starts_with("keyId=\"sn="), "{}", header(&lower, 2));
    assert!(!header(&lower, 2).contains("${"));
}

#[test]
fn what_is_shared_is_the_same_in_all_requests_of_a_case_and_in_no_other() {
    let profile = Profile::reference("http://127.0.0.1:1").unwrap();
    let signer = RequestSigner::new(profile.signer().unwrap(), CertificateEncoding::default(), &[]).unwrap();
    let at = |run, case, step, name| {
        let builder = RequestBuilder {
            request_signer: &signer,
            profile: &profile,
            root: root(run),
            now: DateTime::UNIX_EPOCH,
            case,
            step,
            attempt: 1,
            kept: &BTreeMap::new(),
            signatures: None,
        };
        builder.lookup(name, Context::NONE).unwrap()
    };
    let value = |case, step, name| at("a", case, step, name);
    for (name, is_shared) in
        [("shared.a", true), ("shared-number.9", true), ("fresh.a", false), ("number.9", false)]
    {
        assert_eq!(value("a", "first", name) == value("a", "request", name), is_shared, "{name}");
        assert_ne!(value("a", "first", name), value("b", "first", name), "{name}");
        // Another run has other values even with the same seed.
        for step in ["first", "request", "request/other-values-2"] {
            assert_ne!(at("a", "a", step, name), at("b", "a", step, name), "{name} {step}");
        }
    }
}

#[test]
fn path_values_are_percent_encoded() {
    assert_eq!(encode("a!b=c/æ"), "a%21b%3Dc%2F%C3%A6");
}

#[test]
fn a_member_can_be_written_twice() {
    let again = BTreeMap::from([
        ("/a", vec![("b".to_owned(), json!({"c": 1}))]),
        ("", vec![("d".to_owned(), json!(2))]),
    ]);
    let mut out = Vec::new();
    write_json(&json!({"a": {"b": 3, "x": [1]}, "d": 1}), "", &again, &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), r#"{"a":{"b":3,"x":[1],"b":{"c":1}},"d":1,"d":2}"#);
}

/// Returns the URL of a request with this path, after a response with `list.link`.
fn url_after(path: &str, given: Value) -> Result<String, FillError> {
    let profile = Profile::reference("http://127.0.0.1:1/psd2").unwrap();
    let signer = RequestSigner::new(profile.signer().unwrap(), CertificateEncoding::default(), &[]).unwrap();
    let kept = BTreeMap::from([("list.link".to_owned(), given)]);
    let builder = RequestBuilder {
        request_signer: &signer,
        profile: &profile,
        root: root("a"),
        now: DateTime::UNIX_EPOCH,
        case: "a",
        step: "b",
        attempt: 1,
        kept: &kept,
        signatures: None,
    };
    builder.url(&RequestSpec {
        operation: "link".into(),
        method: "GET".into(),
        path: path.to_owned(),
        query: vec![],
        headers: Vec::<(String, Value)>::new().into(),
        body: BodySpec::None,
        signing: Signing::default(),
        exact: false,
        spelled: Vec::new(),
    })
}

#[test]
fn a_link_is_followed_below_the_base_url_and_nowhere_else() {
    let followed = |link: Value| url_after("${list.link}", link);
    for (link, path) in [
        ("/psd2/v1/a%21?b=c", "/v1/a%21?b=c"),
        ("http://127.0.0.1:1/psd2/v1/a%21?b=c", "/v1/a%21?b=c"),
        ("/psd2/v1/../v1/a", "/v1/a"),
        ("/other/../psd2/v1/a", "/v1/a"),
        ("<list.link>", "/%3Clist.link%3E"),
    ] {
        assert_eq!(followed(json!(link)), Ok(format!("http://127.0.0.1:1/psd2{path}")), "{link}");
    }
    for link in [
        json!("/v1/a"),
        json!("http://127.0.0.1:11/psd2/v1"),
        json!("https://example.org/psd2/v1"),
        json!("//example.org/psd2"),
        json!("v1"),
        json!("/psd2evil"),
        json!("/psd2/../admin2"),
        json!("/psd2/%2e%2e/admin2"),
        json!("/psd2/..%2fadmin2"),
        json!("\\\\example.org/psd2/v1"),
        json!("http://127.0.0.1:1@example.org/psd2/v1"),
        json!("<b>"),
        json!(""),
        json!(1),
        json!(null),
        json!({"href": "/psd2/v1/a"}),
    ] {
        let found = followed(link.clone());
        assert!(matches!(found, Err(FillError::NotApplicable(_))), "{link}: {found:?}");
    }
}

#[test]
fn an_id_of_a_response_never_changes_the_path() {
    let path = |id: Value| url_after("/v1/payments/${list.link}/status", id);
    for (id, encoded) in [
        (json!("1a-b_c~d.e"), "1a-b_c~d.e"),
        (json!(17), "17"),
        (json!("..."), "..."),
        (json!("a/b\\c"), "a%2Fb%5Cc"),
        (json!("?b#c"), "%3Fb%23c"),
        (json!("a\r\nb"), "a%0D%0Ab"),
        (json!("%2e%2e"), "%252e%252e"),
    ] {
        let whole = format!("http://127.0.0.1:1/psd2/v1/payments/{encoded}/status");
        assert_eq!(path(id.clone()), Ok(whole), "{id}");
    }
    let dots = ["", ".", "..", "a/../../b", "..\\a", "/.", "./"].map(|id| json!(id));
    for id in dots.into_iter().chain([json!(null), json!(true), json!([]), json!({"a": "b"})]) {
        let found = path(id.clone());
        assert!(matches!(found, Err(FillError::Unusable(_))), "{id}: {found:?}");
    }
}
