//! The lines of the user's files to which the findings of a run belong.

use std::{collections::BTreeMap, path::Path};

use toml_edit::{Document, Item};
use xs2aspec_record::Place;
use xs2aspec_report::locate::Locator;
use xs2aspec_suite::{Strength, Suite};

use crate::Failure;

/// Returns the locator of a file of places, or else of the profile.
pub(crate) fn locator(
    file: Option<&Path>,
    target: Option<&str>,
    suite: &Suite,
) -> Result<Option<Locator>, Failure> {
    if let Some(file) = file {
        return read(file).map(Some);
    }
    let Some(profile) = target.filter(|target| !target.contains("://")) else { return Ok(None) };
    let text = crate::text_of(Path::new(profile))?;
    Ok(Some(Locator::Table(choices(profile, &text, suite))))
}

/// Reads an OpenAPI description or a table of places.
pub(crate) fn read(file: &Path) -> Result<Locator, Failure> {
    let name = file.display().to_string();
    let text = crate::text_of(file)?;
    Locator::read(&name, &text).map_err(|error| Failure::input(format!("--locate {name}: {error}")))
}

/// Returns the line of each choice that the profile declares, by the clause that the choice decides. Any
/// other finding belongs to the profile as a whole.
fn choices(profile: &str, text: &str, suite: &Suite) -> BTreeMap<String, Place> {
    // An error was reported when the profile was read.
    let Ok(document) = Document::parse(text) else { return BTreeMap::new() };
    let declared = document.get("choices").and_then(Item::as_table_like);
    let line = |key: &str| {
        let (key, _) = declared?.get_key_value(key)?;
        let start = key.span()?.start;
        u32::try_from(text[..start].matches('\n').count() + 1).ok()
    };
    let file = profile.replace('\\', "/");
    let place = |line| Place { file: file.clone(), line, column: 1 };
    let clauses = suite.clauses().values();
    let decided = clauses.filter_map(|clause| match &clause.strength {
        Strength::Choice(choice) => Some((clause.id.clone(), place(line(&choice.key)?))),
        _ => None,
    });
    decided.collect()
}

#[cfg(test)]
mod tests {
    use xs2aspec_suite::Tree;

    use super::*;

    #[test]
    fn a_clause_that_a_choice_decides_is_on_the_line_of_the_choice() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let decided = suite.clauses().values().find_map(|clause| match &clause.strength {
            Strength::Choice(choice) => Some((clause.id.clone(), choice.key.clone())),
            _ => None,
        });
        let (clause, key) = decided.unwrap();
        let text = format!("base-url = \"http://127.0.0.1\"\n\n[choices]\n# one\n{key:?} = \"a\"\n");
        let places = choices("banks\\bank.toml", &text, &suite);
        let place = &places[&clause];
        assert_eq!((place.file.as_str(), place.line), ("banks/bank.toml", 5));
        assert!(choices("bank.toml", "name = \"a\"\n", &suite).is_empty());
    }
}
