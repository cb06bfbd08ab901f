//! The five operations. Each takes a request whose headers, digest and signature are in order.

mod basket;
mod customers;
mod ncbct;
mod payment;
mod periodic;
mod query;
mod transaction;

use axum::http::{HeaderMap, StatusCode, Uri};
use serde_json::{Value, json};

use crate::authentication;
use crate::certificate::Certificates;
use crate::clock::Clock;
use crate::digest;
use crate::fault::{self, Breach, Rules};
use crate::header::{self, Fields, Header};
use crate::json;
use crate::member::Object;
use crate::operation::{Operation, Product};
use crate::psu;
use crate::refusal::{Code, Refusal};
use crate::state::State;

/// A request as it came in.
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    pub(crate) uri: &'a Uri,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a [u8],
    /// The variable parts of the path, percent-decoded, in their order.
    pub(crate) path_parameters: &'a [String],
}

/// What the operations need of the bank.
pub(crate) struct Context {
    pub(crate) rules: Rules,
    pub(crate) clock: Clock,
    pub(crate) state: State,
    pub(crate) certificates: Certificates,
}

/// Performs an operation, or refuses the request by the first rule that it breaks: headers, query, digest, signature,
/// PSU, body.
pub(crate) fn perform(
    context: &Context,
    operation: Operation,
    request: &Request<'_>,
) -> Result<(StatusCode, Value), Refusal> {
    let fields = Fields(request.headers);
    let rules = context.rules;
    rules.treat_head(operation, fields, request.uri)?;
    header::check(fields, operation, rules)?;
    let query = query::check(request.uri, operation)?;
    // The basket has a body but no Digest in the document's table; one that is sent is checked all the same.
    if operation.creates()
        && let Some(value) = fields.text(Header::Digest)
    {
        digest::check(&value, request.body, operation, rules)?;
    }
    let target = request.uri.path_and_query().map_or_else(|| request.uri.path(), |target| target.as_str());
    let not_required = |header| rules.broken_by(Breach::HeaderNotRequired(header, operation));
    let unsigned = [Header::Signature, Header::TppSignatureCertificate]
        .into_iter()
        .any(|header| not_required(header) && !fields.has(header));
    if !unsigned {
        authentication::verify(fields, request.method, target, &context.certificates, rules)?;
    }

    if operation == Operation::Customers {
        return Ok((StatusCode::OK, customers::list(&query)));
    }
    let psu_context = psu::identify(fields, operation, rules)?;
    if !operation.creates() {
        return read(context, operation, request.path_parameters, fields, psu_context);
    }
    let mut members = match json::object(request.body) {
        Ok(members) => members,
        Err(_) if rules.broken_by(Breach::BodyNotRead(operation)) => fault::valid(operation),
        Err(error) => return Err(unreadable(operation, &error.to_string(), rules)),
    };
    rules.treat_body(operation, &mut members)?;
    let body = Object::root(&members, operation.id());
    let created = match operation {
        Operation::Ncbct => {
            let due = ncbct::check(&body, rules)?;
            payment::create(&context.state, Product::Ncbct, due, members, rules)?
        }
        Operation::Periodic => {
            let due = periodic::check(&body, rules)?;
            payment::create(&context.state, Product::Periodic, due, members, rules)?
        }
        _ => basket::create(&body, &context.state, rules)?,
    };
    Ok((StatusCode::CREATED, created))
}

/// A body that is no JSON object.
fn unreadable(operation: Operation, error: &str, rules: Rules) -> Refusal {
    if rules.broken_by(Breach::BodyFails) {
        let (status, says) = (StatusCode::INTERNAL_SERVER_ERROR, "the bank failed on this body");
        return Refusal::new(status, Code::SystemError, "system.failure", says);
    }
    Refusal::format(format!("{operation}.body"), error).at("")
}

/// The operations on what is there already, whose first path parameter says on which.
fn read(
    context: &Context,
    operation: Operation,
    path_parameters: &[String],
    fields: Fields<'_>,
    psu_context: Option<psu::Context>,
) -> Result<(StatusCode, Value), Refusal> {
    let state = &context.state;
    let id = path_parameters.first();
    let answer = match operation {
        Operation::Payment(product) => payment::details(state, product, id)?,
        Operation::Status(product) => payment::status(state, product, id)?,
        Operation::Deletion(product) => {
            payment::delete(state, product, id, context.rules)?;
            return Ok((StatusCode::NO_CONTENT, Value::Null));
        }
        Operation::BasketStatus => basket::status(state, id)?,
        Operation::Transactions => transaction::list(context, path_parameters, fields, psu_context)?,
        _ => transaction::details(context, path_parameters, fields, psu_context)?,
    };
    Ok((StatusCode::OK, answer))
}

/// A `Link` (the document, section Resources > Shared types).
pub(crate) fn link(href: &str, verbs: &[&str]) -> Value {
    json!({ "href": href, "verbs": verbs })
}
