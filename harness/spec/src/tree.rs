//! The files that a suite is read from: the embedded ones, the embedded ones with case files from a folder,
//! or all of them from a folder.

use std::{collections::BTreeMap, path::Path};

use include_dir::{Dir, include_dir};
use sha2::{Digest, Sha256};

use crate::problem::{Problem, Problems};

static ANSWERS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../fixtures/answers");
static CASES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../cases");
static REQUESTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../fixtures/requests");
static SCHEMAS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../fixtures/schemas");
static SPEC: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../fixtures/spec");
static TABLES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../fixtures/tables");

/// The cases in order of their effectiveness. Of its folder, only this file is part of a suite.
const ORDER: (&str, &str) = (
    "fixtures/kill-matrix/order.tsv",
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/kill-matrix/order.tsv")),
);

/// The folders other than `cases` that a suite is read from, embedded or in a pack.
const FIXTURES: [&str; 5] =
    ["fixtures/answers", "fixtures/requests", "fixtures/schemas", "fixtures/spec", "fixtures/tables"];

/// The files, and the folders with at least one file, that a pack must have.
const REQUIRED: [(&str, &str); 6] = [
    ("fixtures/spec/interface.md", "the text of the document"),
    ("fixtures/spec/answers.yaml", "the rules for responses"),
    ("fixtures/spec/masks.yaml", "the data that no record shows"),
    ("fixtures/schemas/types.json", "the types that the schemas of responses share, or {}"),
    ("fixtures/requests/", "valid requests, one YAML file each"),
    ("cases/", "the clauses of the document and their cases, in YAML files"),
];

/// Prefix of the embedded rule files if the case files of a folder declare no clauses. Only the clauses in
/// them are used, not the cases.
const CLAUSES_ONLY: &str = "clauses-only/";

/// Extensions of the files of a pack below `fixtures/`. Other files are ignored.
const ENDINGS: [&str; 5] = ["csv", "json", "md", "toml", "yaml"];

/// Name of a file that describes its folder.
const README: &str = "README.md";

/// Files by path, with forward slashes: `cases/..`, `fixtures/spec/..`, `fixtures/requests/..`,
/// `fixtures/tables/..`.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    files: BTreeMap<String, String>,
    origin: Origin,
}

/// The origin of the files. A folder is kept as the user named it, without a trailing slash.
#[derive(Debug, Clone, Default)]
enum Origin {
    /// The binary.
    #[default]
    Embedded,
    /// The rule files from a folder.
    Cases { folder: String },
    /// All of them from a folder.
    Pack { folder: String },
}

impl Tree {
    /// Returns the files embedded in the binary.
    pub fn embedded() -> Self {
        let mut tree = Self::default();
        tree.add_embedded("cases", &CASES);
        for (prefix, folder) in FIXTURES.into_iter().zip([&ANSWERS, &REQUESTS, &SCHEMAS, &SPEC, &TABLES]) {
            tree.add_embedded(prefix, folder);
        }
        tree.files.insert(ORDER.0.to_owned(), ORDER.1.to_owned());
        tree
    }

    /// Returns the embedded files, with the rule files replaced by those of `folder`. If these declare no
    /// clauses, the embedded clauses stay. Symbolic links are not followed.
    pub fn with_cases(folder: &Path) -> Result<Self, Problems> {
        let mut tree = Self { origin: Origin::Cases { folder: named(folder) }, ..Self::default() };
        let mut problems = Vec::new();
        tree.add_folder("cases", folder, &["yaml"], &mut problems);
        let declares = |text: &String| text.lines().any(|line| line.starts_with("clauses:"));
        let has_clauses = tree.files.values().any(declares);
        for (path, text) in Self::embedded().files {
            if !path.starts_with("cases/") {
                tree.files.insert(path, text);
            } else if !has_clauses {
                tree.files.insert(format!("{CLAUSES_ONLY}{path}"), text);
            }
        }
        if problems.is_empty() { Ok(tree) } else { Err(Problems(problems)) }
    }

    /// Returns the files of another document: `cases/` and `fixtures/` of this folder, without any embedded
    /// files. Symbolic links are not followed.
    pub fn pack(folder: &Path) -> Result<Self, Problems> {
        let mut tree = Self { origin: Origin::Pack { folder: named(folder) }, ..Self::default() };
        if !folder.is_dir() {
            let problem = Problem::of_file(&named(folder), "not a folder");
            return Err(problem.help("a pack is a folder with `cases/` and `fixtures/` in it").into());
        }
        let mut problems = Vec::new();
        tree.add_pack(folder, &mut problems);
        for (path, what) in REQUIRED {
            if tree.below(path, "").next().is_none() {
                let message = format!("missing: a pack needs {what}");
                problems.push(Problem::of_file(&tree.shown(path), message));
            }
        }
        if problems.is_empty() { Ok(tree) } else { Err(Problems(problems)) }
    }

