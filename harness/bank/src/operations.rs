//! The operations, and the order of the rules for each.

mod basket;
mod customers;
mod ncbct;
mod payment;
mod periodic;
mod query;
mod reference;
mod sandbox;
mod transaction;
mod twin;

use std::borrow::Cow;

use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::authentication::{self, Message, freshness};
pub use crate::context::Context;
use crate::digest;
use crate::header::{Fields, Header};
use crate::header_check;
use crate::json::{self, JsonError};
use crate::member::Object;
use crate::operation::{Operation, Product};
use crate::policy::Policy;
use crate::psu::{self, Caller};
use crate::refusal::Refusal;
pub use payment::unknown as unknown_payment;
pub use query::known as parameters;
pub use twin::twin;

/// A request as received.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The method, in uppercase.
    pub method: &'a str,
    /// Path and query, below the prefix of the bank.
    pub uri: &'a Uri,
    /// The header fields. Lines of one name are in their order.
    pub headers: &'a HeaderMap,
    /// The bytes of the body.
    pub body: &'a [u8],
    /// The variable parts of the path, percent-decoded, in their order.
    pub path_parameters: &'a [String],
    /// The number of earlier requests on the same connection.
    pub turn: usize,
}

impl Request<'_> {
    /// Returns the request without its body.
    pub fn head(&self) -> Head<'_> {
        Head { fields: Fields(self.headers), uri: self.uri, turn: self.turn }
    }

    /// Returns a hash of X-Request-ID, path and body. Ids derive from it, so they do not depend on concurrent
    /// requests.
    pub fn origin(&self) -> u64 {
        let mut hash = Sha256::new();
        hash.update(self.headers.get("x-request-id").map_or(&b""[..], HeaderValue::as_bytes));
        hash.update(self.uri.path());
        hash.update(self.body);
        hash.finalize().iter().take(8).fold(0, |origin, byte| origin << 8 | u64::from(*byte))
    }
}

/// A request without its body.
#[derive(Clone, Copy)]
pub struct Head<'a> {
    /// The header fields.
    pub fields: Fields<'a>,
    /// Path and query, below the prefix of the bank.
    pub uri: &'a Uri,
    /// The number of earlier requests on the same connection.
    pub turn: usize,
}

/// Hooks between a request and the checks of the bank.
pub trait Between {
    /// Inspects the head of a request before it is checked.
    fn head(&self, operation: Operation, fields: Fields<'_>, uri: &Uri) -> Result<(), Refusal>;
    /// Rewrites the bytes of a body before they are parsed as JSON.
    fn bytes<'a>(&self, operation: Operation, body: &'a [u8]) -> Result<Cow<'a, [u8]>, JsonError>;
    /// Inspects or changes the fields of a body before they are checked.
    fn members(&self, operation: Operation, members: &mut Map<String, Value>) -> Result<(), Refusal>;
}

/// Performs an operation under this policy. The first violated rule rejects the request, in this order:
/// headers, query, Digest, signature, PSU, body.
pub fn perform(
    context: &Context,
    (policy, between): (&Policy, &dyn Between),
    operation: Operation,
    request: &Request<'_>,
) -> Result<(StatusCode, Value), Refusal> {
    let fields = Fields(request.headers);
    between.head(operation, fields, request.uri)?;
    header_check::check(fields, operation, &policy.headers)?;
    let query = query::check(request.uri, operation, policy)?;
    digest::check(fields, request.body, operation, &policy.digest)?;
    authenticate(context, policy, operation, request)?;
    freshness::check(fields, &context.state, &context.clock, &policy.signature)?;

    match operation {
        Operation::Customers => return Ok((StatusCode::OK, customers::list(&context.state, &query, policy))),
        Operation::CreateCustomer | Operation::CreateAccount | Operation::Book | Operation::SetBalance => {
            return test_data(context, operation, request);
        }
        _ => {}
    }
    let caller = psu::identify(context, policy, operation, fields)?;
    if !operation.creates() {
        return read(&caller, operation, request);
    }
    let mut members = between
        .bytes(operation, request.body)
        .and_then(|body| json::object(&body))
        .map_err(|error| unreadable(operation, &error))?;
    between.members(operation, &mut members)?;
    let body = Object::root(&members, operation.id());
    let created = match operation {
        Operation::Ncbct => {
            let due = ncbct::check(&body, caller.today, policy)?;
            caller.check_debtor(fields, operation, &members)?;
            twin::check(&caller, Product::Ncbct, &members, query.flag("allowLogicalDuplicate"))?;
            payment::create(&caller, Product::Ncbct, due, members, request.origin())?
        }
        Operation::Periodic => {
            let due = periodic::check(&body, caller.today, policy)?;
            reference::check(&body, &policy.references)?;
            caller.check_debtor(fields, operation, &members)?;
            payment::create(&caller, Product::Periodic, due, members, request.origin())?
        }
        _ => basket::create(&body, &caller, request.origin())?,
    };
    Ok((StatusCode::CREATED, created))
}

