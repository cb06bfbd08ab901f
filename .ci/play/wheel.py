"""Makes a wheel that installs a program which calls another one: `wheel.py PROGRAM FOLDER`. It stands in for a
wheel of xs2aspec.
"""

import pathlib, sys, zipfile

program, folder = sys.argv[1:]
name = "xs2aspec-0.0.0"
with zipfile.ZipFile(pathlib.Path(folder, f"{name}-py3-none-any.whl"), "w") as wheel:
    script = zipfile.ZipInfo(f"{name}.data/scripts/xs2aspec")
    script.external_attr = 0o100755 << 16
    wheel.writestr(script, f'#!/bin/sh\nexec "{program}" "$@"\n')
    wheel.writestr(f"{name}.dist-info/METADATA", "Metadata-Version: 2.1\nName: xs2aspec\nVersion: 0.0.0\n")
    wheel.writestr(f"{name}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(f"{name}.dist-info/RECORD", "")
