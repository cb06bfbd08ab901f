//! `scaffold`: the first lines of a clause and its case, and the place of its fault.

use std::{fs, path::Path};

use xs2aspec_record::Exit;

use crate::{
    Failure,
    args::{Scaffold, Source},
};

/// Writes what is new into the rule file.
pub(crate) fn scaffold(args: &Scaffold) -> Result<Exit, Failure> {
    let cases = args.pack.is_none().then(|| args.cases.clone());
    let suite = crate::suite(&Source { cases, pack: args.pack.clone() })?;
    let new = suite.scaffold(&args.clause, &args.quote).map_err(Failure::input)?;
    if args.pack.is_none() && !Path::new(&new.file).starts_with(&args.cases) {
        let folder = args.cases.display();
        return Err(Failure::input(format!(
            "{folder}: expected a folder of rule files that declare clauses, such as cases/"
        )));
    }
    fs::write(&new.file, &new.text)
        .map_err(|error| Failure::input(format!("{}: cannot be written: {error}", new.file)))?;
    for (what, line) in [("clause", new.clause), ("case", new.case)] {
        say!("{what:<8} {}:{line}", new.file);
    }
    if let Some(folder) = suite.tree().other_document() {
        say!("next     fill them in; xs2aspec lint --pack {folder}");
        return Ok(Exit::Conforms);
    }
    say!("fault    {}: an entry `{}/WHAT-IS-WRONG` below `faults:`", new.file, args.clause);
    say!("next     fill them in; bash .ci/bless; xs2aspec prove --only {}", args.clause);
    Ok(Exit::Conforms)
}
