//! Output for other programs: completions, manual pages, the page of the book, schemas.

use std::{fs, path::Path};

use tempfile::TempDir;

use crate::support::{execute, printed};

/// Returns the commands that are not hidden.
fn commands() -> Vec<String> {
    let help = printed(&execute(&["--help"]));
    // The groups of commands come before the options.
    let listed = help.split("\nOptions:\n").next().unwrap();
    let names = listed.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.map(str::to_owned).collect()
}

#[test]
fn each_shell_completes_each_command() {
    let commands = commands();
    assert!(commands.len() > 20, "{commands:?}");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = printed(&execute(&["completions", shell]));
        for command in &commands {
            assert!(script.contains(command.as_str()), "{shell} does not complete {command}");
        }
        assert!(script.contains("allow-production"), "{shell} does not complete the options");
    }
}

#[test]
fn each_command_has_a_page_of_the_manual() {
    let folder = TempDir::new().unwrap();
    let output = execute(&["man", "--out", folder.path().to_str().unwrap()]);
    assert!(output.status.success(), "{}", printed(&output));
    for command in commands() {
        let page = fs::read_to_string(folder.path().join(format!("xs2aspec-{command}.1")));
        let page = page.unwrap_or_else(|_| panic!("no page of {command}"));
        assert!(page.contains(".SH NAME") && page.contains(".SH OPTIONS"), "{command}: {page}");
    }
    assert!(fs::read_to_string(folder.path().join("xs2aspec.1")).unwrap().contains("Exit codes"));
}

#[test]
fn the_page_of_the_commands_is_current() {
    let made = printed(&execute(&["man", "--markdown"]));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference/commands.md");
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &made).unwrap();
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    assert!(kept == made, "docs/src/reference/commands.md is not current: bash .ci/bless");
}

#[test]
fn each_kind_of_file_has_a_schema() {
    for (kind, property) in [("profile", "base-url"), ("cases", "cases"), ("waivers", "waiver")] {
        let schema = printed(&execute(&["init", "--schema", kind]));
        let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
        assert!(schema["$schema"].is_string() && schema["properties"][property].is_object(), "{kind}");
    }
    let usual = printed(&execute(&["init", "--schema"]));
    assert_eq!(usual, printed(&execute(&["init", "--schema", "profile"])));
}
