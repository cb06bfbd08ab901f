//! `xs2aspec serve` and `keys`: runs the reference bank, and creates test keys.

use std::{
    collections::BTreeMap,
    fs, io,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    sync::Arc,
    time::Duration,
};

use xs2aspec_judge::{Profile, profile::Offered};
use xs2aspec_prove::declare;
use xs2aspec_record::{End, Exit, Traffic, inputs, outputs};
use xs2aspec_reference::{Bank, Busy, Clock, Config, Seed, Tls, Variation};
use xs2aspec_runner::Options;
use xs2aspec_signing::keys;

use crate::{
    Failure,
    args::{ClientTls, KeysNew, MaskKeyFile, Serve, Source},
    interrupt, live, proxy,
    report::cannot_write,
    target, text_of,
    traffic_log::{Rejections, Setup, TrafficLog},
};

/// Runs the bank until it is interrupted.
pub(crate) async fn serve(args: &Serve) -> Result<Exit, Failure> {
    if let Some(folder) = &args.report {
        return live::serve(folder, args.address).await;
    }
    let clock = Clock::at(args.now);
    let config = Config {
        address: args.address,
        faults: target::faults(&args.fault)?,
        variations: target::variations(args.style.as_deref(), &args.variation)?,
        now: if args.clock_control { clock.controlled() } else { clock },
        seed: args.seed,
        log: !args.quiet,
        data: data(args)?,
        tls: tls(&args.tls)?,
        busy: Busy {
            latency: Duration::from_millis(args.latency_ms),
            per_second: args.per_second,
            too_many: args.busy,
            unavailable: args.unavailable,
        },
        ..Config::default()
    };
    if let Some(folder) = &args.record {
        return Box::pin(record(args, folder, config)).await;
    }
    if let Some(rule) = args.levels.0.first() {
        return Err(Failure::input(format!(
            "a level for `{}` needs --record DIR, since nothing is judged without it",
            rule.pattern
        )));
    }
    let variations = config.variations.clone();
    // Listen for signals first: a client that can connect must be able to interrupt.
    let end = interrupt::asked_to_end();
    let bank = start(config, args.address).await?;
    let mut profile = Profile::reference(&bank.base_url()).map_err(Failure::input)?;
    let decided = decide(&mut profile, &variations);
    say!("{decided}");
    end.await;
    bank.shutdown().await.map_err(Failure::input)?;
    Ok(Exit::Conforms)
}

/// Declares the choices of these variations in a profile. Returns the address of the bank, and the lines of
/// the profile that differ from that of the default bank.
fn decide(profile: &mut Profile, variations: &[Variation]) -> String {
    let usual = profile.clone();
    declare(profile, variations);
    let mut lines = vec![profile.base_url.clone()];
    lines.extend(decided(&usual, profile));
    lines.join("\n")
}

/// Returns the lines of a profile that differ from that of the default bank.
fn decided(usual: &Profile, profile: &Profile) -> Vec<String> {
    fn lines<T: PartialEq>(
        table: &'static str,
        (usual, now): (&BTreeMap<String, T>, &BTreeMap<String, T>),
        written: impl Fn(&T) -> Option<String>,
    ) -> Vec<String> {
        let others = now.iter().filter(|(name, value)| usual.get(*name) != Some(*value));
        others.filter_map(|(name, value)| Some(format!("{table}.{name:?} = {}", written(value)?))).collect()
    }
    let quoted = |text: &String| Some(format!("{text:?}"));
    let is_there = |offered: &Offered| match offered {
        Offered::No => Some("false".to_owned()),
        Offered::Yes => Some("true".to_owned()),
        Offered::Ask | Offered::NotSaid => None,
    };
    let is_gone = |key: &&String| !profile.choices.contains_key(*key);
    let gone = usual.choices.keys().filter(is_gone).map(|key| format!("# without choices.{key:?}"));
    let mut all: Vec<String> = gone.collect();
    all.extend(lines("choices", (&usual.choices, &profile.choices), quoted));
    all.extend(lines("capabilities", (&usual.capabilities, &profile.capabilities), is_there));
    all.extend(lines("paths", (&usual.paths, &profile.paths), quoted));
    all
}

async fn start(config: Config, address: SocketAddr) -> Result<Bank, Failure> {
    let bank = xs2aspec_reference::start(config).await;
    bank.map_err(|error| Failure::input(format!("cannot serve on {address}: {error}")))
}

