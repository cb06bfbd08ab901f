//! A conforming bank behind a proxy that adds thirteen faults at once, and notes which responses it changed.
//! A case whose own request met a fault denies it or warns about it.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    io::{Result, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::Value;
use tempfile::TempDir;
use xs2aspec_record::{Level, Verdict};
use xs2aspec_reference::{Config, start};

use super::server::{created, message, split};
use crate::support::{REFERENCE, command, printed, recorded};

const NCBCT: &str = "/v1/payments/norwegian-cross-border-credit-transfers";
const PERIODIC: &str = "/v1/periodic-payments/norwegian-domestic-credit-transfers";

/// The parts of a request that the proxy reads.
struct Asked {
    method: String,
    path: String,
    query: String,
    head: String,
    body: Value,
}

impl Asked {
    fn read(request: &[u8]) -> Self {
        let (head, body) = split(request);
        let mut words = head.split(' ');
        let method = words.next().unwrap().to_owned();
        let target = words.next().unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let (path, query) = (path.to_owned(), query.to_owned());
        Self { method, path, query, body: serde_json::from_slice(body).unwrap_or_default(), head }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let fields = self.head.lines().filter_map(|line| line.split_once(':'));
        fields.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// Returns true if one of the fields has a value that matches.
    fn has(&self, members: &[&str], is_so: impl Fn(&Value) -> bool) -> bool {
        members.iter().any(|member| self.body.pointer(member).is_some_and(&is_so))
    }

    /// Returns true if one of the fields has a string that matches.
    fn says(&self, members: &[&str], is_so: impl Fn(&str) -> bool) -> bool {
        self.has(members, |value| value.as_str().is_some_and(&is_so))
    }

    fn is_transaction(&self) -> bool {
        self.path.contains("/transactions/")
    }
}

/// The treatment of a matching request.
enum Does {
    /// Accepts it with the last accepted response at this path.
    Takes,
    /// Rejects it.
    Refuses,
    /// Changes the response.
    Says(fn(&Value) -> Value),
    /// Rejects it without a body.
    SaysNothing,
}

struct Way {
    name: &'static str,
    does: Does,
    of: fn(&Asked) -> bool,
}

const AMOUNT: [&str; 1] = ["/instructedAmount/amount"];
const AMOUNT_CURRENCY: [&str; 1] = ["/instructedAmount/currency"];
const CURRENCIES: [&str; 3] =
    ["/instructedAmount/currency", "/creditorAccount/currency", "/debtorAccount/currency"];
const COUNTRY: [&str; 1] = ["/creditorAddress/country"];

fn is_empty(value: &Value) -> bool {
    value.is_null() || value == ""
}

fn has_parameter_twice(header: &str) -> bool {
    let names = header.split(',').filter_map(|one| one.split_once('=')).map(|(name, _)| name.trim());
    let mut known = BTreeSet::new();
    !names.into_iter().all(|name| known.insert(name.to_owned()))
}

/// The thirteen faults, with several values or places as one entry each.
const WAYS: &[Way] = &[
    Way {
        name: "1: takes an amount in words",
        does: Does::Takes,
        of: |asked| asked.says(&AMOUNT, |text| text.chars().all(char::is_alphabetic) && !text.is_empty()),
    },
    Way {
        name: "1: takes an amount with a comma",
        does: Does::Takes,
        of: |asked| asked.says(&AMOUNT, |text| text.contains(',')),
    },
    Way {
        name: "1: takes an amount with an exponent",
        does: Does::Takes,
        of: |asked| asked.says(&AMOUNT, |text| text.contains('e') && text.parse::<f64>().is_ok()),
    },
    Way {
        name: "1: takes an amount with a blank in it",
        does: Does::Takes,
        of: |asked| asked.says(&AMOUNT, |text| text.trim() == text && text.contains(' ')),
    },
    Way {
        name: "1: takes an amount with other digits",
        does: Does::Takes,
        of: |asked| asked.says(&AMOUNT, |text| text.chars().any(|one| one.is_numeric() && !one.is_ascii())),
    },
    Way {
        name: "1: takes an amount that is a number",
        does: Does::Takes,
        of: |asked| asked.has(&AMOUNT, Value::is_number),
    },
    Way {
        name: "2: takes an amount without digits",
        does: Does::Takes,
        of: |asked| asked.has(&AMOUNT, |value| value == ""),
    },
    Way {
        name: "2: takes an amount of null",
        does: Does::Takes,
        of: |asked| asked.has(&AMOUNT, Value::is_null),
    },
    Way {
        name: "2: takes no currency",
        does: Does::Takes,
        of: |asked| asked.has(&AMOUNT_CURRENCY, is_empty),
    },
    Way {
        name: "3: takes BYN",
        does: Does::Takes,
        of: |asked| asked.says(&CURRENCIES, |text| text == "BYN"),
    },
    Way {
        name: "3: takes MRU",
        does: Does::Takes,
        of: |asked| asked.says(&CURRENCIES, |text| text == "MRU"),
    },
    Way {
        name: "3: takes SLE",
        does: Does::Takes,
        of: |asked| asked.says(&CURRENCIES, |text| text == "SLE"),
    },
    Way {
        name: "3: takes SSP",
        does: Does::Takes,
        of: |asked| asked.says(&CURRENCIES, |text| text == "SSP"),
    },
    Way {
        name: "3: takes STN",
        does: Does::Takes,
        of: |asked| asked.says(&CURRENCIES, |text| text == "STN"),
    },
    Way {
        name: "3: takes VED",
        does: Does::Takes,
        of: |asked| asked.says(&CURRENCIES, |text| text == "VED"),
    },
    Way {
        name: "3: takes VES",
        does: Does::Takes,
        of: |asked| asked.says(&CURRENCIES, |text| text == "VES"),
    },
    Way {
        name: "3: takes XCG",
        does: Does::Takes,
        of: |asked| asked.says(&CURRENCIES, |text| text == "XCG"),
    },
    Way {
        name: "3: takes ZWG",
        does: Does::Takes,
        of: |asked| asked.says(&CURRENCIES, |text| text == "ZWG"),
    },
    Way { name: "4: takes XK", does: Does::Takes, of: |asked| asked.says(&COUNTRY, |text| text == "XK") },
    Way { name: "4: takes UK", does: Does::Takes, of: |asked| asked.says(&COUNTRY, |text| text == "UK") },
    Way { name: "4: takes EU", does: Does::Takes, of: |asked| asked.says(&COUNTRY, |text| text == "EU") },
    Way { name: "4: takes AN", does: Does::Takes, of: |asked| asked.says(&COUNTRY, |text| text == "AN") },
    Way {
        name: "5: takes a street that is no text",
        does: Does::Takes,
        of: |asked| asked.has(&["/creditorAddress/street"], is_no_text),
    },
    Way {
        name: "5: takes an IBAN that is no text",
        does: Does::Takes,
        of: |asked| asked.has(&["/creditorAccount/iban", "/debtorAccount/iban"], is_no_text),
    },
    Way {
        name: "5: takes a BBAN that is no text",
        does: Does::Takes,
        of: |asked| asked.has(&["/creditorAccount/bban", "/debtorAccount/bban"], is_no_text),
    },
    Way {
        name: "5: takes a currency that is no text",
        does: Does::Takes,
        of: |asked| asked.has(&CURRENCIES, is_no_text),
    },
    Way {
        name: "5: takes an executionRule that is no text",
        does: Does::Takes,
        of: |asked| asked.has(&["/executionRule"], is_no_text),
    },
    Way {
        name: "5: takes a creditorName that is a number",
        does: Does::Takes,
        of: |asked| asked.has(&["/creditorName"], Value::is_number),
    },
    Way {
        name: "5: takes a regulatoryReportingCode that is a number",
        does: Does::Takes,
        of: |asked| asked.has(&["/regulatoryReportingCode"], Value::is_number),
    },
    Way {
        name: "5: takes a regulatoryReportingInformation that is a number",
        does: Does::Takes,
        of: |asked| asked.has(&["/regulatoryReportingInformation"], Value::is_number),
    },
    Way {
        name: "5: takes an ultimateDebtor that is a number",
        does: Does::Takes,
        of: |asked| asked.has(&["/ultimateDebtor"], Value::is_number),
    },
    Way {
        name: "5: takes a buildingNumber that is a number",
        does: Does::Takes,
        of: |asked| asked.has(&["/creditorAddress/buildingNumber"], Value::is_number),
    },
    Way {
        name: "6: refuses months that do not ascend",
        does: Does::Refuses,
        of: |asked| {
            asked.has(&["/monthsOfExecution"], |months| {
                let months = months.as_array().into_iter().flatten().filter_map(Value::as_i64);
                !months.is_sorted()
            })
        },
    },
    Way {
        name: "7: refuses allowLogicalDuplicate=false",
        does: Does::Refuses,
        of: |asked| asked.path == NCBCT && asked.query == "allowLogicalDuplicate=false",
    },
    Way {
        name: "8: knows two countries for periodic payments",
        does: Does::Refuses,
        of: |asked| asked.path == PERIODIC && asked.says(&COUNTRY, |text| text != "NO" && text != "SE"),
    },
    Way {
        name: "9: deletes a pending payment without a word",
        does: Does::SaysNothing,
        of: |asked| asked.method == "DELETE",
    },
    Way {
        name: "10: refuses each parameter that comes twice",
        does: Does::Refuses,
        of: |asked| asked.header("signature").is_some_and(has_parameter_twice),
    },
    Way {
        name: "11: says nothing of funds",
        does: Does::Says(|answer| {
            let mut answer = answer.clone();
            if answer["transactionStatus"] == "RJCT" {
                answer["transactionStatus"] = "RCVD".into();
            }
            answer.as_object_mut().map(|members| members.remove("fundsAvailable"));
            answer
        }),
        of: |asked| !asked.is_transaction(),
    },
    Way {
        name: "12: shows a private person the members of companies",
        does: Does::Says(|answer| {
            let mut answer = answer.clone();
            if let Some(details) = answer.get_mut("transactionsDetails").and_then(Value::as_object_mut) {
                details.insert("batchIndicator".to_owned(), true.into());
                details.insert("batchNumberOfTransactions".to_owned(), 1.into());
            }
            answer
        }),
        of: |asked| {
            asked.is_transaction() && asked.header("psu-context").is_none_or(|context| context != "CORPORATE")
        },
    },
    Way {
        name: "13: shows another transaction than that asked for",
        does: Does::Says(|answer| {
            let mut answer = answer.clone();
            if let Some(id) = answer.pointer_mut("/transactionsDetails/transactionId") {
                *id = "another".into();
            }
            answer
        }),
        of: Asked::is_transaction,
    },
];

fn is_no_text(value: &Value) -> bool {
    !value.is_string() && !value.is_null()
}

/// The clauses whose cases meet the proxy. Only these cases run, since the proxy parses only the HTTP that
/// they need.
const ASKED: [&str; 20] = [
    "account.*",
    "address.*",
    "amount.*",
    "country.*",
    "currency.*",
    "error.funds*",
    "error.pdng*",
    "ncbct.allow-logical-duplicate*",
    "ncbct.creditor-name*",
    "ncbct.instructed-amount*",
    "ncbct.regulatory-reporting*",
    "periodic.creditor-name*",
    "periodic.execution-rule*",
    "periodic.instructed-amount*",
    "periodic.months*",
    "periodic.ultimate-debtor*",
    "signature.parameters.duplicate*",
    "transaction.*",
    "ncbct.path",
    "periodic.path",
];

/// The ids of the requests whose responses were changed, with the faults that changed them.
type Changed = Arc<Mutex<HashMap<String, BTreeSet<&'static str>>>>;

/// Starts a proxy in front of the bank at this address. It changes responses if `is_wrong`.
///
/// `wiremock` cannot forward the bytes of another server.
fn proxy(bank: std::net::SocketAddr, is_wrong: bool) -> (String, Changed) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let changed = Changed::default();
    let taken: Arc<Mutex<HashMap<String, Vec<u8>>>> = Arc::default();
    let told = Arc::clone(&changed);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (told, taken) = (Arc::clone(&told), Arc::clone(&taken));
            thread::spawn(move || -> Result<()> {
                stream.set_nodelay(true)?;
                let mut upstream = TcpStream::connect(bank)?;
                upstream.set_nodelay(true)?;
                loop {
                    let request = message(&mut stream)?;
                    upstream.write_all(&request)?;
                    let mut answer = message(&mut upstream)?;
                    if is_wrong {
                        let asked = Asked::read(&request);
                        let ways = changed_by(&asked, &mut answer, &taken);
                        let id = asked.header("x-request-id").unwrap_or_default().to_owned();
                        told.lock().unwrap().entry(id).or_default().extend(ways);
                    }
                    stream.write_all(&answer)?;
                }
            });
        }
    });
    (url, changed)
}

