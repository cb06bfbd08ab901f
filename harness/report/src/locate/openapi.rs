//! An OpenAPI description (3.0, 3.1) with the lines of its parts.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_saphyr::Spanned;

use super::{LocateError, fit};
use crate::findings::Found;

/// The depth to which schemas are searched. They may refer to themselves.
const DEEPEST: usize = 24;

/// A description.
#[derive(Debug)]
pub(super) struct OpenApi {
    root: Node,
    lines: Vec<String>,
}

/// A part of a description, and the line at which it begins.
#[derive(Debug)]
struct Node {
    line: usize,
    value: Value,
}

#[derive(Debug)]
enum Value {
    Map(Vec<(String, Node)>),
    List(Vec<Node>),
    Text(String),
    Other,
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { value, referenced, .. } = Spanned::deserialize(deserializer)?;
        Ok(Self { line: usize::try_from(referenced.line()).unwrap_or(1), value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Values)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("YAML or JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Value::Map(entries))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Other)
    }
}

impl Node {
    fn entries(&self) -> &[(String, Self)] {
        if let Value::Map(entries) = &self.value { entries } else { &[] }
    }

    fn items(&self) -> &[Self] {
        if let Value::List(items) = &self.value { items } else { &[] }
    }

    /// Returns the value of a key, ignoring case.
    fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|(known, _)| known.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    }

    fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }
}

impl OpenApi {
    /// Reads a description in YAML or JSON.
    pub(super) fn read(text: &str) -> Result<Self, LocateError> {
        let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
        let root: Node = serde_saphyr::from_str_with_options(text, options)
            .map_err(|error| LocateError::Syntax(error.to_string()))?;
        if root.get("paths").is_none() {
            return Err(LocateError::Unknown);
        }
        Ok(Self { root, lines: text.lines().map(str::to_owned).collect() })
    }

    /// Returns the line of the field or parameter that a finding is about, or else that of its operation.
    pub(super) fn line(&self, method: &str, path: &str, found: &Found) -> Option<u32> {
        let paths = self.root.get("paths")?.entries().iter();
        let fitting = paths.filter_map(|(template, item)| Some((fit(template, path)?, item)));
        // Literal segments come before parameters.
        let (_, item) = fitting.max_by_key(|(segments, item)| (*segments, item.get(method).is_some()))?;
        let operation = item.get(method)?;
        let mut response = found.place.split(' ');
        let answered = response.next().unwrap_or_default();
        let field = self.of_response(operation, answered).or_else(|| {
            let mut sent = response.chain(found.root.places());
            sent.find_map(|place| self.of_request(item, operation, place))
        });
        let line = field.unwrap_or_else(|| self.key_line(method, operation));
        u32::try_from(line).ok()
    }

    /// Returns the line of a header or a field of a response.
    fn of_response(&self, operation: &Node, place: &str) -> Option<usize> {
        let (part, name) = place.split_once('/')?;
        let mut responses =
            operation.get("responses")?.entries().iter().map(|(_, response)| self.target(response));
        responses.find_map(|response| match part {
            "header" => Some(self.key_line(name, response.get("headers")?.get(name)?)),
            "body" => self.of_content(response, name),
            _ => None,
        })
    }

    /// Returns the line of a parameter or a field of a request.
    fn of_request(&self, item: &Node, operation: &Node, place: &str) -> Option<usize> {
        let (part, name) = place.split_once('/')?;
        if part == "body" {
            return self.of_content(self.target(operation.get("requestBody")?), name);
        }
        let lists = [operation, item].into_iter().filter_map(|node| node.get("parameters"));
        let mut parameters = lists.flat_map(Node::items).map(|parameter| self.target(parameter));
        let is_named = |parameter: &&Node| {
            parameter.get("name").and_then(Node::text).is_some_and(|known| known.eq_ignore_ascii_case(name))
        };
        parameters.find(is_named).map(|parameter| parameter.line)
    }

    /// Returns the line of a field in the body of a message.
    fn of_content(&self, message: &Node, field: &str) -> Option<usize> {
        let steps: Vec<&str> = field.split('/').collect();
        let mut media = message.get("content")?.entries().iter();
        media.find_map(|(_, media)| self.of_schema(media.get("schema")?, &steps, 0))
    }

