//! Values that are wrong under every reading, and close ones that are right under some reading.

use super::*;

/// Returns the clauses that the values violate, and true for each warning.
fn broken(operation: &str, fields: &[(&str, &str)]) -> Vec<(String, bool)> {
    let rules = ClientRules::load(&Tree::embedded()).unwrap();
    let headers = fields.iter().filter_map(|(at, _)| at.strip_prefix("header/"));
    let headers = headers.map(str::to_ascii_lowercase).collect();
    // Every request has an id.
    let id = ("header/X-Request-ID", "r-1");
    let values = |at: &str| {
        let fields = fields.iter().chain([&id]);
        let own = fields.filter(|(known, _)| known.eq_ignore_ascii_case(at));
        own.map(|(_, text)| (*text).to_owned()).collect()
    };
    let found = rules.wrong(operation, &headers, &values).into_iter();
    found.map(|wrong| (wrong.clause, wrong.is_warning)).collect()
}

/// A place, values that some reading allows there, and values that no reading allows.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

const VALUES: &[Row] = &[
    (
        "header/PSU-IP-Address",
        &["192.0.2.7", "2001:db8::1", "::ffff:192.0.2.1", "127.0.0.1"],
        &[
            "",
            "unknown",
            "localhost",
            "192.0.2.300",
            "192.0.2.7:443",
            "192.0.2.7, 192.0.2.8",
            "192.0.2.xxx",
            "[2001:db8::1]",
            "curl/8",
            "undefined",
        ],
    ),
    (
        "header/Host",
        &["a", "bank.example", "127.0.0.1:8080", "[::1]:80", "bank.example:"],
        &["", "http://bank.example", "bank.example/v1", "a b", "bank.example:port", "[::1", "a:80:80"],
    ),
    (
        "body/debtorAccount/iban",
        &["NO9386011117947", "GB29NWBK60161331926819", "ZZ0200", "no digits"],
        &[
            "NO938601111794",
            "NO93860111179470",
            "NO0186011117947",
            "NO9986011117947",
            "GB29NWBK6016133192681",
        ],
    ),
    (
        "header/TPP-Redirect-URI",
        &[
            "https://tpp.example",
            "http://127.0.0.1:8080/cb?a=b%20c#d",
            "com.example.app:/back",
            "tpp://back/here",
            "https://tpp.example/a,b",
            "app:callback",
            "https://user:word@tpp.example:8443?a=b:c",
            "http://[::1]:8080/a",
            "https://tpp.example/a:b",
        ],
        &[
            "",
            "https://tpp.example:port/back",
            "https://tpp.example:80a",
            "http://[::1]:x/a",
            "https://tpp.example/100%",
            "https://tpp.example/%zz",
            "/back",
            "tpp.example/back",
            "tpp.example:8443/back",
            "//tpp.example",
            "https:/tpp.example",
            "https://",
            "https:///a",
            "https://tpp.example/a b",
            "undefined",
            "https://a.example,https://b.example",
            "https://tpp.example/ø",
            "https://{host}/cb",
        ],
    ),
    (
        "header/x-accept-fix",
        &[
            "amount-as-string",
            "longer-name",
            "longer-name,amount-as-string",
            "cash-account-type-iso , longer-name",
        ],
        &[
            "true",
            "1.23.1",
            "amount_as_string",
            "AMOUNT-AS-STRING",
            "no-such-change",
            "amount-as-string;longer-name",
            "",
        ],
    ),
    (
        "header/Date",
        &["Sun, 06 Nov 1994 08:49:37 GMT"],
        &[
            "",
            "now",
            "2030-01-31T12:00:00Z",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 +0100",
            "Mon, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "784111777",
        ],
    ),
    (
        "header/Signature",
        &[
            "keyId=\"SN=1,CA=CN=A B\",algorithm=\"rsa-sha256\",headers=\"date\",signature=\"AA==\"",
            "keyId=\"SN=a, CA=CN=B\" , headers=\"b\"",
            "=?utf-8?B?AA==?=",
            "=?ISO-8859-1?q?a?=",
            "keyId=\"SN=1,CA=O=\\\" headers=\\\"\",headers=\"b\"",
        ],
        &[
            "keyId=\"ø\",headers=\"a\"",
            "=?utf-7?B?AA==?=",
            "=?utf-8?X?AA==?=",
            "keyId=\"a\" algorithm=\"b\"",
            "keyId=\"a\"; headers=\"b\"",
            "keyId=\"\",headers=\"b\"",
            "keyId=\"SN=1;CA=CN=A\",headers=\"b\"",
            "keyId=\"SN=1,CA=CN=A\",headers=\"Date digest\"",
            "keyId=\"SN=1,CA=CN=A\",headers=\"date  digest\"",
            "keyId=\"SN=1,CA=CN=A\",headers=\"date \"",
            "keyId=\"SN=1,CA=CN=A\",headers=\"a\",headers=\"b\"",
            "keyId=\"SN=1,CA=CN=A\",algorithm=\"rsa-sha512\"",
            "keyId=\"sn=1,ca=CN=A\",algorithm=\"rsa-sha256\"",
            "keyId=\"SN=0x1f,CA=CN=A\",algorithm=\"rsa-sha256\"",
        ],
    ),
    (
        "header/Digest",
        &["SHA-256=AAAA", "sha-512=AA==,SHA-256=AAA=", "unixsum=30637 , SHA-256=AAAA"],
        &[
            "SHA-256=AA-_",
            "unixsum=1,SHA-256=AAA",
            "SHA-256=AAA",
            "SHA-256= AAAA",
            "SHA-256:AAAA",
            "sha-256=:AAAA:",
        ],
    ),
    ("header/TPP-Signature-Certificate", &["MII+/A==", "LS0tLS1CRUdJTg"], &["MII-_A==", "MII_"]),
    (
        "header/X-PSU-IDENTITY",
        &["01819000391", ""],
        &["01010112345", "0101011234", "010101 12345", "A1010112345"],
    ),
    ("header/PSU-IP-Port", &["1", "443", "65535", ""], &["0", "65536", "https", "443,444"]),
    ("header/PSU-Context", &["PRIVATE", "private"], &["", "BUSINESS", "PRIVATE,CORPORATE"]),
    (
        "header/PSU-ID",
        &["6d4bd5ed-6f0a-4c0b-8a3d-7f3c9c3bfa11", "urn:uuid:6D4BD5ED-6F0A-4C0B-8A3D-7F3C9C3BFA11"],
        &["", "c0ffee", "6d4bd5ed-6f0a-4c0b-8a3d-7f3c9c3bfa11a", "none"],
    ),
    (
        "header/Accept",
        &[
            "application/json",
            "*/*",
            "text/html, application/*;q=0.8, */*;q=0",
            "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2",
            "",
            "a/b;c=\"d\"",
        ],
        &["json", "application/json application/xml", "application", "a/b;q=2", "a/b;q=0.1234", "a/b;q=high"],
    ),
    (
        "header/Accept-Language",
        &["nb-NO, nb;q=0.9, *;q=0.5", "en"],
        &["nb_NO", "norwegian-bokmaal", "en;q=1.5"],
    ),
    ("header/Accept-Charset", &["utf-8, iso-8859-1;q=0.5, *"], &["utf 8", "utf-8;q=-1", "{utf-8}"]),
    ("header/Accept-Encoding", &["gzip, deflate, br;q=1.0", "", "identity"], &["gzip deflate", "gzip;q=9"]),
    (
        "header/Content-Type",
        &["application/json", "application/json; charset=UTF-8", "application/problem+json"],
        &["text/plain", "application/xml", "application/x-www-form-urlencoded", "json"],
    ),
    ("body/instructedAmount/amount", &["1500", "1500.00", "0.50"], &["1500.", ".50"]),
    ("body/dayOfExecution", &["1", "01", "31"], &["0", "00", "32", "99"]),
    ("body/startDate", &["2031-02-05", "20310205"], &["2031-02-05T00:00:00Z", "2031-02-05 10:00"]),
    ("body/monthsOfExecution", &["1", "12"], &["0", "13", "-1", "100"]),
    ("query/withAccounts", &["true", "1", "FALSE", ""], &["undefined", "null", "maybe"]),
    (
        "header/TPP-Session-ID",
        &["a", "nullify", "session {1} of 2"],
        &["null", "{session-id}", "${session}", "[object Object]", "<session-id>"],
    ),
];

