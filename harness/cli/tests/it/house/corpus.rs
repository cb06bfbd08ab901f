//! Reads the whole corpus of the fuzzer again: `harness/fuzz/corpus`.

#[path = "../../../../fuzz/src/readers.rs"]
mod readers;

use std::{fs, path::Path};

#[test]
fn every_reader_survives_its_corpus() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    let folders = fs::read_dir(&corpus).unwrap().count();
    assert_eq!(folders, readers::ALL.len(), "a corpus without a reader");
    for (name, read) in readers::ALL {
        let files = fs::read_dir(corpus.join(name)).unwrap();
        let mut count = 0;
        for file in files {
            let path = file.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            // The message of a panic must name the file.
            let result = std::panic::catch_unwind(|| read(&bytes));
            assert!(result.is_ok(), "{}", path.display());
            count += 1;
        }
        assert!(count >= 10, "{name} has {count} files");
    }
}