/// Changes a response, and returns the faults that did so.
fn changed_by(
    asked: &Asked,
    answer: &mut Vec<u8>,
    taken: &Mutex<HashMap<String, Vec<u8>>>,
) -> Vec<&'static str> {
    let mut ways = Vec::new();
    for way in WAYS.iter().filter(|way| (way.of)(asked)) {
        let (head, body) = split(answer);
        let is_refused = head.starts_with("HTTP/1.1 4");
        let other = match &way.does {
            Does::Takes if is_refused && asked.method == "POST" => {
                taken.lock().unwrap().get(&asked.path).cloned()
            }
            Does::Refuses if !is_refused => {
                let body = br#"{"tppMessages":[{"category":"ERROR","code":"FORMAT_ERROR"}]}"#;
                let made = String::from_utf8(created("", body)).unwrap();
                Some(made.replace("201 Created", "400 Bad Request").into_bytes())
            }
            Does::SaysNothing if is_refused => {
                Some(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec())
            }
            Does::Says(other) if !is_refused => {
                let old: Value = serde_json::from_slice(body).unwrap_or_default();
                let new = other(&old);
                (new != old).then(|| {
                    let new = new.to_string();
                    let kept = head.lines().filter(|line| !line.to_lowercase().starts_with("content-length"));
                    let head = kept.collect::<Vec<_>>().join("\r\n");
                    format!("{head}\r\nContent-Length: {}\r\n\r\n{new}", new.len()).into_bytes()
                })
            }
            _ => None,
        };
        if let Some(other) = other {
            *answer = other;
            ways.push(way.name);
        }
    }
    if ways.is_empty() && answer.starts_with(b"HTTP/1.1 201") {
        taken.lock().unwrap().insert(asked.path.clone(), answer.clone());
    }
    ways
}

