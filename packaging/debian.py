"""Makes the Debian package with Debian's own tools, which find out the libraries that the program needs."""

import email.utils
import os
import pathlib
import subprocess
import tempfile

from facts import PLATFORMS, ROOT, arguments, compressed, epoch, facts, output

# Whoever publishes packages names an address of his own.
MAINTAINER = os.environ.get("PACKAGE_MAINTAINER", "The xs2aspec contributors <xs2aspec@localhost.invalid>")
COMPLETIONS = {
    "xs2aspec.bash": "usr/share/bash-completion/completions/xs2aspec",
    "xs2aspec.fish": "usr/share/fish/vendor_completions.d/xs2aspec.fish",
    "_xs2aspec": "usr/share/zsh/vendor-completions/_xs2aspec",
}
COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: xs2aspec
Comment: The program contains crates of others. Their licences are in THIRD-PARTY-LICENSES.gz beside this file.

Files: *
Copyright: {copyright}
License: Expat or Apache-2.0

License: Expat
{expat}

License: Apache-2.0
 On Debian systems, the words of the Apache License, version 2.0, are in
 /usr/share/common-licenses/Apache-2.0.
"""


def copyright(staged):
    """The file in which Debian looks for licences."""
    _, holder, words = (staged / "LICENSE-MIT").read_text(encoding="utf-8").split("\n\n", 2)
    expat = "\n".join(f" {line}" if line else " ." for line in words.rstrip().split("\n"))
    return COPYRIGHT.format(copyright=holder.removeprefix("Copyright (c) "), expat=expat)


def control(said, arch, needs, size):
    """What the package manager reads."""
    about = (ROOT / "packaging/about.md").read_text(encoding="utf-8").rstrip().split("\n")
    lines = [
        f"Package: {said.name}",
        f"Version: {said.version}-1",
        f"Architecture: {arch}",
        f"Maintainer: {MAINTAINER}",
        f"Installed-Size: {size}",
        f"Depends: {needs}",
        "Recommends: ca-certificates",
        "Section: devel",
        "Priority: optional",
        f"Description: {said.description[0].lower()}{said.description[1:]}",
    ]
    # A line that begins with two blanks is shown as it is.
    return "\n".join(lines + [f" {line}" if line.strip() else " ." for line in about]) + "\n"


def needed(program):
    """The packages that have the libraries of the program, in the versions that it needs."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "debian/control")
        source.parent.mkdir()
        source.write_text("Source: xs2aspec\n\nPackage: xs2aspec\nArchitecture: any\n")
        said = output("dpkg-shlibdeps", "-O", f"-e{program.resolve()}", cwd=folder)
    return said.strip().removeprefix("shlibs:Depends=")


def main():
    staged, target, folder = arguments()
    said, arch = facts(), PLATFORMS[target]["arch"]
    news = f"{said.name} ({said.version}-1) unstable; urgency=medium\n\n  * What is new stands in changelog.gz.\n\n"
    news += f" -- {MAINTAINER}  {email.utils.formatdate(epoch())}\n"
    files = {
        "usr/bin/xs2aspec": (staged / "xs2aspec").read_bytes(),
        "usr/share/doc/xs2aspec/README.md": (staged / "README.md").read_bytes(),
        "usr/share/doc/xs2aspec/THIRD-PARTY-LICENSES.gz": (staged / "THIRD-PARTY-LICENSES.txt").read_bytes(),
        "usr/share/doc/xs2aspec/changelog.gz": (staged / "CHANGELOG.md").read_bytes(),
        "usr/share/doc/xs2aspec/changelog.Debian.gz": news.encode(),
        "usr/share/doc/xs2aspec/copyright": copyright(staged).encode(),
    }
    for name, path in COMPLETIONS.items():
        files[path] = (staged / "completions" / name).read_bytes()
    for page in sorted((staged / "man").iterdir()):
        files[f"usr/share/man/man1/{page.name}.gz"] = page.read_bytes()
    # Debian wants the highest level.
    files = {path: compressed(content, 9) if path.endswith(".gz") else content for path, content in files.items()}
    with tempfile.TemporaryDirectory() as root:
        for name, content in files.items():
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(0o755 if path.parent.name == "bin" else 0o644)
        size = sum(len(content) + 1023 >> 10 for content in files.values())
        path = pathlib.Path(root, "DEBIAN/control")
        path.parent.mkdir()
        path.write_text(control(said, arch, needed(pathlib.Path(root, "usr/bin/xs2aspec")), size), encoding="utf-8")
        for below in pathlib.Path(root).rglob("*"):
            below.chmod(below.stat().st_mode & 0o755)
            os.utime(below, (epoch(), epoch()))
        os.chmod(root, 0o755)
        file = folder / f"{said.name}_{said.version}-1_{arch}.deb"
        build = ["dpkg-deb", "--root-owner-group", "--threads-max=1", "-Zxz", "-z2", "--build", root, str(file)]
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
