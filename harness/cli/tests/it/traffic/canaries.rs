//! Secrets of others are undeclared, and no output of `judge`, `proxy` and `serve --record` contains one.

use std::{fs, path::Path};

use tempfile::TempDir;
use wiremock::{Request, ResponseTemplate};

use crate::{
    proxy::Running,
    support::{stub, xs2aspec},
};

/// The prefix of every canary.
const CANARY: &str = "CANARY";

/// Headers of requests that contain a secret or identify someone.
const HEADERS: [(&str, &str); 22] = [
    ("Authorization", "Bearer CANARYAUTH1"),
    ("Authorization", "Basic Q0FOQVJZVVNFUjE6Q0FOQVJZUFcx"),
    ("Proxy-Authorization", "CANARYPROXY1"),
    ("Cookie", "session=CANARYCOOKIE1; other=CANARYCOOKIE2"),
    ("X-Api-Key", "CANARYAPIKEY1"),
    ("Ocp-Apim-Subscription-Key", "CANARYSUB1"),
    ("X-IBM-Client-Id", "CANARYCLIENT1"),
    ("X-IBM-Client-Secret", "CANARYSECRET1"),
    ("X-Auth-Token", "CANARYTOKEN1"),
    ("X-Access-Token", "CANARYTOKEN2"),
    ("DPoP", "CANARYDPOP.CANARY.CANARY"),
    ("X-Forwarded-For", "CANARYFORWARDED"),
    ("Forwarded", "for=CANARYFORWARDED"),
    ("X-Forwarded-Client-Cert", "Hash=CANARYCERT1;Subject=\"CN=CANARY\""),
    ("X-SSL-Client-Cert", "-----BEGIN CERTIFICATE----- CANARYCERT2"),
    ("X-CSRF-Token", "CANARYCSRF"),
    ("TPP-Session-ID", "CANARYSESSION"),
    ("Consent-ID", "CANARYCONSENT"),
    ("PSU-ID", "CANARYPSU"),
    ("X-PSU-IDENTITY", "01819000391CANARY"),
    ("Referer", "https://tpp.example/?code=CANARYREFERER"),
    ("TPP-Redirect-URI", "https://CANARYUSER:CANARYPW@tpp.example/back?state=CANARYSTATE#CANARYFRAGMENT"),
];

/// Request targets: known operations, and unknown paths.
const TARGETS: [&str; 6] = [
    "/v1/accounts/CANARYa1/transactions/CANARY%21t1?access_token=CANARYQUERY",
    "/v1/accounts/CANARYa1/transactions/CANARYt1?code=CANARYCODE&client_secret=CANARYSECRET",
    "/v1/payments/norwegian-cross-border-credit-transfers/CANARYp1/status",
    "/v1/cards/CANARYCARD/balances?pan=CANARYPAN",
    "/V1/ACCOUNTS/CANARYa1",
    "/oauth2/CANARYTENANT1/token?CANARYBARE",
];

