"""Compares counts of instructions with the column of their kind: `compare.py TABLE COUNTS KIND [--update]`.

TABLE has a row per step and a column per kind of machine, with the kinds in its first line. COUNTS has `step<TAB>count` lines.
Exit 1 if a step takes over five percent more than before, or if the steps differ. A new kind gets a column.
"""

import sys

MORE = 1.05


def main(table, counts, kind, *options):
    with open(table, encoding="utf-8") as file:
        head, *rows = [line.rstrip("\n").split("\t") for line in file]
    with open(counts, encoding="utf-8") as file:
        new = dict(line.rstrip("\n").split("\t") for line in file)
    known = {row[0]: dict(zip(head[1:], row[1:])) for row in rows}
    wrong = [f"{step}: not in {table}; add it with `--update`" for step in new if step not in known]
    wrong += [f"{step}: no longer exists; remove it with `--update`" for step in known if step not in new]
    is_new = kind not in head
    for step, count in new.items():
        before = known.get(step, {}).get(kind) or "-"
        says = f"{step}: {count} instructions, {before} before"
        if before != "-" and int(count) > int(before) * MORE:
            wrong.append(says)
        else:
            print(says)
    if "--update" in options or (is_new and not wrong):
        head = head + [kind] if is_new else head
        with open(table, "w", encoding="utf-8") as file:
            print(*head, sep="\t", file=file)
            for step, count in new.items():
                cells = known.get(step, {}) | {kind: count}
                print(step, *[cells.get(column) or "-" for column in head[1:]], sep="\t", file=file)
        print(f"{kind}: {'a new' if is_new else 'the'} column of {table}: commit it")
        return 0
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
