"""The crates that are in the program: no tests, no build scripts, no macros that ran in the compiler."""

import json
import pathlib
import re
import tomllib
import types

from facts import ROOT, output


def crates(target):
    """All crates by name and version: what each needs, licence, folder, checksum in Cargo.lock."""
    edges = tree(target)
    with open(ROOT / "Cargo.lock", "rb") as file:
        locked = {(one["name"], one["version"]): one.get("checksum") for one in tomllib.load(file)["package"]}
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    metadata = json.loads(output(*command, cwd=ROOT))
    found = {}
    for package in metadata["packages"]:
        key = package["name"], package["version"]
        if key in edges:
            found[key] = types.SimpleNamespace(
                name=key[0],
                version=key[1],
                needs=sorted(edges[key]),
                # The form that SPDX has now; some crates still have the older one.
                licence=" ".join((package["license"] or "").replace("/", " OR ").split()),
                description=package["description"],
                repository=package["repository"],
                folder=pathlib.Path(package["manifest_path"]).parent,
                # A crate of this project has none.
                checksum=locked[key],
            )
    return dict(sorted(found.items()))


def tree(target):
    """What each crate needs, of those that the program needs."""
    command = ["cargo", "tree", "--locked", "--target", target, "--edges", "normal,no-proc-macro"]
    lines = output(*command, "--prefix", "depth", "--format", " {p}", cwd=ROOT)
    # Each crate is drawn in full once, and later without what it needs.
    edges, above = {}, []
    for depth, name, version in re.findall(r"^(\d+) (\S+) v(\S+)", lines, re.MULTILINE):
        del above[int(depth) :]
        edges.setdefault((name, version), set())
        if above:
            edges[above[-1]].add((name, version))
        above.append((name, version))
    program = next(key for key in edges if key[0] == "xs2aspec")
    reached, waiting = set(), [program]
    while waiting:
        key = waiting.pop()
        if key not in reached:
            reached.add(key)
            waiting.extend(edges[key])
    return {key: edges[key] for key in reached}