/// Bodies of requests, with their media types.
const BODIES: [(&str, &str); 6] = [
    ("application/json", r#"{"creditorName":"CANARY NAME","unknown":{"deep":["CANARYDEEP1"]},"pin":4711}"#),
    ("application/json", r#"{"client_secret":"CANARYSECRET2","password":"CANARYPW2","pin":"CANARY"#),
    ("application/json", r#"{"debtorAccount":{"iban":"CANARY\u0049BAN"},"key":"CANARYKEY1""#),
    (
        "application/x-www-form-urlencoded",
        "grant_type=authorization_code&code=CANARYCODE&client_secret=CANARY+SECRET%21",
    ),
    ("text/xml", "<token>CANARYXML</token>"),
    ("application/octet-stream", "CANARYBYTES"),
];

/// Headers of responses.
const ANSWER_HEADERS: [(&str, &str); 6] = [
    ("Set-Cookie", "id=CANARYCOOKIE3; Path=/; HttpOnly"),
    ("Location", "https://bank.example/sca/CANARY1?token=CANARYTOKEN3#id_token=CANARYTOKEN4"),
    ("WWW-Authenticate", "Bearer error_description=\"the token CANARYAUTH1 is over\""),
    ("X-Request-Trace", "CANARYTRACE1"),
    ("Refresh-Token", "CANARYREFRESH1"),
    ("X-Customer", "CANARYCUSTOMER1"),
];

/// Bodies of responses.
const ANSWERS: [&str; 4] = [
    r#"{"refresh_token":"CANARYREFRESH","id_token":"CANARYIDTOKEN","unknown":"CANARYFIELD1"}"#,
    r#"{"transactionStatus":"RCVD","paymentId":"CANARYPAYMENT1","_links":{"scaRedirect":{"href":"https://bank.example/sca/CANARY2?code=CANARYCODE2"},"self":{"href":"/v1/payments/norwegian-cross-border-credit-transfers/CANARYPAYMENT1"}}}"#,
    r#"{"tppMessages":[{"category":"ERROR","code":"TOKEN_INVALID","text":"the token CANARYAUTH1 of CANARYSESSION is invalid"}]}"#,
    "<html><body>CANARYPAGE</body></html>",
];

/// Values that an auditor needs and that identify nobody.
const SHOWN: [&str; 8] = [
    "X-Request-ID",
    "99391c7e-ad88-49ec-a2ad-99ddcb1f7721",
    "TOKEN_INVALID",
    "RCVD",
    "/v1/accounts/",
    "norwegian-cross-border-credit-transfers",
    "scaRedirect",
    "grant_type",
];

fn request(target: &str, (name, value): (&str, &str), (media, body): (&str, &str)) -> String {
    let method = if target.contains("payments") { "POST" } else { "GET" };
    format!(
        "{method} {target} HTTP/1.1\nHost: bank.example\nX-Request-ID: 99391c7e-ad88-49ec-a2ad-99ddcb1f7721\n\
         Authorization: Bearer CANARYAUTH1\nTPP-Session-ID: CANARYSESSION\n{name}: {value}\nContent-Type: {media}\nContent-Length: {}\n\n{body}\n",
        body.len()
    )
}

fn answer((name, value): (&str, &str), body: &str) -> String {
    let media = if body.starts_with('{') { "application/json" } else { "text/html" };
    format!(
        "HTTP/1.1 200 OK\n{name}: {value}\nContent-Type: {media}\nContent-Length: {}\n\n{body}\n\n###\n",
        body.len()
    )
}

/// Returns every file of a folder, and the output of a command.
fn texts(out: &Path, said: &str) -> Vec<(String, String)> {
    let mut texts = vec![("terminal".to_owned(), said.to_owned())];
    for entry in fs::read_dir(out).unwrap() {
        let path = entry.unwrap().path();
        let text = String::from_utf8_lossy(&crate::support::content(&path)).into_owned();
        texts.push((path.display().to_string(), text));
    }
    for format in ["har", "ctrf"] {
        texts.push((format.to_owned(), crate::support::rendered(out, format)));
    }
    assert!(texts.len() > 6, "{said}");
    texts
}

/// Asserts that no text contains a canary in any case, or its base64.
fn hold_none(texts: &[(String, String)]) {
    for (place, text) in texts {
        for canary in [CANARY.to_lowercase(), "q0foqvj".to_owned()] {
            let lower = text.to_lowercase();
            let near = lower.find(&canary).map(|at| {
                let range = at.saturating_sub(200)..(at + 60).min(lower.len());
                String::from_utf8_lossy(&lower.as_bytes()[range]).into_owned()
            });
            assert_eq!(near, None, "{canary} in {place}");
        }
    }
}

#[test]
fn no_secret_of_others_is_in_what_judge_writes() {
    let folder = TempDir::new().unwrap();
    let mut traffic = String::new();
    let mut count = 0;
    let longest = HEADERS.len().max(TARGETS.len() * BODIES.len());
    for at in 0..longest {
        let target = TARGETS[at % TARGETS.len()];
        let body = BODIES[at / TARGETS.len() % BODIES.len()];
        traffic.push_str(&request(target, HEADERS[at % HEADERS.len()], body));
        traffic.push('\n');
        traffic.push_str(&answer(ANSWER_HEADERS[at % ANSWER_HEADERS.len()], ANSWERS[at % ANSWERS.len()]));
        count += 1;
    }
    let (file, out) = (folder.path().join("traffic.http"), folder.path().join("out"));
    fs::write(&file, &traffic).unwrap();
    let arguments = ["judge", file.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let mut before = String::new();
    for more in [&["--target", "../../fixtures/targets/reference.toml"][..], &[]] {
        let (_, said) = xs2aspec(&[&arguments[..], more].concat());
        before.clone_from(&said);
        assert!(said.contains(&format!("{count} exchanges")), "{said}");
        let texts = texts(&out, &said);
        hold_none(&texts);
        let record = &texts.iter().find(|(place, _)| place.ends_with("record.jsonl.gz")).unwrap().1;
        for shown in SHOWN {
            assert!(record.contains(shown), "{shown}");
        }
    }
    // Judging the record again reports the same about the bank, and about the client what the masks do not
    // hide.
    let again = folder.path().join("again");
    let (_, said) = xs2aspec(&["judge", out.to_str().unwrap(), "--out", again.to_str().unwrap()]);
    let of_bank = |said: &str| {
        let (_, counts) = said.split_once("the bank has ")?;
        Some(counts.split_once(';')?.0.to_owned())
    };
    assert!(of_bank(&said).is_some() && of_bank(&said) == of_bank(&before), "{said}\n{before}");
    hold_none(&texts(&again, &said));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_of_others_is_in_what_proxy_and_serve_record() {
    let bank = stub::server(|request: &Request| {
        let body = ANSWERS[request.url.path().len() % ANSWERS.len()];
        let answer = ResponseTemplate::new(200).set_body_raw(body, "application/json");
        ANSWER_HEADERS.iter().fold(answer, |answer, (name, value)| answer.append_header(*name, *value))
    });
    let bank = bank.await;
    let folder = TempDir::new().unwrap();
    for name in ["proxy", "serve"] {
        let out = folder.path().join(name);
        let running = match name {
            "proxy" => Running::proxy(&bank.uri(), &out, &[]),
            _ => Running::start(&["serve", "--record", out.to_str().unwrap()]),
        };
        let client = reqwest::Client::new();
        for (at, (header, value)) in HEADERS.iter().enumerate() {
            let url = format!("{}{}", running.url, TARGETS[at % TARGETS.len()]);
            let (media, body) = BODIES[at % BODIES.len()];
            let request = client.post(url).header("Authorization", "Bearer CANARYAUTH1");
            let request = request.header("TPP-Session-ID", "CANARYSESSION").header(*header, *value);
            let request = request.header("Content-Type", media);
            request.body(body).send().await.unwrap();
        }
        let (_, said) = tokio::task::block_in_place(|| running.end());
        assert!(said.contains(&format!("{} exchanges", HEADERS.len())), "{said}");
        hold_none(&texts(&out, &said));
    }
}
