"""Writes the shell scripts of pipelines into files, for a linter: `scripts.py FOLDER FILE..`."""

import pathlib, sys
import yaml

folder, number = pathlib.Path(sys.argv[1]), 0


def walk(value):
    global number
    if isinstance(value, list):
        for item in value:
            walk(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in ("run", "bash", "script", "before_script"):
                text = item if isinstance(item, str) else "\n".join(item)
                (folder / f"script-{number}.sh").write_text("#!/bin/bash\n" + text + "\n")
                number += 1
            else:
                walk(item)


for file in sys.argv[2:]:
    before = number
    walk(yaml.safe_load(open(file)))
    assert number > before, f"{file}: no script"
