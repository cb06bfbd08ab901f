//! One request and its response, with the places marked that a case changed or a finding names.

use serde_json::{Value, json};
use xs2aspec_record::{Body, CaseVerdict, Exchange, Header};

use super::markup::{LINE, cut, escaped};
use crate::text;

/// Limit of the characters of a body that are shown. The record has the rest.
const BODY: usize = 8_000;

/// A text with marked lines.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Marked {
    text: String,
    /// Numbers of the marked lines, from 0.
    marks: Vec<usize>,
}

impl Marked {
    fn push(&mut self, line: &str, is_marked: bool) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        if is_marked {
            self.marks.push(self.text.matches('\n').count());
        }
        self.text.push_str(&cut(line, LINE));
    }

    /// Returns the data for the page's script.
    pub(super) fn value(&self) -> Value {
        json!([self.text, self.marks])
    }

    /// Renders the HTML, in a scrollable frame.
    pub(super) fn html(&self, label: &str) -> String {
        let lines = self.text.lines().enumerate().map(|(at, line)| {
            let line = escaped(line);
            if self.marks.contains(&at) { format!("<mark>{line}</mark>") } else { line }
        });
        let lines: Vec<String> = lines.collect();
        format!("<pre tabindex=\"0\" role=\"region\" aria-label=\"{label}\">{}</pre>", lines.join("\n"))
    }
}

/// Returns the place of a change: `body/name` of `body/name = "x"`.
pub(super) fn place(change: &str) -> &str {
    change.split(' ').next().unwrap_or_default()
}

/// Returns the places of a request that a case changes.
pub(super) fn changed(verdict: &CaseVerdict) -> Vec<String> {
    let places = verdict.changes.iter().map(|change| place(change).to_owned());
    places.filter(|place| place.contains('/')).collect()
}

/// Returns the places in which the request of a case differs from its control, as far as they are known.
pub(super) fn differing(verdict: &CaseVerdict) -> Vec<String> {
    let places = verdict.differences.iter().map(|one| one.place.clone());
    let places: Vec<String> = places.filter(|place| place.contains('/')).collect();
    if places.is_empty() { changed(verdict) } else { places }
}

/// Returns the value at a place of the header or body of a request.
pub(super) fn at(exchange: &Exchange, place: &str) -> Option<Value> {
    let request = &exchange.request;
    match place.split_once('/')? {
        ("header", name) => {
            let found = request.headers.iter().find(|Header(known, _)| known.eq_ignore_ascii_case(name))?;
            Some(Value::from(found.1.as_str()))
        }
        ("body", pointer) => {
            let Some(Body::Text(text)) = &request.body else { return None };
            let body: Value = serde_json::from_str(text).ok()?;
            body.pointer(&format!("/{pointer}")).cloned()
        }
        _ => None,
    }
}

/// Renders the request, with these places marked.
pub(super) fn request(exchange: &Exchange, places: &[String]) -> Marked {
    let request = &exchange.request;
    let mut sent = Marked::default();
    let is_query = places.iter().any(|place| place.starts_with("query/") || place.starts_with("path/"));
    sent.push(&format!("{} {}", request.method, request.url), is_query);
    headers(&mut sent, &request.headers, places);
    body(&mut sent, request.body.as_ref(), places);
    sent
}

/// Renders the response, with these places marked.
pub(super) fn answer(exchange: &Exchange, places: &[String]) -> Marked {
    let mut came = Marked::default();
    if let Some(answer) = &exchange.response {
        came.push(&answer.status.to_string(), places.iter().any(|place| place == "status"));
        headers(&mut came, &answer.headers, places);
        body(&mut came, answer.body.as_ref(), places);
    }
    if let Some(failure) = &exchange.failure {
        came.push(failure, true);
    }
    came
}

fn headers(shown: &mut Marked, headers: &[Header], places: &[String]) {
    for Header(name, value) in headers {
        let is = |place: &String| {
            let place = place.strip_prefix("header/").unwrap_or(place);
            place.eq_ignore_ascii_case(name)
        };
        shown.push(&format!("{name}: {value}"), places.iter().any(is));
    }
}

fn body(shown: &mut Marked, body: Option<&Body>, places: &[String]) {
    let Some(body) = body else { return };
    shown.push("", false);
    let text = cut(&body.shown(), BODY);
    let pointers: Vec<&str> = places.iter().filter_map(|place| place.strip_prefix("body")).collect();
    match serde_json::from_str::<Value>(&text) {
        // JSON that two parsers could read differently is shown verbatim.
        Ok(value) if format!("{value}") == without_blanks(&text) => {
            let mut printer = Printer { shown, pointers };
            printer.value("", "", &value, "", 0);
        }
        _ => {
            let names: Vec<String> = pointers
                .iter()
                .filter_map(|pointer| pointer.rsplit('/').next())
                .filter(|name| !name.is_empty())
                .map(|name| format!("\"{name}\""))
                .collect();
            let whole = pointers.contains(&"");
            for line in text.split('\n') {
                let is_marked = whole || names.iter().any(|name| line.contains(name.as_str()));
                shown.push(line, is_marked);
            }
        }
    }
}

