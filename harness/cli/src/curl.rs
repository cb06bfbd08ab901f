//! `xs2aspec curl`: prints the request of a case as a shell command.

use std::sync::Arc;

use chrono::Utc;
use xs2aspec_judge::case::NotReady;
use xs2aspec_record::{Exit, finding_id::is_prefix};
use xs2aspec_report::shell;
use xs2aspec_runner::{Clock, Runner};
use xs2aspec_suite::{Case, Depth, Suite};

use crate::{
    Failure,
    args::{Curl, found},
    finding::Earlier,
    target,
};

/// Sends the setup requests of a case, signs its request, and prints the command.
pub(crate) async fn curl(args: &Curl) -> Result<Exit, Failure> {
    let (name, target) = named(args)?;
    let suite = crate::suite(&args.source)?;
    let profile = target::profile(&target, &suite.spec().profile)?;
    let suite = Arc::new(crate::with_entries(suite, &profile.values)?);
    let case = case(&suite, &name)?;
    let profile = profile.authorize(args.allow_production).map_err(Failure::input)?;
    let identity = args.ids.identity(args.ids.seed(), None);
    let now = args.now.unwrap_or_else(Utc::now);
    let runner = Runner::new(Arc::clone(&suite), profile, identity, Clock::at(now));
    let runner = runner.map_err(Failure::input)?;
    let request = runner.ready(case).await.map_err(|why| match why {
        NotReady::Profile(why) => Failure::input(why.to_string()),
        NotReady::Target(why) => Failure::unreachable(why.to_string()),
    })?;
    say!("{}", shell::curl(&request.method, &request.url, &request.headers, &request.body));
    Ok(Exit::Conforms)
}

/// Returns the case to send, and the target. A finding stands for the case that shows it best. The target of
/// its run is only named, since a record may come from someone else and must not choose where requests go.
fn named(args: &Curl) -> Result<(String, String), Failure> {
    let (case, known) = if is_prefix(&args.case) {
        let earlier = Earlier::open(&args.run)?;
        let case = earlier.found(&args.case)?.root.witness.case.clone();
        (case, earlier.summary.start().argument("--target").map(shell::quoted))
    } else {
        (args.case.clone(), None)
    };
    let Some(target) = args.target.clone().or_else(found) else {
        let known = known.map_or_else(String::new, |known| format!("; the run used --target {known}"));
        return Err(Failure::input(format!("pass the bank with --target FILE or --target URL{known}")));
    };
    Ok((case, target))
}

/// Returns the case with this id, or the only case whose id matches this pattern.
fn case<'a>(suite: &'a Suite, name: &str) -> Result<&'a Case, Failure> {
    if let Some(case) = suite.case(name) {
        return Ok(case);
    }
    let plan = suite.plan(&[name.to_owned()], &[], Depth::Exhaustive);
    let plan = plan.map_err(|error| Failure::input(error.of_arguments()))?;
    let [case] = plan.selected[..] else {
        let found = plan.selected.len();
        return Err(Failure::input(format!(
            "`{name}` matches {found} cases; `xs2aspec list {name}` lists them"
        )));
    };
    Ok(case)
}
