//! Rebuilds the crate when an embedded file (case, baseline, schema, table) is changed or added.

fn main() {
    for folder in [
        "cases",
        "fixtures/answers",
        "fixtures/requests",
        "fixtures/schemas",
        "fixtures/spec",
        "fixtures/tables",
    ] {
        println!("cargo::rerun-if-changed=../../{folder}");
    }
}
