//! Applies the differences between a baseline and another allowed request to further requests of the
//! operation. If a target rejects the baseline and accepts the other request, everything else can then be
//! tested.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    case::Case,
    definition::Change,
    difference::differences,
    location::Location,
    request::{BodySpec, RequestSpec},
};

/// Another allowed request that replaces a baseline.
#[derive(Debug, Clone)]
pub struct Substitute {
    plain: Arc<RequestSpec>,
    other: Arc<RequestSpec>,
    /// The places where they differ.
    places: Vec<Location>,
}

impl Substitute {
    /// Returns a substitute for the baseline of an operation. Returns None if the other request is prepared
    /// differently, or differs in something that cannot be transferred, such as the order of its fields.
    pub fn new(plain: &Case, other: &Case) -> Option<Self> {
        let mut places = Vec::new();
        for place in differences(other, plain) {
            match place.parse() {
                Ok(Location::Path) => return None,
                Ok(Location::Body(pointer)) if pointer.is_empty() => return None,
                Ok(place) => places.push(place),
                Err(_) if place == SIGNING => {}
                Err(_) => return None,
            }
        }
        let (plain, other) = (Arc::clone(plain.request.whole()), Arc::clone(other.request.whole()));
        let is_spelled = plain.spelled != other.spelled;
        let differs = !places.is_empty() || plain.signing != other.signing || is_spelled;
        let is_alike = plain.exact == other.exact || is_spelled;
        (differs && is_alike).then_some(Self { plain, other, places })
    }

    /// Returns the request to send instead of this one. If the baseline has nothing at a place, the request
    /// keeps its own value there.
    ///
    /// Returns None if the request and the baseline have different values at a place, since the target may
    /// object to either. Also returns None if the request lacks what the other one lacks but needs further
    /// changes, since the result would be the other request.
    pub fn apply(&self, request: &RequestSpec) -> Option<RequestSpec> {
        let mut made = request.clone();
        let (mut lacks, mut is_changed) = (false, false);
        for place in &self.places {
            let (own, plain) = (value(request, place), value(&self.plain, place));
            let other = value(&self.other, place);
            if own == other {
                lacks |= own.is_none();
                continue;
            }
            if own != plain && plain.is_none() {
                continue;
            }
            if own != plain {
                return None;
            }
            is_changed = true;
            let at = Some(self.written(place).to_string());
            let change = match other {
                Some(to) => Change { set: at, to: Some(to.clone()), ..Change::default() },
                None => Change { remove: at, ..Change::default() },
            };
            made.apply(&change).ok()?;
        }
        if lacks && is_changed {
            return None;
        }
        if self.plain.signing != self.other.signing {
            if request.signing != self.plain.signing && request.signing != self.other.signing {
                return None;
            }
            made.signing = self.other.signing.clone();
        }
        if self.plain.spelled != self.other.spelled {
            made.exact = true;
            made.spelled.extend(self.other.spelled.iter().cloned());
        }
        Some(made)
    }

    /// Returns true if a request lacks what its control has at a place that the other request fills. The
    /// substitute would undo its violation.
    pub fn mends(&self, request: &RequestSpec, control: &RequestSpec) -> bool {
        let is_mended = |place: &Location| {
            value(request, place).is_none()
                && value(control, place).is_some()
                && value(&self.other, place).is_some()
        };
        self.places.iter().any(is_mended)
    }

    /// Returns a place with the name of its header as the other request writes it.
    fn written(&self, place: &Location) -> Location {
        let Location::Header(name) = place else { return place.clone() };
        let field = self.other.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        field.map_or_else(|| place.clone(), |(known, _)| Location::Header(known.clone()))
    }
}

/// The name of the way of signing among differences.
const SIGNING: &str = "signing";

