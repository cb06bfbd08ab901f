"""Plays an Azure pipeline on this machine: `azure.py PIPELINE ROOT WORKSPACE STORE`.

Templates are looked up below ROOT. Each job gets a copy of WORKSPACE and the variables of an agent; artifacts
are folders of STORE. Steps are `bash` and the tasks named below; anything else is an error.
"""

import os, pathlib, re, shutil, subprocess, sys, tempfile
import yaml

pipeline, root, workspace, store = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])


def fill(value, parameters):
    if isinstance(value, dict):
        return {name: fill(item, parameters) for name, item in value.items()}
    if isinstance(value, list):
        return [fill(item, parameters) for item in value]
    if not isinstance(value, str):
        return value
    whole = re.fullmatch(r"\$\{\{ parameters\.(\w+) \}\}", value)
    if whole:
        return parameters[whole[1]]
    return re.sub(r"\$\{\{ parameters\.(\w+) \}\}", lambda found: str(parameters[found[1]]), value)


def template(entry):
    """The jobs of a template, with its parameters."""
    described = yaml.safe_load((root / entry["template"].split("@")[0]).read_text())
    known = {parameter["name"]: parameter for parameter in described["parameters"]}
    values = {name: parameter["default"] for name, parameter in known.items()} | entry.get("parameters", {})
    for name, value in values.items():
        assert name in known, f"the template has no parameter {name}"
        assert str(value) in known[name].get("values", [str(value)]), f"{name}: {value}"
    return fill(described["jobs"], values)


def task(name, inputs, here):
    if name == "PublishPipelineArtifact@1":
        shutil.copytree(here / inputs["targetPath"], store / inputs["artifact"])
    elif name == "DownloadPipelineArtifact@2":
        for artifact in store.glob(inputs["itemPattern"].removesuffix("/**")):
            shutil.copytree(artifact, here / inputs["targetPath"] / artifact.name)
    elif name == "PublishTestResults@2":
        assert inputs["testResultsFormat"] == "JUnit"
        (here / inputs["testResultsFiles"]).stat()
    else:
        raise SystemExit(f"{name}: not known here")


def play(job, position, total, before):
    """Whether a job failed."""
    temp = pathlib.Path(tempfile.mkdtemp(dir=store.parent))
    here = temp / "work"
    shutil.copytree(workspace, here)
    variables = {"Agent.TempDirectory": str(temp), "Build.BuildId": os.environ["RUN_ID"]}
    variables |= {"System.JobPositionInPhase": str(position), "System.TotalJobsInPhase": str(total)}
    macros = lambda text: re.sub(r"\$\(([\w.]+)\)", lambda found: variables.get(found[1], found[0]), str(text))
    failed = False
    if before and job.get("condition") != "succeededOrFailed()":
        return True
    for step in job["steps"]:
        if failed and step.get("condition") != "succeededOrFailed()":
            continue
        if "task" in step:
            print(f"-- {step['task']}", flush=True)
            try:
                task(step["task"], {name: macros(value) for name, value in step["inputs"].items()}, here)
            except FileNotFoundError as missing:
                print(missing)
                failed = True
            continue
        print(f"-- {step['displayName']}", flush=True)
        env = {name.upper().replace(".", "_"): value for name, value in variables.items()}
        env |= {name: macros(value) for name, value in step.get("env", {}).items()}
        script = temp / "script.sh"
        script.write_text(macros(step["bash"]))
        failed |= bool(subprocess.run(["bash", "--noprofile", "--norc", script], cwd=here, env=os.environ | env).returncode)
    return failed


store.mkdir(parents=True)
ended = {}
for entry in yaml.safe_load(pipeline.read_text())["jobs"]:
    for job in template(entry) if "template" in entry else [entry]:
        total = int(job.get("strategy", {}).get("parallel", 1))
        before = "dependsOn" in job and ended[job["dependsOn"]]
        print(f"== {job['job']}, {total} at once", flush=True)
        ended[job["job"]] = any([play(job, position, total, before) for position in range(1, total + 1)])
print("jobs:", ", ".join(f"{name} {'failed' if bad else 'passed'}" for name, bad in ended.items()))
sys.exit(any(ended.values()))
