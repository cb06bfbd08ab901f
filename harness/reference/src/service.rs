//! The HTTP service: routes, bodies and responses.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{ConnectInfo, RawPathParams, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, MethodRouter, get, on};
use chrono::DateTime;
use serde_json::{Value, json};
use tokio::time::timeout_at;
use xs2aspec_bank::operation::Operation;
use xs2aspec_bank::operations::{self, Context};
use xs2aspec_bank::refusal::{Code, Refusal};

use crate::connection::Turns;
use crate::log;
use crate::rejection::{self, Rejected};
use crate::rules::{Call, Form, Plain, REASON, Rules, Wrapper};

/// The maximum size of a body in bytes. Larger ones get 413. The document sets no limit, and none of its
/// bodies comes near this one.
const BODY_LIMIT: usize = 1 << 20;

/// The state of the routes.
pub(crate) struct Service {
    /// The rules of the bank.
    pub(crate) rules: Rules,
    pub(crate) context: Context,
    /// True to write one line per request.
    pub(crate) log: bool,
    /// The time limit for a body.
    pub(crate) patience: Duration,
    /// The receiver of rejections.
    pub(crate) rejections: Option<Sender<Rejected>>,
}

/// Returns the routes. Unknown paths get 404, and known paths with another method get 405.
pub(crate) fn router(service: Arc<Service>) -> Router {
    let mut router = Router::new();
    let rules = service.rules;
    for operation in Operation::SPECIFIED.into_iter().chain(Operation::MENTIONED) {
        let elsewhere = rules.forms().find_map(|form| form.route(operation));
        router = router.route(elsewhere.unwrap_or(&operation.route()), route(operation));
    }
    router = router.route("/openapi.json", get(description));
    if service.context.clock.is_controlled() {
        router = router.route("/clock", get(clock).put(set_clock));
    }
    if let Some(prefix) = rules.forms().find_map(Form::prefix) {
        router = Router::new().nest(prefix, router);
    }
    router.fallback(unknown_path).method_not_allowed_fallback(wrong_method).with_state(service)
}

fn route(operation: Operation) -> MethodRouter<Arc<Service>> {
    let handler =
        move |State(service): State<Arc<Service>>,
              parameters: Result<RawPathParams, RawPathParamsRejection>,
              request: Request| async move { serve(&service, operation, parameters, request).await };
    let filter = MethodFilter::try_from(operation.method()).unwrap_or(MethodFilter::GET);
    on(filter, handler)
}

async fn serve(
    service: &Service,
    operation: Operation,
    parameters: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Response {
    let started = Instant::now();
    let (parts, body) = request.into_parts();
    // A path whose percent-encoding is not UTF-8 names nothing that the bank knows.
    let parameters: Vec<String> =
        parameters.map(|known| known.iter().map(|(_, value)| value.to_owned()).collect()).unwrap_or_default();
    let absent = service.rules.forms().find_map(|form| form.absent(operation));
    let mut delay = None;
    let mut rules = service.rules;
    let outcome = match (read_body(&parts.headers, body, service.patience).await, absent) {
        (Ok(body), None) => {
            delay = service.rules.forms().find_map(|form| form.delay(operation));
            let request = operations::Request {
                method: parts.method.as_str(),
                uri: &parts.uri,
                headers: &parts.headers,
                body: &body,
                path_parameters: &parameters,
                turn: parts.extensions.get::<ConnectInfo<Turns>>().map_or(0, |turns| turns.0.next()),
            };
            rules = rules.within(operation, request.head(), &body, &service.context.state);
            let wrappers: Vec<_> = rules.wrappers().collect();
            let policy = rules.policy();
            let call = Call { context: &service.context, policy, operation, request: &request };
            let other = wrappers.iter().find_map(|wrapper| wrapper.rewrite(&call));
            let request = other.as_ref().map_or(request, |(path_parameters, body)| operations::Request {
                body,
                path_parameters,
                ..request
            });
            let call = Call { request: &request, ..call };
            let handle = || {
                let (status, mut answer) =
                    operations::perform(&service.context, (policy, &rules), operation, &request)?;
                rules.alter(operation, &mut answer);
                Ok((status, answer))
            };
            let outcome = Wrapper::around_all(&wrappers, &call, &handle);
            if outcome.is_ok() {
                rules.note_answer(operation, request.head(), &service.context.state);
            }
            outcome.map_err(|refusal| rules.refuse(refusal))
        }
        (Ok(_), Some(refusal)) | (Err(refusal), _) => Err(refusal),
    };
    if service.log {
        let status = outcome.as_ref().map_or_else(|refusal| refusal.status, |(status, _)| *status);
        let rule = outcome.as_ref().err().map(|refusal| match status {
            // No rule of the document covers errors of the connection, so log the whole text.
            StatusCode::REQUEST_TIMEOUT => refusal.text(),
            _ => refusal.rule.clone(),
        });
        let rule = rule.as_deref();
        log::request(operation.id(), status.as_u16(), rule, started.elapsed());
    }
    let answer = match outcome {
        Ok((status, body)) => {
            let mut answer = Plain::new(status, body);
            let base = base(&parts.headers);
            rules.forms().for_each(|form| form.accept(&base, &mut answer));
            answer
        }
        Err(refusal) => {
            rejection::tell(service.rejections.as_ref(), &parts, &refusal);
            refused(rules, Some(operation), &refusal)
        }
    };
    if let Some(delay) = delay {
        tokio::time::sleep(delay).await;
    }
    respond(service, &parts.headers, answer)
}

fn refused(rules: Rules, operation: Option<Operation>, refusal: &Refusal) -> Plain {
    let mut answer = Plain::new(refusal.status, refusal.body());
    rules.forms().for_each(|form| form.refuse(operation, refusal, &mut answer));
    // A payment that is created with status RJCT has the status of creations.
    rules
        .forms()
        .filter(|form| matches!(form, Form::Creates(_)))
        .for_each(|form| form.accept("", &mut answer));
    answer
}

async fn read_body(headers: &HeaderMap, body: Body, patience: Duration) -> Result<Vec<u8>, Refusal> {
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let too_large = || {
        let says = format!("expected a body of at most {BODY_LIMIT} bytes, found more");
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, Code::BadRequest, "http.body-size", says)
    };
    if announced.is_some_and(|bytes: usize| bytes > BODY_LIMIT) {
        return Err(too_large());
    }
    let (mut body, mut bytes) = (Box::pin(body), Vec::new());
    let deadline = Instant::now() + patience;
    loop {
        let frame = poll_fn(|context| body.as_mut().poll_frame(context));
        let data = match timeout_at(deadline.into(), frame).await {
            Ok(None) => return Ok(bytes),
            Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            Ok(Some(Err(_))) => {
                return Err(Refusal::format("http.body", "expected a complete body, found a truncated one"));
            }
            Err(_) => return Err(late(announced, bytes.len(), patience)),
        };
        if bytes.len() + data.len() > BODY_LIMIT {
            return Err(too_large());
        }
        bytes.extend_from_slice(&data);
    }
}

