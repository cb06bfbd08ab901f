//! Production code contains no name of the document: no operation, field, header, path, code or clause. Such
//! names are data, so that another document is another folder.
//!
//! The test looks for the names of the spec in each string of each file. It skips `harness/bank` and
//! `harness/reference`, which are the other reading of the document, and all comments and tests.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    str::FromStr,
};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use serde_json::Value;
use xs2aspec_spec::yaml;
use xs2aspec_suite::{BodySpec, Suite, Tree};

/// A file, a name, and the reason why the file may contain it.
#[rustfmt::skip]
const ALLOWED: [(&str, &str, &str); 8] = [
    (
        "judge/src/quota.rs",
        "quota-unused",
        "a capability of the profile by which quotas are judged, as `quota` is",
    ),
    ("evidence/src/bundle.rs", "v1", "a version of the in-toto statement"),
    ("judge/src/fill.rs", "digest.sha-256", "a placeholder of requests"),
    ("judge/src/fill.rs", "digest.sha-512", "a placeholder of requests"),
    (
        "judge/src/probes/substitute_baseline.rs",
        "NOT_FOUND",
        "the phrase of status 404 as a code (RFC 9110 section 15.5.5)",
    ),
    ("judge/src/profile/mod.rs", "sandbox", "an environment of a target profile"),
    ("judge/src/traffic/client.rs", "sandbox", "the capability that only a test system needs, as the environment is"),
    ("signing/src/name/kind.rs", "postalCode", "a type of X.520"),
];

/// Lowercase names of a standard: of HTTP, of the draft for signatures, of PEM. Code for that standard may
/// use them.
const STANDARD: [&str; 14] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "delete",
    "digest",
    "host",
    "post",
    "private",
    "signature",
];

/// Names that the formats of the suite use, too, and that are therefore ambiguous.
const ORDINARY: [&str; 6] = ["code", "id", "name", "path", "status", "text"];

/// The names of the document.
#[derive(Debug, Default)]
struct Names {
    /// Clauses and profile values, and the starts of their ids.
    dotted: BTreeSet<String>,
    /// Names that are not words of the language. They match wherever they are a whole word.
    own: BTreeSet<String>,
    /// Lowercase headers, which match in any case.
    headers: BTreeSet<String>,
    /// Names that are also words of the language. They match a whole string, or all between two slashes.
    words: BTreeSet<String>,
}

impl Names {
    fn of_the_spec() -> Self {
        let tree = Tree::embedded();
        let mut names = Self::default();
        for (path, text) in tree.below("fixtures/schemas/", ".json") {
            let schema: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{path}: {error}"));
            names.add_schema(&schema);
        }
        let requests: Value =
            yaml::read("requests.yaml", tree.text("fixtures/spec/requests.yaml").unwrap()).unwrap();
        names.add_requests(&requests);
        let table = tree.text("fixtures/tables/headers.csv").unwrap();
        let headers = table.lines().skip(1).filter_map(|line| line.split(',').nth(2));
        names.headers.extend(headers.map(str::to_lowercase));
        let suite = Suite::load(tree).unwrap();
        suite.clauses().keys().for_each(|clause| names.add_dotted(clause));
        for baseline in suite.baselines().values() {
            let request = &baseline.request;
            names.add(&request.operation);
            request.path.split('/').filter(|part| !part.contains('$')).for_each(|part| names.add(part));
            request.query.iter().for_each(|(name, _)| names.add(name));
            names.headers.extend(request.headers.iter().map(|(name, _)| name.to_lowercase()));
            if let BodySpec::Json(body, _) = &request.body {
                names.add_members(body);
            }
        }
        let profile = &suite.spec().profile;
        profile.value_names().for_each(|name| names.add_dotted(name));
        profile.capability_names().filter(|name| is_unmistakable(name)).for_each(|name| names.add(name));
        for kind in [&mut names.headers, &mut names.own, &mut names.words] {
            kind.retain(|name| {
                let small = name.to_lowercase();
                !STANDARD.contains(&small.as_str()) && !ORDINARY.contains(&small.as_str())
            });
        }
        names
    }

    fn add(&mut self, name: &str) {
        let name = name.trim_start_matches('_');
        if is_unmistakable(name) {
            self.own.insert(name.to_owned());
        } else if name.len() > 1 {
            self.words.insert(name.to_owned());
        }
    }

    /// Adds a dotted name, and its starts that contain a dot.
    fn add_dotted(&mut self, name: &str) {
        let ends = name.match_indices('.').map(|(at, _)| at).skip(1).chain([name.len()]);
        self.dotted.extend(ends.map(|end| name[..end].to_owned()).filter(|name| name.contains('.')));
    }

