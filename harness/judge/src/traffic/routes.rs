//! Finds the operation of a request by its method and path, whatever precedes the path.

use std::collections::{BTreeMap, BTreeSet};

use xs2aspec_suite::Suite;

use super::message::{Sent, decoded};
use crate::Profile;

/// The paths of all operations.
#[derive(Debug)]
pub(crate) struct Routes {
    pub(super) routes: Vec<Route>,
}

/// A path of an operation.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) operation: String,
    pub(super) method: String,
    /// The path in a valid request, with its placeholders.
    pub(crate) path: String,
    pub(super) segments: Vec<Segment>,
}

/// A part of a path between slashes.
#[derive(Debug)]
pub(super) enum Segment {
    Text(String),
    /// A whole-segment placeholder, by name.
    Placeholder(String),
}

/// The operation of a request.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    pub(crate) operation: &'a str,
    /// Its matching paths, each with the percent-decoded values of its placeholders.
    pub(crate) fitting: Vec<(&'a Route, Vec<(&'a str, String)>)>,
}

impl Routes {
    pub(crate) fn new(suite: &Suite, profile: &Profile) -> Self {
        let mut routes: BTreeMap<(String, String), Route> = BTreeMap::new();
        // The baseline request of an operation has the operation's name and comes first.
        let mut baselines: Vec<_> = suite.baselines().iter().collect();
        baselines.sort_by_key(|(name, baseline)| (**name != baseline.request.operation, name.as_str()));
        for (_, baseline) in baselines {
            let request = &baseline.request;
            // A path taken from a response does not identify an operation.
            if !request.path.starts_with('/') {
                continue;
            }
            let declared = profile.paths.get(&request.operation);
            for path in declared.into_iter().chain([&request.path]) {
                let route = Route {
                    operation: request.operation.clone(),
                    method: request.method.clone(),
                    path: request.path.clone(),
                    segments: path.split('/').filter(|part| !part.is_empty()).map(Segment::new).collect(),
                };
                routes.entry((request.method.clone(), path.clone())).or_insert(route);
            }
        }
        Self { routes: routes.into_values().collect() }
    }

    /// Returns the operation of a request, or None if it belongs to none.
    pub(crate) fn find(&self, request: &Sent) -> Option<Found<'_>> {
        let parts = request.parts();
        let fits = |route: &Route| -> Option<usize> {
            let is_of = route.method == request.method && route.fits(&parts);
            let texts = route.segments.iter().filter(|segment| matches!(segment, Segment::Text(_)));
            is_of.then(|| texts.count())
        };
        // The route with the most fixed segments wins. Any prefix is allowed.
        let best = self.routes.iter().filter_map(|route| Some((fits(route)?, route)));
        let (_, best) = best.max_by_key(|(texts, route)| (*texts, route.segments.len()))?;
        let of_it = self.routes.iter().filter(|route| route.operation == best.operation);
        let fitting = of_it.filter(|route| route.fits(&parts) && route.method == request.method);
        let fitting = fitting.map(|route| (route, route.values(&parts))).collect();
        Some(Found { operation: &best.operation, fitting })
    }

    /// Returns true if an operation with this name exists.
    pub(crate) fn has(&self, operation: &str) -> bool {
        self.routes.iter().any(|route| route.operation == operation)
    }

    /// Returns true if a path contains the last fixed segment of one of these operations.
    pub(crate) fn names(&self, request: &Sent, operations: &BTreeSet<String>) -> bool {
        let (path, _) = request.target();
        let own = self.routes.iter().filter(|route| operations.contains(&route.operation));
        own.filter_map(|route| route.segments.last()).any(|last| match last {
            Segment::Text(text) => path.split('/').any(|part| part == text),
            Segment::Placeholder(_) => false,
        })
    }

    /// Returns true if a path continues that of an operation, such as the path of a created resource.
    pub(crate) fn is_below(&self, request: &Sent) -> bool {
        let parts = request.parts();
        // A single segment is too common.
        let whole = self.routes.iter().filter(|route| route.segments.len() > 1);
        whole
            .filter(|route| route.segments.iter().all(|segment| matches!(segment, Segment::Text(_))))
            .any(|route| (1..parts.len()).any(|end| route.fits(&parts[..end])))
    }
}

impl Route {
    fn fits(&self, parts: &[&str]) -> bool {
        let Some(skipped) = parts.len().checked_sub(self.segments.len()) else { return false };
        self.segments.iter().zip(&parts[skipped..]).all(|(segment, part)| match segment {
            Segment::Text(text) => text == part,
            Segment::Placeholder(_) => true,
        })
    }

    fn values(&self, parts: &[&str]) -> Vec<(&str, String)> {
        let skipped = parts.len().saturating_sub(self.segments.len());
        let values =
            self.segments.iter().zip(&parts[skipped..]).filter_map(|(segment, part)| match segment {
                Segment::Text(_) => None,
                Segment::Placeholder(name) => Some((name.as_str(), decoded(part))),
            });
        values.collect()
    }
}

impl Segment {
    fn new(part: &str) -> Self {
        let name = part.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        name.map_or_else(|| Self::Text(part.to_owned()), |name| Self::Placeholder(name.to_owned()))
    }
}
