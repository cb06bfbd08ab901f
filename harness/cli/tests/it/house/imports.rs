//! No module of production code imports a module that imports it.
//!
//! A module and the files below it are one subject, so a file may use items of its parent. Between modules
//! with the same parent, imports go one way. `lib.rs` and `main.rs` hold everything together, and do not
//! count as modules. What they re-export belongs to the module that defines it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::{files::sources, names::below};

/// The path of a module or an item, such as `["session", "ask"]`.
type Name = Vec<String>;

/// The text of each file, by its module.
type Files = BTreeMap<Name, String>;

/// Modules with the same parent, each with those that it imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

#[test]
fn no_module_imports_what_imports_it() {
    let mut found = 0;
    for folder in sources() {
        let mut paths = Vec::new();
        below(&folder, &mut paths);
        // Tests in files of their own are not part of the program.
        let is_of_tests = |path: &Path| {
            path.strip_prefix(&folder).unwrap().iter().any(|part| part == "tests" || part == "tests.rs")
        };
        paths.retain(|path| !is_of_tests(path));
        let texts = paths.iter().map(|path| (module(path, &folder), fs::read_to_string(path).unwrap()));
        let by_parent = imports(&texts.collect());
        found += by_parent.values().flat_map(BTreeMap::values).map(BTreeSet::len).sum::<usize>();
        for (parent, imports) in by_parent {
            if let Some(cycle) = cycle(&imports) {
                panic!("{} {}: {}", folder.display(), parent.join("::"), cycle.join(" imports "));
            }
        }
    }
    assert!(found > 400, "{found} imports");
}

#[test]
fn a_cycle_is_found_however_it_is_written() {
    let of = |files: &[(&str, &str)]| {
        let name = |text: &str| text.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let files = files.iter().map(|(path, text)| (name(path), (*text).to_owned())).collect();
        imports(&files).values().find_map(cycle).map(|cycle| cycle.join(" "))
    };
    let a_b_a = Some("a b a".to_owned());
    let back = ("b", "use crate::a::A;");
    assert_eq!(of(&[("a", "use crate::b::B;"), ("b", "use std::a;\nuse serde::a;")]), None);
    assert_eq!(of(&[("a", "use crate::b::B;"), back]), a_b_a);
    let nested = "use crate::{c, a::{x::{self, Y}, Z as B}};";
    assert_eq!(of(&[("a", "use super::b::B;"), ("b", nested)]), a_b_a);
    for text in [
        // A path in an expression.
        "fn f() { crate::b::g(); }",
        "fn f(one: super::b::B) {}",
        "const ALL: [&str; 1] = [crate::b::NAME];",
        "impl From<crate::b::B> for A {}",
    ] {
        assert_eq!(of(&[("a", text), back]), a_b_a, "{text}");
    }
    // A path that starts with the name of a child, and a child of the other module with that name.
    let of_child =
        [("a", ""), ("a::x", "use crate::b::B;"), ("b", "use y::Y;"), ("b::y", "use crate::a::A;")];
    assert_eq!(of(&of_child), a_b_a);
    let children =
        [("p", "use x::X;"), ("p::x", "fn f() { super::y::g(); }"), ("p::y", "use crate::p::x::X;")];
    assert_eq!(of(&children), Some("x y x".to_owned()));
    assert_eq!(of(&[("p", "use x::X;"), ("p::x", "use super::P;")]), None, "one subject in two files");
    // The root holds all modules, and its re-exports belong to a module.
    let root = [("", "pub use b::{self, B as C};\nfn f() { a::g(); }"), ("a", "use crate::Failure;")];
    assert_eq!(of(&[&root[..], &[("b", "")]].concat()), None);
    assert_eq!(of(&[root[0], ("a", "use crate::C;"), back]), a_b_a);
    // Imports in tests, and names in comments and strings, are not part of the program.
    let of_tests = "#[cfg(test)]\nmod tests { use crate::a::A; }";
    assert_eq!(of(&[("a", "use crate::b::B;"), ("b", of_tests)]), None);
    assert_eq!(of(&[("a", "use crate::b::B;"), ("b", "// crate::a::A\nfn f() { \"crate::a::A\"; }")]), None);
}

/// Returns the module of a file.
fn module(file: &Path, folder: &Path) -> Name {
    let inside = file.strip_prefix(folder).unwrap().with_extension("");
    let mut parts: Name = inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    if ["mod", "lib", "main"].contains(&parts[parts.len() - 1].as_str()) {
        parts.pop();
    }
    parts
}

/// Returns the imports between modules with the same parent, by that parent.
fn imports(files: &Files) -> BTreeMap<Name, Imports> {
    let exported = files.get(&Name::new()).map(|root| exported(root)).unwrap_or_default();
    let mut all: BTreeMap<Name, Imports> = BTreeMap::new();
    for (own, text) in files {
        let mut paths = Vec::new();
        collect(code(text), &mut paths);
        for other in paths.into_iter().filter_map(|path| target(own, &path, files, &exported)) {
            let common = own.iter().zip(&other).take_while(|(one, other)| one == other).count();
            // A file and its parent are one subject.
            if let (Some(one), Some(another)) = (own.get(common), other.get(common)) {
                let siblings = all.entry(own[..common].to_vec()).or_default();
                siblings.entry(another.clone()).or_default();
                siblings.entry(one.clone()).or_default().insert(another.clone());
            }
        }
    }
    all
}

