//! The files that a suite is read from: those embedded in the binary, or case files from a folder.

use std::{collections::BTreeMap, path::Path};

use include_dir::{Dir, include_dir};
use sha2::{Digest, Sha256};

use crate::problem::{Problem, Problems};

static CASES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../cases");
static REQUESTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../fixtures/requests");
static SCHEMAS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../fixtures/schemas");
static SPEC: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../fixtures/spec");
static TABLES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../fixtures/tables");

/// Files by path with forward slashes: `cases/..`, `fixtures/spec/..`, `fixtures/requests/..`,
/// `fixtures/tables/..`.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    files: BTreeMap<String, String>,
    /// The folder that the case files were read from, as it was named, without a slash at its end.
    folder: Option<String>,
    /// Whether the clause ledger was read from there too.
    own_clauses: bool,
}

impl Tree {
    /// The files embedded in the binary.
    pub fn embedded() -> Self {
        let mut tree = Self::default();
        tree.add_embedded("cases", &CASES);
        tree.add_embedded("fixtures/requests", &REQUESTS);
        tree.add_embedded("fixtures/schemas", &SCHEMAS);
        tree.add_embedded("fixtures/spec", &SPEC);
        tree.add_embedded("fixtures/tables", &TABLES);
        tree
    }

    /// The embedded files, with the case files replaced by those of `folder`. The clause ledger is replaced
    /// only if the folder has its own `clauses/`. Symbolic links are not followed.
    pub fn with_cases(folder: &Path) -> Result<Self, Problems> {
        let mut tree = Self::embedded();
        let own_clauses = folder.join("clauses").is_dir();
        let named = folder.display().to_string();
        let named = if cfg!(windows) { named.replace('\\', "/") } else { named };
        tree.folder = Some(if named.len() > 1 { named.trim_end_matches('/').to_owned() } else { named });
        tree.own_clauses = own_clauses;
        tree.files.retain(|path, _| {
            !path.starts_with("cases/") || (path.starts_with("cases/clauses/") && !own_clauses)
        });
        let mut problems = Vec::new();
        tree.add_folder("cases", folder, &mut problems);
        if problems.is_empty() { Ok(tree) } else { Err(Problems(problems)) }
    }

