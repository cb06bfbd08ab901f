"""Plays the Jobs of a kustomization on this machine: `kubernetes.py MANIFEST PROGRAM FOLDER OLD NEW..`.

MANIFEST is what `kubectl kustomize` prints. Each pod's program runs with the arguments and variables that a
cluster gives it; what is mounted is a folder below FOLDER (a Secret's has to be there), and each text OLD
stands as NEW: the bank's address is one of loopback. A pod that its job would run again is run once. With
MANIFEST alone nothing is run: only what a pod may do is looked at.
"""

import os, pathlib, re, subprocess, sys
import yaml

manifest, program, folder = (sys.argv[1:4] + ["", ""])[:3]
folder = pathlib.Path(folder).resolve()
texts = dict(zip(sys.argv[4::2], sys.argv[5::2]))
things = [thing for thing in yaml.safe_load_all(open(manifest)) if thing]
maps = {thing["metadata"]["name"]: thing["data"] for thing in things if thing["kind"] == "ConfigMap"}
jobs = [thing for thing in things if thing["kind"] == "Job"]
assert jobs, "no job"


def hardened(pod, container):
    """What the namespace enforces, and a root file system that nobody writes."""
    whole, own = pod["securityContext"], container["securityContext"]
    assert whole["runAsNonRoot"] is True and whole["runAsUser"] > 0, "root"
    assert whole["seccompProfile"]["type"] == "RuntimeDefault" and pod["automountServiceAccountToken"] is False
    assert own["readOnlyRootFilesystem"] is True and own["allowPrivilegeEscalation"] is False
    assert own["capabilities"] == {"drop": ["ALL"]}, "capabilities"


def mounted(pod, container):
    """Where each mounted path is on this machine."""
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    places = {}
    for mount in container["volumeMounts"]:
        volume = volumes[mount["name"]]
        place = folder / mount["name"]
        place.mkdir(parents=True, exist_ok=True)
        if "secret" in volume:
            assert mount["readOnly"] and any(place.iterdir()), "the Secret"
        elif "configMap" in volume:
            for name, text in maps[volume["configMap"]["name"]].items():
                (place / name).write_text(changed(text, places | texts | {"/run/secrets/xs2aspec": str(folder / "keys")}))
        places[mount["mountPath"]] = str(place)
    return places


def changed(text, changes):
    for old, new in changes.items():
        text = text.replace(old, new)
    return text


exits = []
for job in sorted(jobs, key=lambda job: "merge" in job["metadata"]["name"]):
    spec = job["spec"]
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]
    hardened(pod, container)
    if not program:
        continue
    places = mounted(pod, container)
    indexed = spec.get("completionMode") == "Indexed"
    for index in range(spec["completions"] if indexed else 1):
        values = {entry["name"]: entry["value"] for entry in container.get("env", [])}
        for source in container["envFrom"]:
            values |= maps[source["configMapRef"]["name"]]
        if indexed:
            values["JOB_COMPLETION_INDEX"] = str(index)
            assert values["JOB_COMPLETIONS"] == str(spec["completions"])
        arguments = []
        for argument in container["args"]:
            argument = re.sub(r"\$\((\w+)\)", lambda found: values[found[1]], argument)
            arguments.append(changed(argument, places))
        print(f"== {job['metadata']['name']} {index if indexed else ''}", flush=True)
        exits.append(subprocess.run([program, *arguments, *(["--quiet"] if indexed else [])], env=values).returncode)
if program:
    print("exit codes:", *exits)
    sys.exit(max(exits))
