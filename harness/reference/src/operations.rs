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

use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use chrono::DateTime;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::authentication;
use crate::certificate::Certificates;
use crate::clock::Clock;
use crate::digest;
use crate::header::{Fields, Header};
use crate::header_check;
use crate::json;
use crate::member::Object;
use crate::operation::{Operation, Product};
use crate::psu;
use crate::refusal::{Code, Refusal};
use crate::rules::{self, Breach, DigestBreach, Form, Head, Rules, StateBreach, Variance};
use crate::state::{Owner, State};
use crate::strictness;
pub(crate) use query::known as parameters;

/// A request as it came in.
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    pub(crate) uri: &'a Uri,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a [u8],
    /// The variable parts of the path, percent-decoded, in their order.
    pub(crate) path_parameters: &'a [String],
    /// How many requests came before it on its connection; 0 without one.
    pub(crate) turn: usize,
}

impl Request<'_> {
    /// What it has besides its body.
    pub(crate) fn head(&self) -> Head<'_> {
        Head { fields: Fields(self.headers), uri: self.uri, turn: self.turn }
    }

    /// What tells this request from others: ids follow from it, and not from what else is asked at the same
    /// time.
    fn origin(&self) -> u64 {
        let mut hash = Sha256::new();
        hash.update(self.headers.get("x-request-id").map_or(&b""[..], HeaderValue::as_bytes));
        hash.update(self.uri.path());
        hash.update(self.body);
        hash.finalize().iter().take(8).fold(0, |origin, byte| origin << 8 | u64::from(*byte))
    }
}

/// What the operations need of the bank.
pub(crate) struct Context {
    pub(crate) rules: Rules,
    pub(crate) clock: Clock,
    pub(crate) state: State,
    pub(crate) certificates: Certificates,
}

/// Performs an operation by these rules, or refuses the request by the first one that it breaks: headers,
/// query, digest, signature, PSU, body.
pub(crate) fn perform(
    context: &Context,
    rules: Rules,
    operation: Operation,
    request: &Request<'_>,
) -> Result<(StatusCode, Value), Refusal> {
    let fields = Fields(request.headers);
    rules.treat_head(operation, fields, request.uri)?;
    strictness::check_head(operation, fields, request.uri, rules)?;
    header_check::check(fields, operation, rules)?;
    let query = query::check(request.uri, operation, rules)?;
    // The basket has a body but no Digest in the document's table; one that is sent is checked all the same.
    if operation.has_body()
        && let Some(value) = fields.text(Header::Digest)
    {
        check_digest(context, &value, operation, request, rules)?;
    }
    // The router takes the prefix away, which was signed with the rest.
    let prefix = rules.forms().find_map(Form::prefix).unwrap_or_default();
    let target = request.uri.path_and_query().map_or_else(|| request.uri.path(), |target| target.as_str());
    let target = format!("{prefix}{target}");
    let not_required = |header| rules.broken_by(Breach::HeaderNotRequired(header, operation));
    let unsigned = [Header::Signature, Header::TppSignatureCertificate]
        .into_iter()
        .any(|header| not_required(header) && !fields.has(header));
    if rules.state_breach() == Some(StateBreach::RefusedTwins) && operation == Operation::Ncbct {
        note_twin(context, request.body);
    }
    if let (Some(StateBreach::DeletedUnverified), Operation::Deletion(product), Some(id)) =
        (rules.state_breach(), operation, request.path_parameters.first())
    {
        context.state.cancel(id, product, context.clock.today());
    }
    if !unsigned && !rules.broken_by(Breach::NotVerified(operation)) {
        let verified = authentication::verify(fields, request.method, &target, &context.certificates, rules);
        let wrong_before = context.state.count_wrong_signatures(verified.is_ok());
        if rules.state_breach() == Some(StateBreach::KeyIdOfTwo)
            && operation == Operation::Transaction
            && is_of_two(context, fields)
        {
            let says = "expected a key id of one certificate, found one that came with two";
            return Err(Refusal::unauthenticated("signature.key-id", says).at(Header::Signature.name()));
        }
        verified?;
        if rules.state_breach() == Some(StateBreach::LockedAfterFive) && wrong_before >= 5 {
            let says = "expected a key that was not used wrongly five times, found one that was";
            return Err(Refusal::unauthenticated("signature.locked", says).at(Header::Signature.name()));
        }
    }
    check_freshness(context, fields)?;

    if operation == Operation::Customers {
        return Ok((StatusCode::OK, customers::list(&context.state, &query, rules, request.origin())));
    }
    if sandbox::is_of_it(operation) {
        return test_data(context, operation, request);
    }
    let psu_context = psu::identify(&context.state, fields, operation, rules)?;
    let mut owner = psu::asking(&context.state, fields, operation, &context.certificates);
    if rules.state_breach() == Some(StateBreach::PersonAsNamed) && !fields.has(Header::PsuId) {
        owner.psu = fields.text(Header::XPsuIdentity).or(owner.psu);
    }
    if !operation.creates() {
        return read(context, operation, request, (psu_context, owner));
    }
    let mut members = match read_object(request.body, rules) {
        Ok(members) => members,
        Err(_) if rules.broken_by(Breach::BodyNotRead(operation)) => rules::valid(operation),
        Err(error) => return Err(unreadable(operation, &error.to_string(), rules)),
    };
    rules.treat_body(operation, &mut members)?;
    strictness::check_debtor(&context.state, &members, rules)?;
    let (body, today) = (Object::root(&members, operation.id()), context.clock.today());
    let mut created = match operation {
        Operation::Ncbct => {
            let due = ncbct::check(&body, today, rules)?;
            psu::check_debtor(&context.state, fields, operation, &members, rules)?;
            let allows_twin = query.flag("allowLogicalDuplicate");
            twin::check(context, Product::Ncbct, &members, &owner, allows_twin)?;
            payment::create(context, Product::Ncbct, due, members, owner, request.origin())?
        }
        Operation::Periodic => {
            let due = periodic::check(&body, today, rules)?;
            reference::check(&body, rules)?;
            psu::check_debtor(&context.state, fields, operation, &members, rules)?;
            payment::create(context, Product::Periodic, due, members, owner, request.origin())?
        }
        _ => {
            let asking = payment::Asking { state: &context.state, owner, today, rules };
            basket::create(&body, &asking, request.origin())?
        }
    };
    let named = fields.text(Header::XAcceptFix).unwrap_or_default();
    if rules.varied_by(Variance::DigitsAsNamed) && !named.contains("amount-as-string") {
        payment::without_decimals(&mut created);
    }
    let is_other = match rules.state_breach() {
        Some(StateBreach::StatusByTurns) => context.state.is_turn(),
        Some(StateBreach::StatusByHeader) => fields.bytes("psu-user-agent").is_some(),
        _ => false,
    };
    Ok((if is_other { StatusCode::OK } else { StatusCode::CREATED }, created))
}

