"""Writes the licences of all crates in the program, each text once, however its lines break."""

import re

from crates import crates
from facts import arguments

NAME = re.compile(r"(licen[cs]e|copying|notice|unlicense|copyright)([-._].*)?", re.IGNORECASE)
SOURCE = {".rs", ".py", ".go", ".c", ".h", ".pl", ".sh", ".toml", ".json"}


def main():
    staged, target, _ = arguments()
    texts, without = {}, []
    for crate in crates(target).values():
        if not crate.checksum:
            continue
        of = f"{crate.name} {crate.version} ({crate.licence or 'see below'})"
        # C sources that a crate carries have their licences in folders of their own.
        files = [path for path in sorted(crate.folder.rglob("*")) if path.is_file() and NAME.fullmatch(path.name)]
        files = [path for path in files if path.suffix not in SOURCE]
        for path in files:
            text = path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n").strip()
            texts.setdefault(" ".join(text.split()), (text, []))[1].append(of)
        if not files:
            without.append(of)
    rule = "=" * 100
    parts = ["The program contains these crates of others, under these licences.\n"]
    if without:
        parts.append("\n".join(["They carry no text of their licence:", ""] + without) + "\n")
    for text, names in sorted(texts.values(), key=lambda item: (item[1], item[0])):
        parts.append("\n".join([rule, *dict.fromkeys(names), rule, "", text, ""]))
    (staged / "THIRD-PARTY-LICENSES.txt").write_text("\n".join(parts), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
