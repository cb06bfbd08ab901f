//! The prose of the repository: comments, help, messages, Markdown, and the texts of YAML and TOML files use
//! plain words, and one word for one thing.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use regex::Regex;

/// Patterns that no text may have, each with what to write instead.
const PATTERNS: [(&str, &str); 24] = [
    (r"be it|anew|whoever|so many|so often", "a plain phrase"),
    (r"says yes to|comes to|what came of|what becomes of", "an ordinary verb"),
    (r"of which|by which|of whom", "a second sentence"),
    (r"has had enough|as it has it|in its own way|nobody wrote", "what happens"),
    (r"is told|is meant|is minded", "the actor"),
    (r"lawful", "conforming, allowed"),
    (r"culprits?", "minimal cause"),
    (r"reckon(s|ed|ing)?", "compute, count"),
    (r"in place of", "instead of"),
    (r"plain requests?", "baseline request"),
    (r"built-in bank|own bank", "reference bank"),
    (r"refuses?|refused|refusals?", "reject, rejection"),
    (r"demand(s|ed)", "require, required"),
    (r"drawn", "generated, random, rendered"),
    (r"small letters", "lowercase"),
    (r"breach(es)?", "violation"),
    (r"blanks?", "space"),
    (r"beside", "with, next to"),
    (r"stands (in|at|there|alone)", "is, appears"),
    (r"left out", "skipped"),
    (r"not asked|asked again", "not tested, rerun"),
    (r"tak(es|en) for", "treats as"),
    (r"answered|answers", "responds, response"),
    (r"questions?", "request, probe"),
];

/// How a doc comment may not begin.
const BEGINNINGS: [&str; 6] = ["Whether ", "What ", "Who ", "Nothing ", "Where ", "How "];

/// The maximum number of words of a sentence.
const WORDS: usize = 35;

/// The maximum number of columns of a line of Markdown prose.
const COLUMNS: usize = 120;

/// Texts that may have a pattern: the end of a path, a part of the line, and the reason.
const ALLOWED: [(&str, &str, &str); 15] = [
    ("payment.rs", "refused with an error message", "the document says it"),
    ("args/own.rs", "drawn-N", "a name of styles"),
    ("args/prove.rs", "drawn-N", "a name of styles"),
    ("args/run.rs", "drawn-N", "a name of styles"),
    ("rules/entry.rs", "drawn-N", "a name of styles"),
    ("reference/src/style.rs", "drawn-N", "a name of styles"),
    ("reference/commands.md", "drawn-N", "a name of styles"),
    ("reference/profile.md", "that demands", "advice of the profile"),
    ("reference/profile.md", "a basket refuses it", "advice of the profile"),
    ("reference/profile.md", "as it stands in the path", "advice of the profile"),
    ("suite/src/expectation.rs", "refused", "the word of case files"),
    ("rules/rows.rs", "refuse", "the word of rule files"),
    ("judge/src/judge/tests.rs", "refuse", "the word of rule files"),
    ("guide/another-document.md", "<!-- file: ", "the path of a file"),
    ("judge/src/lib.rs", "Need::Answer(question)", "names of the code"),
];

/// A line of prose.
struct Line {
    place: String,
    text: String,
    is_doc: bool,
    is_wide: bool,
}