/// Returns the value of a request at a place.
fn value<'a>(request: &'a RequestSpec, place: &Location) -> Option<&'a Value> {
    match place {
        Location::Header(name) => request.header(name),
        Location::Query(name) => {
            request.query.iter().find(|(known, _)| known == name).map(|(_, value)| value)
        }
        Location::Body(pointer) => match &request.body {
            BodySpec::Json(body, _) => body.pointer(pointer),
            BodySpec::None | BodySpec::Raw(_) => None,
        },
        Location::Path | Location::Sent(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::definition::Signing;

    fn case(change: impl FnOnce(&mut RequestSpec)) -> Case {
        let mut request = RequestSpec {
            operation: "a".to_owned(),
            method: "POST".to_owned(),
            path: "/a".to_owned(),
            query: vec![],
            headers: Arc::new(vec![("A".to_owned(), json!("1"))]),
            body: BodySpec::Json(Arc::new(json!({"one": 1, "two": {"x": 1}})), vec![]),
            signing: Signing::default(),
            exact: false,
            spelled: Vec::new(),
        };
        change(&mut request);
        Case::unwritten("a/b".to_owned(), "a".to_owned(), "a", &Arc::new(request))
    }

    fn set(request: &mut RequestSpec, at: &str, to: Value) {
        request.apply(&Change { set: Some(at.to_owned()), to: Some(to), ..Change::default() }).unwrap();
    }

    fn remove(request: &mut RequestSpec, at: &str) {
        request.apply(&Change { remove: Some(at.to_owned()), ..Change::default() }).unwrap();
    }

    fn bare(request: &mut RequestSpec) {
        request.signing.algorithm = Some("b".to_owned());
    }

    #[test]
    fn what_is_added_goes_into_each_request_that_has_nothing_of_its_own_there() {
        let plain = case(|_| {});
        let substitute =
            Substitute::new(&plain, &case(|request| set(request, "header/New-One", json!("n")))).unwrap();
        let made = substitute.apply(&case(|request| set(request, "body/one", json!(2))).request).unwrap();
        assert_eq!(made.headers.last().unwrap(), &("New-One".to_owned(), json!("n")));
        assert_eq!(made.members().unwrap()["one"], 2);
        let own = case(|request| set(request, "header/new-one", json!("wrong")));
        assert_eq!(substitute.apply(&own.request).unwrap(), *own.request);
    }

    #[test]
    fn what_is_replaced_cannot_go_where_a_request_has_something_else() {
        let plain = case(|_| {});
        let other = |request: &mut RequestSpec| {
            remove(request, "body/two");
            set(request, "body/one", json!(7));
        };
        let substitute = Substitute::new(&plain, &case(other)).unwrap();
        let made = substitute.apply(&case(|request| set(request, "header/B", json!("b"))).request).unwrap();
        assert_eq!(made.members().unwrap(), json!({"one": 7}).as_object().unwrap());
        for (at, to) in [("body/one", json!(3)), ("body/two/x", json!(2)), ("body", json!([]))] {
            assert_eq!(substitute.apply(&case(|request| set(request, at, to)).request), None, "{at}");
        }
    }

    #[test]
    fn a_request_whose_mistake_it_would_mend_is_left_out() {
        let plain = case(|_| {});
        let instead = |request: &mut RequestSpec| {
            remove(request, "body/two");
            set(request, "body/three", json!(3));
        };
        let substitute = Substitute::new(&plain, &case(instead)).unwrap();
        // It lacks what the other request lacks. Completed, it would be that request.
        assert_eq!(substitute.apply(&case(|request| remove(request, "body/two")).request), None);
        assert_eq!(substitute.apply(&case(instead).request).as_ref(), Some(&*case(instead).request));
        let more = case(|request| set(request, "body/three", json!(1)));
        assert!(
            substitute.mends(&plain.request, &more.request)
                && !substitute.mends(&more.request, &plain.request)
        );
        assert!(!substitute.mends(&plain.request, &plain.request));
    }

    #[test]
    fn a_way_of_signing_stands_in_for_the_usual_one_alone() {
        let substitute = Substitute::new(&case(|_| {}), &case(bare)).unwrap();
        assert_eq!(substitute.apply(&case(|_| {}).request), Some((*case(bare).request).clone()));
        let corrupted = case(|request| request.signing.corrupted = true);
        assert_eq!(substitute.apply(&corrupted.request), None);
    }

    #[test]
    fn what_no_other_request_can_have_is_no_substitute() {
        let plain = case(|_| {});
        assert!(Substitute::new(&plain, &case(|_| {})).is_none());
        assert!(Substitute::new(&plain, &case(|request| request.path = "/b".to_owned())).is_none());
        assert!(Substitute::new(&plain, &case(|request| set(request, "body", json!(1)))).is_none());
        let order = case(|request| Arc::make_mut(&mut request.headers).reverse());
        assert!(Substitute::new(&plain, &order).is_none());
    }
}
