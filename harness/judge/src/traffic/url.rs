//! Masks URLs of others. Queries, fragments, paths and userinfo may contain tokens and personal data.

use super::{known::Known, message::decoded};

/// Kind in the pseudonym of the user and password in a URL.
pub(crate) const USER: &str = "userinfo";

/// Returns true if a string is a URL or the path of one.
pub(crate) fn is_one(text: &str) -> bool {
    let is_path = text.starts_with('/') || text.starts_with('?');
    (is_path || text.contains("://")) && !text.contains([' ', '\n', '\t'])
}

/// Returns a URL with its secret parts replaced by `hide`, which gets the kind of a value and the
/// percent-decoded value.
pub(crate) fn masked(url: &str, known: &Known, hide: &dyn Fn(&str, &str) -> String) -> String {
    let (rest, fragment) = url.split_once('#').map_or((url, None), |(rest, fragment)| (rest, Some(fragment)));
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    let (mut out, path) = match rest.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let authority = match authority.rsplit_once('@') {
                Some((user, host)) => format!("{}@{host}", hide(USER, &decoded(user))),
                None => authority.to_owned(),
            };
            (format!("{scheme}://{authority}"), path)
        }
        None => (String::new(), rest),
    };
    let segment = |segment: &str| {
        let is_shown = segment.is_empty() || known.shows_segment(segment);
        if is_shown { segment.to_owned() } else { hide("id", &decoded(segment)) }
    };
    out.push_str(&path.split('/').map(segment).collect::<Vec<_>>().join("/"));
    for (mark, pairs) in [('?', query), ('#', fragment)] {
        if let Some(pairs) = pairs {
            out.push(mark);
            out.push_str(&parameters(pairs, known, hide));
        }
    }
    out
}

/// Masks `name=value` pairs, except those that the document defines.
fn parameters(pairs: &str, known: &Known, hide: &dyn Fn(&str, &str) -> String) -> String {
    let shown = |pair: &str| {
        let (name, value) = pair.split_once('=').map_or((None, pair), |(name, value)| (Some(name), value));
        let is_shown = value.is_empty() || name.is_some_and(|name| known.shows_parameter(&decoded(name)));
        if is_shown {
            return pair.to_owned();
        }
        let text = decoded(&value.replace('+', " "));
        match name {
            Some(name) => format!("{name}={}", hide(&decoded(name).to_lowercase(), &text)),
            None => hide("parameter", &text),
        }
    };
    pairs.split('&').map(shown).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use crate::Profile;
    use xs2aspec_suite::{ProfileSpec, Suite, Tree};

    use super::*;

    #[test]
    fn what_the_document_knows_remains() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let known =
            Known::new(&suite, &Profile::of_url("http://127.0.0.1", ProfileSpec::embedded()).unwrap());
        let hide = |kind: &str, text: &str| format!("<{kind}:{text}>");
        for (url, expected) in [
            ("http://bank.example/v1/payments", "http://bank.example/v1/payments"),
            ("https://a:b%21@bank.example:8443/v1", "https://<userinfo:a:b!>@bank.example:8443/v1"),
            ("/v1/accounts/a1/transactions/t%2F1", "/v1/accounts/<id:a1>/transactions/<id:t/1>"),
            (
                "/v1/payments?allowLogicalDuplicate=true&code=4%2B2",
                "/v1/payments?allowLogicalDuplicate=true&code=<code:4+2>",
            ),
            (
                "https://a.example/cb?x&state=#token=b&c",
                "https://a.example/cb?<parameter:x>&state=#token=<token:b>&<parameter:c>",
            ),
            ("?grant_type=b", "?grant_type=<grant_type:b>"),
            ("", ""),
        ] {
            assert_eq!(masked(url, &known, &hide), expected);
        }
        for (text, expected) in
            [("/v1", true), ("a://b", true), ("a b://c", false), ("text", false), ("", false)]
        {
            assert_eq!(is_one(text), expected, "{text}");
        }
    }
}
