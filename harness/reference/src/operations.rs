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
use crate::fault::Rules;
use crate::header::{self, Fields, Header};
use crate::json;
use crate::member::Object;
use crate::operation::{Operation, Product};
use crate::psu;
use crate::refusal::Refusal;
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
    header::check(fields, operation, context.rules)?;
    let query = query::check(request.uri, operation)?;
    // The basket has a body but no Digest in the document's table; one that is sent is checked all the same.
    if operation.creates()
        && let Some(value) = fields.text(Header::Digest)
    {
        digest::check(&value, request.body)?;
    }
    let target = request.uri.path_and_query().map_or_else(|| request.uri.path(), |target| target.as_str());
    authentication::verify(fields, request.method, target, &context.certificates)?;

    if operation == Operation::Customers {
        return Ok((StatusCode::OK, customers::list(&query)));
    }
    let psu_context = psu::identify(fields, operation)?;
    if !operation.creates() {
        return read(context, operation, request.path_parameters, fields, psu_context);
    }
    let members = json::object(request.body)
        .map_err(|error| Refusal::format(format!("{operation}.body"), error.to_string()).at(""))?;
    let body = Object::root(&members, operation.id());
    let created = match operation {
        Operation::Ncbct => {
            let due = ncbct::check(&body, context.rules)?;
            payment::create(&context.state, Product::Ncbct, due, members)
        }
        Operation::Periodic => {
            let due = periodic::check(&body, context.rules)?;
            payment::create(&context.state, Product::Periodic, due, members)
        }
        _ => basket::create(&body, &context.state, context.rules)?,
    };
    Ok((StatusCode::CREATED, created))
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
            payment::delete(state, product, id)?;
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
