//! Consents and unattended calls (section Limits).

use serde::{Deserialize, Serialize};

use crate::header::{Fields, Header};

/// What the bank decides about consents.
#[derive(Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Consents {
    /// How many days old a consent may be with PSU-IP-Address: "SCA renewal period: 180 days"
    /// (`limit.sca-renewal`).
    pub(crate) attended_days: i64,
    /// How many without: "Also requires a PSU consent at most 90 days old" (`limit.consent-age`).
    pub(crate) unattended_days: i64,
    /// How many calls there may be on a day: "Calls without PSU-IP-Address: at most 4 per day"
    /// (`limit.without-psu-ip`).
    pub(crate) calls: u32,
    /// Which calls are counted (`limit.without-psu-ip`).
    pub(crate) counted: Counted,
    /// What calls that are counted together have in common: `account`, `query`, or the name of a header
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

/// Which calls count for the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Counted {
    /// Those without PSU-IP-Address, or with an empty one.
    Unattended,
    /// Those, but for an empty PSU-IP-Address.
    WithoutHeader,
    /// Those, and the ones from the machine itself.
    Loopback,
    /// All of them.
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
