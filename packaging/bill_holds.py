"""Holds a bill of materials to the schema of CycloneDX, to Cargo.lock, and to the program that it is of."""

import hashlib
import json
import pathlib
import sys
import tomllib

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from facts import ROOT


def main():
    bill, program = map(pathlib.Path, sys.argv[1:])
    text = bill.read_text(encoding="utf-8")
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert not validator.validate_str(text), validator.validate_str(text)
    said = json.loads(text)
    # Silence means something.
    wrong = said | {"components": [{"type": "library", "name": "one", "url": "pkg:cargo/one@1.0.0"}]}
    assert validator.validate_str(json.dumps(wrong)), "the validator takes everything"

    own = said["metadata"]["component"]
    [digest] = own["hashes"]
    assert digest["content"] == hashlib.sha256(program.read_bytes()).hexdigest(), "it is of another program"
    with open(ROOT / "Cargo.lock", "rb") as file:
        locked = {(one["name"], one["version"]): one for one in tomllib.load(file)["package"]}
    crates = [one for one in said["components"] if one["name"] != "std"]
    for one in crates:
        [digest] = one["hashes"]
        assert digest["content"] == locked[one["name"], one["version"]]["checksum"], f"{one['name']}: another checksum"
        assert one["licenses"], f"{one['name']} has no licence"
    names = {one["name"] for one in crates}
    # The first ones are in the program; the others are for tests, for building, or for other systems.
    assert {"aws-lc-sys", "rustls", "tokio"} <= names, names
    assert not {"wiremock", "proptest", "cc", "serde_derive", "android_system_properties"} & names, names
    print(f"{len(crates)} crates in the program, and {len(own['components'])} of this project")


if __name__ == "__main__":
    main()