/// Removes the white space between the tokens of JSON.
fn without_blanks(text: &str) -> String {
    let (mut kept, mut is_text, mut is_escaped) = (String::with_capacity(text.len()), false, false);
    for letter in text.chars() {
        if is_text || !letter.is_ascii_whitespace() {
            kept.push(letter);
        }
        if letter == '"' && !is_escaped {
            is_text = !is_text;
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    kept
}

/// Prints JSON with one line per field, and tracks the place of each line.
struct Printer<'a> {
    shown: &'a mut Marked,
    pointers: Vec<&'a str>,
}

impl Printer<'_> {
    fn value(&mut self, pointer: &str, name: &str, value: &Value, end: &str, depth: usize) {
        let items: Vec<(String, String, &Value)> = match value {
            Value::Object(members) => members
                .iter()
                .map(|(key, value)| (key.clone(), format!("{}: ", Value::from(key.as_str())), value))
                .collect(),
            Value::Array(items) => {
                items.iter().enumerate().map(|(at, item)| (at.to_string(), String::new(), item)).collect()
            }
            _ => Vec::new(),
        };
        if items.is_empty() {
            return self.line(pointer, depth, &format!("{name}{value}{end}"));
        }
        let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
        self.line(pointer, depth, &format!("{name}{open}"));
        let last = items.len() - 1;
        for (at, (key, name, value)) in items.iter().enumerate() {
            let end = if at < last { "," } else { "" };
            self.value(&format!("{pointer}/{key}"), name, value, end, depth + 1);
        }
        self.line(pointer, depth, &format!("{close}{end}"));
    }

    fn line(&mut self, pointer: &str, depth: usize, text: &str) {
        let below = |wanted: &&str| {
            pointer.strip_prefix(*wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_marked = self.pointers.iter().any(below);
        self.shown.push(&format!("{}{text}", "  ".repeat(depth)), is_marked);
    }
}

/// Returns the exchange as data for the page's script.
pub(super) fn value(exchange: &Exchange, changed: &[String], found: &[String]) -> Value {
    json!({
        "number": exchange.number,
        "step": exchange.step,
        "took": text::duration(exchange.micros),
        "sent": request(exchange, changed).value(),
        "came": answer(exchange, found).value(),
    })
}

#[cfg(test)]
mod tests {
    use xs2aspec_record::{Request, Response};

    use super::*;

    fn exchange() -> Exchange {
        let body = |text: &str| Body::of(text.as_bytes());
        Exchange {
            number: 3,
            case: "a/b".into(),
            step: "request".into(),
            look: None,
            operation: None,
            attempt: 1,
            request: Request {
                method: "POST".into(),
                url: "https://bank.test/v1?x=1".into(),
                headers: vec![Header("X-One".into(), "1".into())],
                body: body(r#"{"name":"n","amount":{"value":"1.10","of":[1,"</pre>"]}}"#),
            },
            response: Some(Response {
                status: 201,
                headers: vec![Header("Location".into(), "/1".into())],
                body: body(r#"{"id":1,"id":2,"status":"NEW"}"#),
            }),
            failure: None,
            at: 0,
            micros: 1,
        }
    }

    fn marked(marked: &Marked) -> Vec<&str> {
        let lines: Vec<&str> = marked.text.lines().collect();
        marked.marks.iter().map(|at| lines[*at].trim()).collect()
    }

    #[test]
    fn what_a_case_changed_is_marked_and_nothing_else() {
        let sent = |place: &str| marked_owned(&request(&exchange(), &[place.to_owned()]));
        assert_eq!(sent("body/amount/value"), ["\"value\": \"1.10\","]);
        assert_eq!(sent("body/amount/of/1"), ["\"</pre>\""]);
        assert_eq!(sent("body/amount").len(), 7);
        assert_eq!(sent("header/x-one"), ["X-One: 1"]);
        assert_eq!(sent("query/x"), ["POST https://bank.test/v1?x=1"]);
        assert_eq!(sent("body/value"), [""; 0]);
    }

    fn marked_owned(shown: &Marked) -> Vec<String> {
        marked(shown).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn what_is_no_plain_json_is_shown_as_it_came() {
        let came = answer(&exchange(), &["body/status".to_owned()]);
        assert_eq!(marked(&came), [r#"{"id":1,"id":2,"status":"NEW"}"#]);
        assert_eq!(marked(&answer(&exchange(), &["status".to_owned()])), ["201"]);
        assert_eq!(marked(&answer(&exchange(), &["location".to_owned()])), ["Location: /1"]);
        let html = request(&exchange(), &[]).html("request");
        assert!(html.contains("&lt;/pre&gt;") && !html.contains("<mark>"), "{html}");
    }
}
