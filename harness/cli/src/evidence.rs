//! `xs2aspec bundle`: packs a run into a signed archive.

use std::{fs, path::Path};

use xs2aspec_evidence::{
    bundle::{self, Program},
    envelope::SigningKey,
};
use xs2aspec_record::{
    Exit,
    digest::measured,
    latest,
    outputs::{self, Output},
};
use xs2aspec_signing::material;

use crate::{
    Failure,
    args::Bundle,
    report::{self, cannot_write},
    text_of,
};

/// Writes the bundle of a run.
pub(crate) fn bundle(args: &Bundle) -> Result<Exit, Failure> {
    let path = report::record(&args.folder);
    report::open(&path)?;
    let wrong = |error: &dyn std::fmt::Display| Failure::input(format!("{}: {error}", args.key.display()));
    let passphrase = match (&args.passphrase_env, &args.passphrase_file) {
        (Some(name), _) => {
            Some(std::env::var(name).map_err(|error| Failure::input(format!("{name}: {error}")))?)
        }
        (_, Some(file)) => Some(text_of(file)?.trim_end_matches(['\r', '\n']).to_owned()),
        _ => None,
    };
    let key =
        material::unlocked(&text_of(&args.key)?, passphrase.as_deref()).map_err(|error| match error {
            material::MaterialError::PassphraseMissing => {
                wrong(&"the key has a passphrase; pass it with --passphrase-env or --passphrase-file")
            }
            error => wrong(&error),
        })?;
    let key = SigningKey::from_pem(&key).map_err(|error| wrong(&error))?;
    let out = args.out.clone().unwrap_or_else(|| latest::followed(&args.folder).join("evidence.tar.gz"));
    let reads: Vec<&Path> =
        [path.as_path(), &args.key].into_iter().chain(args.passphrase_file.as_deref()).collect();
    outputs::may_write(&out, &reads).map_err(Failure::input)?;
    let mut output = Output::create(&out).map_err(|error| cannot_write(&out, &error))?;
    bundle::bundle(&path, &program()?, &key, &mut output)
        .map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
    output.finish().map_err(|error| cannot_write(&out, &error))?;
    let length = fs::metadata(&out).map_or(0, |file| file.len());
    let id = key.public().map_err(|error| wrong(&error))?.id();
    say!("wrote {}: {length} bytes, signed by the key {id}", out.display());
    Ok(Exit::Conforms)
}

/// Returns the name and the digest of this program.
pub(crate) fn program() -> Result<Program, Failure> {
    let wrong = |error: std::io::Error| Failure::input(format!("cannot read the running program: {error}"));
    let mut file = std::env::current_exe().and_then(fs::File::open).map_err(wrong)?;
    let (_, sha256) = measured(&mut file).map_err(wrong)?;
    let name = format!("xs2aspec {}", env!("CARGO_PKG_VERSION"));
    Ok(Program { name, sha256 })
}
