use xs2aspec_spec::Tree;

use super::*;

const RULES: &str = "
callers: [{ name: a }, { name: b, change: [{ set: header/Who, to: b }] }]
things: { box: { request: make, by: [a], keep: { id: body/id } }, jar: { request: make-jar, by: [a], keep: { id: body/id } } }
acts:
  read: { of: { box: { request: see, change: [{ set: path, to: /v1/<id> }] } } }
  drop: { of: { box: { request: drop, change: [{ set: path, to: /v1/<id> }] } } }
  pack: { most: 2, of: { box: &pack { request: pack, change: [{ set: body/ids, to: <every id> }] }, jar: *pack } }
  stack: { least: 2, most: 2, of: { jar: { request: stack, change: [{ set: body/ids, to: <every id> }] } } }
rules:
  - { act: read, by: another, demand: { clause: whose, control: c, expect: refused }, before: refused }
  - { act: read, has: dropped, demand: { clause: gone, control: c, or-refused: true, expect: refused } }
  - { act: read, demand: { clause: stays, control: c, expect: { body: { /id: <id> } } }, before: accepted }
  - { act: drop, before: refusal-observed, marks: dropped }
  - { act: pack, of: jar, demand: { clause: no-jars, control: c, expect: refused } }
  - { act: pack, has: dropped, demand: { clause: no-dropped, control: c, expect: refused } }
  - { act: pack, demand: { clause: packed, control: c, expect: accepted } }
  - { act: stack, demand: { clause: stacked, control: c, expect: accepted } }
";

fn rules() -> SequenceRules {
    SequenceRules::load(&Tree::of(&[("fixtures/spec/sequences.yaml", RULES)])).unwrap()
}

fn make(kind: &str) -> Move {
    Move::Make { kind: kind.to_owned(), caller: 0 }
}

fn act(act: &str, caller: usize, things: &[usize]) -> Move {
    Move::Act { act: act.to_owned(), caller, things: things.to_vec() }
}

/// Returns the clause that judges the last of these moves.
fn clause(moves: &[Move]) -> Option<String> {
    let written = Sequence { moves: moves.to_vec() }.written(&rules())?;
    Some(written.case["clause"].as_str()?.to_owned())
}

#[test]
fn what_happened_decides_what_must_become_of_the_last_request() {
    let some = |clause: &str| Some(clause.to_owned());
    assert_eq!(clause(&[make("box"), act("read", 0, &[0])]), some("stays"));
    assert_eq!(clause(&[make("box"), act("read", 1, &[0])]), some("whose"));
    assert_eq!(clause(&[make("box"), act("drop", 0, &[0]), act("read", 0, &[0])]), some("gone"));
    let other = [make("box"), make("box"), act("drop", 0, &[0]), act("read", 0, &[1])];
    assert_eq!(clause(&other), some("stays"), "the other one");
    assert_eq!(clause(&[make("box"), make("box"), act("pack", 0, &[0, 1])]), some("packed"));
    assert_eq!(clause(&[make("box"), make("jar"), act("pack", 0, &[0, 1])]), some("no-jars"));
    assert_eq!(clause(&[make("jar"), act("stack", 0, &[0])]), None, "too few");
    assert_eq!(clause(&[make("jar"), make("jar"), act("stack", 0, &[0, 1])]), some("stacked"));
    let two = [make("box"), make("jar"), act("drop", 0, &[0]), act("pack", 0, &[0, 1])];
    assert_eq!(clause(&two), None, "wrong in two ways");
    assert_eq!(clause(&[make("box"), act("drop", 0, &[0])]), None, "open");
    assert_eq!(clause(&[make("box"), act("drop", 1, &[0])]), None, "no rule defines the outcome");
    assert_eq!(clause(&[make("jar"), act("read", 0, &[0])]), None, "a jar cannot be read");
    let late = [make("box"), act("drop", 0, &[0]), act("read", 0, &[0]), act("read", 0, &[0])];
    assert_eq!(clause(&late), None, "no step is open");
}

#[test]
fn a_sequence_is_written_as_a_case() {
    let moves = vec![make("box"), act("read", 1, &[0]), act("drop", 0, &[0]), act("read", 0, &[0])];
    let written = Sequence { moves }.written(&rules()).unwrap();
    assert_eq!(written.says, ["a: make box 1", "b: read 1", "a: drop 1", "a: read 1"]);
    let at = json!({ "set": "path", "to": "/v1/${step-1.id}" });
    let expected = json!({
        "clause": "gone",
        "baseline": "see",
        "before": [
            { "name": "step-1", "baseline": "make", "keep": { "id": "body/id" } },
            { "name": "step-2", "baseline": "see", "change": [{ "set": "header/Who", "to": "b" }, at], "expect": "refused" },
            { "name": "step-3", "baseline": "drop", "change": [at], "expect": "refusal-observed" },
            { "name": "same", "baseline": "see", "expect": "refusal-passes", "change": [at] },
        ],
        "change": [at],
        "control": "c",
        "expect": "refused",
    });
    assert_eq!(Value::Object(written.case), expected);
    let packed = Sequence { moves: vec![make("box"), make("box"), act("pack", 0, &[1, 0])] };
    let written = packed.written(&rules()).unwrap();
    assert_eq!(
        written.case["change"],
        json!([{ "set": "body/ids", "to": ["${step-2.id}", "${step-1.id}"] }])
    );
}

#[test]
fn smaller_ones_leave_out_what_needs_what_is_left_out() {
    let whole =
        Sequence { moves: vec![make("box"), make("jar"), act("read", 0, &[0]), act("pack", 0, &[1, 0])] };
    let smaller = whole.smaller();
    assert!(smaller.contains(&Sequence { moves: vec![make("jar"), act("pack", 0, &[0])] }));
    assert!(smaller.contains(&Sequence { moves: vec![make("box"), make("jar"), act("pack", 0, &[1, 0])] }));
    assert!(smaller.contains(&Sequence {
        moves: vec![make("box"), make("jar"), act("read", 0, &[0]), act("pack", 0, &[1])]
    }));
    assert!(smaller.iter().all(|one| one.moves.len() <= whole.moves.len() && *one != whole));
}