    fn add_members(&mut self, value: &Value) {
        match value {
            Value::Object(members) => members.iter().for_each(|(name, value)| {
                self.add(name);
                self.add_members(value);
            }),
            Value::Array(items) => items.iter().for_each(|item| self.add_members(item)),
            _ => {}
        }
    }

    fn add_schema(&mut self, schema: &Value) {
        schema.as_array().into_iter().flatten().for_each(|schema| self.add_schema(schema));
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            match keyword.as_str() {
                "enum" | "const" => self.add_unmistakable(value),
                "properties" => value.as_object().into_iter().flatten().for_each(|(name, schema)| {
                    self.add(name);
                    self.add_schema(schema);
                }),
                _ => self.add_schema(value),
            }
        }
    }

    /// Adds the places and closed lists of the model of requests.
    fn add_requests(&mut self, model: &Value) {
        model.as_array().into_iter().flatten().for_each(|item| self.add_requests(item));
        for (key, value) in model.as_object().into_iter().flatten() {
            match (key.as_str(), value) {
                ("at", Value::String(place)) => place.split('/').for_each(|name| self.add(name)),
                ("words", listed) => self.add_unmistakable(listed),
                (_, value) => self.add_requests(value),
            }
        }
    }

    /// Adds the names in these texts that are not words of the language.
    fn add_unmistakable(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                let names = words(text).filter(|word| !word.contains('-') && is_unmistakable(word));
                self.own.extend(names.map(str::to_owned));
            }
            Value::Object(members) => members.values().for_each(|value| self.add_unmistakable(value)),
            Value::Array(items) => items.iter().for_each(|item| self.add_unmistakable(item)),
            _ => {}
        }
    }

    /// Returns the names that a string contains.
    fn said_by(&self, text: &str) -> BTreeSet<String> {
        let dotted = text.split(|letter: char| !letter.is_ascii_alphanumeric() && !"-_.".contains(letter));
        let dotted = dotted.map(|word| word.trim_matches('.')).filter(|word| self.dotted.contains(*word));
        let own = words(text)
            .filter(|word| self.own.contains(*word) || self.headers.contains(&word.to_lowercase()));
        let whole = text.split('/').filter(|part| self.words.contains(*part));
        dotted.chain(own).chain(whole).map(str::to_owned).collect()
    }
}

/// Returns true if a name is not a word of the language: `paymentIds`, `RJCT`, `signing-baskets`, `ncbct`.
fn is_unmistakable(name: &str) -> bool {
    let letters: Vec<char> = name.chars().collect();
    let is_name = letters.first().is_some_and(char::is_ascii_alphabetic)
        && letters.iter().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(*letter));
    let has_hump =
        letters.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let is_code =
        letters.len() > 3 && letters.iter().all(|letter| letter.is_ascii_uppercase() || *letter == '_');
    let has_vowel = name.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    let is_abbreviation = letters.len() > 3 && letters.iter().all(char::is_ascii_lowercase) && !has_vowel;
    is_name && (has_hump || is_code || is_abbreviation || name.contains('-'))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && !"-_".contains(letter));
    words.map(|word| word.trim_matches(['-', '_']))
}

/// Returns the strings of a file, without those of its tests.
fn strings(file: &str, with_comments: bool) -> Vec<String> {
    let tokens = TokenStream::from_str(file).unwrap_or_else(|error| panic!("{error}"));
    let mut found = Vec::new();
    collect(tokens, with_comments, &mut found);
    found
}

fn collect(tokens: TokenStream, with_comments: bool, found: &mut Vec<String>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                _ = tokens.next_if(|next| next.to_string() == "!");
                let Some(TokenTree::Group(attribute)) =
                    tokens.next_if(|next| matches!(next, TokenTree::Group(_)))
                else {
                    continue;
                };
                let text = attribute.stream().to_string().replace(' ', "");
                if text == "cfg(test)" {
                    // The item ends with its braces or its semicolon.
                    for token in tokens.by_ref() {
                        match token {
                            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => break,
                            TokenTree::Punct(mark) if mark.as_char() == ';' => break,
                            _ => {}
                        }
                    }
                } else if with_comments || !text.starts_with("doc=") {
                    collect(attribute.stream(), with_comments, found);
                }
            }
            TokenTree::Group(group) => collect(group.stream(), with_comments, found),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                let inside = text.find('"').zip(text.rfind('"')).filter(|(start, end)| start < end);
                // A character after a backslash is not part of the next word.
                let inside = inside.map(|(start, end)| text[start + 1..end].replace("\\n", " "));
                found.extend(inside);
            }
            _ => {}
        }
    }
}

