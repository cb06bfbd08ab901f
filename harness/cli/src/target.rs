//! The target of a run: a remote bank, or the reference bank.

use std::{
    io::{self, IsTerminal as _},
    path::Path,
    time::Instant,
};

use chrono::{DateTime, Utc};
use tokio::{net::TcpStream, time::timeout};
use xs2aspec_judge::{
    Profile,
    profile::{self, AuthorizedProfile},
    waiver,
};
use xs2aspec_prove::declare;
use xs2aspec_record::Exit;
use xs2aspec_reference::{Bank, Clock, Config, Fault, Style, Variation};
use xs2aspec_suite::{ProfileSpec, Suite, TEMPLATE, rule_file::case_file_schema};

use crate::{
    Failure,
    args::{Init, Kind, Levels},
    ask, report,
};

/// The target, with the reference bank if that is the target.
pub(crate) struct Target {
    pub(crate) profile: AuthorizedProfile,
    pub(crate) bank: Option<Bank>,
    /// The arguments that select this target.
    pub(crate) arguments: Vec<String>,
    /// The names of all variations of the reference bank.
    pub(crate) variations: Vec<String>,
}

/// The target that the command line selects.
pub(crate) struct Asked<'a> {
    /// A URL or the file of a profile, with the profile. `None` for the reference bank.
    pub(crate) target: Option<(&'a str, Profile)>,
    /// True if the target may be a production system.
    pub(crate) allow_production: bool,
    /// The clock of the reference bank.
    pub(crate) now: Option<DateTime<Utc>>,
    /// The faults of the reference bank.
    pub(crate) fault: &'a [String],
    /// The variations of the reference bank.
    pub(crate) variation: &'a [String],
    /// The style of the reference bank.
    pub(crate) style: Option<&'a str>,
    /// The levels that the command line sets.
    pub(crate) levels: &'a Levels,
}

pub(crate) async fn open(mut args: Asked<'_>) -> Result<Target, Failure> {
    let Some((target, mut profile)) = args.target.take() else { return built_in(&args).await };
    let arguments = vec!["--target".to_owned(), target.to_owned()];
    profile.levels.extend(args.levels.0.iter().cloned());
    let profile = profile.authorize(args.allow_production).map_err(Failure::input)?;
    // Report a key that cannot sign before the first request.
    let wrong = |error| Failure::input(format!("`[signing]` of {target}: {error}"));
    profile.signer().map_err(wrong)?;
    reach(&profile).await?;
    Ok(Target { profile, bank: None, arguments, variations: vec![] })
}

/// Fails if the suite is for another document and no target is given, since the reference bank implements the
/// embedded document.
pub(crate) fn keeps_the_document(suite: &Suite, target: Option<&str>) -> Result<(), Failure> {
    let (Some(folder), None) = (suite.tree().other_document(), target) else { return Ok(()) };
    let message = format!("the reference bank implements the embedded document, not that of {folder}");
    Err(Failure::input(format!("{message}; name a bank for that document with --target")))
}

/// Returns the profile of a target, given as a file or a URL.
pub(crate) fn profile(target: &str, spec: &ProfileSpec) -> Result<Profile, Failure> {
    if target.contains("://") {
        return Profile::of_url(target, spec).map_err(Failure::input);
    }
    if target.is_empty() {
        return Err(Failure::input("--target is empty: expected a profile or a URL"));
    }
    if !Path::new(target).exists() && is_host_and_port(target) {
        let message = format!("{target}: no such file; a URL begins with `http://` or `https://`");
        return Err(Failure::input(message));
    }
    Profile::read(Path::new(target), spec).map_err(Failure::input)
}

