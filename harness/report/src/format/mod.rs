//! The formats of a report, one file each, and those that a run leaves beside its record.

pub mod annotations;
pub(crate) mod block;
pub mod ctrf;
pub(crate) mod finding_blocks;
mod groups;
pub mod har;
pub mod html;
pub mod junit;
pub mod markdown;
mod parts;
pub mod sarif;
pub mod terminal;
pub(crate) mod times;
pub mod trend;

use std::path::Path;

use self::{ctrf::Ctrf, html::Page, junit::Junit, markdown::Summary, sarif::Sarif};
use crate::reporter::Reporter;

/// A report that shows case after case. The archive of exchanges ([`har`]) is not one.
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
    /// `results.sarif`
    Sarif,
}

impl Report {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Junit, Self::Markdown, Self::Html, Self::Ctrf, Self::Sarif];

    /// Name of its file.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Junit => "junit.xml",
            Self::Markdown => "summary.md",
            Self::Html => "report.html",
            Self::Ctrf => "ctrf.json",
            Self::Sarif => "results.sarif",
        }
    }

    /// Draws it. What must be kept until the end is kept in this folder, or else in memory.
    pub fn reporter(self, folder: Option<&Path>) -> Box<dyn Reporter> {
        match self {
            Self::Junit => Box::new(Junit::new(folder)),
            Self::Markdown => Box::new(Summary::default()),
            Self::Html => Box::new(Page::default()),
            Self::Ctrf => Box::new(Ctrf::default()),
            Self::Sarif => Box::new(Sarif::default()),
        }
    }
}