/// Runs against the bank behind a proxy. Returns the exit code, the output, and the failed clauses by the
/// fault that changed the response to a case's own request.
fn run(is_wrong: bool) -> (Option<i32>, String, BTreeMap<&'static str, BTreeSet<String>>) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let bank = runtime.block_on(start(Config::default())).unwrap();
    let (url, changed) = proxy(bank.address(), is_wrong);
    let folder = TempDir::new().unwrap();
    let profile = folder.path().join("bank.toml");
    let lines: Vec<&str> = REFERENCE.lines().filter(|line| !line.starts_with("base-url")).collect();
    fs::write(&profile, format!("base-url = {url:?}\n{}", lines.join("\n"))).unwrap();
    let out = folder.path().join("out");
    let output = command()
        .args(["run", "--quiet", "--seed", "1", "--target"])
        .arg(&profile)
        .arg("--out")
        .arg(&out)
        .args(ASKED.iter().flat_map(|only| ["--only", only]))
        .output()
        .unwrap();
    let said = printed(&output);
    let (verdicts, exchanges) = recorded(&out, &said);
    let of_request = changed.lock().unwrap();
    let mut found: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let wrong = verdicts.iter().filter(|one| matches!(one.verdict, Verdict::Fail | Verdict::Warn));
    for verdict in wrong {
        let ids = exchanges.iter().filter(|one| one.case == verdict.case).filter_map(|one| {
            one.request.headers.iter().find(|field| field.0.eq_ignore_ascii_case("x-request-id"))
        });
        for way in ids.filter_map(|field| of_request.get(&field.1)).flatten() {
            let clauses = verdict.findings.iter().filter(|finding| finding.level != Level::Note);
            found.entry(way).or_default().extend(clauses.map(|finding| finding.clause.clone()));
        }
    }
    (output.status.code(), said, found)
}

#[test]
fn each_of_thirteen_ways_to_be_wrong_is_found() {
    let (code, said, found) = run(true);
    assert_eq!(code, Some(1), "{said}");
    for way in WAYS {
        let clauses = found.get(way.name).unwrap_or_else(|| panic!("nobody sees that it {}", way.name));
        assert!(!clauses.is_empty(), "{}", way.name);
    }
}

#[test]
fn a_proxy_that_changes_nothing_accuses_nobody() {
    let (code, said, found) = run(false);
    assert_eq!(code, Some(0), "{said}");
    assert!(found.is_empty(), "{found:?}");
}
