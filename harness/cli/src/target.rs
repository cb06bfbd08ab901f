//! The target of a run: a bank somewhere, or the built-in one.

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

/// The target, and the built-in bank behind it if it is that.
pub(crate) struct Target {
    pub(crate) profile: AuthorizedProfile,
    pub(crate) bank: Option<Bank>,
    /// Arguments that name the target again.
    pub(crate) arguments: Vec<String>,
    /// The names of all variations of the built-in bank.
    pub(crate) variations: Vec<String>,
}

/// Which target is asked for.
pub(crate) struct Asked<'a> {
    /// URL or file of a profile, and what it says; the built-in bank where there is none.
    pub(crate) target: Option<(&'a str, Profile)>,
    /// Whether a production target may be read.
    pub(crate) allow_production: bool,
    /// The clock of the built-in bank.
    pub(crate) now: Option<DateTime<Utc>>,
    /// Its faults.
    pub(crate) fault: &'a [String],
    /// Its variations.
    pub(crate) variation: &'a [String],
    /// Its style.
    pub(crate) style: Option<&'a str>,
    /// The levels that the command line gives.
    pub(crate) levels: &'a Levels,
}

pub(crate) async fn open(mut args: Asked<'_>) -> Result<Target, Failure> {
    let Some((target, mut profile)) = args.target.take() else { return built_in(&args).await };
    let arguments = vec!["--target".to_owned(), target.to_owned()];
    profile.levels.extend(args.levels.0.iter().cloned());
    let profile = profile.authorize(args.allow_production).map_err(Failure::input)?;
    // A key that cannot sign is told before anybody is asked.
    let wrong = |error| Failure::input(format!("`[signing]` of {target}: {error}"));
    profile.signer().map_err(wrong)?;
    reach(&profile).await?;
    Ok(Target { profile, bank: None, arguments, variations: vec![] })
}

/// Whether there is a target that keeps the document of the suite: the built-in bank keeps that of the
/// program.
pub(crate) fn keeps_the_document(suite: &Suite, target: Option<&str>) -> Result<(), Failure> {
    let (Some(folder), None) = (suite.tree().other_document(), target) else { return Ok(()) };
    let message = format!("the built-in bank keeps the document of the program, not that of {folder}");
    Err(Failure::input(format!("{message}: name the target that keeps it with --target")))
}

/// The profile of a target that is named by its file or by its URL.
pub(crate) fn profile(target: &str, spec: &ProfileSpec) -> Result<Profile, Failure> {
    if target.contains("://") {
        return Profile::of_url(target, spec).map_err(Failure::input);
    }
    if target.is_empty() {
        return Err(Failure::input("--target is empty: expected the file of a target profile, or a URL"));
    }
    if !Path::new(target).exists() && is_host_and_port(target) {
        let message = format!("{target}: no file is there; a URL begins with `http://` or `https://`");
        return Err(Failure::input(message));
    }
    Profile::read(Path::new(target), spec).map_err(Failure::input)
}

/// Whether a text is what stands behind the scheme of a URL: a host and its port (RFC 3986, section 3.2).
fn is_host_and_port(text: &str) -> bool {
    let authority = text.split('/').next().unwrap_or_default();
    let port = authority.rsplit_once(':').map(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    port.unwrap_or_default()
}

/// Writes the profile to start from, with the values that somebody at a terminal gives.
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
        return Err(Failure::input(format!("{file}: a file stands there: name another one, or remove it")));
    }
    let tree = crate::tree(&args.source)?;
    let template = tree.text(TEMPLATE).ok_or_else(|| {
        let file = tree.shown(TEMPLATE);
        Failure::input(format!("{file}: is not there: the profile to start from, which `init` writes"))
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
        say!("{}: written; fill it in, then run `{next}`", args.file.display());
        return Ok(Exit::Conforms);
    }
    // An answer may be none that a profile can hold.
    Profile::read(&args.file, &spec).map_err(Failure::input)?;
    say!("{}: written; next, run `{next}`", args.file.display());
    Ok(Exit::Conforms)
}

async fn built_in(args: &Asked<'_>) -> Result<Target, Failure> {
    let faults = faults(args.fault)?;
    let variations = variations(args.style, args.variation)?;
    let config =
        Config { faults, variations: variations.clone(), now: Clock::at(args.now), ..Config::default() };
    let bank = xs2aspec_reference::start(config).await;
    let bank =
        bank.map_err(|error| Failure::unreachable(format!("the built-in bank cannot start: {error}")))?;
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

/// Faults of the built-in bank by their names.
pub(crate) fn faults(names: &[String]) -> Result<Vec<Fault>, Failure> {
    names.iter().map(|name| name.parse().map_err(Failure::input)).collect()
}

/// What a record says of these faults.
pub(crate) fn named(faults: &[String]) -> Option<String> {
    Some(faults.join(" and ")).filter(|names| !names.is_empty())
}

/// Variations of the built-in bank by their names: those of a style, and others besides.
pub(crate) fn variations(style: Option<&str>, names: &[String]) -> Result<Vec<Variation>, Failure> {
    let style = style.map(str::parse::<Style>).transpose().map_err(Failure::input)?;
    let of_style = style.map_or(&[][..], Style::variations).iter().copied().map(Ok);
    of_style.chain(names.iter().map(|name| name.parse().map_err(Failure::input))).collect()
}

/// One line about a target that is not there, in place of one for every case.
async fn reach(profile: &Profile) -> Result<(), Failure> {
    let connected = connect(profile).await;
    connected.map(drop).map_err(|why| {
        Failure::unreachable(format!("the target {} cannot be reached: {why}", profile.base_url))
    })
}

/// Connects to the target, or to the proxy that its profile names, and says what is there; an error says why
/// not.
pub(crate) async fn connect(profile: &Profile) -> Result<String, String> {
    // Behind a proxy the name need not resolve here.
    let variables = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
    let is_proxied = variables.iter().any(|name| std::env::var_os(name).is_some());
    if profile.proxy.is_none() && is_proxied && !profile.is_loopback() {
        return Ok("by the proxy of the environment".to_owned());
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
