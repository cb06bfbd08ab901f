//! `xs2aspec curl`: the request of a case as a line for a shell.

use std::sync::Arc;

use chrono::Utc;
use xs2aspec_record::Exit;
use xs2aspec_report::shell;
use xs2aspec_runner::Session;

use crate::{Failure, args::Curl, target};

/// Prepares the case, signs its request, and prints the line.
pub(crate) async fn curl(args: &Curl) -> Result<Exit, Failure> {
    let suite = Arc::new(crate::suite(args.source.cases.as_ref())?);
    let plan = suite.plan(std::slice::from_ref(&args.case), &[], xs2aspec_suite::Depth::Exhaustive);
    let plan = plan.map_err(Failure::input)?;
    let [case] = plan.selected[..] else {
        let found = plan.selected.len();
        return Err(Failure::input(format!(
            "`{}` is {found} cases; name one, as `xs2aspec list` does",
            args.case
        )));
    };
    let mut profile = target::profile(&args.target)?;
    profile.aim(args.allow_production).map_err(Failure::input)?;
    let seed = args.seed.unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0);
    let now = args.now.unwrap_or_else(Utc::now);
    let session = Session::new(Arc::clone(&suite), profile, seed, now).map_err(Failure::input)?;
    let request = session.ready(case).await.map_err(Failure::unreachable)?;
    say!("{}", shell::curl(&request.method, &request.url, &request.headers, &request.body));
    Ok(Exit::Conforms)
}
