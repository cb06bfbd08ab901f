"""Makes the wheel: the program as a script of the package, as `pip install` puts it on the path."""

import base64
import hashlib
import re
import zipfile

from facts import PLATFORMS, ROOT, arguments, facts, licences, output, program, readelf, time


def platform(target, path):
    """The oldest system that the program runs on, as wheels name it."""
    processor = target.split("-")[0]
    if "linux" in target:
        versions = {tuple(map(int, version.split("."))) for version in readelf("--version-info", path, r"GLIBC_([\d.]+)")}
        return "manylinux_{}_{}_{}".format(*max(versions)[:2], processor)
    if "apple" in target:
        # Of the two forms, newer linkers write the first one.
        said = output("otool", "-l", str(path))
        major, minor = re.search(r"LC_BUILD_VERSION.*?minos (\d+)\.(\d+)|$", said, re.DOTALL).groups()
        if major is None:
            major, minor = re.search(r"LC_VERSION_MIN_MACOSX.*?version (\d+)\.(\d+)", said, re.DOTALL).groups()
        # From 11 on, a wheel names the major version alone.
        return f"macosx_{major}_{minor if major == '10' else 0}_{processor.replace('aarch64', 'arm64')}"
    return {"x64": "win_amd64", "arm64": "win_arm64"}[PLATFORMS[target]["cpu"]]


def main():
    staged, target, folder = arguments()
    said = facts()
    tag = f"py3-none-{platform(target, staged / program(target))}"
    base = f"{said.name}-{said.version}"
    metadata = [
        "Metadata-Version: 2.4",
        f"Name: {said.name}",
        f"Version: {said.version}",
        f"Summary: {said.description}",
        f"License-Expression: {said.license}",
        *(f"License-File: {name}" for name in licences(staged)),
        "Requires-Python: >=3.8",
        "Description-Content-Type: text/markdown",
        "",
        (ROOT / "packaging/about.md").read_text(encoding="utf-8"),
    ]
    wheel = ["Wheel-Version: 1.0", "Generator: packaging/wheel.py", "Root-Is-Purelib: false", f"Tag: {tag}", ""]
    files = {f"{base}.data/scripts/{program(target)}": (staged / program(target)).read_bytes()}
    if "windows" not in target:
        pages = sorted((staged / "man").iterdir())
        files |= {f"{base}.data/data/share/man/man1/{page.name}": page.read_bytes() for page in pages}
    files |= {f"{base}.dist-info/licenses/{name}": text for name, text in licences(staged).items()}
    files[f"{base}.dist-info/METADATA"] = "\n".join(metadata).encode()
    files[f"{base}.dist-info/WHEEL"] = "\n".join(wheel).encode()
    record = f"{base}.dist-info/RECORD"
    rows = [f"{name},sha256={digest(content)},{len(content)}\n" for name, content in files.items()]
    files[record] = "".join([*rows, f"{record},,\n"]).encode()
    with zipfile.ZipFile(folder / f"{base}-{tag}.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, time().timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            # The system that understands the mode, on whichever the wheel is made.
            entry.create_system = 3
            entry.external_attr = (0o100755 if ".data/scripts/" in name else 0o100644) << 16
            archive.writestr(entry, content)


def digest(content):
    """As RECORD wants it."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    main()