/// Returns the code of a file without its tests.
fn code(text: &str) -> TokenStream {
    text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().parse().unwrap()
}

/// Returns what a root re-exports: each name with its path.
fn exported(root: &str) -> BTreeMap<String, Name> {
    let mut paths = Vec::new();
    uses(code(root), &mut paths);
    let full = |path: Name| match path.first().map(String::as_str) {
        Some("crate" | "self") => path[1..].to_vec(),
        _ => path,
    };
    paths.into_iter().filter_map(|(name, path)| Some((name?, full(path)))).collect()
}

/// Collects the paths of all `use` in these tokens, each with the name that it imports. Returns the other
/// tokens.
fn uses(tokens: TokenStream, paths: &mut Vec<(Option<String>, Name)>) -> Vec<TokenTree> {
    let mut rest = Vec::new();
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        if matches!(&token, TokenTree::Ident(word) if word == "use") {
            let is_end = |next: &TokenTree| matches!(next, TokenTree::Punct(mark) if mark.as_char() == ';');
            branches(&[], &mut tokens.by_ref().take_while(|next| !is_end(next)), paths);
        } else {
            rest.push(token);
        }
    }
    rest
}

/// Collects the branches of a tree of names, each with its prefix.
fn branches(
    before: &[String],
    tokens: &mut dyn Iterator<Item = TokenTree>,
    paths: &mut Vec<(Option<String>, Name)>,
) {
    let mut path = before.to_vec();
    let mut name = None;
    let mut end = |path: &mut Name, name: &mut Option<String>| {
        let mut whole = std::mem::replace(path, before.to_vec());
        let is_group = whole.last().is_some_and(|last| last == "self") && whole.len() > 1;
        whole.truncate(whole.len() - usize::from(is_group));
        if whole.len() > before.len() || is_group {
            paths.push((name.take().or_else(|| whole.last().cloned()), whole));
        }
    };
    let mut groups = Vec::new();
    let mut is_renamed = false;
    for token in tokens {
        match token {
            TokenTree::Ident(word) if word == "as" => is_renamed = true,
            TokenTree::Ident(word) if std::mem::take(&mut is_renamed) => name = Some(word.to_string()),
            TokenTree::Ident(word) => path.push(word.to_string()),
            TokenTree::Punct(mark) if mark.as_char() == ',' => end(&mut path, &mut name),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                groups.push((std::mem::replace(&mut path, before.to_vec()), group.stream()));
            }
            _ => {}
        }
    }
    end(&mut path, &mut name);
    for (before, inside) in groups {
        branches(&before, &mut inside.into_iter(), paths);
    }
}

/// Collects all paths in these tokens: those of `use`, and all others with at least two names.
fn collect(tokens: TokenStream, paths: &mut Vec<Name>) {
    let mut used = Vec::new();
    let rest = uses(tokens, &mut used);
    paths.extend(used.into_iter().map(|(_, path)| path));
    let (mut path, mut colons) = (Name::new(), 0);
    let mut end = |path: &mut Name| {
        let whole = std::mem::take(path);
        paths.extend((whole.len() > 1).then_some(whole));
    };
    let mut groups = Vec::new();
    for token in rest {
        match token {
            TokenTree::Ident(word) => {
                if colons != 2 {
                    end(&mut path);
                }
                path.push(word.to_string());
                colons = 0;
                continue;
            }
            TokenTree::Punct(mark) if mark.as_char() == ':' && !path.is_empty() => {
                colons += 1;
                continue;
            }
            TokenTree::Group(group) => groups.push(group.stream()),
            _ => {}
        }
        end(&mut path);
        colons = 0;
    }
    end(&mut path);
    for group in groups {
        collect(group, paths);
    }
}

/// Returns the module of a path, or `None` if the path leads to the root or out of the crate.
fn target(own: &[String], path: &[String], files: &Files, exported: &BTreeMap<String, Name>) -> Option<Name> {
    let supers = path.iter().take_while(|part| *part == "super").count();
    let (mut full, rest) = match path.first()?.as_str() {
        "crate" => (vec![], &path[1..]),
        "self" => (own.to_vec(), &path[1..]),
        "super" => (own[..own.len().checked_sub(supers)?].to_vec(), &path[supers..]),
        // A path may start with a child of its own module.
        _ if files.contains_key(&[own, &path[..1]].concat()) => (own.to_vec(), path),
        _ => return None,
    };
    full.extend(rest.iter().cloned());
    if let Some(stands_for) = full.first().and_then(|name| exported.get(name))
        && !files.contains_key(&full[..1])
    {
        full.splice(..1, stands_for.iter().cloned());
    }
    while !files.contains_key(&full) {
        full.pop()?;
    }
    Some(full).filter(|full| !full.is_empty())
}

/// Returns a cycle from a module back to itself.
fn cycle(imports: &Imports) -> Option<Name> {
    fn leads_to(at: &str, end: &str, imports: &Imports, seen: &mut BTreeSet<String>) -> Option<Name> {
        for next in &imports[at] {
            if next == end {
                return Some(vec![next.clone()]);
            }
            if seen.insert(next.clone())
                && let Some(mut way) = leads_to(next, end, imports, seen)
            {
                way.insert(0, next.clone());
                return Some(way);
            }
        }
        None
    }
    imports.keys().find_map(|module| {
        let mut way = leads_to(module, module, imports, &mut BTreeSet::new())?;
        way.insert(0, module.clone());
        Some(way)
    })
}
