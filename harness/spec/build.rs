//! Builds again when a case file, a baseline or a table changes or is added: they are embedded in the binary.

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
