//! Whether two faults are one: what an operator makes is not made where somebody wrote it before.

use super::{Effect, Entry, Then, Treatment, When};

impl Entry {
    /// Whether a bank does the same by both, as far as that can be told: patterns and conditions of several
    /// parts are not compared.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.beside == other.beside
            && self.effects.len() == other.effects.len()
            && self.effects.iter().zip(&other.effects).all(|(one, two)| is_same_effect(one, two))
    }
}

fn is_same_effect(one: &Effect, two: &Effect) -> bool {
    match (one, two) {
        (Effect::Reads(one), Effect::Reads(two)) => one == two,
        (Effect::Treats(one), Effect::Treats(two)) => is_same_treatment(one, two),
        (Effect::Alters(one), Effect::Alters(two)) => one == two,
        (Effect::Policy(one), Effect::Policy(two)) => one == two,
        (Effect::Wraps(one), Effect::Wraps(two)) => one == two,
        (Effect::Refuses(one, status, code), Effect::Refuses(two, also_status, also_code)) => {
            (one, status, code) == (two, also_status, also_code)
        }
        _ => false,
    }
}

fn is_same_treatment(one: &Treatment, two: &Treatment) -> bool {
    // Which of the values in order a wrong one is taken for is the same.
    let is_same_end = match (one.then, two.then) {
        (Then::TakeFor(_), Then::TakeFor(_)) => true,
        (one, two) => one == two,
    };
    one.operation == two.operation
        && one.place == two.place
        && is_same_end
        && is_same_when(one.when, two.when)
}

fn is_same_when(one: When, two: When) -> bool {
    match (one, two) {
        (When::Absent, When::Absent)
        | (When::Present, When::Present)
        | (When::Null, When::Null)
        | (When::Descends, When::Descends) => true,
        (When::NotType(one), When::NotType(two)) | (When::Type(one), When::Type(two)) => one == two,
        (When::Is(one), When::Is(two))
        | (When::AbsentWith(one), When::AbsentWith(two))
        | (When::Without(one), When::Without(two)) => one == two,
        (When::Like(one, of), When::Like(two, also_of)) => one == two && of == also_of,
        (When::Characters(one), When::Characters(two))
        | (When::Longer(one), When::Longer(two))
        | (When::Items(one), When::Items(two)) => one == two,
        (When::Between(from, to), When::Between(also_from, also_to)) => (from, to) == (also_from, also_to),
        (When::Forgiven(one, of), When::Forgiven(two, also_of))
        | (When::Overcounted(one, of), When::Overcounted(two, also_of)) => (one, of) == (two, also_of),
        (When::Has(one, times), When::Has(two, also_times)) => (one, times) == (two, also_times),
        (When::Among(one), When::Among(two)) => one == two,
        (When::Is(one), When::Among(two)) | (When::Among(two), When::Is(one)) => two == [one],
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Place;
    use super::*;
    use xs2aspec_bank::operation::Operation;

    fn entry(pointer: &'static str, when: When, then: Then) -> Entry {
        let treatment = Treatment { operation: Operation::Ncbct, place: Place::Body(pointer), when, then };
        Entry::treats("a.b/c", treatment, "It is a test.")
    }

    #[test]
    fn the_same_treatment_is_one_fault_and_any_other_is_another() {
        let one = entry("/a", When::Is("x"), Then::TakeFor("1"));
        assert!(one.is_same(&entry("/a", When::Among(&["x"]), Then::TakeFor("2"))));
        for other in [
            entry("/b", When::Is("x"), Then::TakeFor("1")),
            entry("/a", When::Is("y"), Then::TakeFor("1")),
            entry("/a", When::Is("x"), Then::Refuse),
            entry("/a", When::Is("x"), Then::TakeFor("1")).only(super::super::Beside::AtTimes),
        ] {
            assert!(!one.is_same(&other), "{other:?}");
        }
    }
}