/// Checks a Digest, unless a fault takes it for one that was checked.
fn check_digest(
    context: &Context,
    value: &str,
    operation: Operation,
    request: &Request<'_>,
    rules: Rules,
) -> Result<(), Refusal> {
    let fields = Fields(request.headers);
    if rules.broken_by(Breach::Digest(DigestBreach::NotInChunks))
        && fields.bytes("transfer-encoding").is_some()
    {
        return Ok(());
    }
    let remembered = match rules.state_breach() {
        Some(StateBreach::DigestKnown) => value.to_owned(),
        Some(StateBreach::DigestOfRequest) => {
            format!("{} {value}", fields.text(Header::XRequestId).unwrap_or_default())
        }
        _ => return digest::check(value, request.body, operation, rules),
    };
    if context.state.is_known("digest", &remembered) {
        return Ok(());
    }
    digest::check(value, request.body, operation, rules)?;
    context.state.is_new("digest", &remembered);
    Ok(())
}

/// Remembers what a request would pay, whatever becomes of it.
fn note_twin(context: &Context, body: &[u8]) {
    let members = json::object(body).unwrap_or_default();
    let due = members.get("instructedAmount").map(Value::to_string).unwrap_or_default();
    context.state.count("asked", &due);
}

/// Turns the list round where customers come in any order. Last of all: what is altered stands at a place.
pub(crate) fn arrange(answer: &mut Value, rules: Rules, operation: Operation, request: &Request<'_>) {
    if operation == Operation::Customers
        && rules.varied_by(Variance::CustomersInAnyOrder)
        && customers::is_turn(request.origin())
        && let Value::Array(customers) = answer
    {
        customers.reverse();
    }
}