#[test]
fn what_is_right_under_no_reading_is_told_from_what_is_right_under_one() {
    for (at, right, wrong) in VALUES {
        let cleared = |text: &&str| broken("ncbct", &[(at, text)]).is_empty();
        let accused: Vec<_> = right.iter().filter(|text| !cleared(text)).collect();
        assert!(accused.is_empty(), "{at}: {accused:?}");
        let missed: Vec<_> = wrong.iter().filter(|text| cleared(text)).collect();
        assert!(missed.is_empty(), "{at}: {missed:?}");
    }
}

#[test]
fn rules_look_at_lines_items_and_other_places() {
    let one = |clause: &str, is_warning: bool| vec![(clause.to_owned(), is_warning)];
    let fix = "header/x-accept-fix";
    for (operation, fields, expected) in [
        ("basket", &[(fix, "longer-name")][..], one("header.x-accept-fix.basket.value", false)),
        ("basket", &[(fix, "longer-name, amount-as-string")], one("header.x-accept-fix.basket.value", true)),
        (
            "basket",
            &[("body/paymentIds", "a"), ("body/paymentIds", "a")],
            one("basket.payment-ids.duplicate", true),
        ),
        ("ncbct", &[("body/", "a member"), ("body/", "a member")], one("json.duplicate-keys", true)),
        ("customers", &[("query/", "withAccounts")], vec![]),
        ("customers", &[("query/", "with_accounts[]")], one("customers.with-accounts.type", false)),
        ("ncbct", &[("header/", "no Host")], one("http.field-lines", false)),
        (
            "periodic",
            &[("body/monthsOfExecution", "3"), ("body/frequency", "Monthly")],
            one("periodic.months.other-frequency", true),
        ),
        ("periodic", &[("body/monthsOfExecution", "3"), ("body/frequency", "MonthlyVariable")], vec![]),
        ("ncbct", &[(fix, "no-such-change")], one("header.x-accept-fix.format", true)),
        ("ncbct", &[(fix, "true")], one("header.x-accept-fix.format", false)),
        (
            "ncbct",
            &[("header/Signature", "a"), ("header/signature", "a")],
            one("header.signature.format", false),
        ),
        ("periodic", &[("body/monthsOfExecution", "3"), ("body/monthsOfExecution", "6")], vec![]),
        (
            "periodic",
            &[("body/monthsOfExecution", "3"), ("body/monthsOfExecution", "3")],
            one("periodic.months.duplicate", false),
        ),
        ("payment-status", &[("header/PSU-Context", "CORPORATE")], one("error.corporate-id", false)),
        (
            "ncbct",
            &[("header/PSU-Context", "CORPORATE"), ("header/PSU-Corporate-ID", " ")],
            one("error.corporate-id", false),
        ),
        ("ncbct", &[("header/PSU-Context", "CORPORATE"), ("header/PSU-Corporate-ID", "A-1")], vec![]),
        ("ncbct", &[("header/PSU-Geo-Location", "undefined")], one("header.psu-geo-location.ncbct", true)),
        (
            "ncbct",
            &[("body/instructedAmount/currency", "EUR"), ("body/instructedAmount/amount", "50000.00")],
            one("ncbct.regulatory-reporting.other-currency", true),
        ),
        (
            "ncbct",
            &[("body/instructedAmount/currency", "EUR"), ("body/instructedAmount/amount", "5000.00")],
            vec![],
        ),
    ] {
        assert_eq!(broken(operation, fields), expected, "{operation} {fields:?}");
    }
}

