//! Decides which requests may be sent to a target. Payments are real side effects. They are allowed only if
//! the profile declares a sandbox, or if it declares nothing and the target is on this machine. A production
//! system is only read, whatever its address.

use std::ops::Deref;

use super::{Environment, Profile};

/// The requests that may be sent to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// None. Requests are only built and shown.
    Nothing,
    /// Only requests that read.
    Reads,
    /// All requests.
    Everything,
}

impl Permission {
    /// Returns true if a request with this method may be sent.
    pub fn covers(self, method: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Reads => method == "GET",
            Self::Everything => true,
        }
    }
}

/// A profile with the permission for its target. A judge for a target requires one, and it cannot be changed
/// afterwards.
#[derive(Debug, Clone)]
pub struct AuthorizedProfile {
    profile: Profile,
    permission: Permission,
}

impl AuthorizedProfile {
    /// Returns the permission.
    pub fn permission(&self) -> Permission {
        self.permission
    }

    /// Disables retries for a busy target.
    pub fn is_never_busy(&mut self) {
        self.profile.limits.retries = 0;
    }

    /// Returns the profile alone.
    pub(crate) fn into_profile(self) -> Profile {
        self.profile
    }
}

impl Deref for AuthorizedProfile {
    type Target = Profile;

    fn deref(&self) -> &Profile {
        &self.profile
    }
}

impl Profile {
    /// Decides which requests may be sent to the target, by the environment that the profile declares, or by
    /// its address if it declares none. A production system may be read if the caller allows it and the
    /// profile confirms its address.
    ///
    /// Returns an error that names the key to change if nothing may be sent.
    pub fn authorize(self, allow_production: bool) -> Result<AuthorizedProfile, String> {
        let permission = self.permission(allow_production)?;
        Ok(AuthorizedProfile { profile: self, permission })
    }

    /// Returns the profile for requests that are only shown.
    pub fn for_show(self) -> AuthorizedProfile {
        AuthorizedProfile { profile: self, permission: Permission::Nothing }
    }

    fn permission(&self, allow_production: bool) -> Result<Permission, String> {
        let (host, _) = self.host();
        let says_production = self.environment == Some(Environment::Production);
        match self.environment {
            Some(Environment::Sandbox) => return Ok(Permission::Everything),
            Some(Environment::Production) if !allow_production => {
                return Err(format!(
                    "refusing to send requests to {host}: its profile declares a production system, which is only read, and only with \
                     --allow-production. For a test system, set `environment = \"sandbox\"` in its profile"
                ));
            }
            Some(Environment::Production) => {}
            // A user who allows or confirms production does not mean a test system, even if the address is a
            // tunnel on this machine.
            None if allow_production || self.confirm_production.is_some() => {}
            None if self.is_on_this_machine() => return Ok(Permission::Everything),
            None => {
                return Err(format!(
                    "refusing to send requests to {host}: it is not this machine, and its profile declares no environment. For a test \
                     system, set `environment = \"sandbox\"` in its profile. To read a production system, use --allow-production"
                ));
            }
        }
        if !says_production {
            return Err(format!(
                "refusing to send requests to {host}: to read a production system, set `environment = \"production\"` in its profile. \
                 For a test system, remove --allow-production and `confirm-production`"
            ));
        }
        if self.confirm_production.as_deref().map(|text| text.trim_end_matches('/')) != Some(&self.base_url) {
            return Err(format!(
                "refusing to send requests to {host}: --allow-production requires `confirm-production = \"{}\"` in its profile",
                self.base_url
            ));
        }
        Ok(Permission::Reads)
    }

    /// Returns true if requests stay on this machine. A remote proxy resolves a loopback address to itself.
    fn is_on_this_machine(&self) -> bool {
        self.is_loopback() && self.proxy_host().is_none_or(|(host, _)| super::is_loopback(&host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: [&str; 4] =
        ["http://127.0.0.1:1", "http://localhost", "http://[::1]:8080", "http://127.9.9.9:1"];
    const ELSEWHERE: [&str; 4] = [
        "https://bank.example/xs2a",
        "http://0.0.0.0:1",
        "http://localhost.bank.example",
        "http://[::ffff:127.0.0.1]:1",
    ];

    fn permission(base_url: &str, more: &str, allow: bool) -> Result<Permission, String> {
        let text = format!("base-url = \"{base_url}\"\n{more}");
        let profile =
            super::super::file::parse("bank.toml", &text, None, xs2aspec_suite::ProfileSpec::embedded())
                .unwrap();
        profile.authorize(allow).map(|profile| profile.permission())
    }

    /// The declared environment takes precedence over the address.
    #[test]
    fn the_environment_decides_and_the_address_where_nothing_is_said() {
        let (sandbox, production) = ("environment = \"sandbox\"", "environment = \"production\"");
        for base_url in HERE.into_iter().chain(ELSEWHERE) {
            assert_eq!(permission(base_url, sandbox, false), Ok(Permission::Everything), "{base_url}");
            assert_eq!(permission(base_url, sandbox, true), Ok(Permission::Everything), "{base_url}");
            let confirmed = format!("{production}\nconfirm-production = \"{base_url}/\"");
            assert_eq!(permission(base_url, &confirmed, true), Ok(Permission::Reads), "{base_url}");
            let confirm = format!("`confirm-production = \"{base_url}\"`");
            let elsewhere = format!("{production}\nconfirm-production = \"https://other.example\"");
            for (more, allow, key) in [
                (production, false, "--allow-production"),
                (&confirmed, false, "--allow-production"),
                (production, true, &confirm),
                (&elsewhere, true, &confirm),
                ("", true, "`environment = \"production\"`"),
                (&format!("confirm-production = \"{base_url}\""), false, "`environment = \"production\"`"),
            ] {
                let error = permission(base_url, more, allow).unwrap_err();
                assert!(
                    error.contains(key) && error.contains("refusing to send requests"),
                    "{more}: {error}"
                );
            }
        }
        for base_url in HERE {
            assert_eq!(permission(base_url, "", false), Ok(Permission::Everything), "{base_url}");
        }
        for base_url in ELSEWHERE {
            let error = permission(base_url, "", false).unwrap_err();
            assert!(error.contains("`environment = \"sandbox\"`"), "{error}");
        }
    }

    #[test]
    fn a_proxy_elsewhere_has_a_loopback_address_of_its_own() {
        let by = |proxy: &str| permission(HERE[0], &format!("proxy = \"http://{proxy}:3128\""), false);
        assert_eq!(by("127.0.0.1"), Ok(Permission::Everything));
        assert!(by("proxy.example").unwrap_err().contains("is not this machine"));
    }

    #[test]
    fn what_only_reads_is_a_get() {
        for (permission, get, post) in [
            (Permission::Nothing, false, false),
            (Permission::Reads, true, false),
            (Permission::Everything, true, true),
        ] {
            assert_eq!((permission.covers("GET"), permission.covers("POST")), (get, post), "{permission:?}");
        }
        assert!(!Permission::Reads.covers("DELETE") && !Permission::Reads.covers("get"));
    }
}
