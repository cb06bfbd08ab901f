//! `scaffold`: the first lines of a clause, of its case, and the place of its fault.

use std::{fs, path::Path};

use xs2aspec_record::Exit;

use crate::{
    Failure,
    args::{Scaffold, Source},
};

/// Where the faults of the reference bank are.
const FAULTS: &str = "harness/reference/faults";

/// Writes what is new into the files of the folder.
pub(crate) fn scaffold(args: &Scaffold) -> Result<Exit, Failure> {
    let cases = args.pack.is_none().then(|| args.cases.clone());
    if let Some(folder) = cases.as_ref().filter(|folder| !folder.join("clauses").is_dir()) {
        let folder = folder.display();
        return Err(Failure::input(format!(
            "{folder}: expected a folder of case files with `clauses/` in it"
        )));
    }
    let suite = crate::suite(&Source { cases, pack: args.pack.clone() })?;
    let made = suite.scaffold(&args.clause, &args.quote).map_err(Failure::input)?;
    for (what, new) in ["clause", "case"].into_iter().zip(&made.files) {
        fs::write(&new.file, &new.text)
            .map_err(|error| Failure::input(format!("{}: cannot be written: {error}", new.file)))?;
        say!("{what:<8} {}:{}", new.file, new.line);
    }
    if let Some(folder) = suite.tree().other_document() {
        say!("next     fill them in; xs2aspec lint --pack {folder}");
        return Ok(Exit::Conforms);
    }
    let place = fault_place(&made.beside).unwrap_or_else(|| FAULTS.to_owned());
    say!("fault    {place}: a row `{}/WHAT-IS-WRONG`", args.clause);
    say!("next     fill them in; bash .ci/bless; xs2aspec prove --only {}", args.clause);
    Ok(Exit::Conforms)
}

/// The line in which a fault of this clause stands, where the sources are here.
fn fault_place(clause: &str) -> Option<String> {
    let mut files: Vec<_> =
        fs::read_dir(Path::new(FAULTS)).ok()?.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files.into_iter().find_map(|file| {
        let text = fs::read_to_string(&file).ok()?;
        let at = text.lines().position(|line| line.contains(&format!("\"{clause}/")))?;
        Some(format!("{}:{}", file.display(), at + 1))
    })
}
