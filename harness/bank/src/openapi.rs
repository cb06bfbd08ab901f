//! The OpenAPI 3.1.0 description of the interface (spec.openapis.org/oas/v3.1.0).
//!
//! Paths, methods and headers come from the code of the bank. Schemas of bodies are in
//! `openapi/schemas.json`, summaries and examples of headers in `openapi/tables.json`.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::header::{self, Header};
use crate::operation::Operation;
use crate::operations;

/// Returns the description of a bank at this address.
pub fn description(base_url: &str) -> Value {
    let mut paths = Map::new();
    for operation in Operation::SPECIFIED.into_iter().chain(Operation::MENTIONED) {
        let path = paths.entry(operation.route()).or_insert_with(|| json!({}));
        path[operation.method().as_str().to_lowercase()] = described(operation);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "xs2aspec reference bank",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A PSD2 XS2A interface that conforms to its document. Every request is signed: the Signature header covers \
                            date, digest, x-request-id, psu-id, psu-corporate-id and tpp-redirect-uri, each when available."
        },
        "servers": [{ "url": base_url }],
        "paths": paths,
        "security": [{ "signature": [] }],
        "components": { "schemas": schemas(), "securitySchemes": security() }
    })
}

/// Returns the security scheme. Its name is that of the challenge in a 401.
fn security() -> Value {
    json!({ "signature": {
        "type": "http",
        "scheme": "Signature",
        "description": "Each request is signed separately (draft-cavage-http-signatures-10): the Signature header names its key as \
                        `SN=<serial>,CA=<issuer>`, TPP-Signature-Certificate holds the certificate in base64, and requests with a body \
                        (except the signing basket) have a Digest."
    } })
}

/// Returns the schemas of bodies by name (JSON Schema 2020-12).
pub fn schemas() -> Value {
    // The compiled-in file is valid JSON, so the default is not used.
    serde_json::from_str(include_str!("openapi/schemas.json")).unwrap_or_default()
}

fn described(operation: Operation) -> Value {
    let mut described = json!({
        "operationId": operation_id(operation),
        "summary": says(operation)["summary"],
        "parameters": parameters(operation),
        "responses": responses(operation)
    });
    if let Some(schema) = request_schema(operation) {
        described["requestBody"] = json!({ "required": true, "content": content(schema) });
    }
    described
}

/// Returns the schema name of the request body of an operation, or None if it has no body.
pub fn request_schema(operation: Operation) -> Option<&'static str> {
    says(operation)["request"].as_str()
}

/// Returns the schema name of the success response of an operation, or an empty string if it has no body.
pub fn answer_schema(operation: Operation) -> &'static str {
    says(operation)["answer"].as_str().unwrap_or_default()
}

/// Returns the summaries, rejections and header examples.
fn tables() -> &'static Value {
    // The compiled-in file is valid JSON, so the default is not used.
    static TABLES: LazyLock<Value> =
        LazyLock::new(|| serde_json::from_str(include_str!("openapi/tables.json")).unwrap_or_default());
    &TABLES
}

/// Returns the table row of an operation.
fn says(operation: Operation) -> &'static Value {
    &tables()["operations"][operation_id(operation)]
}

/// Returns the id of an operation. Operations that exist once for each product have the product in it.
fn operation_id(operation: Operation) -> String {
    match operation {
        Operation::Payment(product) | Operation::Status(product) | Operation::Deletion(product) => {
            format!("{}-{operation}", product.id())
        }
        other => other.to_string(),
    }
}

fn responses(operation: Operation) -> Value {
    let schema = answer_schema(operation);
    let (status, success) = match operation {
        Operation::Deletion(_) => ("204", json!({ "description": "Deleted" })),
        _ if operation.creates() => ("201", json!({ "description": "Created", "content": content(schema) })),
        _ => ("200", json!({ "description": "OK", "content": content(schema) })),
    };
    let mut responses = Map::new();
    responses.insert(status.to_owned(), success);
    let refusals = [&tables()["refusals"], &says(operation)["refusals"]];
    for (status, description) in refusals.into_iter().filter_map(Value::as_object).flatten() {
        let refusal = json!({ "description": description, "content": content("Refusal") });
        responses.insert(status.clone(), refusal);
    }
    Value::Object(responses)
}

fn content(schema: &str) -> Value {
    let reference = format!("#/components/schemas/{schema}");
    let mut content = json!({ "application/json": { "schema": { "$ref": reference } } });
    if let Some(example) = examples().get(schema) {
        content["application/json"]["example"] = example.clone();
    }
    content
}

/// Returns an example for each top-level schema by its name.
fn examples() -> Value {
    // The compiled-in file is valid JSON, so the default is not used.
    serde_json::from_str(include_str!("openapi/examples.json")).unwrap_or_default()
}