    /// Returns the line of the deepest known field on the way to the last step.
    fn of_schema(&self, schema: &Node, steps: &[&str], depth: usize) -> Option<usize> {
        let (first, rest) = steps.split_first()?;
        let schema = self.target(schema);
        if depth > DEEPEST {
            return None;
        }
        if *first == "*" {
            return self.of_schema(schema.get("items")?, rest, depth + 1);
        }
        if let Some(field) = schema.get("properties").and_then(|fields| fields.get(first)) {
            let deeper = self.of_schema(field, rest, depth + 1);
            return Some(deeper.unwrap_or_else(|| self.key_line(first, field)));
        }
        let parts = ["allOf", "oneOf", "anyOf"].into_iter().filter_map(|key| schema.get(key));
        parts.flat_map(Node::items).find_map(|part| self.of_schema(part, steps, depth + 1))
    }

    /// Follows references within the description.
    fn target<'a>(&'a self, mut node: &'a Node) -> &'a Node {
        for _ in 0..DEEPEST {
            let reference = node.get("$ref").and_then(Node::text);
            let Some(pointer) = reference.and_then(|text| text.strip_prefix("#/")) else { break };
            let unescaped = |step: &str| step.replace("~1", "/").replace("~0", "~");
            let found = pointer.split('/').try_fold(&self.root, |at, step| at.get(&unescaped(step)));
            let Some(found) = found else { break };
            node = found;
        }
        node
    }

    /// Returns the line of the key of a value, which is on the line of the value or above it.
    fn key_line(&self, key: &str, value: &Node) -> usize {
        let key = key.to_ascii_lowercase();
        let is_key = |line: &&usize| {
            let text = self.lines.get(**line - 1).map(|text| text.to_ascii_lowercase()).unwrap_or_default();
            let start = text.trim_start().trim_start_matches(['"', '\'']);
            start.strip_prefix(&key).is_some_and(|rest| rest.starts_with(['"', '\'', ':', ' ']))
        };
        let above: Vec<usize> = (1..=value.line).rev().take(DEEPEST).collect();
        above.iter().find(is_key).copied().unwrap_or(value.line)
    }
}

#[cfg(test)]
mod tests {
    use xs2aspec_record::{Difference, Verdict};

    use crate::{Run, locate::Locator, sample::Sample};

    const YAML: &str = "\
openapi: 3.0.3
paths:
  /v1/periodic-payments/{product}:
    parameters:
      - $ref: '#/components/parameters/psu'
    post:
      summary: create
      requestBody:
        content:
          application/json:
            schema:
              $ref: '#/components/schemas/Periodic'
      responses:
        '201':
          content:
            application/json:
              schema: { $ref: '#/components/schemas/Created' }
  /v1/other:
    get: {}
components:
  parameters:
    psu:
      name: PSU-ID
      in: header
  schemas:
    Base:
      type: object
      properties:
        monthsOfExecution:
          type: array
          items: { type: string }
    Periodic:
      allOf:
        - $ref: '#/components/schemas/Base'
        - $ref: '#/components/schemas/Periodic'
    Created:
      properties:
        paymentId: { type: string }
";

    /// Returns the line of a finding with this place in its response and this changed place of the request.
    fn line(text: &str, at: &str, changed: &str) -> u32 {
        let mut sample = Sample::new(1);
        let verdict = sample.verdict("periodic.months/one", Verdict::Fail);
        verdict.findings[0].at = at.to_owned();
        let sent = Some("1".to_owned());
        verdict.differences = vec![Difference { place: changed.to_owned(), sent, control: None }];
        let run = Run::of(&sample.finished()).unwrap();
        let places = Locator::read("api/openapi.yaml", text).unwrap().places(run.summary());
        assert_eq!(places.len(), 1);
        let place = places.into_values().next().unwrap();
        assert_eq!(place.file, "api/openapi.yaml");
        place.line
    }

    #[test]
    fn a_finding_is_on_the_line_of_its_field_parameter_or_operation() {
        for (at, changed, expected) in [
            ("status", "body/monthsOfExecution", "monthsOfExecution"),
            ("status", "header/PSU-ID", "name: PSU-ID"),
            ("body/paymentId", "body/monthsOfExecution", "paymentId"),
            ("status", "header/Digest", "post:"),
            ("body/nowhere", "", "post:"),
        ] {
            let found = line(YAML, at, changed) as usize;
            let text = YAML.lines().nth(found - 1).unwrap();
            assert!(text.contains(expected), "{at} {changed}: line {found}, {text}");
        }
    }

    #[test]
    fn json_is_read_like_yaml_and_an_unknown_operation_is_line_1() {
        let json = "{\n  \"paths\": {\n    \"/v1/periodic-payments/{product}\": {\n      \"post\": {\n        \
                    \"summary\": \"x\"\n      }\n    }\n  }\n}\n";
        assert_eq!(line(json, "status", "body/months"), 4);
        assert_eq!(line("paths:\n  /v1/other:\n    post: {}\n", "status", ""), 1);
    }
}
