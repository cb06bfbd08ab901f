//! The files of production code: none is long, and none imports what imports it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::names::below;

/// Lines that a file has at most.
const LONGEST: usize = 500;

/// Columns that a line of a comment has at most.
const WIDEST: usize = 110;

/// Modules by path, `["session", "ask"]`, each with the modules that it imports.
type Imports = BTreeMap<Vec<String>, BTreeSet<Vec<String>>>;

fn sources() -> Vec<PathBuf> {
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let crates = fs::read_dir(harness).unwrap().map(|entry| entry.unwrap().path().join("src"));
    crates.filter(|folder| folder.is_dir()).collect()
}

#[test]
fn no_file_is_long() {
    let mut files = Vec::new();
    for folder in sources() {
        below(&folder, &mut files);
    }
    assert!(files.len() > 200, "{}", files.len());
    let lines = |file: &PathBuf| fs::read_to_string(file).unwrap().lines().count();
    let long: Vec<_> = files.iter().filter(|file| lines(file) > LONGEST).collect();
    assert!(long.is_empty(), "more than {LONGEST} lines: {long:?}");
}

#[test]
fn no_comment_is_wide() {
    let mut files = Vec::new();
    let tests = sources().into_iter().map(|folder| folder.with_file_name("tests"));
    for folder in sources().into_iter().chain(tests.filter(|folder| folder.is_dir())) {
        below(&folder, &mut files);
    }
    let mut comments = 0;
    for file in files {
        for (at, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            if line.trim_start().starts_with("//") {
                comments += 1;
                let columns = line.chars().count();
                assert!(columns <= WIDEST, "{}:{}: {columns} columns", file.display(), at + 1);
            }
        }
    }
    assert!(comments > 5000, "{comments}");
}

#[test]
fn no_file_imports_what_imports_it() {
    for folder in sources() {
        let mut files = Vec::new();
        below(&folder, &mut files);
        let texts = files.iter().map(|file| (module(file, &folder), fs::read_to_string(file).unwrap()));
        let imports = imports(&texts.collect());
        if let Some(cycle) = cycle(&imports) {
            panic!("{}: {}", folder.display(), cycle.join(" imports "));
        }
    }
}

#[test]
fn a_cycle_is_found_however_it_is_written() {
    let of = |files: &[(&str, &str)]| {
        let path = |name: &str| name.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let files = files.iter().map(|(name, text)| (path(name), (*text).to_owned())).collect();
        cycle(&imports(&files)).map(|cycle| cycle.join(" "))
    };
    assert_eq!(of(&[("a", "use crate::b::B;"), ("b", "use std::a;\nuse serde::a;")]), None);
    assert_eq!(of(&[("a", "use crate::b::B;"), ("b", "use crate::a::A;")]), Some("a b a".to_owned()));
    let nested = "use crate::{c, a::{x::{self, Y}, Z as B}};";
    assert_eq!(of(&[("a", "use super::b::B;"), ("b", nested)]), Some("a b a".to_owned()));
    let child = [("p", "pub use self::q::Q;"), ("p::q", "use super::P;")];
    assert_eq!(of(&child), Some("p p::q p".to_owned()));
    // What only tests import is no part of the program.
    let of_tests = "#[cfg(test)]\nmod tests { use crate::a::A; }";
    assert_eq!(of(&[("a", "use crate::b::B;"), ("b", of_tests)]), None);
}

/// The path of the module that a file is.
fn module(file: &Path, folder: &Path) -> Vec<String> {
    let inside = file.strip_prefix(folder).unwrap().with_extension("");
    let mut parts: Vec<String> = inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    if ["mod", "lib", "main"].contains(&parts[parts.len() - 1].as_str()) {
        parts.pop();
    }
    parts
}

fn imports(files: &BTreeMap<Vec<String>, String>) -> Imports {
    let of_file = |(own, text): (&Vec<String>, &String)| {
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let mut paths = Vec::new();
        uses(code.parse().unwrap(), &mut paths);
        let imported = paths.iter().filter_map(|path| target(own, path, files));
        (own.clone(), imported.filter(|other| other != own).collect())
    };
    files.iter().map(of_file).collect()
}

/// The paths of all `use` in these tokens.
fn uses(tokens: TokenStream, paths: &mut Vec<Vec<String>>) {
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(word) if word == "use" => {
                let end = |next: &TokenTree| matches!(next, TokenTree::Punct(mark) if mark.as_char() == ';');
                branches(&[], &mut tokens.by_ref().take_while(|next| !end(next)), paths);
            }
            TokenTree::Group(group) => uses(group.stream(), paths),
            _ => {}
        }
    }
}

/// The branches of a tree of names, each with what stands before it.
fn branches(before: &[String], tokens: &mut dyn Iterator<Item = TokenTree>, paths: &mut Vec<Vec<String>>) {
    let mut path = before.to_vec();
    for token in tokens {
        match token {
            TokenTree::Ident(word) => path.push(word.to_string()),
            TokenTree::Punct(mark) if mark.as_char() == ',' => {
                let whole = std::mem::replace(&mut path, before.to_vec());
                paths.extend((whole.len() > before.len()).then_some(whole));
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                branches(&path, &mut group.stream().into_iter(), paths);
                path.truncate(before.len());
            }
            _ => {}
        }
    }
    if path.len() > before.len() {
        paths.push(path);
    }
}

/// The file in which a path ends; `None` where it leads out of the crate.
fn target(own: &[String], path: &[String], files: &BTreeMap<Vec<String>, String>) -> Option<Vec<String>> {
    let supers = path.iter().take_while(|part| *part == "super").count();
    let (mut full, rest) = match path.first()?.as_str() {
        "crate" => (vec![], &path[1..]),
        "self" => (own.to_vec(), &path[1..]),
        "super" => (own[..own.len().checked_sub(supers)?].to_vec(), &path[supers..]),
        _ => return None,
    };
    full.extend(rest.iter().cloned());
    while !files.contains_key(&full) {
        full.pop()?;
    }
    Some(full)
}

/// A way from a module back to itself.
fn cycle(imports: &Imports) -> Option<Vec<String>> {
    fn leads_to(
        at: &[String],
        end: &[String],
        imports: &Imports,
        seen: &mut BTreeSet<Vec<String>>,
    ) -> Option<Vec<String>> {
        for next in &imports[at] {
            if next == end {
                return Some(vec![next.join("::")]);
            }
            if seen.insert(next.clone())
                && let Some(mut way) = leads_to(next, end, imports, seen)
            {
                way.insert(0, next.join("::"));
                return Some(way);
            }
        }
        None
    }
    imports.keys().find_map(|module| {
        let mut way = leads_to(module, module, imports, &mut BTreeSet::new())?;
        way.insert(0, module.join("::"));
        Some(way)
    })
}
