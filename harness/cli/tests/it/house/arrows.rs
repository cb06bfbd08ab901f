//! The allowed dependencies between crates.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, MetadataCommand};

/// Returns the crates of ours that each crate may import, apart from tests.
fn allowed() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let all = [
        "spec",
        "suite",
        "generate",
        "signing",
        "record",
        "judge",
        "runner",
        "report",
        "evidence",
        "bank",
        "reference",
        "prove",
        "proxy",
        "traffic",
    ];
    BTreeMap::from([
        ("xs2aspec-spec", BTreeSet::new()),
        ("xs2aspec-suite", BTreeSet::from(["spec"])),
        ("xs2aspec-generate", BTreeSet::from(["spec", "suite"])),
        ("xs2aspec-signing", BTreeSet::new()),
        ("xs2aspec-record", BTreeSet::new()),
        ("xs2aspec-bank", BTreeSet::new()),
        // Faults and variations are rows of the rule files, which `spec` embeds. The crate shares no rule
        // with `spec`.
        ("xs2aspec-reference", BTreeSet::from(["spec", "bank"])),
        ("xs2aspec-judge", BTreeSet::from(["spec", "suite", "signing", "record"])),
        ("xs2aspec-runner", BTreeSet::from(["spec", "suite", "signing", "record", "judge", "proxy"])),
        ("xs2aspec-traffic", BTreeSet::from(["spec", "suite", "signing", "record", "judge", "runner"])),
        ("xs2aspec-report", BTreeSet::from(["record"])),
        ("xs2aspec-evidence", BTreeSet::from(["record", "report"])),
        ("xs2aspec-prove", BTreeSet::from(["suite", "generate", "judge", "runner", "record", "reference"])),
        ("xs2aspec-proxy", BTreeSet::from(["record"])),
        ("xs2aspec", BTreeSet::from(all)),
        // The bench measures all crates, and no crate imports it.
        ("xs2aspec-bench", BTreeSet::from(all)),
    ])
}

/// The crates that are needed to send anything.
const SENDERS: [&str; 4] = ["tokio", "reqwest", "hyper", "xs2aspec-runner"];

#[test]
fn the_judge_and_the_bank_cannot_send() {
    let metadata = MetadataCommand::new().other_options(["--offline".to_owned()]).exec().unwrap();
    let nodes: BTreeMap<_, _> =
        metadata.resolve.iter().flat_map(|resolve| &resolve.nodes).map(|node| (&node.id, node)).collect();
    let package =
        |name: &str| metadata.packages.iter().find(|package| package.name.as_str() == name).unwrap();
    // Everything that the crate links, apart from tests.
    let reached = |name: &str| {
        let (mut left, mut reached) = (vec![&package(name).id], BTreeSet::new());
        while let Some(id) = left.pop() {
            if reached.insert(id) {
                let kinds = |kinds: &[cargo_metadata::DepKindInfo]| {
                    kinds.iter().any(|kind| kind.kind == DependencyKind::Normal)
                };
                left.extend(nodes[id].deps.iter().filter(|dep| kinds(&dep.dep_kinds)).map(|dep| &dep.pkg));
            }
        }
        reached
    };
    let sends = |name: &str| -> Vec<&str> {
        let reached = reached(name);
        SENDERS.into_iter().filter(|sender| reached.contains(&package(sender).id)).collect()
    };
    for pure in ["xs2aspec-judge", "xs2aspec-bank"] {
        assert!(sends(pure).is_empty(), "{pure}: {:?}", sends(pure));
    }
    assert_eq!(sends("xs2aspec-runner").len(), SENDERS.len(), "it sends");
}

/// A crate that the two readings of the document must not share: the caller signs with it, and the reference
/// bank verifies with another.
const CALLER_ONLY: &str = "aws-lc-rs";
const REFERENCE_ONLY: [&str; 2] = ["rsa", "ring"];

#[test]
fn crates_import_only_what_the_house_allows() {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    let allowed = allowed();
    let found: BTreeSet<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
    assert_eq!(found, allowed.keys().copied().collect(), "the crates of the workspace");
    for package in &metadata.packages {
        // Dev-dependencies count, too, except those of the command, whose tests need all crates.
        let ours =
            package.dependencies.iter().filter_map(|dependency| dependency.name.strip_prefix("xs2aspec-"));
        for import in ours {
            assert!(allowed[package.name.as_str()].contains(import), "{} imports {import}", package.name);
        }
    }
}

#[test]
fn the_two_readings_use_different_cryptography() {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    for package in &metadata.packages {
        for dependency in
            package.dependencies.iter().filter(|dependency| dependency.kind == DependencyKind::Normal)
        {
            if package.name.as_str() == "xs2aspec-bench" {
                continue;
            }
            let reference = ["xs2aspec-bank", "xs2aspec-reference"].contains(&package.name.as_str());
            let is_own = REFERENCE_ONLY.contains(&dependency.name.as_str());
            assert!(!is_own || reference, "{} uses {}", package.name, dependency.name);
            assert!(dependency.name != CALLER_ONLY || !reference, "the reference bank uses {CALLER_ONLY}");
        }
    }
}

#[test]
fn every_crate_has_the_licence_and_the_lints_of_the_workspace() {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    for package in &metadata.packages {
        assert_eq!(package.license.as_deref(), Some("MIT OR Apache-2.0"), "{}", package.name);
        let manifest = std::fs::read_to_string(&package.manifest_path).unwrap();
        assert!(manifest.contains("[lints"), "{} has no lints", package.name);
    }
}
