"""Holds junit.xml, ctrf.json and summary.md against the record, for every mix of verdicts, with a JUnit library in another language.

Called with the path of the xs2aspec binary. One record of a run is given every mix of verdicts in turn, drawn again, and read by
junitparser; what each file says of each case, every count and the exit code are counted here anew.
"""

import gzip
import hashlib
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

from junitparser import Error, Failure, JUnitXml, Skipped

BINARY = pathlib.Path(sys.argv[1]).resolve()
WORDS = ["pass", "flaky", "fail", "warn", "waived", "inconclusive", "not-applicable", "observed", "error"]
# How JUnit says each verdict, and how CTRF does.
JUNIT = {"pass": None, "flaky": None, "warn": None, "observed": None, "fail": Failure, "waived": Skipped, "not-applicable": Skipped, "inconclusive": Error, "error": Error}
CTRF = {"pass": "passed", "flaky": "passed", "warn": "passed", "observed": "passed", "fail": "failed", "waived": "skipped", "not-applicable": "skipped", "inconclusive": "other",
        "error": "other"}


def run(*command, exits=(0,)):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert done.returncode in exits, (command, done.returncode, done.stderr)
    return done.stdout


def exit_code(cases, strengths):
    """The exit code, as reports/README.md has it."""
    words = [case["verdict"] for case in cases]
    demanded = [case["verdict"] for case in cases if strengths[case["clause"]] in ("stated", "derived", "choice")]
    if "fail" in words:
        return 1
    if "error" in words or "inconclusive" in demanded or words.count("flaky") * 100 > len(words):
        return 3
    return 4 if all(word == "not-applicable" for word in words) else 0


def chained(events):
    """The lines of a record with its hash chain, as reports/README.md has it."""
    link, lines = "", []
    for event in events:
        line = json.dumps({name: value for name, value in event.items() if name != "chain"})
        if event["event"] == "run-finished":
            line = f'{line[:-1]},"chain":"{hashlib.sha256((link + line).encode()).hexdigest()}"}}'
        lines.append(line + "\n")
        link = hashlib.sha256((link + lines[-1]).encode()).hexdigest()
    return "".join(lines)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    run(BINARY, "run", "--quiet", "--fault", "periodic.months.duplicate/only-adjacent", "--only", "periodic.months.duplicate", "--only",
        "certificate.validity", "--out", folder, exits=(1,))
    events = [json.loads(line) for line in gzip.open(folder / "record.jsonl.gz", "rt").read().splitlines()]
    strengths = {event["id"]: event["strength"] for event in events if event["event"] == "clause"}
    cases = [event for event in events if event["event"] == "verdict" and event["role"] == "selected"]
    finding = next(case["findings"] for case in cases if case["verdict"] == "fail")
    mixes = [mix for size in (1, 2, 3, len(WORDS)) for mix in itertools.combinations(WORDS, size)]
    for mix in mixes:
        for at, case in enumerate(cases):
            word = mix[at % len(mix)]
            case["verdict"] = word
            warned = [one | {"level": "warn"} for one in finding]
            case["findings"] = {"fail": finding, "waived": finding, "warn": warned}.get(word, [])
            case["reason"] = {"code": "in-words", "says": f"reason {at}"} if word in ("flaky", "waived", "inconclusive", "not-applicable", "error") else None
        counted = {word: sum(case["verdict"] == word for case in cases) for word in WORDS}
        finish = events[-1]
        assert finish["event"] == "run-finished"
        finish["counts"] = counted
        finish["exit"] = exit_code(cases, strengths)
        record = folder / "mix.jsonl"
        waived = [case["case"] for case in cases if case["verdict"] == "waived"]
        about = {"pattern": "*", "owner": "team", "reason": "known", "ticket": "T-1", "expires": "2099-01-01", "place": "waivers.toml:1"}
        finish["waivers"] = [about | {"state": "in-force", "cases": waived}] if waived else []
        record.write_text(chained(events))

        (folder / "mix.xml").write_text(run(BINARY, "report", record, "--format", "junit"))
        suites = JUnitXml.fromfile(str(folder / "mix.xml"))
        found = {}
        for suite in suites:
            for test in suite:
                if (suite.name, test.name) == ("run", "run-finished"):
                    # Where nothing was judged this says so.
                    assert finish["exit"] == 4, mix
                    continue
                assert test.name not in found, test.name
                found[test.name] = test
        assert set(found) == {case["case"] for case in cases}
        for case in cases:
            results = found[case["case"]].result
            kind = JUNIT[case["verdict"]]
            assert [type(result) for result in results] == ([kind] if kind else []), (mix, case["case"], results)
            assert f"[[PROPERTY|verdict={case['verdict']}]]" in found[case["case"]].system_out
        extra = 1 if finish["exit"] == 4 else 0
        of = lambda kind: sum(counted[word] for word in WORDS if JUNIT[word] is kind)
        assert (suites.tests, suites.failures, suites.errors) == (len(cases) + extra, of(Failure), of(Error) + extra), mix
        assert sum(suite.skipped for suite in suites) == of(Skipped), mix

        report = json.loads(run(BINARY, "report", record, "--format", "ctrf"))["results"]
        assert {test["name"]: test["status"] for test in report["tests"]} == {case["case"]: CTRF[case["verdict"]] for case in cases}
        for status in set(CTRF.values()):
            assert report["summary"][status] == sum(counted[word] for word in WORDS if CTRF[word] == status), (mix, status)
        assert report["extra"]["exit"] == finish["exit"], (mix, report["extra"], finish["exit"])

        summary = run(BINARY, "report", record, "--format", "markdown")
        assert f"(exit {finish['exit']})" in summary.splitlines()[0], (mix, summary.splitlines()[0])
        row = next(line for line in summary.splitlines() if line.startswith("| all |"))
        numbers = [int(cell) for cell in row.strip("| ").split(" | ")[1:]]
        assert numbers == [counted[word] for word in WORDS] + [len(cases)], (mix, row)
    print(f"{len(mixes)} mixes of verdicts, {len(cases)} cases each: JUnit, CTRF and Markdown say what the record says")