fn parameters(operation: Operation) -> Value {
    let route = operation.route();
    let in_path = route.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let in_path = in_path
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }));
    let in_query = operations::parameters(operation).iter().map(
        |name| json!({ "name": name, "in": "query", "required": false, "schema": { "type": "boolean" } }),
    );
    let headers = header::parts(operation).map(|(header, is_required)| {
        // X-PSU-IDENTITY is an alternative to PSU-ID on payment creation, so neither is required by itself.
        let says = &tables()["headers"][header.name()];
        let is_required = is_required && !(header == Header::PsuId && operation.creates_payment());
        json!({
            "name": header.name(),
            "in": "header",
            "required": is_required,
            "schema": says["schema"],
            "example": says["example"]
        })
    });
    // Signed when available (the document, section Authentication, rule 2).
    let date = json!({
        "name": "date",
        "in": "header",
        "required": false,
        "schema": { "type": "string" },
        "example": "Thu, 31 Jan 2030 12:00:00 GMT"
    });
    Value::Array(in_path.chain(in_query).chain(headers).chain([date]).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::currency::Currency;

    #[test]
    fn every_operation_is_described_once_and_every_reference_leads_somewhere() {
        let description = description("http://127.0.0.1:1");
        let operations: Vec<&Value> = description["paths"]
            .as_object()
            .unwrap()
            .values()
            .flat_map(|path| path.as_object().unwrap().values())
            .collect();
        let ids: BTreeSet<&str> =
            operations.iter().map(|operation| operation["operationId"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), Operation::SPECIFIED.len() + Operation::MENTIONED.len());
        for operation in &operations {
            assert!(operation["summary"].is_string(), "{operation}");
            let parameters = operation["parameters"].as_array().unwrap();
            assert!(parameters.iter().all(|parameter| parameter["schema"].is_object()), "{operation}");
        }
        let text = description.to_string();
        for part in text.split("\"#/components/schemas/").skip(1) {
            let name = part.split('"').next().unwrap();
            assert!(description["components"]["schemas"][name].is_object(), "{name}");
        }
    }

    #[test]
    fn required_headers_are_those_that_the_bank_demands() {
        let required = |operation| {
            let parameters = parameters(operation);
            let names = parameters.as_array().unwrap().iter().filter(|one| one["required"] == true);
            names.map(|one| one["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(
            required(Operation::Customers),
            ["x-request-id", "tpp-signature-certificate", "signature"]
        );
        assert!(required(Operation::Basket).contains(&"psu-id".to_owned()));
        assert!(!required(Operation::Ncbct).contains(&"psu-id".to_owned()));
        assert_eq!(required(Operation::Transaction)[..2], ["id", "transactionId"]);
    }

    #[test]
    fn every_body_has_an_example_that_its_schema_allows() {
        let description = description("http://127.0.0.1:1");
        let mut bodies = Vec::new();
        for operation in description["paths"]
            .as_object()
            .unwrap()
            .values()
            .flat_map(|path| path.as_object().unwrap().values())
        {
            bodies.extend(operation.pointer("/requestBody/content/application~1json"));
            let responses = operation["responses"].as_object().unwrap().values();
            bodies.extend(responses.filter_map(|answer| answer.pointer("/content/application~1json")));
        }
        assert!(bodies.len() > 80);
        for body in bodies {
            let mut schema = body["schema"].clone();
            schema["components"] = description["components"].clone();
            let validator = jsonschema::validator_for(&schema).unwrap();
            let errors: Vec<String> =
                validator.iter_errors(&body["example"]).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{}: {errors:?}", body["schema"]);
        }
    }

    /// Generated types lose fields that the schemas do not name.
    #[test]
    fn every_member_of_an_example_is_described() {
        let schemas = schemas();
        for (name, example) in examples().as_object().unwrap() {
            described(&schemas, &schemas[name], example, name);
        }
    }

    /// Asserts that the schema has a property for every field of a value, at any depth.
    fn described(schemas: &Value, schema: &Value, value: &Value, at: &str) {
        match value {
            Value::Object(members) => {
                for (member, value) in members {
                    let at = format!("{at}/{member}");
                    let found = property(schemas, schema, member);
                    described(schemas, found.unwrap_or_else(|| panic!("{at} is not described")), value, &at);
                }
            }
            Value::Array(items) => {
                let item = property(schemas, schema, "").unwrap_or(&Value::Null);
                for value in items {
                    described(schemas, item, value, at);
                }
            }
            _ => {}
        }
    }

    /// Returns the schema of a field, or of the items of an array if the name is empty.
    fn property<'a>(schemas: &'a Value, schema: &'a Value, name: &str) -> Option<&'a Value> {
        if let Some(reference) = schema["$ref"].as_str() {
            return property(schemas, &schemas[reference.rsplit('/').next()?], name);
        }
        let own = if name.is_empty() { schema.get("items") } else { schema["properties"].get(name) };
        let more = || schema.get("additionalProperties").filter(|more| more.is_object() && !name.is_empty());
        let parts =
            ["allOf", "oneOf", "anyOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten();
        own.or_else(|| parts.into_iter().find_map(|part| property(schemas, part, name))).or_else(more)
    }

    #[test]
    fn the_address_has_the_forms_that_the_bank_takes_and_requests_are_signed() {
        let description = description("http://127.0.0.1:1");
        assert_eq!(description["security"], json!([{ "signature": [] }]));
        assert!(description.pointer("/components/securitySchemes/signature/scheme").is_some());
        let validator = jsonschema::options()
            .should_validate_formats(true)
            .build(&tables()["headers"]["psu-ip-address"]["schema"])
            .unwrap();
        for (address, fits) in
            [("192.0.2.10", true), ("2001:db8::1", true), ("192.0.2", false), ("here", false), ("", false)]
        {
            assert_eq!(validator.is_valid(&json!(address)), fits, "{address}");
            assert_eq!(address.parse::<std::net::IpAddr>().is_ok(), fits, "{address}");
        }
    }

    #[test]
    fn the_currencies_are_those_that_the_bank_takes() {
        let schemas = schemas();
        let listed = schemas["Currency"]["enum"].as_array().unwrap();
        assert_eq!(listed.len(), 162);
        for code in listed {
            assert!(Currency::listed(code.as_str().unwrap()).is_some(), "{code}");
        }
    }
}
