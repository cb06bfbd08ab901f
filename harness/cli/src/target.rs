//! The target of a run: a bank somewhere, or the built-in one.

use std::{fs::File, io::Write as _, path::Path};

use tokio::net::TcpStream;
use xs2aspec_record::Exit;
use xs2aspec_reference::{Bank, Config, Fault, Variation};
use xs2aspec_runner::{
    Profile,
    profile::{self, Offered},
};

use crate::{
    Failure,
    args::{Init, Run},
};

/// The target, and the built-in bank behind it if it is that.
pub(crate) struct Target {
    pub(crate) profile: Profile,
    pub(crate) bank: Option<Bank>,
    /// Arguments that name the target again.
    pub(crate) arguments: Vec<String>,
}

pub(crate) async fn open(args: &Run) -> Result<Target, Failure> {
    let Some(target) = &args.target else { return built_in(args).await };
    let arguments = vec!["--target".to_owned(), target.clone()];
    let mut profile = self::profile(target)?;
    profile.aim(args.allow_production).map_err(Failure::input)?;
    reach(&profile).await?;
    Ok(Target { profile, bank: None, arguments })
}

/// The profile of a target that is named by its file or by its URL.
pub(crate) fn profile(target: &str) -> Result<Profile, Failure> {
    if target.contains("://") {
        Profile::of_url(target).map_err(Failure::input)
    } else {
        Profile::read(Path::new(target)).map_err(Failure::input)
    }
}

/// Writes the profile to start from.
pub(crate) fn init(args: &Init) -> Result<Exit, Failure> {
    let wrong = |error: std::io::Error| Failure::input(format!("{}: {error}", args.file.display()));
    let mut file = File::create_new(&args.file).map_err(wrong)?;
    file.write_all(profile::TEMPLATE.as_bytes()).map_err(wrong)?;
    println!("{}: fill it in, and ask `xs2aspec doctor --target {0}`", args.file.display());
    Ok(Exit::Conforms)
}

async fn built_in(args: &Run) -> Result<Target, Failure> {
    let fault = args.fault.as_deref().map(str::parse::<Fault>).transpose().map_err(Failure::input)?;
    let variation =
        args.variation.as_deref().map(str::parse::<Variation>).transpose().map_err(Failure::input)?;
    let bank = xs2aspec_reference::start(Config { fault, variation, ..Config::default() }).await;
    let bank =
        bank.map_err(|error| Failure::unreachable(format!("the built-in bank cannot start: {error}")))?;
    let mut profile = Profile::reference(&bank.base_url()).map_err(Failure::input)?;
    declare(&mut profile, variation);
    let fault = args.fault.iter().flat_map(|name| ["--fault".to_owned(), name.clone()]);
    let variation = args.variation.iter().flat_map(|name| ["--variation".to_owned(), name.clone()]);
    let arguments = fault.chain(variation).collect();
    Ok(Target { profile, bank: Some(bank), arguments })
}

/// Declares in its profile what a built-in bank with a variation has decided.
pub(crate) fn declare(profile: &mut Profile, variation: Option<Variation>) {
    for (key, value) in variation.into_iter().flat_map(Variation::choices) {
        if let Some(operation) = key.strip_prefix("paths.") {
            profile.paths.insert(operation.to_owned(), (*value).to_owned());
        } else if let Some(capability) = key.strip_prefix("capabilities.") {
            let offered = if *value == "false" { Offered::No } else { Offered::Ask };
            profile.capabilities.insert(capability.to_owned(), offered);
        } else if *key == "prefix" {
            profile.base_url.push_str(value);
        } else if value.is_empty() {
            profile.choices.remove(*key);
        } else {
            profile.choices.insert((*key).to_owned(), (*value).to_owned());
        }
    }
}

/// One line about a target that is not there, in place of one for every case.
async fn reach(profile: &Profile) -> Result<(), Failure> {
    // Behind a proxy the name need not resolve here.
    let proxied = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
    if proxied.iter().any(|name| std::env::var_os(name).is_some()) && !profile.is_loopback() {
        return Ok(());
    }
    let (host, port) = profile.host();
    let failed = |why: String| {
        Failure::unreachable(format!("the target {} cannot be reached: {why}", profile.base_url))
    };
    match tokio::time::timeout(profile.deadline, TcpStream::connect((host.as_str(), port))).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(_) => Err(failed(format!("no connection within {} ms", profile.deadline.as_millis()))),
    }
}
