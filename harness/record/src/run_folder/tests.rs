use super::*;

const STARTED: &str = "{\"event\":\"run-started\",\"format\":1}\n";
const KEY: &str = "-----BEGIN PRIVATE KEY-----\nAA\n";
const NOTHING: Files<'_> = Files { reports: &["report.html"], reads: &[] };

fn begin(folder: &Path) -> Result<RunFolder, OutputError> {
    RunFolder::begin(folder, NOTHING, Doubt::Fail)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_folder_belongs_to_one_command_at_a_time() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path();
    let first = begin(path).unwrap();
    for other in [
        begin(path).map(drop),
        RunFolder::go_on(path, NOTHING).map(drop),
        RunFolder::begin(path, NOTHING, Doubt::GiveUp).map(drop),
        RunFolder::may_begin(path, NOTHING, Doubt::GiveUp),
    ] {
        assert!(matches!(other, Err(OutputError::Busy { .. })), "{other:?}");
    }
    drop(first);
    assert!(names(path).is_empty(), "nothing was locked, so nothing is left");
    begin(path).unwrap().end().unwrap();
    assert!(names(path).is_empty());
}

#[test]
fn one_of_many_commands_gets_the_folder() {
    let folder = tempfile::TempDir::new().unwrap();
    let holders = std::sync::atomic::AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let Ok(own) = begin(folder.path()) else { continue };
                    assert_eq!(holders.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                    thread::yield_now();
                    assert_eq!(holders.fetch_sub(1, std::sync::atomic::Ordering::SeqCst), 1);
                    drop(own);
                }
            });
        }
    });
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_run_takes_the_place_of_one_that_ended_and_of_no_other() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let may = |doubt: Doubt| RunFolder::may_begin(folder.path(), NOTHING, doubt);
    assert!(may(Doubt::Fail).is_ok());
    fs::write(path(RECORD), STARTED).unwrap();
    assert!(may(Doubt::Fail).is_ok(), "a record that is not being resumed");
    for read in [RECORD, "report.html"] {
        fs::write(path("report.html"), "").unwrap();
        let reads = Files { reads: &[&path(read)], ..NOTHING };
        let refused = RunFolder::may_begin(folder.path(), reads, Doubt::GiveUp);
        assert!(matches!(refused, Err(OutputError::Input { .. })), "{read}: {refused:?}");
    }
    fs::write(path(LOCK), "").unwrap();
    assert!(may(Doubt::Fail).is_ok(), "the run was killed before it sent a request");
    let started = serde_json::to_string(&crate::Event::RunStarted(crate::RunStarted {
        format: crate::RunStarted::FORMAT,
        ..crate::RunStarted::default()
    }));
    let sent =
        "\n{\"event\":\"sending\",\"number\":1,\"case\":\"a/b\",\"step\":\"request\",\"method\":\"POST\"}\n";
    fs::write(path(RECORD), [started.unwrap().as_str(), sent].concat()).unwrap();
    assert!(matches!(may(Doubt::Fail), Err(OutputError::InDoubt { cases: 1, .. })));
    assert!(may(Doubt::GiveUp).is_ok());
    assert!(matches!(begin(folder.path()), Err(OutputError::InDoubt { .. })));
}

/// A file that is reached through a name or link of a run is not overwritten.
#[test]
fn no_name_of_a_run_leads_to_something_else() {
    for name in [RECORD, LOCK, "report.html"] {
        for (content, is_refused) in [
            (KEY, true),
            ("a key is below\n-----BEGIN RSA PRIVATE KEY-----\nAA\n", true),
            ("notes", name != "report.html"),
            ("", false),
        ] {
            for link in ["none", "hard", "soft", "soft to soft"] {
                let folder = tempfile::TempDir::new().unwrap();
                let path = |name: &str| folder.path().join(name);
                fs::create_dir(path("run")).unwrap();
                let (file, own) = (path("file"), path("run").join(name));
                match link {
                    "none" => fs::write(&own, content).unwrap(),
                    "hard" => {
                        fs::write(&file, content).unwrap();
                        fs::hard_link(&file, &own).unwrap();
                    }
                    #[cfg(unix)]
                    _ => {
                        fs::write(&file, content).unwrap();
                        let to = if link == "soft" { file.clone() } else { path("between") };
                        std::os::unix::fs::symlink(&file, path("between")).unwrap();
                        std::os::unix::fs::symlink(to, &own).unwrap();
                    }
                    #[cfg(not(unix))]
                    _ => continue,
                }
                let what = format!("{name}, {link}: {content}");
                let may = RunFolder::may_begin(&path("run"), NOTHING, Doubt::GiveUp);
                let begun = RunFolder::begin(&path("run"), NOTHING, Doubt::GiveUp).map(drop);
                let goes_on = RunFolder::go_on(&path("run"), NOTHING).map(drop);
                for result in [may, begun, goes_on] {
                    let refused = matches!(result, Err(OutputError::Precious { .. }));
                    assert_eq!((refused, result.is_err()), (is_refused, is_refused), "{what}: {result:?}");
                }
                if is_refused {
                    assert_eq!(fs::read_to_string(&own).unwrap(), content, "{what}");
                }
            }
        }
    }
}
