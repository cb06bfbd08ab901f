"""Makes two packages for npm: the program for one platform, and the launcher, the same on all of them."""

import json

from facts import PLATFORMS, ROOT, arguments, compressed, facts, licences, program, tar


def package(path, manifest, files):
    """A package as npm reads it: a manifest and files, of which those in `bin` may be run."""
    entries = {"package.json": (json.dumps(manifest, indent=2) + "\n").encode(), **files}
    archive = tar((f"package/{name}", 0o755 if name.startswith("bin/") else 0o644, content) for name, content in entries.items())
    path.write_bytes(compressed(archive))


def main():
    staged, target, folder = arguments()
    said = facts()
    common = {"version": said.version, "description": said.description, "license": said.license}
    about = {"README.md": (ROOT / "packaging/about.md").read_bytes()}
    own = PLATFORMS[target]
    name = f"{own['os']}-{own['cpu']}"
    manifest = {"name": f"@xs2aspec/{name}", **common, "os": [own["os"]], "cpu": [own["cpu"]]}
    if own["os"] == "linux":
        manifest["libc"] = ["glibc"]
    # Yarn would leave it in an archive that nothing can be run from.
    manifest["preferUnplugged"] = True
    files = {f"bin/{program(target)}": (staged / program(target)).read_bytes(), **about, **licences(staged)}
    package(folder / f"{said.name}-{name}-{said.version}.tgz", manifest, files)

    pages = {f"man/{page.name}": page.read_bytes() for page in sorted((staged / "man").iterdir())}
    # npm installs the one for its machine; the others are left out.
    others = {f"@xs2aspec/{one['os']}-{one['cpu']}": said.version for one in PLATFORMS.values()}
    manifest = {
        "name": said.name,
        **common,
        "bin": {said.name: "bin/xs2aspec.js"},
        "man": list(pages),
        "engines": {"node": ">=18"},
        "optionalDependencies": others,
    }
    # It has nothing of others in it.
    own = {name: text for name, text in licences(staged).items() if not name.startswith("THIRD-PARTY")}
    files = {"bin/xs2aspec.js": (ROOT / "packaging/launcher.js").read_bytes(), **pages, **about, **own}
    package(folder / f"{said.name}-{said.version}.tgz", manifest, files)


if __name__ == "__main__":
    main()
