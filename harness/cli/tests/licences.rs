//! Every dependency may be used under a permissive licence.

use cargo_metadata::MetadataCommand;
use spdx::{Expression, ParseMode};

/// Permissive licences, by SPDX identifier.
const PERMISSIVE: [&str; 12] = [
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "0BSD",
    "BSL-1.0",
    "Unlicense",
    "Unicode-3.0",
    "CC0-1.0",
];
/// A licence of data, not of code: the Mozilla root certificates (`webpki-root-certs`), and nothing else may have it.
const DATA: [(&str, &str); 1] = [("webpki-root-certs", "CDLA-Permissive-2.0")];

fn refused(name: &str, licence: Option<&str>) -> Option<String> {
    let Some(text) = licence else { return Some(format!("{name} names no licence")) };
    let Ok(expression) = Expression::parse_mode(text, ParseMode::LAX) else {
        return Some(format!("{name}: `{text}` is no licence expression"));
    };
    let permitted = expression.evaluate(|need| {
        let id = need.license.id().map_or("", |id| id.name);
        PERMISSIVE.contains(&id) || DATA.contains(&(name, id))
    });
    (!permitted).then(|| format!("{name}: `{text}` is not permissive"))
}

#[test]
fn every_dependency_has_a_permissive_licence() {
    let metadata = MetadataCommand::new().other_options(vec!["--locked".into()]).exec().unwrap();
    assert!(metadata.packages.len() > 50);
    let wrong: Vec<String> = metadata
        .packages
        .iter()
        .filter_map(|package| refused(&package.name, package.license.as_deref()))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn other_licences_are_refused() {
    for licence in [
        Some("GPL-3.0-only"),
        Some("AGPL-3.0-or-later AND MIT"),
        Some("CDLA-Permissive-2.0"),
        Some("?"),
        None,
    ] {
        assert!(refused("some-crate", licence).is_some(), "{licence:?}");
    }
    for licence in ["MIT/Apache-2.0", "GPL-2.0-only OR MIT", "Apache-2.0 WITH LLVM-exception"] {
        assert_eq!(refused("some-crate", Some(licence)), None, "{licence}");
    }
}
