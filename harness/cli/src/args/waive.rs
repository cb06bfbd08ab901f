//! Arguments of `xs2aspec waive`.

use std::path::PathBuf;

use chrono::NaiveDate;

#[derive(Debug, clap::Args)]
pub(crate) struct Waive {
    /// Id of a finding, or at least its first 8 digits
    #[arg(value_name = "FINDING")]
    pub(crate) id: String,
    /// Say why the violation is accepted
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    /// Name the ticket for the fix [default: none]
    #[arg(long, value_name = "TICKET", default_value = "none", hide_default_value = true)]
    pub(crate) ticket: String,
    /// Name the team that owns the fix [default: that of the last entry, or the bank]
    #[arg(long, value_name = "TEAM")]
    pub(crate) owner: Option<String>,
    /// Set the last valid day, such as 2030-01-31 [default: in 90 days]
    #[arg(long, value_name = "DAY")]
    pub(crate) expires: Option<NaiveDate>,
    /// Write to FILE [default: the waivers of the run, or waivers.toml next to its profile]
    #[arg(long, value_name = "FILE")]
    pub(crate) waivers: Option<PathBuf>,
    /// Read the finding from this run: its record or its folder
    #[arg(long, value_name = "DIR", default_value = super::LATEST)]
    pub(crate) run: PathBuf,
}