/// Rejects a body that is shorter than announced.
fn late(announced: Option<usize>, came: usize, patience: Duration) -> Refusal {
    let within = patience.as_secs_f64();
    let says = match announced {
        Some(announced) => format!(
            "expected a body of {announced} bytes (Content-Length), got {came} within {within} s: correct Content-Length or send the rest"
        ),
        None => format!("expected the last chunk of the body within {within} s, got {came} bytes without it"),
    };
    Refusal::new(StatusCode::REQUEST_TIMEOUT, Code::BadRequest, "http.body", says)
}

/// Returns the address of the request (RFC 9110 section 7.2).
fn base(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("127.0.0.1");
    format!("http://{host}")
}

/// Serves the OpenAPI description.
async fn description(headers: HeaderMap) -> axum::Json<Value> {
    axum::Json(xs2aspec_bank::openapi::description(&base(&headers)))
}

/// Returns the time of the bank. Not part of the interface, unsigned, and available only with an adjustable
/// clock.
async fn clock(State(service): State<Arc<Service>>) -> axum::Json<Value> {
    axum::Json(json!({ "now": service.context.clock.now().to_rfc3339() }))
}

/// Sets the time of the bank: `{"now": "2030-01-31T12:00:00Z"}`.
async fn set_clock(State(service): State<Arc<Service>>, headers: HeaderMap, body: Bytes) -> Response {
    let wanted: Option<Value> = serde_json::from_slice(&body).ok();
    let instant = wanted.as_ref().and_then(|body| DateTime::parse_from_rfc3339(body["now"].as_str()?).ok());
    let Some(instant) = instant else {
        let says = "expected {\"now\": \"2030-01-31T12:00:00Z\"} with an RFC 3339 instant";
        return refuse(&service, &headers, &Refusal::format("clock.form", says).at("/now"));
    };
    service.context.clock.set(instant.to_utc());
    clock(State(service)).await.into_response()
}

async fn unknown_path(State(service): State<Arc<Service>>, headers: HeaderMap) -> Response {
    let says = "expected a path of this interface, found another";
    let refusal = Refusal::new(StatusCode::NOT_FOUND, Code::NotFound, "http.path", says);
    refuse(&service, &headers, &refusal)
}

async fn wrong_method(State(service): State<Arc<Service>>, headers: HeaderMap) -> Response {
    let says = "expected the method of this path, found another";
    let refusal = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, Code::BadRequest, "http.method", says);
    refuse(&service, &headers, &refusal)
}

fn refuse(service: &Service, headers: &HeaderMap, refusal: &Refusal) -> Response {
    if service.log {
        log::request("no operation", refusal.status.as_u16(), Some(&refusal.rule), Duration::ZERO);
    }
    let rules = service.rules;
    respond(service, headers, refused(rules, None, refusal))
}

/// Returns a JSON response that repeats the X-Request-ID of its request.
fn respond(service: &Service, request: &HeaderMap, answer: Plain) -> Response {
    let rules = service.rules;
    let Plain { status, mut body, text, content_type, reason } = answer;
    let mut written = text.map(str::to_owned);
    if written.is_none() {
        rules.forms().for_each(|form| form.write(&mut body, &mut written));
    }
    let is_empty = status == StatusCode::NO_CONTENT || text == Some("");
    let mut response = Response::new(Body::empty());
    if !is_empty {
        let bytes = written.unwrap_or_else(|| body.to_string()).into_bytes();
        *response.body_mut() = match rules.forms().find(|form| form.is_coding()) {
            Some(form) => form.code(bytes, response.headers_mut()),
            None => Body::from(bytes),
        };
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    *response.status_mut() = status;
    let headers = response.headers_mut();
    if let Some(id) = request.get("x-request-id") {
        headers.insert("x-request-id", id.clone());
    }
    if let Some(reason) = reason.and_then(|reason| HeaderValue::from_str(&reason).ok()) {
        headers.insert(REASON, reason);
    }
    // Without a fixed clock, hyper writes the system time.
    if let Some(date) = service.context.clock.date().and_then(|date| HeaderValue::from_str(&date).ok()) {
        headers.insert(header::DATE, date);
    }
    if status == StatusCode::UNAUTHORIZED {
        // A 401 must have a challenge (RFC 9110 section 15.5.2). The scheme is that of the draft (section
        // 3.1.1).
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Signature realm=\"xs2a\""));
    }
    rules.forms().for_each(|form| form.send(&mut response));
    response
}