/// Whether the id of the key came with two certificates from this device of the PSU, now or before.
fn is_of_two(context: &Context, fields: Fields<'_>) -> bool {
    let header = fields.text(Header::Signature).unwrap_or_default();
    let named = header.split_once("keyId=\"").and_then(|(_, rest)| rest.split_once('"'));
    let Some((device, (key_id, _))) = fields.text(Header::PsuDeviceId).zip(named) else { return false };
    let key_id = &format!("{device} {key_id}");
    let certificate = fields.text(Header::TppSignatureCertificate).unwrap_or_default();
    if !context.state.is_first("key-id", key_id, &certificate) {
        context.state.is_new("key-id-of-two", key_id);
    }
    context.state.is_known("key-id-of-two", key_id)
}

/// The object of a body.
fn read_object(body: &[u8], rules: Rules) -> Result<Map<String, Value>, json::JsonError> {
    let otherwise = rules.breaches().find_map(|breach| match breach {
        Breach::Json(breach) => Some(breach),
        _ => None,
    });
    let members = match otherwise {
        Some(breach) => json::object_read_otherwise(body, breach),
        None if rules.varied_by(Variance::LastOfDuplicates) => json::object_of_last(body),
        None => json::object(body),
    };
    let ways: [(Variance, fn(Map<String, Value>) -> Map<String, Value>); 3] = [
        (Variance::NullIsAbsent, json::without_nulls),
        (Variance::LooseNames, json::with_usual_names),
        (Variance::SpacesDropped, json::without_spaces),
    ];
    let used = ways.into_iter().filter(|(variance, _)| rules.varied_by(*variance));
    used.fold(members, |members, (_, way)| members.map(way))
}

/// Makes test data.
fn test_data(
    context: &Context,
    operation: Operation,
    request: &Request<'_>,
) -> Result<(StatusCode, Value), Refusal> {
    let members = json::object(request.body)
        .map_err(|error| Refusal::format(format!("{operation}.body"), error.to_string()).at(""))?;
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

/// What some banks want of a request besides: that it was not sent before, and not long ago.
fn check_freshness(context: &Context, fields: Fields<'_>) -> Result<(), Refusal> {
    let once = [
        (Variance::RequestIdOnce, Header::XRequestId, "header.x-request-id.reuse"),
        (Variance::NoReplay, Header::Signature, "signature.replay"),
    ];
    for (variance, header, rule) in once {
        let value = fields.text(header).unwrap_or_default();
        if context.rules.varied_by(variance) && !context.state.is_new(header.name(), &value) {
            let says = "expected a value that was never used, found one that was";
            return Err(Refusal::format(rule, says).at(header.name()));
        }
    }
    if context.rules.varied_by(Variance::DateFresh) {
        let date = fields.bytes("date").and_then(|bytes| String::from_utf8(bytes).ok());
        let date = date.and_then(|text| DateTime::parse_from_rfc2822(&text).ok());
        let is_fresh =
            date.is_some_and(|date| (context.clock.now() - date.to_utc()).num_minutes().abs() <= 5);
        if !is_fresh {
            let says = "expected a Date of the last five minutes, found none";
            return Err(Refusal::unauthenticated("signature.headers.date-stale", says).at("date"));
        }
    }
    Ok(())
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
    request: &Request<'_>,
    (psu_context, owner): (Option<psu::Context>, Owner),
) -> Result<(StatusCode, Value), Refusal> {
    let Request { uri, headers, path_parameters, .. } = *request;
    let head = (Fields(headers), uri.query().unwrap_or_default());
    let (state, today) = (&context.state, context.clock.today());
    let asking = payment::Asking { state, owner, today, rules: context.rules };
    let id = path_parameters.first();
    let answer = match operation {
        Operation::Payment(product) => payment::details(product, id, &asking)?,
        Operation::Status(product) => payment::status(product, id, &asking)?,
        Operation::Deletion(product) => {
            payment::delete(product, id, &asking)?;
            return Ok((StatusCode::NO_CONTENT, Value::Null));
        }
        Operation::BasketStatus => basket::status(id, &asking)?,
        Operation::Transactions => {
            transaction::list(context, path_parameters, head, (psu_context, &asking.owner))?
        }
        _ => transaction::details(context, path_parameters, head, (psu_context, &asking.owner))?,
    };
    Ok((StatusCode::OK, answer))
}

/// A `Link` (the document, section Resources > Shared types).
pub(crate) fn link(href: &str, verbs: &[&str]) -> Value {
    json!({ "href": href, "verbs": verbs })
}