#[test]
fn codes_of_rejections_say_something_of_some_requests() {
    let rules = ClientRules::load(&Tree::embedded()).unwrap();
    let clause = |operation: &str, code: &str, headers: &[&str]| {
        let has = |name: &str| headers.contains(&name);
        let rule = rules.rejection(operation, (400, &[code.to_owned()]), &has)?;
        Some((rule.wrong().clause, rule.warn))
    };
    let warned = |clause: &str| Some((clause.to_owned(), true));
    assert_eq!(clause("basket", "REFERENCE_MIX_INVALID", &[]), Some(("basket.mix".to_owned(), false)));
    assert_eq!(clause("transaction", "CONSENT_EXPIRED", &[]), warned("limit.consent-age"));
    assert_eq!(clause("transaction", "CONSENT_EXPIRED", &["PSU-IP-Address"]), warned("limit.sca-renewal"));
    assert_eq!(clause("transaction", "BAD_REQUEST", &[]), warned("error.corporate-id"));
    assert_eq!(clause("transaction", "BAD_REQUEST", &["PSU-Corporate-ID"]), None);
    assert_eq!(clause("ncbct", "BAD_REQUEST", &[]), warned("error.kid.status"));
    assert_eq!(clause("periodic", "KID_INVALID", &["PSU-Corporate-ID"]), warned("error.kid.status"));
    assert_eq!(clause("deletion", "CONFLICT", &[]), warned("error.pdng"));
    assert_eq!(clause("ncbct", "FORMAT_ERROR", &[]), None);
    let codes = ["BAD_REQUEST".to_owned()];
    assert!(rules.rejection("ncbct", (403, &codes), &|_| false).is_none(), "L302 and L303 say 400");
    assert!(rules.is_of_a_code("basket.mix") && !rules.is_of_a_code("limit.consent-age"));
}

#[test]
fn a_table_of_ibans_that_is_none_is_named() {
    let expected = BTreeMap::from([("NO".to_owned(), 15)]);
    assert_eq!(lengths("country,bban,national_check\nNO,4!n6!n1!n,own\n").unwrap(), expected);
    for table in ["country,bban\nNO\n", "country,bban\nNO,eleven\n", "land,bban\nNO,4!n\n"] {
        let problem = lengths(table).unwrap_err();
        assert_eq!(problem.file, IBANS, "{table}");
    }
}