    /// Adds the files of a pack. Any of the folders may be missing.
    fn add_pack(&mut self, folder: &Path, problems: &mut Vec<Problem>) {
        let owns = |prefix: &str| folder.join(prefix).is_dir() && !has_link(folder, prefix);
        if owns("cases") {
            self.add_folder("cases", &folder.join("cases"), &["yaml"], problems);
        }
        for prefix in FIXTURES.into_iter().filter(|prefix| owns(prefix)) {
            self.add_folder(prefix, &folder.join(prefix), &ENDINGS, problems);
        }
        if !has_link(folder, ORDER.0)
            && let Ok(order) = std::fs::read_to_string(folder.join(ORDER.0))
        {
            self.files.insert(ORDER.0.to_owned(), order);
        }
    }

    /// Returns a tree of the embedded spec and of these files, for tests. It lacks the rules for requests and
    /// sequences, which need baselines and clauses that such a tree does not have.
    pub fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        tree.add_embedded("fixtures/answers", &ANSWERS);
        tree.add_embedded("fixtures/schemas", &SCHEMAS);
        tree.add_embedded("fixtures/spec", &SPEC);
        tree.files.remove("fixtures/spec/requests.yaml");
        tree.files.remove("fixtures/spec/sequences.yaml");
        tree.and(files)
    }

    /// Adds or replaces these files.
    #[must_use]
    pub fn and(mut self, files: &[(&str, &str)]) -> Self {
        self.files.extend(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
        self
    }

    /// Returns the files below a folder with this ending, in order of their paths.
    pub fn below<'a>(&'a self, folder: &'a str, ending: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files
            .iter()
            .filter(move |(path, _)| path.starts_with(folder) && path.ends_with(ending))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Returns the files that may declare clauses, in order of their paths.
    pub fn clause_files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.below("cases/", ".yaml").chain(self.below(CLAUSES_ONLY, ".yaml"))
    }

    /// Returns the text of a file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Returns the path under which a user can open a file of the tree, if it was read from a folder. A path
    /// that can already be opened is returned unchanged.
    pub fn shown(&self, path: &str) -> String {
        match &self.origin {
            Origin::Cases { folder } if path == "cases" => folder.clone(),
            Origin::Cases { folder } => match path.strip_prefix("cases/") {
                Some(rest) if self.files.contains_key(path) => {
                    format!("{}/{rest}", folder.trim_end_matches('/'))
                }
                _ => path.strip_prefix(CLAUSES_ONLY).unwrap_or(path).to_owned(),
            },
            Origin::Pack { folder } if self.files.contains_key(path) || self.below_folder(path).is_none() => {
                format!("{}/{path}", folder.trim_end_matches('/'))
            }
            Origin::Embedded | Origin::Pack { .. } => path.to_owned(),
        }
    }

    /// Returns the text of a file by the path that [`Self::shown`] returns.
    pub fn text_of_shown(&self, shown: &str) -> Option<&str> {
        self.below_folder(shown).or_else(|| self.text(shown))
    }

    /// Returns the text of a file by a path that includes the folder that it was read from.
    fn below_folder(&self, shown: &str) -> Option<&str> {
        let (folder, prefix) = match &self.origin {
            Origin::Embedded => return None,
            Origin::Cases { folder } => (folder, "cases/"),
            Origin::Pack { folder } => (folder, ""),
        };
        let rest = shown.strip_prefix(folder.trim_end_matches('/'))?.strip_prefix('/')?;
        self.text(&format!("{prefix}{rest}"))
    }

    /// Returns the folder of the case files, as the user named it, if they differ from the embedded ones.
    pub fn other_cases(&self) -> Option<&str> {
        let Origin::Cases { folder } = &self.origin else { return None };
        self.differs().then_some(folder)
    }

    /// Returns the folder of the document with its clauses and cases, as the user named it, if they differ
    /// from the embedded ones.
    pub fn other_document(&self) -> Option<&str> {
        let Origin::Pack { folder } = &self.origin else { return None };
        self.differs().then_some(folder)
    }

    fn differs(&self) -> bool {
        self.files != Self::embedded().files
    }

    /// Returns the SHA-256 over paths and contents, in hex. It identifies what a run was planned from.
    pub fn sha256(&self) -> String {
        let mut hash = Sha256::new();
        for (path, text) in &self.files {
            for part in [path, text] {
                hash.update((part.len() as u64).to_be_bytes());
                hash.update(part);
            }
        }
        hex::encode(hash.finalize())
    }

    fn add_embedded(&mut self, prefix: &str, folder: &Dir<'_>) {
        let is_fixture = prefix != "cases";
        for file in folder.files() {
            if let (Some(path), Some(text)) = (file.path().to_str(), file.contents_utf8())
                // A README describes cases or fixtures and is not part of a suite.
                && !file.path().ends_with(README)
                && (is_fixture || file.path().extension().is_some_and(|ending| ending == "yaml"))
            {
                self.files.insert(format!("{prefix}/{}", path.replace('\\', "/")), text.to_owned());
            }
        }
        for child in folder.dirs() {
            self.add_embedded(prefix, child);
        }
    }

    /// Adds the files below a folder with one of these extensions.
    fn add_folder(&mut self, prefix: &str, folder: &Path, endings: &[&str], problems: &mut Vec<Problem>) {
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
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            if kind.is_dir() {
                self.add_folder(&inside, &path, endings, problems);
            } else if kind.is_file() && ending == "yml" {
                problems.push(
                    Problem::of_file(&shown, "not read because of its extension").help("name it `.yaml`"),
                );
            } else if kind.is_file() && endings.contains(&ending) && name != README {
                match text(&path) {
                    Ok(text) => _ = self.files.insert(inside, text),
                    Err(error) => {
                        problems.push(Problem::of_file(&shown, format!("cannot be read: {error}")));
                    }
                }
            }
        }
    }
}

