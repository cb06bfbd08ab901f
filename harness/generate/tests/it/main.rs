//! Tests of requests generated from the embedded spec.

use std::collections::BTreeMap;

use serde_json::json;
use xs2aspec_generate::{Aim, AppliedForm, Combination, Due, Edit, Explorer};
use xs2aspec_spec::Tree;
use xs2aspec_suite::{Strength, Suite};

fn suite() -> Suite {
    Suite::load(Tree::embedded()).unwrap()
}

#[test]
fn every_plain_request_is_to_be_accepted() {
    let suite = suite();
    let mut operations = 0;
    for operation in suite.requests().operations() {
        let (_, due) = suite.drawn(&Combination::plain(operation)).unwrap();
        // The bank decides if a payment can be deleted.
        let is_open = operation == "deletion";
        assert_eq!(is_open, !matches!(due, Due::Accepted { .. }), "{operation}: {due:?}");
        operations += 1;
    }
    assert_eq!(operations, 7);
}

#[test]
fn every_clause_that_the_rules_name_is_in_the_ledger() {
    let suite = suite();
    let mut clauses = 0;
    for clause in suite.requests().clauses() {
        assert!(suite.clauses().contains_key(clause), "{clause}");
        clauses += 1;
    }
    assert!(clauses > 1_000, "{clauses}");
}

#[test]
fn the_same_seed_draws_the_same_requests_and_another_one_others() {
    let suite = suite();
    let drawn = |seed| {
        let mut explorer = Explorer::new(&suite, seed, &[]);
        (0..300).map(|_| explorer.draw(&suite).0).collect::<Vec<_>>()
    };
    assert_eq!(drawn(1), drawn(1));
    assert_ne!(drawn(1), drawn(2));
}

/// Returns the embedded suite with this stated clause changed to expected.
fn with_expected(clause: &str) -> Suite {
    let tree = Tree::embedded();
    let (file, text) = tree
        .clause_files()
        .find(|(_, text)| text.contains(&format!("- id: {clause}\n")))
        .map(|(file, text)| (file.to_owned(), text.to_owned()))
        .unwrap();
    let (before, rest) = text.split_once(&format!("- id: {clause}\n")).unwrap();
    let rest = rest.replacen("strength: stated", "strength: expected", 1);
    let suite = Suite::load(tree.and(&[(&file, &format!("{before}- id: {clause}\n{rest}"))])).unwrap();
    assert!(matches!(suite.clauses()[clause].strength, Strength::Expected), "{clause}");
    suite
}

#[test]
fn what_is_only_expected_makes_no_violation_of_what_it_is_and_none_less_of_another_clause() {
    let suite = suite();
    let is_stated = |id: &str| matches!(suite.clauses()[id].strength, Strength::Stated);
    let mut explorer = Explorer::new(&suite, 1, &["basket".to_owned()]);
    let combinations: Vec<Combination> = (0..9_000).map(|_| explorer.draw(&suite).0).collect();
    let mut both_broken = Combination::plain("ncbct");
    for name in ["body/creditorName one-more", "body/remittanceInformationUnstructured one-more"] {
        let form = suite.requests().forms("ncbct").iter().find(|form| form.name == name).unwrap();
        assert!(both_broken.add(AppliedForm::draw(form, &form.touches(), &mut |below| below - 1)));
    }
    let combination = &both_broken;
    let Due::Refused { clauses, .. } = suite.drawn(combination).unwrap().1 else {
        panic!("the request is valid")
    };
    assert!(clauses.len() == 2 && clauses.iter().all(|id| is_stated(id)), "{clauses:?}");
    let blamed = |expected: &str| with_expected(expected).drawn(combination).unwrap().0.clause;
    assert_eq!(suite.drawn(combination).unwrap().0.clause, clauses[0]);
    assert_eq!((blamed(&clauses[0]), blamed(&clauses[1])), (clauses[1].clone(), clauses[0].clone()));

    let is_lawful = |combination: &&Combination| {
        let [one, other] = combination.forms.as_slice() else { return false };
        let is_accepted = matches!(suite.due_of(combination), Some(Due::Accepted { .. }));
        is_accepted && one.clause != other.clause && is_stated(&one.clause) && is_stated(&other.clause)
    };
    let lawful = combinations.iter().find(is_lawful).unwrap();
    assert_eq!(suite.drawn(lawful).unwrap().0.clause, lawful.forms[1].clause);
    let softer = with_expected(&lawful.forms[0].clause);
    assert_eq!(softer.drawn(lawful).unwrap().0.clause, lawful.forms[0].clause);
}

/// Reading 23: it is open if an account with two numbers needs an agent, but one with only a BBAN does.
#[test]
fn an_agent_is_due_where_the_bban_is_alone() {
    let suite = suite();
    let due = |edits: Vec<Edit>| {
        let form = AppliedForm { edits, ..AppliedForm::default() };
        suite.due_of(&Combination { operation: "ncbct".to_owned(), forms: vec![form] }).unwrap()
    };
    let bban = "${target.accounts.foreign-creditor.bban}";
    let with_bban = Edit::Set("body/creditorAccount/bban".to_owned(), json!(bban));
    let without_iban = Edit::Remove("body/creditorAccount/iban".to_owned());
    assert!(matches!(due(vec![with_bban.clone()]), Due::Open(_)));
    let Due::Refused { clauses, .. } = due(vec![without_iban, with_bban]) else {
        panic!("the request is valid")
    };
    assert_eq!(clauses, ["ncbct.creditor-agent.bban"]);
}

/// The name or the clause of a form gives its intent, and the rules must agree.
#[test]
fn forms_come_to_what_their_names_say() {
    let suite = suite();
    let explorer = Explorer::new(&suite, 1, &[]);
    let mut counts: BTreeMap<Aim, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for one in explorer.partitions() {
        *counts.entry(one.aim()).or_default() += 1;
        let name = one.name();
        let said = [
            (" wrong-", Aim::Broken),
            (" type-", Aim::Broken),
            (" absent", Aim::Broken),
            (" one-more", Aim::Broken),
            (" many-more", Aim::Broken),
            (" free-", Aim::Open),
        ];
        let said = said.iter().find(|(word, _)| name.contains(word));
        if let Some((_, aim)) = said.filter(|(_, aim)| *aim != one.aim()) {
            wrong.push(format!("{name}: {:?} and not {aim:?}", one.aim()));
        }
    }
    assert!(counts[&Aim::Valid] > 700 && counts[&Aim::Broken] > 1_200, "{counts:?}");
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}
