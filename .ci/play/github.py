"""Plays a GitHub workflow on this machine: `github.py WORKFLOW ACTION WORKSPACE STORE`.

Each job gets a copy of WORKSPACE, as a checkout gives it, and its steps run with the files and variables of a
runner. `uses:` of this program's action plays ACTION. Of the actions of others it plays what the pages use: a
checkout is there already, artifacts are folders of STORE, and SARIF has to be readable. Anything else that it
does not know is an error.
"""

import itertools, json, os, pathlib, re, shutil, subprocess, sys, tempfile
import yaml

workflow, action, workspace, store = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])


def evaluate(expression, context, failed):
    """The value of an expression, which is one of this project's own files."""

    def look_up(path):
        value = context
        for name in path.split("."):
            value = value.get(name, "") if isinstance(value, dict) else ""
        return value

    parts = re.split(r"('[^']*')", expression)
    for index in range(0, len(parts), 2):
        part = re.sub(r"\b(always|success|failure|cancelled)\(\)", lambda found: f"_{found[1]}", parts[index])
        part = re.sub(r"[A-Za-z][\w-]*(?:\.[\w-]+)+", lambda found: f"look_up({found[0]!r})", part)
        part = part.replace("&&", " and ").replace("||", " or ")
        parts[index] = re.sub(r"!(?!=)", " not ", part)
    names = {"look_up": look_up, "_always": True, "_success": not failed, "_failure": failed, "_cancelled": False}
    return eval("".join(parts).strip(), {"__builtins__": {}}, names)


def fill(value, context, failed=False):
    if isinstance(value, dict):
        return {name: fill(item, context, failed) for name, item in value.items()}
    if isinstance(value, bool):
        return str(value).lower()
    whole = str(value)
    return re.sub(r"\$\{\{(.*?)\}\}", lambda found: str(evaluate(found[1], context, failed)), whole)


def wanted(step, context, failed):
    condition = str(step.get("if", "success()")).strip()
    condition = re.sub(r"^\$\{\{(.*)\}\}$", r"\1", condition)
    if not re.search(r"(always|success|failure|cancelled)\(\)", condition):
        condition = f"success() && ({condition})"
    return bool(evaluate(condition, context, failed))


def of_others(name, given, here):
    if name == "actions/checkout":
        return
    if name == "actions/upload-artifact":
        source, place = here / given["path"], store / given["name"]
        if source.exists():
            shutil.copytree(source, place)  # an artifact is never written twice
        elif given.get("if-no-files-found") == "error":
            raise SystemExit(f"{given['path']}: nothing to keep")
    elif name == "actions/download-artifact":
        found = sorted(store.glob(given.get("pattern") or given["name"]))
        assert found, f"no artifact {given}"
        for artifact in found:
            apart = "pattern" in given and given.get("merge-multiple") != "true"
            place = here / given.get("path", ".") / (artifact.name if apart else "")
            shutil.copytree(artifact, place, dirs_exist_ok=True)
    elif name == "github/codeql-action/upload-sarif":
        place = store / ("sarif-" + given["category"].replace("/", "-"))
        assert json.loads((here / given["sarif_file"]).read_text())["version"] == "2.1.0"
        place.mkdir()  # a category is never written twice
    else:
        raise SystemExit(f"{name}: not known here")


def play(steps, context, here, temp):
    """Runs the steps; whether one failed."""
    failed = False
    context["steps"] = {}
    for number, step in enumerate(steps):
        if not wanted(step, context, failed):
            continue
        label, output = step.get("name", step.get("uses", "run")), temp / f"output-{id(steps)}-{number}"
        print(f"-- {label}", flush=True)
        output.touch()
        good = True
        if "uses" in step:
            name, given = step["uses"].split("@")[0], fill(step.get("with", {}), context, failed)
            if name == "./" or name.endswith("/xs2aspec"):
                good, outputs = composite(given, context, here, temp, fill(step.get("env", {}), context))
                context["steps"][step.get("id", "")] = {"outputs": outputs}
            else:
                of_others(name, given, here)
        else:
            script = temp / f"script-{id(steps)}-{number}.sh"
            script.write_text(fill(step["run"], context, failed))
            variables = context["env"] | fill(step.get("env", {}), context, failed)
            good = not subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
                cwd=here,
                env=os.environ | {name: str(value) for name, value in variables.items()} | {"GITHUB_OUTPUT": str(output)},
            ).returncode
            told = dict(line.split("=", 1) for line in output.read_text().splitlines())
            context["steps"][step.get("id", "")] = {"outputs": told}
        if not good and not step.get("continue-on-error"):
            failed = True
    return failed


def composite(given, outside, here, temp, variables):
    description = yaml.safe_load(action.read_text())
    unknown = set(given) - set(description["inputs"])
    assert not unknown, f"the action has no input {unknown}"
    context = {name: outside[name] for name in ("github", "runner")} | {"env": outside["env"] | variables}
    context["inputs"] = {name: fill(value["default"], context) for name, value in description["inputs"].items()} | given
    failed = play(description["runs"]["steps"], context, here, temp)
    return not failed, {name: fill(value["value"], context) for name, value in description["outputs"].items()}


def main():
    jobs = yaml.safe_load(workflow.read_text())["jobs"]
    ended = {}
    store.mkdir(parents=True, exist_ok=True)
    for name, job in jobs.items():  # in the order of the file, as `needs` wants it
        needs = [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])
        matrix = job.get("strategy", {}).get("matrix", {})
        ended[name] = False
        for values in itertools.product(*matrix.values()):
            temp = pathlib.Path(tempfile.mkdtemp(dir=store.parent))
            here = temp / "work"
            shutil.copytree(workspace, here)
            summary = store.parent / "summary.md"
            files = {"GITHUB_WORKSPACE": str(here), "GITHUB_STEP_SUMMARY": str(summary), "RUNNER_TEMP": str(temp)}
            context = {
                "github": {"run_id": os.environ["RUN_ID"], "event_name": "pull_request", "ref": "refs/pull/1/merge"},
                "runner": {"temp": str(temp)},
                "matrix": dict(zip(matrix, values)),
                "env": files | {key: str(value) for key, value in job.get("env", {}).items()},
            }
            if not wanted(job, context, any(ended[need] for need in needs)):
                continue
            print(f"== {name} {dict(zip(matrix, values)) or ''}", flush=True)
            ended[name] |= play(job["steps"], context, here, temp)
    print("jobs:", ", ".join(f"{name} {'failed' if bad else 'passed'}" for name, bad in ended.items()))
    sys.exit(any(ended.values()))


main()
