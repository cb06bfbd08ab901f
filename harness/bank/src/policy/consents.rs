//! Consents and unattended calls (section Limits).

use serde::{Deserialize, Serialize};

use crate::header::{Fields, Header};

/// Settings for consents.
#[derive(Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Consents {
    /// The maximum age of a consent in days, with PSU-IP-Address: "SCA renewal period: 180 days"
    /// (`limit.sca-renewal`).
    pub(crate) attended_days: i64,
    /// The maximum age of a consent in days, without PSU-IP-Address: "also requires a PSU consent at most 90
    /// days old" (`limit.consent-age`).
    pub(crate) unattended_days: i64,
    /// The maximum number of calls per day: "calls without PSU-IP-Address: at most 4 per day"
    /// (`limit.without-psu-ip`).
    pub(crate) calls: u32,
    /// Calls that count towards the limit (`limit.without-psu-ip`).
    pub(crate) counted: Counted,
    /// Parts of a request that select its counter: `account`, `query`, or the name of a header
    /// (`limit.without-psu-ip.four`).
    pub(crate) counted_by: Vec<String>,
}

impl Default for Consents {
    fn default() -> Self {
        Self {
            attended_days: 180,
            unattended_days: 90,
            calls: 4,
            counted: Counted::Unattended,
            counted_by: vec!["account".to_owned()],
        }
    }
}

/// Calls that count towards the daily limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Counted {
    /// Calls without PSU-IP-Address, or with an empty one.
    Unattended,
    /// Calls without PSU-IP-Address. A call with an empty one does not count.
    WithoutHeader,
    /// Unattended calls, and calls with a loopback address.
    Loopback,
    /// All calls.
    All,
}

impl Counted {
    /// Returns true if a call with these headers counts.
    pub(crate) fn includes(self, fields: Fields<'_>) -> bool {
        let address = fields.bytes(Header::PsuIpAddress.name());
        let is_unattended = address.as_ref().is_none_or(Vec::is_empty);
        match self {
            Self::Unattended => is_unattended,
            Self::WithoutHeader => address.is_none(),
            Self::Loopback => is_unattended || address.is_some_and(|address| address.starts_with(b"127.")),
            Self::All => true,
        }
    }
}
