//! Starting and stopping the bank.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Request, Response};
use futures::future::BoxFuture;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tower_service::Service as _;
use xs2aspec_bank::certificate::Certificates;
use xs2aspec_bank::clock::Clock;
use xs2aspec_bank::operations::Context;
use xs2aspec_bank::seed::Seed;
use xs2aspec_bank::state::State;

use crate::busy::Busy;
use crate::connection::{Acceptor, Tls, Turns};
use crate::fault::Fault;
use crate::patience::Waiter;
use crate::rejection::Rejected;
use crate::rules::{Form, Rules};
use crate::service::{Service, router};
use crate::variation::Variation;

/// How long [`Bank::shutdown`] waits for connections that are still in use.
const SHUTDOWN_PATIENCE: Duration = Duration::from_secs(2);

/// How long the rest of a request is waited for. The document shows no limit.
const PATIENCE: Duration = Duration::from_secs(10);

/// What kind of bank to start.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen; port 0 takes a free one.
    pub address: SocketAddr,
    /// What it breaks: mostly one clause in one way, or nothing.
    pub faults: Vec<Fault>,
    /// The freedoms that it uses in another way, if any; those of a [`Style`](crate::Style) make a whole
    /// bank.
    pub variations: Vec<Variation>,
    /// Where it takes the time from.
    pub now: Clock,
    /// Where its ids start: banks with the same seed give the same ids in the same order.
    pub seed: u64,
    /// Whether it writes one line per request to stderr.
    pub log: bool,
    /// What it knows when it starts.
    pub data: Arc<Seed>,
    /// What it needs to speak TLS, if it does.
    pub tls: Option<Tls>,
    /// How long the head of a request may take, and its body after it, before the bank answers 408.
    pub patience: Duration,
    /// How slow it is, and how much it takes.
    pub busy: Busy,
    /// Who hears what it rejects and by which rule, before the client does.
    pub rejections: Option<Sender<Rejected>>,
}

impl Default for Config {
    /// An honest and silent bank on a free port of 127.0.0.1, with the machine's clock and seed 0.
    fn default() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            faults: Vec::new(),
            variations: Vec::new(),
            now: Clock::default(),
            seed: 0,
            log: false,
            data: Seed::built_in(),
            tls: None,
            patience: PATIENCE,
            busy: Busy::default(),
            rejections: None,
        }
    }
}

/// Starts a bank on the current tokio runtime. It listens when this returns.
///
/// # Errors
///
/// If the address cannot be bound, or is not a loopback one although the clock is controlled, or TLS cannot
/// be set up ([`TlsError`](crate::TlsError) says why).
pub fn start(config: Config) -> BoxFuture<'static, io::Result<Bank>> {
    // Boxed, so that its code is in the program once, and not once for each caller.
    Box::pin(started(config))
}

async fn started(config: Config) -> io::Result<Bank> {
    if config.now.is_controlled() && !config.address.ip().is_loopback() {
        let says = "a clock that anybody may move is for a loopback address";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, says));
    }
    let listener = TcpListener::bind(config.address).await?;
    let address = listener.local_addr()?;
    let rules = rules(&config);
    let acceptor = Acceptor::open(
        listener,
        config.tls.as_ref(),
        rules.policy().headers.names,
        Waiter { patience: config.patience, log: config.log },
    )?;
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    let router = open(&config, rules);
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(async move {
        let until = async { drop(stopped.await) };
        let router = router.into_make_service_with_connect_info::<Turns>();
        axum::serve(acceptor, router).with_graceful_shutdown(until).await
    });
    Ok(Bank { address, scheme, stop, task })
}

fn rules(config: &Config) -> Rules {
    let variations = config.variations.iter().copied().map(Variation::entry);
    let faults = config.faults.iter().copied().map(Fault::entry);
    Rules::of(faults.chain(variations).collect())
}

fn open(config: &Config, rules: Rules) -> Router {
    let context = Context {
        prefix: rules.forms().find_map(Form::prefix).unwrap_or_default().to_owned(),
        clock: config.now.clone(),
        state: State::new(config.seed, &config.data, config.now.today()),
        certificates: Certificates::default(),
    };
    let (log, patience, rejections) = (config.log, config.patience, config.rejections.clone());
    config.busy.over(router(Arc::new(Service { rules, context, log, patience, rejections })))
}

/// A bank without a socket, for those who ask thousands of them in one process: the same routes, rules and
/// answers, and no HTTP/1.1 around them.
#[derive(Clone, Debug)]
pub struct InProcessBank(Router);

impl InProcessBank {
    /// Opens a bank. Its address is not looked at.
    pub fn open(config: &Config) -> Self {
        Self(open(config, rules(config)))
    }

    /// Answers a request, whose URI has a path and no host. What follows from the connection (`Date`,
    /// `Content-Length`) is not there.
    pub async fn answer(&self, request: Request<Vec<u8>>) -> Response<Bytes> {
        let mut router = self.0.clone();
        let Ok(answer) = router.call(request.map(Body::from)).await;
        let (parts, body) = answer.into_parts();
        // A body that the bank itself made cannot break off.
        Response::from_parts(parts, to_bytes(body, usize::MAX).await.unwrap_or_default())
    }
}

/// A running bank. Dropping it lets requests in progress end, and stops it.
#[derive(Debug)]
pub struct Bank {
    address: SocketAddr,
    scheme: &'static str,
    stop: oneshot::Sender<()>,
    task: JoinHandle<io::Result<()>>,
}

impl Bank {
    /// Where it listens, with the port that it was given.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The `{base_url}` of the document: `http://host:port` or `https://host:port`, without a slash at its
    /// end.
    pub fn base_url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// Stops listening and lets requests in progress end, for at most two seconds. A request that takes
    /// longer is no longer waited for; its connection ends with it.
    ///
    /// # Errors
    ///
    /// If listening had failed before.
    pub async fn shutdown(self) -> io::Result<()> {
        let Self { stop, mut task, .. } = self;
        drop(stop);
        if let Ok(ended) = timeout(SHUTDOWN_PATIENCE, &mut task).await {
            return ended.map_err(io::Error::other)?;
        }
        task.abort();
        Ok(())
    }

    /// Waits until the bank ends, which it does only when listening fails.
    ///
    /// # Errors
    ///
    /// Why listening failed.
    pub async fn wait(self) -> io::Result<()> {
        let Self { stop, task, .. } = self;
        let ended = task.await.map_err(io::Error::other)?;
        drop(stop);
        ended
    }
}