/// Runs the bank behind a proxy that judges and records requests. The bank reports its rejections to the
/// proxy.
async fn record(args: &Serve, folder: &Path, config: Config) -> Result<Exit, Failure> {
    if args.clock_control && !args.address.ip().is_loopback() {
        return Err(Failure::input(
            "--clock-control needs a loopback --address, since every client can move the clock",
        ));
    }
    let suite = Arc::new(crate::suite_of_traffic(&Source::default())?);
    let (variations, clock) = (config.variations.clone(), config.now.clone());
    let own = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    // A rejection by a bank with a fault says nothing about the client.
    let (sender, rejected) = std::sync::mpsc::channel();
    let rejections = args.fault.is_empty().then_some(sender);
    let bank = start(Config { address: own, tls: None, rejections, ..config }, own).await?;
    let mut profile = Profile::reference(&bank.base_url()).map_err(Failure::input)?;
    // Listen for signals first: a client that can connect must be able to interrupt.
    let end = interrupt::asked_to_end();
    let (proxy, sightings) = proxy::open(args.address, &args.tls, &profile).await?;
    let scheme = if args.tls.tls_certificate.is_some() { "https" } else { "http" };
    let address = format!("{scheme}://{}", proxy.address());
    profile.base_url.clone_from(&address);
    profile.levels.extend(args.levels.0.iter().cloned());
    let decided = decide(&mut profile, &variations);
    let setup = Setup {
        suite,
        profile,
        is_of_the_bank: args.data.is_none(),
        only: Some(End::Client),
        source: "serve",
        now: args.now.unwrap_or_else(chrono::Utc::now),
        clock: Some(clock),
        mask_key: MaskKeyFile { file: args.mask_key.clone() }.key()?,
        options: Options {
            traffic: Some(Traffic::Serve),
            fault: target::named(&args.fault),
            variations: variations.iter().map(|variation| variation.name().to_owned()).collect(),
            ..Options::default()
        },
        is_shown: !args.quiet,
        rejections: Some(Rejections::new(rejected, &variations)),
    };
    let log = TrafficLog::start(folder, &[], setup, sightings)?;
    say!("{decided}");
    end.await;
    proxy.shutdown().await;
    let exit = log.finish().await?;
    bank.shutdown().await.map_err(Failure::input)?;
    say!("next: xs2aspec client report {}", folder.display());
    Ok(exit)
}

fn data(args: &Serve) -> Result<Arc<Seed>, Failure> {
    let Some(path) = &args.data else { return Ok(Seed::built_in()) };
    let data = Seed::read(&text_of(path)?);
    data.map(Arc::new).map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

fn tls(args: &ClientTls) -> Result<Option<Tls>, Failure> {
    let (Some(certificates), Some(key)) = (&args.tls_certificate, &args.tls_key) else { return Ok(None) };
    Ok(Some(Tls {
        certificates: text_of(certificates)?,
        key: text_of(key)?,
        client_authorities: args.client_authorities.as_deref().map(text_of).transpose()?,
        client_required: args.client_certificate_required,
    }))
}

/// Writes test keys and certificates. Fails before the first write if a file exists, or with `--overwrite`,
/// if a file exists that is not test material.
pub(crate) fn keys(args: &KeysNew) -> Result<Exit, Failure> {
    for path in keys::FILES.map(|name| args.out.join(name)) {
        let shown = path.display();
        match inputs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            _ if !args.overwrite => {
                return Err(Failure::input(format!(
                    "refusing to overwrite {shown}: pass --overwrite, or choose another folder"
                )));
            }
            Ok(_) if is_test_material(&path) => {}
            _ => {
                return Err(Failure::input(format!(
                    "refusing to overwrite {shown}: it is not test material of this program; choose another folder"
                )));
            }
        }
    }
    let made = keys::make().map_err(Failure::input)?;
    fs::create_dir_all(&args.out).map_err(|error| cannot_write(&args.out, &error))?;
    for (name, text) in made {
        let path = args.out.join(name);
        let write = if name.ends_with(".key.pem") { outputs::write_private } else { outputs::write };
        write(&path, text.as_bytes()).map_err(|error| cannot_write(&path, &error))?;
        say!("{}: {}", path.display(), keys::says(name));
    }
    Ok(Exit::Conforms)
}

/// Returns true if a file is one of our test certificates, or a key next to its test certificate.
fn is_test_material(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().replace(".key.pem", ".cert.pem");
    inputs::read_to_string(&path.with_file_name(name)).is_ok_and(|text| keys::is_test_material(&text))
}
