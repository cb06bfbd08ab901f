//! Builds again when a case file, a baseline or a table changes or is added: they are embedded in the binary.

fn main() {
    for folder in ["cases", "fixtures/model", "fixtures/requests", "fixtures/tables", "fixtures/document"] {
        println!("cargo::rerun-if-changed=../../{folder}");
    }
}
