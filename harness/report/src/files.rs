//! The reports that a run leaves beside its record.

use xs2aspec_record::Event;

use crate::{Run, ctrf, har, html, junit, markdown};

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

    /// Its bytes, drawn from a record, of which `run` is the index.
    pub fn draw(self, run: &Run<'_>, events: &[Event]) -> Vec<u8> {
        match self {
            Self::Junit => {
                let mut drawn = Vec::new();
                // Writing to memory does not fail.
                drop(junit::write(run, &mut drawn));
                drawn
            }
            Self::Markdown => markdown::summary(run).into_bytes(),
            Self::Html => html::page(run).into_bytes(),
            Self::Ctrf => format!("{:#}", ctrf::report(run)).into_bytes(),
            // Writing to memory does not fail.
            Self::Har => har::write(run.start(), events, Vec::new()).unwrap_or_default(),
        }
    }
}