    /// A tree of the embedded spec and of these files, for tests.
    pub fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        tree.add_embedded("fixtures/schemas", &SCHEMAS);
        tree.add_embedded("fixtures/spec", &SPEC);
        tree.and(files)
    }

    /// The same with these files added or replaced.
    #[must_use]
    pub fn and(mut self, files: &[(&str, &str)]) -> Self {
        self.files.extend(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
        self
    }

    /// Files below a folder whose name ends so, in order of their paths.
    pub fn below<'a>(&'a self, folder: &'a str, ending: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files
            .iter()
            .filter(move |(path, _)| path.starts_with(folder) && path.ends_with(ending))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The text of one file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// A file of the tree by the name under which it can be opened: `cases/..` is another folder where the
    /// case files were read from one.
    pub fn shown(&self, path: &str) -> String {
        let is_embedded = path.starts_with("cases/clauses/") && !self.own_clauses;
        if let (Some(folder), "cases") = (&self.folder, path) {
            return folder.clone();
        }
        match (&self.folder, path.strip_prefix("cases/")) {
            (Some(folder), Some(rest)) if !is_embedded && self.files.contains_key(path) => {
                format!("{}/{rest}", folder.trim_end_matches('/'))
            }
            _ => path.to_owned(),
        }
    }

    /// The text of a file by the name under which it is shown.
    pub fn text_of_shown(&self, shown: &str) -> Option<&str> {
        let folder = self.folder.as_deref().map(|folder| folder.trim_end_matches('/'));
        let rest = folder.and_then(|folder| shown.strip_prefix(folder)?.strip_prefix('/'));
        rest.and_then(|rest| self.text(&format!("cases/{rest}"))).or_else(|| self.text(shown))
    }

    /// The folder that the case files were read from, as it was named, if they are others than those of the
    /// program.
    pub fn other_cases(&self) -> Option<&str> {
        let folder = self.folder.as_deref()?;
        (self.files != Self::embedded().files).then_some(folder)
    }

    /// SHA-256 over paths and contents, in hex: what a run was planned from.
    pub fn sha256(&self) -> String {
        let mut hash = Sha256::new();
        for (path, text) in &self.files {
            for part in [path, text] {
                hash.update((part.len() as u64).to_be_bytes());
                hash.update(part);
            }
        }
        hex(&hash.finalize())
    }

    fn add_embedded(&mut self, prefix: &str, folder: &Dir<'_>) {
        let is_fixture = prefix != "cases";
        for file in folder.files() {
            if let (Some(path), Some(text)) = (file.path().to_str(), file.contents_utf8())
                // What is written about the cases is none of them.
                && (is_fixture || file.path().extension().is_some_and(|ending| ending == "yaml"))
            {
                self.files.insert(format!("{prefix}/{}", path.replace('\\', "/")), text.to_owned());
            }
        }
        for child in folder.dirs() {
            self.add_embedded(prefix, child);
        }
    }

    fn add_folder(&mut self, prefix: &str, folder: &Path, problems: &mut Vec<Problem>) {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                problems.push(Problem::of_file(
                    &folder.display().to_string(),
                    format!("cannot be read: {error}"),
                ));
                return;
            }
        };
        for entry in entries.flatten() {
            let path = entry.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            let inside = format!("{prefix}/{name}");
            let shown = path.display().to_string();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                self.add_folder(&inside, &path, problems);
            } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "yml") {
                problems.push(Problem::of_file(&shown, "is not read").help("name it `.yaml`"));
            } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "yaml") {
                match std::fs::read_to_string(&path) {
                    Ok(text) => _ = self.files.insert(inside, text),
                    Err(error) => {
                        problems.push(Problem::of_file(&shown, format!("cannot be read: {error}")));
                    }
                }
            }
        }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_carries_cases_requests_and_tables() {
        let tree = Tree::embedded();
        assert!(tree.below("cases/clauses/", ".yaml").count() > 0);
        assert!(tree.below("fixtures/requests/", ".yaml").count() > 0);
        assert!(tree.text("fixtures/tables/currencies.csv").is_some());
    }

    #[test]
    fn files_of_another_folder_are_shown_by_the_name_under_which_they_can_be_opened() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases/"));
        let tree = Tree::with_cases(folder).unwrap();
        let file = "cases/periodic/months-of-execution.yaml";
        let shown = tree.shown(file);
        assert!(Path::new(&shown).is_file() && shown != file, "{shown}");
        assert_eq!(tree.text_of_shown(&shown), tree.text(file));
        assert!(tree.text(file).is_some());
        assert_eq!(tree.shown("fixtures/tables/currencies.csv"), "fixtures/tables/currencies.csv");
        // The same cases from a folder are those of the program; one byte more, and they are not.
        assert_eq!((tree.other_cases(), tree.sha256()), (None, Tree::embedded().sha256()));
        let other = tree.and(&[("cases/periodic/more.yaml", "")]);
        assert_eq!(other.other_cases(), Some(folder.display().to_string().trim_end_matches('/')));
        // The ledger of the program stays where the folder has none.
        let none = Tree { own_clauses: false, ..other };
        let ledger = none.below("cases/clauses/", ".yaml").next().unwrap().0;
        assert_eq!(none.shown(ledger), ledger);
        assert_eq!(Tree::embedded().shown(file), file);
        assert_eq!(Tree::embedded().text_of_shown(file), Tree::embedded().text(file));
    }

    #[test]
    fn the_digest_depends_on_path_and_content() {
        let one = Tree::of(&[("a", "bc")]).sha256();
        assert_ne!(one, Tree::of(&[("ab", "c")]).sha256());
        assert_ne!(one, Tree::of(&[("a", "bd")]).sha256());
        assert_eq!(one.len(), 64);
    }
}
