//! Starts and stops the bank.

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

/// The time that [`Bank::shutdown`] waits for connections in use.
const SHUTDOWN_PATIENCE: Duration = Duration::from_secs(2);

/// The time that the bank waits for the rest of a request. The document sets no limit.
const PATIENCE: Duration = Duration::from_secs(10);

/// The configuration of a bank.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address to listen on. Port 0 selects a free port.
    pub address: SocketAddr,
    /// The faults, usually one or none.
    pub faults: Vec<Fault>,
    /// The variations. Those of a [`Style`](crate::Style) make a whole bank.
    pub variations: Vec<Variation>,
    /// The clock.
    pub now: Clock,
    /// The seed of the ids. Banks with the same seed create the same ids in the same order.
    pub seed: u64,
    /// True to write one line per request to stderr.
    pub log: bool,
    /// The data that the bank starts with.
    pub data: Arc<Seed>,
    /// The TLS setup, or None for plain HTTP.
    pub tls: Option<Tls>,
    /// The time limit for the head of a request, and again for its body. After it, the bank responds with
    /// 408.
    pub patience: Duration,
    /// The latency and the load limits.
    pub busy: Busy,
    /// The receiver of rejections. Each is sent before the client sees the response.
    pub rejections: Option<Sender<Rejected>>,
}

impl Default for Config {
    /// Returns a conforming bank without log on a free port of 127.0.0.1, with the system clock and seed 0.
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
/// Fails if the address cannot be bound, if the clock is adjustable and the address is not a loopback
/// address, or if TLS cannot be set up (see [`TlsError`](crate::TlsError)).
pub fn start(config: Config) -> BoxFuture<'static, io::Result<Bank>> {
    // Boxed, so that the code is compiled once instead of once for each caller.
    Box::pin(started(config))
}

async fn started(config: Config) -> io::Result<Bank> {
    if config.now.is_controlled() && !config.address.ip().is_loopback() {
        let says = "an adjustable clock requires a loopback address";
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

/// A bank without a socket, for thousands of requests in one process. It has the same routes, rules and
/// responses, but no HTTP/1.1.
#[derive(Clone, Debug)]
pub struct InProcessBank(Router);

impl InProcessBank {
    /// Opens a bank. The address in the configuration is ignored.
    pub fn open(config: &Config) -> Self {
        Self(open(config, rules(config)))
    }

    /// Responds to a request whose URI has a path and no host. Response headers of the connection (`Date`,
    /// `Content-Length`) are missing.
    pub async fn answer(&self, request: Request<Vec<u8>>) -> Response<Bytes> {
        let mut router = self.0.clone();
        let Ok(answer) = router.call(request.map(Body::from)).await;
        let (parts, body) = answer.into_parts();
        // Reading a body that the bank created cannot fail.
        Response::from_parts(parts, to_bytes(body, usize::MAX).await.unwrap_or_default())
    }
}

/// A running bank. Dropping it stops the bank after the requests in progress.
#[derive(Debug)]
pub struct Bank {
    address: SocketAddr,
    scheme: &'static str,
    stop: oneshot::Sender<()>,
    task: JoinHandle<io::Result<()>>,
}

impl Bank {
    /// Returns the address that the bank listens on, with its actual port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the `{base_url}` of the document: `http://host:port` or `https://host:port`, without a
    /// trailing slash.
    pub fn base_url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// Stops listening, and waits up to two seconds for requests in progress. Longer ones lose
    /// their connection.
    ///
    /// # Errors
    ///
    /// Fails if listening failed earlier.
    pub async fn shutdown(self) -> io::Result<()> {
        let Self { stop, mut task, .. } = self;
        drop(stop);
        if let Ok(ended) = timeout(SHUTDOWN_PATIENCE, &mut task).await {
            return ended.map_err(io::Error::other)?;
        }
        task.abort();
        Ok(())
    }

    /// Waits until listening fails.
    ///
    /// # Errors
    ///
    /// Returns the reason why listening failed.
    pub async fn wait(self) -> io::Result<()> {
        let Self { stop, task, .. } = self;
        let ended = task.await.map_err(io::Error::other)?;
        drop(stop);
        ended
    }
}
