//! The built-in bank alone, and test keys.

use std::{fs, path::PathBuf};

use xs2aspec_record::Exit;
use xs2aspec_reference::{Clock, Config, Tls};
use xs2aspec_signing::keys;

use crate::{
    Failure,
    args::{Keys, Serve},
};

/// Serves until it is interrupted.
pub(crate) async fn serve(args: &Serve) -> Result<Exit, Failure> {
    let config = Config {
        address: args.address,
        fault: args.fault.as_deref().map(str::parse).transpose().map_err(Failure::input)?,
        variation: args.variation.as_deref().map(str::parse).transpose().map_err(Failure::input)?,
        now: args.now.map_or(Clock::System, Clock::Fixed),
        seed: args.seed,
        log: !args.quiet,
        tls: tls(args)?,
    };
    let bank = xs2aspec_reference::start(config).await;
    let bank = bank.map_err(|error| Failure::input(format!("cannot serve on {}: {error}", args.address)))?;
    println!("{}", bank.base_url());
    tokio::signal::ctrl_c().await.map_err(Failure::input)?;
    bank.shutdown().await.map_err(Failure::input)?;
    Ok(Exit::Conforms)
}

fn tls(args: &Serve) -> Result<Option<Tls>, Failure> {
    let (Some(certificates), Some(key)) = (&args.tls_certificate, &args.tls_key) else { return Ok(None) };
    let read = |path: &PathBuf| {
        fs::read_to_string(path)
            .map_err(|error| Failure::input(format!("{}: cannot be read: {error}", path.display())))
    };
    Ok(Some(Tls {
        certificates: read(certificates)?,
        key: read(key)?,
        client_authorities: args.client_authorities.as_ref().map(read).transpose()?,
        client_required: args.client_certificate_required,
    }))
}

/// Writes test keys and certificates.
pub(crate) fn keys(args: &Keys) -> Result<Exit, Failure> {
    for path in keys::make(&args.out, args.overwrite).map_err(Failure::input)? {
        println!("{}", path.display());
    }
    Ok(Exit::Conforms)
}