/// Verifies certificate and signature of a request, unless the policy exempts it.
pub fn authenticate(
    context: &Context,
    policy: &Policy,
    operation: Operation,
    request: &Request<'_>,
) -> Result<(), Refusal> {
    let fields = Fields(request.headers);
    let unsigned = [Header::Signature, Header::TppSignatureCertificate]
        .into_iter()
        .any(|header| policy.headers.may_lack(header, operation) && !fields.has(header));
    if unsigned || policy.signature.exempt.contains(&operation) {
        return Ok(());
    }
    // The router strips the prefix, but the signature covers it.
    let prefix = &context.prefix;
    let target = request.uri.path_and_query().map_or_else(|| request.uri.path(), |target| target.as_str());
    let message = Message { fields, method: request.method, target: &format!("{prefix}{target}") };
    authentication::verify(message, &context.certificates, policy)
}

/// Creates or changes test data in the sandbox.
fn test_data(
    context: &Context,
    operation: Operation,
    request: &Request<'_>,
) -> Result<(StatusCode, Value), Refusal> {
    let members = json::object(request.body).map_err(|error| unreadable(operation, &error))?;
    let body = Object::root(&members, operation.id());
    let id = request.path_parameters.first();
    let made = match operation {
        Operation::CreateAccount => sandbox::create_account(context, id, &body, request.origin())?,
        Operation::Book => sandbox::book(context, id, members, request.origin())?,
        Operation::SetBalance => return Ok((StatusCode::OK, sandbox::set_balance(context, id, &body)?)),
        _ => sandbox::create_customer(context, &body, request.origin())?,
    };
    Ok((StatusCode::CREATED, made))
}

/// Rejects a body that is not a JSON object.
fn unreadable(operation: Operation, error: &JsonError) -> Refusal {
    Refusal::format(format!("{operation}.body"), error.to_string()).at("")
}

/// Performs the operations on existing resources. The first path parameter is the id.
fn read(
    caller: &Caller<'_>,
    operation: Operation,
    request: &Request<'_>,
) -> Result<(StatusCode, Value), Refusal> {
    let id = request.path_parameters.first();
    let answer = match operation {
        Operation::Payment(product) => payment::details(product, id, caller)?,
        Operation::Status(product) => payment::status(product, id, caller)?,
        Operation::Deletion(product) => {
            payment::delete(product, id, caller)?;
            return Ok((StatusCode::NO_CONTENT, Value::Null));
        }
        Operation::BasketStatus => basket::status(id, caller)?,
        Operation::Transactions => transaction::list(caller, request)?,
        _ => transaction::details(caller, request)?,
    };
    Ok((StatusCode::OK, answer))
}

/// Returns a `Link` (the document, section Resources > Shared types).
pub(crate) fn link(href: &str, verbs: &[&str]) -> Value {
    json!({ "href": href, "verbs": verbs })
}
