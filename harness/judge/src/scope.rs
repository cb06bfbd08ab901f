//! Limits requests to the base URL of the profile and to URLs below it. The user consented to no other
//! address, whatever a case, a pack or a response contains.

use url::Url;

/// The base URL of a profile as a limit for requests.
#[derive(Debug, Clone)]
pub struct Scope(Url);

/// The reason why a URL may not be requested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutOfScope {
    /// The URL cannot be parsed.
    #[error("`{0}` is not a URL: {1}")]
    Invalid(String, String),
    /// The URL is not below the base URL.
    #[error("`{0}` is not below the base URL of the profile")]
    Elsewhere(String),
}

impl Scope {
    /// Returns the scope of a base URL.
    pub fn new(base_url: &str) -> Result<Self, OutOfScope> {
        parsed(base_url).map(Self)
    }

    /// Parses a URL and returns it if it is below the base URL: same scheme, host and port, no userinfo, and
    /// a path that starts with the path of the base URL.
    ///
    /// The comparison uses the URL as sent: the parser resolves dot segments, including percent-encoded ones,
    /// and normalizes scheme, host and port (RFC 3986 sections 5.2.4 and 6.2.2). Some servers also decode
    /// `%2F` and `%5C` before they resolve dot segments. A path that would leave the base URL this way is out
    /// of scope too.
    pub fn admit(&self, url: &str) -> Result<Url, OutOfScope> {
        let found = parsed(url)?;
        let is_same = found.scheme() == self.0.scheme()
            && found.host() == self.0.host()
            && found.port_or_known_default() == self.0.port_or_known_default()
            && found.username().is_empty()
            && found.password().is_none();
        match found.path().strip_prefix(self.0.path().trim_end_matches('/')) {
            Some(rest) if is_same && stays_below(rest) => Ok(found),
            _ => Err(OutOfScope::Elsewhere(url.to_owned())),
        }
    }

    /// Resolves a link from a response and returns its URL if it is below the base URL (RFC 3986 section
    /// 5.2). The link must be absolute or a path from the root, because other links are relative to their own
    /// request.
    pub fn resolve(&self, link: &str) -> Option<Url> {
        let is_from_root = link.starts_with('/') || Url::parse(link).is_ok();
        let url = self.0.join(link).ok().filter(|_| is_from_root)?;
        self.admit(url.as_str()).ok()
    }
}

fn parsed(url: &str) -> Result<Url, OutOfScope> {
    Url::parse(url).map_err(|error| OutOfScope::Invalid(url.to_owned(), error.to_string()))
}

