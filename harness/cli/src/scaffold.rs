//! `xs2aspec scaffold`: adds the first lines of a clause and its case to a rule file.

use std::{fs, path::Path};

use xs2aspec_record::Exit;

use crate::{
    Failure,
    args::{Scaffold, Source},
};

/// Writes the new entries to the rule file, and prints the next steps.
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
        .map_err(|error| Failure::input(format!("cannot write {}: {error}", new.file)))?;
    for (what, line) in [("clause", new.clause), ("case", new.case)] {
        say!("{what:<8} {}:{line}", new.file);
    }
    if let Some(folder) = suite.tree().other_document() {
        say!("next     fill them in, then run `xs2aspec lint --pack {folder}`");
        return Ok(Exit::Conforms);
    }
    say!("fault    {}: add an entry `{}/NAME` below `faults:`", new.file, args.clause);
    say!("next     fill them in, then run `bash .ci/bless` and `xs2aspec prove --only {}`", args.clause);
    Ok(Exit::Conforms)
}