#[test]
fn prose_is_plain() {
    let patterns =
        PATTERNS.map(|(pattern, instead)| (Regex::new(&format!(r"(?i)\b(?:{pattern})\b")).unwrap(), instead));
    let lines = lines();
    assert!(lines.len() > 15_000, "{}", lines.len());
    let mut used = [false; ALLOWED.len()];
    let mut wrong = Vec::new();
    for Line { place, text, is_doc, is_wide } in &lines {
        let mut say = |what: String| {
            let file = place.rsplit_once(':').map_or("", |(file, _)| file);
            let allowed =
                ALLOWED.iter().position(|(end, part, _)| file.ends_with(end) && text.contains(part));
            match allowed {
                Some(at) => used[at] = true,
                None => wrong.push(format!("{place}: {what}: {text}")),
            }
        };
        for (pattern, instead) in &patterns {
            if let Some(found) = pattern.find(text) {
                say(format!("{:?}, write {instead}", found.as_str()));
            }
        }
        if *is_doc && BEGINNINGS.iter().any(|beginning| text.starts_with(beginning)) {
            say("begin with a verb or a noun".to_owned());
        }
        if *is_wide {
            say(format!("more than {COLUMNS} columns"));
        }
        let is_prose = !text.starts_with(['|', '>']);
        for sentence in text.split(['.', ':', ';']).filter(|_| is_prose) {
            let words = sentence.split_whitespace().count();
            if words > WORDS {
                say(format!("a sentence of {words} words"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} texts:\n{}", wrong.len(), wrong.join("\n"));
    let unused: Vec<_> = ALLOWED.iter().zip(used).filter(|(_, used)| !used).collect();
    assert!(unused.is_empty(), "exceptions that nothing needs: {unused:?}");
}

/// Each pattern is found where it is, and not in code.
#[test]
fn the_check_finds_what_it_looks_for() {
    let rust = "/// Whether it is lawful: `refused`.\nfn lawful() {} // drawn\nlet x = \"the request is refused\";\n";
    let found: Vec<_> = of_rust("a.rs", rust).into_iter().map(|line| (line.text, line.is_doc)).collect();
    let expected = [("Whether it is lawful:  .", true), ("drawn", false), ("the request is refused", false)];
    assert_eq!(found, expected.map(|(text, is_doc)| (text.to_owned(), is_doc)));
    let markdown = of_markdown("a.md", "One `drawn` word\n```\nlawful\n```\n    lawful\n");
    assert_eq!(markdown.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["One   word"]);
    let yaml = of_data("a.yaml", "# lawful\nsays: 'It is drawn.'\nname: beside\n");
    assert_eq!(yaml.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["lawful", "'It is drawn.'"]);
}

/// Returns the prose of all files that are kept, but for generated ones and for what others wrote.
fn lines() -> Vec<Line> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new("git").arg("ls-files").current_dir(&root).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut lines = Vec::new();
    for name in String::from_utf8(output.stdout).unwrap().lines() {
        let is_own = !name.starts_with("fixtures/") && !name.starts_with("reports/examples/");
        let is_prose = !["/corpus/", "house/prose.rs", "RESULTS.md"].iter().any(|part| name.contains(part));
        let Ok(text) = std::fs::read_to_string(root.join(name)) else { continue };
        if !is_own || !is_prose {
            continue;
        }
        lines.extend(match name.rsplit_once('.') {
            Some((_, "rs")) => of_rust(name, &text),
            Some((_, "md")) => of_markdown(name, &text),
            Some((_, "yaml" | "yml" | "toml")) => of_data(name, &text),
            _ => vec![],
        });
    }
    lines
}

/// Returns a line without code in backticks and without the names of placeholders.
fn line(name: &str, at: usize, text: &str, is_doc: bool) -> Line {
    static CODE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"`[^`]*`|\{[^{}]*\}").unwrap());
    let plain = CODE.replace_all(text, " ");
    Line { place: format!("{name}:{}", at + 1), text: plain.trim().to_owned(), is_doc, is_wide: false }
}

/// Returns the comments of a source file, and its texts of several words. Only the first line of a doc
/// comment has to begin like one.
fn of_rust(name: &str, text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut was_doc = false;
    for (at, code) in text.lines().enumerate() {
        let trimmed = code.trim_start();
        let doc = trimmed.strip_prefix("///").or_else(|| trimmed.strip_prefix("//!"));
        if let Some(doc) = doc {
            lines.push(line(name, at, doc.trim_start(), !was_doc));
        } else if let Some((_, comment)) = code.split_once("// ") {
            lines.push(line(name, at, comment, false));
        } else if name.contains("/src/") || !name.contains('/') {
            let texts = code.split('"').skip(1).step_by(2).filter(|text| text.split(' ').count() > 3);
            lines.extend(texts.map(|text| line(name, at, text, false)));
        }
        was_doc = doc.is_some();
    }
    lines
}

/// Returns the prose of a Markdown file, without blocks of code.
fn of_markdown(name: &str, text: &str) -> Vec<Line> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for (at, text) in text.lines().enumerate() {
        is_code ^= text.trim_start().starts_with("```");
        if !is_code && !text.starts_with("    ") && !text.starts_with("```") {
            // The manual of the commands is generated, and a table or a quotation has no other line breaks.
            let is_free = name.starts_with("docs/src/reference/")
                || text.trim_start().starts_with(['|', '>'])
                || text.contains("http");
            let is_wide = !is_free && text.chars().count() > COLUMNS;
            lines.push(Line { is_wide, ..line(name, at, text, false) });
        }
    }
    lines
}

/// Returns the comments of a YAML or TOML file, and its sentences.
fn of_data(name: &str, text: &str) -> Vec<Line> {
    const TEXTS: [&str; 5] = ["says:", "title:", "about:", "why:", "reason:"];
    let mut lines = Vec::new();
    for (at, text) in text.lines().enumerate() {
        let key = text.trim_start().trim_start_matches("- ");
        let value = TEXTS.iter().find_map(|name| key.strip_prefix(name));
        let comment = text.split_once("# ").filter(|(before, _)| before.trim().is_empty());
        if let Some(prose) = value.or(comment.map(|(_, comment)| comment)) {
            lines.push(line(name, at, prose, false));
        }
    }
    lines
}
