//! A request that is made from a valid one when it is first looked at: few of the cases that a suite has are
//! asked by one command, and their requests are most of what it holds.

use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
};

use crate::{
    definition::{Change, Signing},
    request::{RequestSpec, describe},
    template,
};

/// A request of a case, as a valid request and what is different from it.
#[derive(Debug, Clone)]
pub struct LazyRequest {
    plain: Arc<RequestSpec>,
    changes: Vec<Arc<Change>>,
    /// How it is signed, where another way than the valid one.
    signing: Option<Arc<Signing>>,
    /// Whether it is the first and only one of a connection, or its bytes matter.
    exact: bool,
    made: OnceLock<Arc<RequestSpec>>,
}

impl LazyRequest {
    /// This request, which is a valid one after these changes.
    pub(crate) fn made(plain: &Arc<RequestSpec>, changes: Vec<Change>, made: RequestSpec) -> Self {
        Self {
            plain: Arc::clone(plain),
            changes: changes.into_iter().map(Arc::new).collect(),
            signing: (made.signing != plain.signing).then(|| Arc::new(made.signing.clone())),
            exact: made.exact,
            made: OnceLock::from(Arc::new(made)),
        }
    }

    /// A valid request after these changes, each of which is known to be possible.
    pub(crate) fn later(
        plain: &Arc<RequestSpec>,
        changes: Vec<Arc<Change>>,
        signing: Option<Arc<Signing>>,
        exact: bool,
    ) -> Self {
        Self { plain: Arc::clone(plain), changes, signing, exact, made: OnceLock::new() }
    }

    /// Its operation, which no change changes.
    pub fn operation(&self) -> &str {
        &self.plain.operation
    }

    /// What is different from the valid request.
    pub(crate) fn changes(&self) -> &[Arc<Change>] {
        &self.changes
    }

    /// The same, one line each.
    pub(crate) fn described(&self) -> impl Iterator<Item = String> {
        self.changes.iter().map(|change| describe(change))
    }

    /// Returns true if what is different from the valid request holds a placeholder with this in its name.
    pub fn adds(&self, name: &str) -> bool {
        let values = self.changes.iter().filter_map(|change| change.to.as_ref());
        values.flat_map(template::names).any(|placeholder| placeholder.contains(name))
    }

    /// How it is signed, where another way than the valid request.
    pub(crate) fn signing(&self) -> Option<&Arc<Signing>> {
        self.signing.as_ref()
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.exact
    }

    /// Makes its bytes matter, and it the only request of its connection.
    pub(crate) fn make_exact(&mut self) {
        self.exact = true;
        if let Some(made) = self.made.get_mut() {
            Arc::make_mut(made).exact = true;
        }
    }

    /// The request.
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