/// Returns the text of a file. Files over 16 MB are rejected.
fn text(path: &Path) -> std::io::Result<String> {
    const MOST: u64 = 16 * 1024 * 1024;
    if std::fs::metadata(path)?.len() > MOST {
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, "longer than 16 MB"));
    }
    std::fs::read_to_string(path)
}

/// Returns true if a component of `path` below `folder` is a symbolic link, which may lead out of the folder.
fn has_link(folder: &Path, path: &str) -> bool {
    let mut at = folder.to_owned();
    path.split('/').any(|name| {
        at.push(name);
        at.is_symlink()
    })
}

/// Returns a folder as the user named it, without a trailing slash.
fn named(folder: &Path) -> String {
    let named = folder.display().to_string();
    let named = if cfg!(windows) { named.replace('\\', "/") } else { named };
    if named.len() > 1 { named.trim_end_matches('/').to_owned() } else { named }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_carries_cases_requests_and_tables() {
        let tree = Tree::embedded();
        assert!(tree.below("cases/", ".yaml").count() > 0);
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
        // The embedded cases are the same when read from a folder. One more file makes them different.
        assert_eq!((tree.other_cases(), tree.sha256()), (None, Tree::embedded().sha256()));
        let other = tree.and(&[("cases/periodic/more.yaml", "")]);
        assert_eq!(other.other_cases(), Some(folder.display().to_string().trim_end_matches('/')));
        // If the folder declares no clauses, the embedded clauses stay. The embedded cases do not.
        let none = Tree::with_cases(&folder.join("matrix")).unwrap();
        assert!(none.below("cases/", ".yaml").all(|(path, _)| path.starts_with("cases/")), "{none:?}");
        let (kept, text) = none.clause_files().find(|(_, text)| text.contains("clauses:")).unwrap();
        let shown = none.shown(kept);
        assert_eq!(Tree::embedded().text(&shown), Some(text), "{kept} {shown}");
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

    #[test]
    fn a_pack_is_all_of_a_document_and_nothing_of_the_embedded_one() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../"));
        let same = Tree::pack(folder).unwrap();
        // The embedded document is the same when read from its folder.
        assert_eq!((same.other_document(), same.sha256()), (None, Tree::embedded().sha256()));
        let file = "fixtures/tables/currencies.csv";
        let shown = same.shown(file);
        assert!(Path::new(&shown).is_file() && shown != file, "{shown}");
        assert_eq!(same.text_of_shown(&shown), same.text(file));
        // A shown path is returned unchanged. A missing file is shown in the folder too.
        assert_eq!(same.shown(&shown), shown);
        assert_eq!(
            same.shown("fixtures/schemas/none.json"),
            format!("{}fixtures/schemas/none.json", folder.display())
        );
        let other = same.and(&[("cases/periodic/more.yaml", "")]);
        assert_eq!(other.other_document(), Some(folder.display().to_string().trim_end_matches('/')));
        assert_eq!(other.other_cases(), None);
    }

    #[test]
    fn what_a_pack_lacks_is_named() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures"));
        let said = Tree::pack(folder).unwrap_err().to_string();
        for file in ["fixtures/spec/interface.md", "fixtures/spec/answers.yaml", "cases/"] {
            let whole = format!("{}/{file}: missing: a pack needs ", folder.display());
            assert!(said.contains(&whole), "{whole}: {said}");
        }
        let said = Tree::pack(&folder.join("none")).unwrap_err().to_string();
        assert!(said.contains("/fixtures/none: not a folder\n  = a pack is "), "{said}");
    }
}
