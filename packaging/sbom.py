"""Writes what the program is made of as CycloneDX: each crate with licence, package URL and checksum."""

import hashlib
import json
import urllib.parse
import uuid

from crates import crates
from facts import arguments, facts, output, program, time


def reference(key):
    """What a crate is called within the file."""
    return f"{key[0]}@{key[1]}"


def component(crate):
    """A crate as CycloneDX wants it."""
    said = {
        "type": "library",
        "bom-ref": reference((crate.name, crate.version)),
        "name": crate.name,
        "version": crate.version,
        "licenses": [{"expression": crate.licence}] if crate.licence else [],
    }
    if crate.description:
        said["description"] = " ".join(crate.description.split())
    # Crates of this project are in no registry: what has their name there is something else.
    if crate.checksum:
        said["hashes"] = [{"alg": "SHA-256", "content": crate.checksum}]
        said["purl"] = f"pkg:cargo/{crate.name}@{urllib.parse.quote(crate.version, safe='')}"
    if crate.repository:
        said["externalReferences"] = [{"type": "vcs", "url": crate.repository}]
    return said


def main():
    staged, target, folder = arguments()
    said = facts()
    found = crates(target)
    content = (staged / program(target)).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    rust = next(line.split()[1] for line in output("rustc", "-vV").splitlines() if line.startswith("release:"))
    own = next(crate for crate in found.values() if crate.name == said.name)
    root = component(own) | {"type": "application", "hashes": [{"alg": "SHA-256", "content": digest}]}
    root["components"] = [component(crate) for crate in found.values() if not crate.checksum and crate is not own]
    # The compiler puts it in without being asked.
    std = {
        "type": "library",
        "bom-ref": f"std@{rust}",
        "name": "std",
        "version": rust,
        "description": "The standard library of Rust",
        "licenses": [{"expression": "MIT OR Apache-2.0"}],
    }
    depends = {reference(key): [reference(need) for need in crate.needs] for key, crate in found.items()}
    depends[root["bom-ref"]].append(std["bom-ref"])
    bom = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": uuid.uuid5(uuid.NAMESPACE_OID, digest).urn,
        "version": 1,
        "metadata": {
            "timestamp": time().strftime("%Y-%m-%dT%H:%M:%SZ"),
            "lifecycles": [{"phase": "build"}],
            "component": root,
            "properties": [{"name": "cdx:rustc:sbom:target:triple", "value": target}],
        },
        "components": [component(crate) for crate in found.values() if crate.checksum] + [std],
        "dependencies": [{"ref": key, "dependsOn": needs} for key, needs in depends.items()] + [{"ref": std["bom-ref"]}],
    }
    path = folder / f"{said.name}-{said.version}-{target}.cdx.json"
    path.write_text(json.dumps(bom, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