/// Returns true if a string starts with host and port, like a URL without its scheme (RFC 3986, section 3.2).
fn is_host_and_port(text: &str) -> bool {
    let authority = text.split('/').next().unwrap_or_default();
    let port = authority.rsplit_once(':').map(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    port.unwrap_or_default()
}

/// Writes a profile to start from, with the values that the user enters at a terminal.
pub(crate) fn init(args: &Init) -> Result<Exit, Failure> {
    if let Some(kind) = args.schema {
        let schema = match kind {
            Kind::Profile => profile::schema(&crate::suite(&args.source)?),
            Kind::Cases => case_file_schema(),
            Kind::Waivers => waiver::schema(),
        };
        say!("{schema:#}");
        return Ok(Exit::Conforms);
    }
    if args.file.exists() {
        let file = args.file.display();
        return Err(Failure::input(format!(
            "refusing to overwrite {file}: choose another path or delete it first"
        )));
    }
    let tree = crate::tree(&args.source)?;
    let template = tree.text(TEMPLATE).ok_or_else(|| {
        let file = tree.shown(TEMPLATE);
        Failure::input(format!("{file} does not exist: `init` needs it as the template of a profile"))
    })?;
    let has_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let is_asked = args.ask || has_terminal && !args.template;
    let (spec, _) = crate::signing_of(args.source.pack.as_ref())?;
    if tree.other_document().is_some() {
        Profile::check_template(&tree.shown(TEMPLATE), template, &spec).map_err(Failure::input)?;
    }
    let filled = is_asked.then(|| ask::fill(template, &spec, &mut io::stdin().lock()));
    report::write(&args.file, &[], filled.as_deref().unwrap_or(template).as_bytes())?;
    let mut next = vec!["xs2aspec doctor --target".to_owned(), args.file.display().to_string()];
    next.extend(args.source.arguments());
    let next = next.join(" ");
    if filled.is_none() {
        say!("wrote {}; fill it in, then run `{next}`", args.file.display());
        return Ok(Exit::Conforms);
    }
    // The user may have entered an invalid value.
    Profile::read(&args.file, &spec).map_err(Failure::input)?;
    say!("wrote {}; next, run `{next}`", args.file.display());
    Ok(Exit::Conforms)
}

async fn built_in(args: &Asked<'_>) -> Result<Target, Failure> {
    let faults = faults(args.fault)?;
    let variations = variations(args.style, args.variation)?;
    let config =
        Config { faults, variations: variations.clone(), now: Clock::at(args.now), ..Config::default() };
    let bank = xs2aspec_reference::start(config).await;
    let bank =
        bank.map_err(|error| Failure::unreachable(format!("cannot start the reference bank: {error}")))?;
    let mut profile = Profile::reference(&bank.base_url()).map_err(Failure::input)?;
    declare(&mut profile, &variations);
    profile.levels.extend(args.levels.0.iter().cloned());
    let fault = args.fault.iter().flat_map(|name| ["--fault".to_owned(), name.clone()]);
    let variation = args.variation.iter().flat_map(|name| ["--variation".to_owned(), name.clone()]);
    let style = args.style.iter().flat_map(|name| ["--style".to_owned(), (*name).to_owned()]);
    let arguments = style.chain(fault).chain(variation).collect();
    let profile = profile.authorize(false).map_err(Failure::input)?;
    let variations = variations.into_iter().map(|variation| variation.name().to_owned()).collect();
    Ok(Target { profile, bank: Some(bank), arguments, variations })
}

/// Returns the faults of the reference bank with these names.
pub(crate) fn faults(names: &[String]) -> Result<Vec<Fault>, Failure> {
    names.iter().map(|name| name.parse().map_err(Failure::input)).collect()
}

/// Returns these faults as a record names them.
pub(crate) fn named(faults: &[String]) -> Option<String> {
    Some(faults.join(" and ")).filter(|names| !names.is_empty())
}

/// Returns the variations of a style, and those with these names.
pub(crate) fn variations(style: Option<&str>, names: &[String]) -> Result<Vec<Variation>, Failure> {
    let style = style.map(str::parse::<Style>).transpose().map_err(Failure::input)?;
    let of_style = style.map_or(&[][..], Style::variations).iter().copied().map(Ok);
    of_style.chain(names.iter().map(|name| name.parse().map_err(Failure::input))).collect()
}

/// Fails with one line if the target is unreachable, instead of one line for every case.
async fn reach(profile: &Profile) -> Result<(), Failure> {
    let connected = connect(profile).await;
    connected
        .map(drop)
        .map_err(|why| Failure::unreachable(format!("cannot reach the target {}: {why}", profile.base_url)))
}

/// Connects to the target, or to the proxy of its profile. Returns the address and the time that it took, or
/// why it failed.
pub(crate) async fn connect(profile: &Profile) -> Result<String, String> {
    // Behind a proxy the name need not resolve here.
    let variables = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
    let is_proxied = variables.iter().any(|name| std::env::var_os(name).is_some());
    if profile.proxy.is_none() && is_proxied && !profile.is_loopback() {
        return Ok("through the proxy of the environment".to_owned());
    }
    let (what, (host, port)) = match profile.proxy_host() {
        Some(proxy) => ("proxy ", proxy),
        None => ("", profile.host()),
    };
    let start = Instant::now();
    let failed = |why: String| Err(format!("{what}{host}:{port}: {why}"));
    match timeout(profile.connect_timeout, TcpStream::connect((host.as_str(), port))).await {
        Ok(Ok(_)) => Ok(format!("{what}{host}:{port} in {:.1} ms", start.elapsed().as_secs_f64() * 1000.0)),
        Ok(Err(error)) => failed(error.to_string()),
        Err(_) => failed(format!("no connection within {} ms", profile.connect_timeout.as_millis())),
    }
}