/// Returns true if a path below the base URL is empty, or starts with one slash and does not leave the base
/// URL. This must hold even for a server that decodes slashes and dots first.
fn stays_below(rest: &str) -> bool {
    let rest = rest.to_ascii_lowercase().replace("%2f", "/").replace("%5c", "/").replace("%2e", ".");
    let rest = rest.replace('\\', "/");
    if rest.is_empty() {
        return true;
    }
    let Some(segments) = rest.strip_prefix('/').filter(|rest| !rest.starts_with('/')) else { return false };
    let mut depth = 0_usize;
    segments.split('/').all(|segment| match segment {
        "." | "" => true,
        ".." => {
            let is_below = depth > 0;
            depth = depth.saturating_sub(1);
            is_below
        }
        _ => {
            depth += 1;
            true
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each suffix that a case, a pack or a response may append to a base URL, with the resulting path.
    #[test]
    fn nothing_outside_the_base_url_is_requested() {
        let bases = [
            ("http://127.0.0.1:7100", ""),
            ("http://127.0.0.1:7100/", ""),
            ("https://bank.example/xs2a", "/xs2a"),
            ("HTTPS://BANK.example:443/other/../xs2a/", "/xs2a"),
            ("http://[::1]:81/a/b", "/a/b"),
        ];
        let below = [
            ("", ""),
            ("/v1/a?b=c", "/v1/a"),
            ("/v1/a/../b", "/v1/b"),
            ("/v1/./a/%2e%2E/b", "/v1/b"),
            ("/v1/a%2Fb", "/v1/a%2Fb"),
            ("/v1/a/..%2fb", "/v1/a/..%2fb"),
            ("/v1/a?next=http://other.example/../..", "/v1/a"),
            ("/v1/a@other.example/b", "/v1/a@other.example/b"),
            ("/v1/a:81", "/v1/a:81"),
            // The parser turns a backslash into a slash, which is then sent.
            ("\\@other.example/v1", "/@other.example/v1"),
        ];
        let elsewhere = [
            "@other.example/v1",
            ":x@other.example/v1",
            ":7100@[::1]:7942/v1",
            ".other.example/v1",
            "0/v1",
            "%2eother.example/v1",
            "\t@other.example/v1",
            "//other.example/v1",
            "/\\other.example/v1",
            "/%2fother.example/v1",
            "/%5Cother.example/v1",
            "/../..%2f../v1",
            "/..%2f..%2fv1",
            "/v1/%2e%2e%5c%2E%2E%2fadmin",
            "/v1/..%2f..%2fadmin",
            "x/v1",
        ];
        for (base, prefix) in bases {
            let scope = Scope::new(base).unwrap();
            let base = base.trim_end_matches('/');
            for (rest, path) in below {
                let url = scope.admit(&format!("{base}{rest}")).unwrap();
                let whole = format!("{prefix}{path}");
                assert_eq!(url.path(), if whole.is_empty() { "/" } else { whole.as_str() }, "{base} {rest}");
            }
            for rest in elsewhere {
                assert!(scope.admit(&format!("{base}{rest}")).is_err(), "{base} {rest}");
            }
        }
    }

    #[test]
    fn another_scheme_host_port_user_or_prefix_is_elsewhere() {
        let scope = Scope::new("https://bank.example/xs2a").unwrap();
        for url in [
            "https://bank.example/xs2a",
            "https://bank.example:443/xs2a/v1",
            "HTTPS://Bank.Example/other/../xs2a/v1",
            "https:\\\\bank.example\\xs2a\\v1",
        ] {
            assert!(scope.admit(url).is_ok(), "{url}");
        }
        for url in [
            "http://bank.example/xs2a/v1",
            "https://bank.example:8443/xs2a/v1",
            "https://bank.example./xs2a/v1",
            "https://user@bank.example/xs2a/v1",
            "https://:secret@bank.example/xs2a/v1",
            "https://bank.example@other.example/xs2a/v1",
            "https://other.example/xs2a/v1",
            "https://bank.example/v1",
            "https://bank.example/xs2aevil",
            "https://bank.example/XS2A/v1",
            "https://bank.example/xs2a/../admin",
            "https://bank.example/xs2a/%2e%2e/admin",
            "https://bank.example/xs2a/v1/%2e%2e/.%2E/admin",
            "https://bank.example/xs2a\\..\\admin",
            "https://bank.example/xs2a//v1",
            "https:///xs2a/v1",
            "https://",
            "file:///etc/passwd",
            "",
            "/xs2a/v1",
        ] {
            assert!(scope.admit(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_reference_is_resolved_before_it_is_compared() {
        let scope = Scope::new("http://bank.example/xs2a").unwrap();
        for (reference, url) in [
            ("/xs2a/v1/a%21?b=c", Some("http://bank.example/xs2a/v1/a%21?b=c")),
            ("http://bank.example:80/xs2a/v1", Some("http://bank.example/xs2a/v1")),
            ("//bank.example/xs2a/v1", Some("http://bank.example/xs2a/v1")),
            ("/xs2a/v1/../v1/a", Some("http://bank.example/xs2a/v1/a")),
            ("/xs2a/../admin2", None),
            ("/xs2a/%2e%2e/admin2", None),
            ("/xs2a/..%2fadmin2", None),
            ("../admin2", None),
            ("v1", None),
            ("", None),
            ("?b=c", None),
            ("v1?b=http://bank.example/xs2a", None),
            ("//other.example/xs2a/v1", None),
            ("\\\\other.example/xs2a/v1", None),
            ("https://bank.example/xs2a/v1", None),
            ("javascript:alert(1)", None),
            ("http://[", None),
        ] {
            assert_eq!(scope.resolve(reference).as_ref().map(Url::as_str), url, "{reference:?}");
        }
    }
}
