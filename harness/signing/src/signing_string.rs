//! The list of signed headers, and the text that is signed (draft-cavage-http-signatures-10, section 2.3).

/// The name of method and path in a list of signed headers (draft, section 2.3, item 1).
pub const REQUEST_TARGET: &str = "(request-target)";

/// Method and path of a request, for a list that contains `(request-target)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestTarget {
    /// Method in any case. It is signed in lowercase.
    pub method: String,
    /// Path and query as on the request line. It is signed unchanged.
    pub path: String,
}

/// The reason that a signing string cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SigningStringError {
    /// A listed header is not in the request, which is an error (draft, section 2.3).
    #[error("the request has no header `{name}`, which is listed")]
    Absent {
        /// The name, as listed.
        name: String,
    },
    /// `(request-target)` is listed, but the caller gave no method and path.
    #[error("`(request-target)` is listed, but method and path are not given")]
    NoRequestTarget,
}

/// Returns the headers of `due` that the request has, in that order, each once: they are signed "when
/// available".
///
/// `fields` are the headers of the request as (name, value), with names in any case.
pub fn listed_headers<D: AsRef<str>, N: AsRef<str>, V: AsRef<str>>(
    due: &[D],
    fields: &[(N, V)],
) -> Vec<String> {
    let present = |name: &&str| fields.iter().any(|(field, _)| field.as_ref().eq_ignore_ascii_case(name));
    due.iter().map(AsRef::as_ref).filter(present).map(str::to_owned).collect()
}

/// Returns the text to sign for these `listed` headers (draft, section 2.3).
///
/// It has one line for each listed name, in the order of the list, joined with line feeds: the name in
/// lowercase, a colon, a space, and the trimmed value. Headers with the same name are joined with a comma and
/// a space, in their order. The list may have any order. `target` is needed only for `(request-target)`.
pub fn signing_string<L: AsRef<str>, N: AsRef<str>, V: AsRef<str>>(
    listed: &[L],
    fields: &[(N, V)],
    target: Option<&RequestTarget>,
) -> Result<String, SigningStringError> {
    let lines = listed.iter().map(|name| line(name.as_ref(), fields, target));
    Ok(lines.collect::<Result<Vec<_>, _>>()?.join("\n"))
}

fn line<N: AsRef<str>, V: AsRef<str>>(
    listed: &str,
    fields: &[(N, V)],
    target: Option<&RequestTarget>,
) -> Result<String, SigningStringError> {
    let name = listed.to_ascii_lowercase();
    if name == REQUEST_TARGET {
        let target = target.ok_or(SigningStringError::NoRequestTarget)?;
        return Ok(format!("{name}: {} {}", target.method.to_ascii_lowercase(), target.path));
    }
    let values: Vec<&str> = fields
        .iter()
        .filter(|(field, _)| field.as_ref().eq_ignore_ascii_case(&name))
        .map(|(_, value)| value.as_ref().trim_matches([' ', '\t']))
        .collect();
    if values.is_empty() {
        return Err(SigningStringError::Absent { name: listed.to_owned() });
    }
    Ok(format!("{name}: {}", values.join(", ")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DUE: [&str; 6] =
        ["date", "digest", "x-request-id", "psu-id", "psu-corporate-id", "tpp-redirect-uri"];
    const NOTHING: [(&str, &str); 0] = [];

    #[test]
    fn lists_what_is_present_in_the_order_that_is_due() {
        let full = [
            ("TPP-Redirect-URI", "https://tpp.example/back"),
            ("PSU-CORPORATE-ID", "7"),
            ("psu-id", "1"),
            ("X-Request-ID", "2"),
            ("x-request-id", "again"),
            ("DIGEST", "SHA-256="),
            ("Date", "now"),
            ("PSU-Context", "PRIVATE"),
        ];
        assert_eq!(listed_headers(&DUE, &full), DUE);
        assert_eq!(listed_headers(&DUE, &[("X-Request-ID", ""), ("Date", "now")]), ["date", "x-request-id"]);
        assert!(listed_headers(&DUE, &NOTHING).is_empty());
    }

    #[test]
    fn trims_joins_and_keeps_the_inside() {
        // Draft, section 2.3, item 2: spaces around a value are removed, headers with the same name are
        // joined, and nothing else changes.
        let fields = [("Cache-Control", " max-age=60 \t"), ("Empty", " "), ("cache-control", "a  B")];
        assert_eq!(
            signing_string(&["Cache-Control"], &fields, None).unwrap(),
            "cache-control: max-age=60, a  B"
        );
        assert_eq!(signing_string(&["empty"], &fields, None).unwrap(), "empty: ");
    }

    #[test]
    fn keeps_the_case_of_the_path() {
        let target = RequestTarget { method: "PUT".into(), path: "/A?b=C".into() };
        assert_eq!(
            signing_string(&[REQUEST_TARGET], &NOTHING, Some(&target)).unwrap(),
            "(request-target): put /A?b=C"
        );
    }

    #[test]
    fn says_what_is_missing() {
        let absent = SigningStringError::Absent { name: "PSU-ID".into() };
        assert_eq!(signing_string(&["date", "PSU-ID"], &[("Date", "now")], None).unwrap_err(), absent);
        assert!(absent.to_string().contains("`PSU-ID`"));
        let bare = signing_string(&[REQUEST_TARGET], &NOTHING, None);
        assert_eq!(bare.unwrap_err(), SigningStringError::NoRequestTarget);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn header_names_may_have_any_letter_case(
            present in proptest::sample::subsequence(DUE.to_vec(), 0..=6),
            upper in proptest::collection::vec(any::<bool>(), 16),
            value in "[ -~]{0,20}",
        ) {
            let recased = |name: &str| -> String {
                let cased = name.chars().zip(upper.iter().cycle());
                cased.map(|(c, up)| if *up { c.to_ascii_uppercase() } else { c }).collect()
            };
            let plain: Vec<_> = present.iter().map(|name| ((*name).to_owned(), value.clone())).collect();
            let mixed: Vec<_> = present.iter().map(|name| (recased(name), value.clone())).collect();
            prop_assert_eq!(listed_headers(&DUE, &mixed), present.clone());
            let listed: Vec<_> = present.iter().map(|name| recased(name)).collect();
            prop_assert_eq!(
                signing_string(&present, &plain, None).unwrap(),
                signing_string(&listed, &mixed, None).unwrap()
            );
        }
    }
}
