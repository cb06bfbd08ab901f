"""What every package says of the program, and archives that depend on nothing but what is put in."""

import datetime
import gzip
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import types

ROOT = pathlib.Path(__file__).resolve().parent.parent
LICENCES = ["LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-LICENSES.txt"]
# What Rust calls a platform, and what Debian and OCI (arch), and npm (os, cpu) call it.
PLATFORMS = {
    "x86_64-unknown-linux-gnu": {"arch": "amd64", "os": "linux", "cpu": "x64"},
    "aarch64-unknown-linux-gnu": {"arch": "arm64", "os": "linux", "cpu": "arm64"},
    "x86_64-apple-darwin": {"os": "darwin", "cpu": "x64"},
    "aarch64-apple-darwin": {"os": "darwin", "cpu": "arm64"},
    "x86_64-pc-windows-msvc": {"os": "win32", "cpu": "x64"},
}


def arguments():
    """The staged files, the platform of the program, and the folder for packages, from the command line."""
    if len(sys.argv) != 4:
        sys.exit(f"usage: {sys.argv[0]} STAGED-FILES TARGET FOLDER; `packaging/build` calls it")
    staged, target, folder = sys.argv[1:]
    if target not in PLATFORMS:
        sys.exit(f"no packages are made for {target}, only for {', '.join(PLATFORMS)}")
    return pathlib.Path(staged), target, pathlib.Path(folder)


def output(*command, **options):
    """What a command prints."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8", **options).stdout


def facts():
    """Name, version, description and licence of the program."""
    metadata = json.loads(output("cargo", "metadata", "--locked", "--no-deps", "--format-version", "1", cwd=ROOT))
    package = next(package for package in metadata["packages"] if package["name"] == "xs2aspec")
    names = ["name", "version", "description", "license", "rust_version"]
    return types.SimpleNamespace(**{name: package[name] for name in names})


def epoch():
    """Seconds of the commit, which all files are said to be of."""
    return int(os.environ["SOURCE_DATE_EPOCH"])


def time():
    """The time of the commit."""
    return datetime.datetime.fromtimestamp(epoch(), datetime.timezone.utc)


def program(target):
    """What the program's file is called."""
    return "xs2aspec.exe" if "windows" in target else "xs2aspec"


def licences(staged):
    """The texts of the licences by the names of their files."""
    return {name: (staged / name).read_bytes() for name in LICENCES}


def readelf(option, path, pattern):
    """All that a pattern finds in what `readelf` says of a program."""
    return re.findall(pattern, output("readelf", option, "--wide", str(path)))


def tar(entries):
    """A tar archive of (path, mode, bytes), or with a text for a link, or with None for a folder."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, mode, content, *owner in entries:
            entry = tarfile.TarInfo(path)
            entry.mode, entry.mtime = mode, epoch()
            entry.uid = entry.gid = owner[0] if owner else 0
            if content is None:
                entry.type = tarfile.DIRTYPE
            elif isinstance(content, str):
                entry.type, entry.linkname = tarfile.SYMTYPE, content
            else:
                entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content) if isinstance(content, bytes) else None)
    return buffer.getvalue()


def compressed(content, level=6):
    """Compressed by gzip, without a time or a name. The highest level takes thrice as long, and is 1 % better."""
    return gzip.compress(content, compresslevel=level, mtime=0)
