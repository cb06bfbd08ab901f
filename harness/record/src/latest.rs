//! `latest`, which leads to the folder of the last full run next to it: a symbolic link, or a file with the
//! name of that folder on systems without links.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use chrono::{DateTime, Utc};

use crate::{
    inputs,
    outputs::{self, folder_of},
};

/// The name of the link.
const LATEST: &str = "latest";

/// Returns true if a path names the link instead of the folder of a run.
pub fn is_latest(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == LATEST)
}

/// Returns the folder to which `latest` leads, or any other path as it is.
pub fn followed(path: &Path) -> PathBuf {
    if !is_latest(path) {
        return path.to_owned();
    }
    // Without the slash that may end it.
    let link = path.components().as_path();
    let named = fs::read_link(link).or_else(|_| inputs::read_to_string(link).map(|name| name.trim().into()));
    named.map_or_else(|_| path.to_owned(), |name| folder_of(link).join(name))
}

/// Creates a folder next to `latest` with this time as its name, such as `2026-12-01T013605Z`. Adds a number
/// if the name is taken.
pub fn new_folder(latest: &Path, time: DateTime<Utc>) -> io::Result<PathBuf> {
    let parent = folder_of(latest);
    fs::create_dir_all(parent)?;
    let name = time.format("%Y-%m-%dT%H%M%SZ").to_string();
    let (mut folder, mut number) = (parent.join(&name), 1);
    loop {
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                number += 1;
                folder = parent.join(format!("{name}-{number}"));
            }
            created => return created.map(|()| folder),
        }
    }
}

/// Lets `latest` lead to a folder next to it. If `latest` is a folder itself, as earlier versions wrote it,
/// it gets the time of its last change as its name.
pub fn point(latest: &Path, folder: &Path) -> io::Result<()> {
    let (latest, parent) = (latest.components().as_path(), folder_of(latest));
    if let Ok(earlier) = fs::symlink_metadata(latest)
        && earlier.is_dir()
    {
        let kept = new_folder(latest, earlier.modified()?.into())?;
        // The system replaces an empty folder.
        fs::rename(latest, kept)?;
    }
    let name = folder.strip_prefix(parent).unwrap_or(folder);
    if link(name, latest).is_ok() {
        return Ok(());
    }
    outputs::write_in_folder(latest, format!("{}\n", name.display()).as_bytes())
}

/// Replaces `latest` by a symbolic link in one step, so that no reader misses it.
#[cfg(unix)]
fn link(name: &Path, latest: &Path) -> io::Result<()> {
    let new = latest.with_file_name(format!(".{LATEST}.{}", std::process::id()));
    std::os::unix::fs::symlink(name, &new)?;
    fs::rename(&new, latest).inspect_err(|_| drop(fs::remove_file(&new)))
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latest_leads_to_the_last_folder() {
        let parent = tempfile::TempDir::new().unwrap();
        let latest = parent.path().join(LATEST);
        let time = "2026-12-01T01:36:05Z".parse().unwrap();
        let folders = [1, 2, 3].map(|_| new_folder(&latest, time).unwrap());
        let names = folders.each_ref().map(|folder| folder.file_name().unwrap().to_string_lossy());
        assert_eq!(names, ["2026-12-01T013605Z", "2026-12-01T013605Z-2", "2026-12-01T013605Z-3"]);
        assert_eq!(followed(&latest), latest, "it does not exist yet");
        fs::create_dir(&latest).unwrap();
        fs::write(latest.join("kept"), "kept").unwrap();
        assert_eq!(followed(&latest), latest, "a folder of an earlier version");
        for folder in &folders {
            point(&latest, folder).unwrap();
            for path in [latest.clone(), parent.path().join("latest/")] {
                assert_eq!(&followed(&path), folder);
            }
            assert_eq!(followed(folder), *folder);
        }
        let found = fs::read_dir(parent.path()).unwrap().map(|entry| entry.unwrap().path());
        let found: Vec<_> = found.filter(|path| path.join("kept").exists()).collect();
        assert_eq!(found.len(), 1, "the earlier folder has another name: {found:?}");
        // A system without links.
        fs::remove_file(&latest).unwrap();
        fs::write(&latest, "2026-12-01T013605Z-2\n").unwrap();
        assert_eq!(followed(&latest), folders[1]);
        point(&latest, &folders[0]).unwrap();
        assert_eq!(followed(&latest), folders[0]);
    }
}
