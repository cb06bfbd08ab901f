//! The built-in bank alone, and test keys.

use std::{fs, path::Path, sync::Arc};

use xs2aspec_record::Exit;
use xs2aspec_reference::{Clock, Config, Seed, Tls};
use xs2aspec_signing::keys;

use crate::{
    Failure,
    args::{Keys, Serve},
    target,
};

/// Serves until it is interrupted.
pub(crate) async fn serve(args: &Serve) -> Result<Exit, Failure> {
    let clock = Clock::at(args.now);
    let config = Config {
        address: args.address,
        fault: args.fault.as_deref().map(str::parse).transpose().map_err(Failure::input)?,
        variations: target::variations(&args.variation)?,
        now: if args.clock_control { clock.controlled() } else { clock },
        seed: args.seed,
        log: !args.quiet,
        data: data(args)?,
        tls: tls(args)?,
        ..Config::default()
    };
    let bank = xs2aspec_reference::start(config).await;
    let bank = bank.map_err(|error| Failure::input(format!("cannot serve on {}: {error}", args.address)))?;
    say!("{}", bank.base_url());
    tokio::signal::ctrl_c().await.map_err(Failure::input)?;
    bank.shutdown().await.map_err(Failure::input)?;
    Ok(Exit::Conforms)
}

fn data(args: &Serve) -> Result<Arc<Seed>, Failure> {
    let Some(path) = &args.data else { return Ok(Seed::built_in()) };
    let data = Seed::read(&read(path)?);
    data.map(Arc::new).map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path)
        .map_err(|error| Failure::input(format!("{}: cannot be read: {error}", path.display())))
}

fn tls(args: &Serve) -> Result<Option<Tls>, Failure> {
    let (Some(certificates), Some(key)) = (&args.tls_certificate, &args.tls_key) else { return Ok(None) };
    Ok(Some(Tls {
        certificates: read(certificates)?,
        key: read(key)?,
        client_authorities: args.client_authorities.as_deref().map(read).transpose()?,
        client_required: args.client_certificate_required,
    }))
}

/// Writes test keys and certificates.
pub(crate) fn keys(args: &Keys) -> Result<Exit, Failure> {
    for path in keys::make(&args.out, args.overwrite).map_err(Failure::input)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        say!("{}: {}", path.display(), keys::says(&name));
    }
    Ok(Exit::Conforms)
}
