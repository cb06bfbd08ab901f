//! The formats of a report, one file each, and the reports that a run writes next to its record.

pub mod annotations;
pub(crate) mod block;
pub mod ctrf;
pub(crate) mod finding_blocks;
pub mod gitlab;
mod groups;
pub(crate) mod har;
pub mod html;
pub mod junit;
pub mod markdown;
mod parts;
pub mod sarif;
pub mod terminal;
pub(crate) mod times;

use std::path::Path;

use self::{ctrf::Ctrf, html::Page, junit::Junit, markdown::Summary, sarif::Sarif};
use crate::reporter::Reporter;

/// A report, by format.
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
    /// `results.sarif`
    Sarif,
    /// `gl-code-quality-report.json`
    Gitlab,
}

impl Report {
    /// All reports.
    pub const ALL: [Self; 7] =
        [Self::Junit, Self::Markdown, Self::Html, Self::Ctrf, Self::Har, Self::Sarif, Self::Gitlab];

    /// The reports that a command writes by default.
    pub const USUAL: [Self; 4] = [Self::Html, Self::Junit, Self::Sarif, Self::Markdown];

    /// Returns the name of its file.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Junit => "junit.xml",
            Self::Markdown => "summary.md",
            Self::Html => "report.html",
            Self::Ctrf => "ctrf.json",
            Self::Har => "exchanges.har",
            Self::Sarif => "results.sarif",
            Self::Gitlab => "gl-code-quality-report.json",
        }
    }

    /// Returns its reporter, or None for a report that is not rendered case by case. Data needed at the end
    /// is stored in `folder`, or else in memory.
    pub fn reporter(self, folder: Option<&Path>) -> Option<Box<dyn Reporter>> {
        Some(match self {
            Self::Junit => Box::new(Junit::new(folder)),
            Self::Markdown => Box::new(Summary::default()),
            Self::Html => Box::new(Page::default()),
            Self::Ctrf => Box::new(Ctrf::default()),
            Self::Har => return None,
            Self::Sarif => Box::new(Sarif::default()),
            Self::Gitlab => Box::new(gitlab::Gitlab),
        })
    }
}
