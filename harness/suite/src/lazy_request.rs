//! A request that is built from a valid one on first use. A command sends few of the cases of a suite, and
//! their requests would take up most of its memory.

use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
};

use crate::{
    definition::{Change, Signing},
    request::{RequestSpec, describe},
    template,
};

/// The request of a case, stored as a valid request with changes.
#[derive(Debug, Clone)]
pub struct LazyRequest {
    plain: Arc<RequestSpec>,
    changes: Vec<Arc<Change>>,
    /// The way of signing, if it differs from that of the valid request.
    signing: Option<Arc<Signing>>,
    /// True if it must be the first and only request of a connection, or if its exact bytes matter.
    exact: bool,
    made: OnceLock<Arc<RequestSpec>>,
}

impl LazyRequest {
    /// Stores a request that results from these changes to a valid one.
    pub(crate) fn made(plain: &Arc<RequestSpec>, changes: Vec<Change>, made: RequestSpec) -> Self {
        Self {
            plain: Arc::clone(plain),
            changes: changes.into_iter().map(Arc::new).collect(),
            signing: (made.signing != plain.signing).then(|| Arc::new(made.signing.clone())),
            exact: made.exact,
            made: OnceLock::from(Arc::new(made)),
        }
    }

    /// Stores a valid request with these changes, which must all be possible.
    pub(crate) fn later(
        plain: &Arc<RequestSpec>,
        changes: Vec<Arc<Change>>,
        signing: Option<Arc<Signing>>,
        exact: bool,
    ) -> Self {
        Self { plain: Arc::clone(plain), changes, signing, exact, made: OnceLock::new() }
    }

    /// Returns its operation, which no change affects.
    pub fn operation(&self) -> &str {
        &self.plain.operation
    }

    /// Returns the changes to the valid request.
    pub(crate) fn changes(&self) -> &[Arc<Change>] {
        &self.changes
    }

    /// Returns the changes to the valid request, one line each.
    pub(crate) fn described(&self) -> impl Iterator<Item = String> {
        self.changes.iter().map(|change| describe(change))
    }

    /// Returns true if the changes add a placeholder whose name contains this string.
    pub fn adds(&self, name: &str) -> bool {
        let values = self.changes.iter().filter_map(|change| change.to.as_ref());
        values.flat_map(template::names).any(|placeholder| placeholder.contains(name))
    }

    /// Returns the way of signing, if it differs from that of the valid request.
    pub(crate) fn signing(&self) -> Option<&Arc<Signing>> {
        self.signing.as_ref()
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.exact
    }

    /// Marks its exact bytes as relevant, and makes it the only request of its connection.
    pub(crate) fn make_exact(&mut self) {
        self.exact = true;
        if let Some(made) = self.made.get_mut() {
            Arc::make_mut(made).exact = true;
        }
    }

    /// Returns the request, and builds it on first use.
    pub fn whole(&self) -> &Arc<RequestSpec> {
        self.made.get_or_init(|| {
            if self.changes.is_empty() && self.signing.is_none() && self.exact == self.plain.exact {
                return Arc::clone(&self.plain);
            }
            let mut request = RequestSpec::clone(&self.plain);
            for change in &self.changes {
                request.apply(change).expect("a change that was made once can be made again");
            }
            if let Some(signing) = &self.signing {
                request.signing = Signing::clone(signing);
            }
            request.exact |= self.exact;
            Arc::new(request)
        })
    }
}

impl From<Arc<RequestSpec>> for LazyRequest {
    fn from(request: Arc<RequestSpec>) -> Self {
        let exact = request.exact;
        let made = OnceLock::from(Arc::clone(&request));
        Self { plain: request, changes: Vec::new(), signing: None, exact, made }
    }
}

impl Deref for LazyRequest {
    type Target = RequestSpec;

    fn deref(&self) -> &RequestSpec {
        self.whole()
    }
}

impl PartialEq for LazyRequest {
    fn eq(&self, other: &Self) -> bool {
        let (one, other) = (self.whole(), other.whole());
        Arc::ptr_eq(one, other) || one == other
    }
}
