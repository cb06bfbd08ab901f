//! Runs from cases to reports: verdicts, records, and what other commands do with them.

mod again;
mod culprits;
mod edits;
mod entries;
mod evidence;
mod finding_ids;
mod identity;
mod judgement;
mod other_forms;
mod reference;
mod rejudge;
mod repeatable;
mod reports;
mod requests;
mod resume;
mod suspicion;
mod waivers;
mod what_is_so;
