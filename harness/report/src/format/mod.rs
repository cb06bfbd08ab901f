//! The formats of a report, one file each, and those that a run leaves beside its record.

pub mod annotations;
pub(crate) mod block;
pub mod ctrf;
pub(crate) mod groups;
pub mod har;
pub mod html;
pub mod junit;
pub mod markdown;
pub mod terminal;

use std::path::Path;

use xs2aspec_record::Event;

use self::{ctrf::Ctrf, html::Page, junit::Junit, markdown::Summary};
use crate::{Run, reporter::Reporter};

/// A report by what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// `junit.xml`
    Junit,
    /// `summary.md`
    Markdown,
    /// `report.html`
    Html,
    /// `ctrf.json`
    Ctrf,
    /// `exchanges.har`
    Har,
}

impl Report {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Junit, Self::Markdown, Self::Html, Self::Ctrf, Self::Har];

    /// Name of its file.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Junit => "junit.xml",
            Self::Markdown => "summary.md",
            Self::Html => "report.html",
            Self::Ctrf => "ctrf.json",
            Self::Har => "exchanges.har",
        }
    }

    /// An empty one, to be shown case after case; its parts are kept in this folder until the end, or else in memory. `None` for the archive of exchanges,
    /// some of which may belong to no case.
    pub fn reporter(self, folder: Option<&Path>) -> Option<Box<dyn Reporter>> {
        Some(match self {
            Self::Junit => Box::new(Junit::new(folder)),
            Self::Markdown => Box::new(Summary::default()),
            Self::Html => Box::new(Page::new(folder)),
            Self::Ctrf => Box::new(Ctrf::new(folder)),
            Self::Har => return None,
        })
    }

    /// Its bytes, drawn from a record that is in memory, of which `run` is the index.
    pub fn draw(self, run: &Run<'_>, events: &[Event]) -> Vec<u8> {
        match self.reporter(None) {
            Some(mut reporter) => run.draw(reporter.as_mut()),
            // Writing to memory does not fail.
            None => har::write(events, Vec::new()).unwrap_or_default(),
        }
    }
}