/// Returns all files of production code, with the names that the allow-list uses.
fn files() -> Vec<(String, PathBuf)> {
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for krate in fs::read_dir(harness).unwrap() {
        let folder = krate.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        // The bench and the fuzzer are not part of the program.
        if !["bank", "reference", "bench", "fuzz"].contains(&name.as_str()) && folder.join("src").is_dir() {
            below(&folder.join("src"), &mut files);
        }
    }
    let tests: BTreeSet<PathBuf> = files.iter().flat_map(|file| modules_of_tests(file)).collect();
    let name = |path: &Path| path.strip_prefix(harness).unwrap().to_str().unwrap().replace('\\', "/");
    // Files below a test module are part of it.
    files.retain(|path| !path.ancestors().any(|above| tests.contains(&above.with_extension("rs"))));
    files.into_iter().map(|path| (name(&path), path)).collect()
}

/// Returns the files that a file includes only for tests.
fn modules_of_tests(file: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(file).unwrap();
    let is_folder = ["lib.rs", "main.rs", "mod.rs"].iter().any(|name| file.ends_with(name));
    let folder = if is_folder { file.parent().unwrap().to_owned() } else { file.with_extension("") };
    let after = text.split("#[cfg(test)]\nmod ").skip(1).filter_map(|rest| rest.split_once(';'));
    after.filter(|(name, _)| !name.contains(' ')).map(|(name, _)| folder.join(format!("{name}.rs"))).collect()
}

/// Collects the Rust files below a folder.
pub(super) fn below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            below(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn production_code_names_nothing_of_the_document() {
    let names = Names::of_the_spec();
    let mut used = BTreeSet::new();
    let mut found = BTreeMap::<String, BTreeSet<String>>::new();
    for (name, path) in files() {
        // These doc comments are the help texts of the command.
        let with_comments = name.starts_with("cli/src/args");
        for text in strings(&fs::read_to_string(&path).unwrap(), with_comments) {
            for said in names.said_by(&text) {
                let allowed = ALLOWED.iter().position(|(file, allowed, _)| name == *file && said == *allowed);
                match allowed {
                    Some(at) => _ = used.insert(at),
                    None => _ = found.entry(name.clone()).or_default().insert(said),
                }
            }
        }
    }
    let unused: Vec<_> = (0..ALLOWED.len()).filter(|at| !used.contains(at)).map(|at| ALLOWED[at]).collect();
    assert!(
        found.is_empty(),
        "names of the document in production code: move them to fixtures/spec: {found:#?}"
    );
    assert!(unused.is_empty(), "nothing needs these lines of the allow-list any more: {unused:#?}");
}

#[test]
fn a_name_is_found_in_each_kind_of_string_and_nowhere_else() {
    let names = Names::of_the_spec();
    let said = |text: &str| {
        let said: BTreeSet<String> =
            strings(text, false).iter().flat_map(|text| names.said_by(text)).collect();
        said.into_iter().collect::<Vec<_>>().join(" ")
    };
    for (text, expected) in [
        (r#"const A: &str = "basket";"#, "basket"),
        (r##"fn a() { b(r#"{"paymentIds": []}"#) }"##, "paymentIds"),
        (r#"say!("and `body/monthsOfExecution/0`");"#, "monthsOfExecution"),
        (r#"say!("a header such as psu-id\n");"#, "psu-id"),
        (r#"say!("see periodic.months.duplicate/2-apart");"#, "periodic.months.duplicate"),
        (r#"say!("with [accounts.debtor]");"#, "accounts.debtor"),
        (r#"say!("POST /v1/signing-baskets", "RJCT");"#, "RJCT signing-baskets v1"),
        (r#"say!("a refusal with REFERENCE_MIX_INVALID");"#, "REFERENCE_MIX_INVALID"),
        (r#"say!("Content-Type", "status", "the basket is full");"#, ""),
        ("//! `paymentIds`\n/// PSU-ID\nfn basket() {} // psu-id", ""),
        (r#"#[cfg(test)] mod tests { const A: &str = "PSU-ID"; } const B: &str = "basket";"#, "basket"),
    ] {
        assert_eq!(said(text), expected, "{text}");
    }
    assert_eq!(strings("/// Words.\nstruct A;", true), [" Words."]);
}
