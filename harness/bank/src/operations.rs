//! The operations. Each takes a request whose headers, digest and signature are in order.

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
use crate::certificate::Certificates;
use crate::clock::Clock;
use crate::digest;
use crate::header::{Fields, Header};
use crate::header_check;
use crate::json::{self, JsonError};
use crate::member::Object;
use crate::operation::{Operation, Product};
use crate::policy::Policy;
use crate::psu::{self, Caller};
use crate::refusal::Refusal;
use crate::state::State;
pub use payment::unknown as unknown_payment;
pub use query::known as parameters;
pub use twin::twin;

/// A request as it came in.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The method, in capitals.
    pub method: &'a str,
    /// Path and query, below the prefix of the bank.
    pub uri: &'a Uri,
    /// The header fields, with those of one name in their order.
    pub headers: &'a HeaderMap,
    /// The body, whatever it is.
    pub body: &'a [u8],
    /// The variable parts of the path, percent-decoded, in their order.
    pub path_parameters: &'a [String],
    /// How many requests came before it on its connection; 0 without one.
    pub turn: usize,
}

impl Request<'_> {
    /// What it has besides its body.
    pub fn head(&self) -> Head<'_> {
        Head { fields: Fields(self.headers), uri: self.uri, turn: self.turn }
    }

    /// What tells this request from others: ids follow from it, and not from what else is asked at the same
    /// time.
    pub fn origin(&self) -> u64 {
        let mut hash = Sha256::new();
        hash.update(self.headers.get("x-request-id").map_or(&b""[..], HeaderValue::as_bytes));
        hash.update(self.uri.path());
        hash.update(self.body);
        hash.finalize().iter().take(8).fold(0, |origin, byte| origin << 8 | u64::from(*byte))
    }
}

/// What a request has besides its body.
#[derive(Clone, Copy)]
pub struct Head<'a> {
    /// The header fields.
    pub fields: Fields<'a>,
    /// Path and query, below the prefix of the bank.
    pub uri: &'a Uri,
    /// How many requests came before it on its connection; 0 without one.
    pub turn: usize,
}

/// What may stand between a request and the checks of the bank.
pub trait Between {
    /// Looks at the head of a request before it is checked.
    fn head(&self, operation: Operation, fields: Fields<'_>, uri: &Uri) -> Result<(), Refusal>;
    /// Reads the bytes of a body in another way, before they are read as JSON.
    fn bytes<'a>(&self, operation: Operation, body: &'a [u8]) -> Result<Cow<'a, [u8]>, JsonError>;
    /// Looks at the members of a body before they are checked, or changes them.
    fn members(&self, operation: Operation, members: &mut Map<String, Value>) -> Result<(), Refusal>;
}

/// What the operations need of the bank.
pub struct Context {
    /// The path that all routes are below.
    pub prefix: String,
    /// Where it takes the time from.
    pub clock: Clock,
    /// What it knows and remembers.
    pub state: State,
    /// The certificates that it was shown.
    pub certificates: Certificates,
}

/// Performs an operation by this policy, or refuses the request by the first rule that it does not keep:
/// headers, query, digest, signature, PSU, body.
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

/// Verifies certificate and signature of a request, where the bank asks for them.
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
    // The router takes the prefix away, which was signed with the rest.
    let prefix = &context.prefix;
    let target = request.uri.path_and_query().map_or_else(|| request.uri.path(), |target| target.as_str());
    let message = Message { fields, method: request.method, target: &format!("{prefix}{target}") };
    authentication::verify(message, &context.certificates, policy)
}

/// Makes test data.
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

/// A body that is no JSON object.
fn unreadable(operation: Operation, error: &JsonError) -> Refusal {
    Refusal::format(format!("{operation}.body"), error.to_string()).at("")
}

/// The operations on what is there already, whose first path parameter says on which.
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

/// A `Link` (the document, section Resources > Shared types).
pub(crate) fn link(href: &str, verbs: &[&str]) -> Value {
    json!({ "href": href, "verbs": verbs })
}
