//! `xs2aspec waive`: adds a finding of an earlier run to a file of waivers.

use std::path::{Component, Path, PathBuf};

use chrono::{Days, Utc};
use xs2aspec_judge::waiver::{self, Waiver};
use xs2aspec_record::{
    Exit,
    finding_id::{is_prefix, printed},
};
use xs2aspec_report::{shell, text};

use crate::{Failure, args::Waive, finding::Earlier, report};

/// Name of the file, next to the profile.
const FILE: &str = "waivers.toml";

/// Days until a waiver without a day of its own expires.
const DAYS: Days = Days::new(90);

/// Appends the entry of a finding to the file of waivers. The rest of the file stays as it is.
pub(crate) fn waive(args: &Waive) -> Result<Exit, Failure> {
    if !is_prefix(&args.id) {
        let message = format!("`{}` is no finding: expected 8 to 16 hexadecimal digits", args.id);
        return Err(Failure::input(message));
    }
    let earlier = Earlier::open(&args.run)?;
    let found = earlier.found(&args.id)?;
    let file = args.waivers.clone().unwrap_or_else(|| usual_file(&earlier));
    let name = file.display().to_string();
    let text = if file.exists() { crate::text_of(&file)? } else { String::new() };
    let known = waiver::parse(&name, &text).map_err(Failure::input)?;
    let ids = found.ids();
    if let Some(Waiver { place, expires, .. }) =
        known.iter().find(|waiver| waiver.findings.iter().any(|id| ids.contains(id)))
    {
        let id = printed(&found.id);
        return Err(Failure::input(format!(
            "{place}: {id} is already waived until {expires}; change that entry instead"
        )));
    }
    let today = Utc::now().date_naive();
    let expires = match args.expires {
        Some(day) if day < today => {
            return Err(Failure::input(format!("--expires {day}: that day is over; today is {today}")));
        }
        Some(day) => day,
        None => today.checked_add_days(DAYS).unwrap_or(today),
    };
    let owner = args.owner.clone().or_else(|| known.last().map(|waiver| waiver.owner.clone()));
    let entry = Waiver {
        cases: String::new(),
        findings: ids,
        owner: owner.unwrap_or_else(|| earlier.summary.start().target.clone()),
        reason: args.reason.clone(),
        ticket: args.ticket.clone(),
        expires,
        place: String::new(),
    };
    let clause = text::harmless(&found.clause);
    let added = waiver::added(&text, &entry, &clause);
    let place = waiver::parse(&name, &added).map_err(Failure::input)?.pop().map(|waiver| waiver.place);
    report::write(&file, &[], added.as_bytes())?;
    say!("{}: waived {} {clause} until {expires}", place.unwrap_or(name.clone()), printed(&found.id));
    if args.ticket == "none" {
        say!("no ticket was named; pass --ticket, or edit the entry");
    }
    say!("next       xs2aspec run{} --waivers {}", earlier.target_option(), shell::quoted(&name));
    Ok(Exit::Conforms)
}

/// Returns the file of waivers of a run, or the usual one next to its profile. A record may come from someone
/// else, so it can only name files below the current folder.
fn usual_file(earlier: &Earlier<'_>) -> PathBuf {
    let profile = earlier.summary.start().argument("--target").filter(|target| !target.contains("://"));
    let beside = profile.map(|profile| Path::new(profile).with_file_name(FILE));
    let named = earlier.summary.start().argument("--waivers").map(PathBuf::from).or(beside);
    named.filter(|file| is_below(file)).unwrap_or_else(|| FILE.into())
}

/// Returns true for the path of a TOML file below the current folder.
fn is_below(file: &Path) -> bool {
    let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    file.components().all(is_plain) && file.extension().is_some_and(|extension| extension == "toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_names_only_files_below_the_current_folder() {
        for (file, expected) in [
            ("waivers.toml", true),
            ("./banks/waivers.toml", true),
            ("../waivers.toml", false),
            ("banks/../../waivers.toml", false),
            ("/etc/waivers.toml", false),
            ("waivers", false),
        ] {
            assert_eq!(is_below(Path::new(file)), expected, "{file}");
        }
    }
}
