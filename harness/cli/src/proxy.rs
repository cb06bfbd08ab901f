//! `xs2aspec proxy`: forwards traffic between a client and a test system unchanged, and reports violations by
//! either side.

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use tokio::sync::mpsc::Receiver;
use xs2aspec_judge::Profile;
use xs2aspec_proxy::{BoxStream, Config, Connect, Proxy, Sighting, acceptor};
use xs2aspec_record::{Exit, Traffic};
use xs2aspec_runner::{Options, exchange::Connector};

use crate::{
    Failure,
    args::{ClientTls, Proxy as Asked},
    interrupt, target, text_of,
    traffic_log::{Setup, TrafficLog},
};

/// The time after which an idle connection is closed, unless the deadline of the profile is longer.
const IDLE: Duration = Duration::from_secs(60);

/// Forwards traffic until it is interrupted.
pub(crate) async fn proxy(args: &Asked) -> Result<Exit, Failure> {
    if !args.listen.ip().is_loopback() && !args.listen_to_all {
        return Err(Failure::input(format!(
            "--listen {}: expected a loopback address, 127.0.0.1 or [::1]; --listen-to-all lets other machines connect",
            args.listen
        )));
    }
    let suite = Arc::new(crate::suite_of_traffic(&args.source)?);
    let mut profile = target::profile(&args.target, &suite.spec().profile)?;
    profile.levels.extend(args.levels.0.iter().cloned());
    is_a_test_system(&profile)?;
    let is_file = !args.target.contains("://");
    let end = interrupt::asked_to_end();
    let (proxy, sightings) = open(args.listen, &args.tls, &profile).await?;
    let scheme = if args.tls.tls_certificate.is_some() { "https" } else { "http" };
    let mut arguments = vec!["--target".to_owned(), args.target.clone()];
    arguments.extend(args.source.arguments());
    arguments.extend(args.levels.arguments());
    let setup = Setup {
        clock: None,
        suite,
        profile,
        is_of_the_bank: is_file,
        only: None,
        source: "proxy",
        now: chrono::Utc::now(),
        mask_key: args.mask_key.key()?,
        options: Options { arguments, traffic: Some(Traffic::Proxy), ..Options::default() },
        is_shown: !args.quiet,
        rejections: None,
    };
    let reads: Vec<&Path> = is_file.then(|| Path::new(&args.target)).into_iter().collect();
    let log = TrafficLog::start(&args.out, &reads, setup, sightings)?;
    say!("{scheme}://{}", proxy.address());
    end.await;
    proxy.shutdown().await;
    log.finish().await
}

/// Fails if the target is not a test system, since forwarded requests can create payments.
fn is_a_test_system(profile: &Profile) -> Result<(), Failure> {
    let (host, _) = profile.host();
    profile.clone().authorize(false).map(drop).map_err(|_| {
        Failure::input(format!(
            "refusing to forward requests to {host}: they can create payments, and the profile does not set `environment = \"sandbox\"`; to check \
             the traffic of a production system, record it and run `xs2aspec judge`"
        ))
    })
}

/// Starts a proxy in front of the target of a profile.
pub(crate) async fn open(
    listen: SocketAddr,
    tls: &ClientTls,
    profile: &Profile,
) -> Result<(Proxy, Receiver<Vec<Sighting>>), Failure> {
    let connector = Connector::new(profile).map_err(Failure::input)?;
    let connect: Connect = Arc::new(move || {
        let connector = connector.clone();
        Box::pin(async move {
            let stream = connector.connect().await.map_err(|error| error.to_string())?;
            Ok(Box::new(stream) as BoxStream)
        })
    });
    let tls = match (&tls.tls_certificate, &tls.tls_key) {
        (Some(certificates), Some(key)) => {
            let clients = tls.client_authorities.as_deref().map(text_of).transpose()?;
            let clients = clients.as_deref().map(|text| (text, tls.client_certificate_required));
            Some(acceptor(&text_of(certificates)?, &text_of(key)?, clients).map_err(Failure::input)?)
        }
        _ => None,
    };
    let started = Proxy::start(Config { listen, tls, connect, idle: profile.deadline.max(IDLE) }).await;
    started.map_err(|error| Failure::input(format!("cannot listen on {listen}: {error}")))
}
