"""Runs what the pages say: `pages.py ROOT FOLDER PAGE..`, with the program in $XS2ASPEC.

Every page gets a folder of its own below FOLDER, a reference bank of its own, as `bank.toml` a profile of it,
and as `traffic.har` an archive of a browser. What `init bank.toml` writes goes elsewhere. Blocks of `sh` are
run in their order. The line before a block may say what else is meant:

    <!-- file: NAME -->             the block is written into this file
    <!-- file: NAME, SCHEMA -->     and fits this schema of check-jsonschema
    <!-- exit: 1 -->                the last command of the block ends so
    <!-- elsewhere: SCRIPT -->      SCRIPT runs the block, so it is not run here

A block of another language without `file:` is checked by nobody, which is an error, but for `text`: what a
command prints.
"""

import os, pathlib, re, signal, subprocess, sys, time

root, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
program = os.environ["XS2ASPEC"]
BLOCK = re.compile(r"(?:<!-- (?P<said>.*?) -->\n)?^```(?P<language>\S*)\n(?P<text>.*?)^```$", re.M | re.S)


def fail(page, line, why):
    sys.exit(f"{page.relative_to(root)}:{line}: {why}")


def check(page):
    here = folder / page.parent.name / page.stem
    here.mkdir(parents=True)
    for name in ("action.yml", "templates", "pipelines", "fixtures"):
        (here / name).symlink_to(root / name)
    bank = subprocess.Popen([program, "serve", "--quiet"], stdout=subprocess.PIPE, text=True)
    address = bank.stdout.readline().strip().removeprefix("http://")
    profile = (root / "fixtures/targets/reference.toml").read_text()
    profile = re.sub(r"^base-url = .*", f'base-url = "http://{address}"', profile, flags=re.M)
    (here / "bank.toml").write_text(profile.replace("quota = true", "quota = false"))
    (here / "traffic.har").symlink_to(root / "fixtures/traffic/chromium.har")
    env = os.environ | {"BANK": address, "CLUSTER": str(here / ".cluster")}
    (here / ".cluster").mkdir()
    ran = 0
    try:
        for block in BLOCK.finditer(page.read_text()):
            line = page.read_text()[: block.start("text")].count("\n") + 1
            kind, _, value = (block["said"] or "").partition(": ")
            text = block["text"].replace("127.0.0.1:8080", address).replace("init bank.toml", "init my-bank.toml")
            if kind == "file":
                name, _, schema = value.partition(", ")
                file = here / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
                if text.startswith("#!"):
                    file.chmod(0o755)
                if schema:
                    check = [os.environ["CHECK_JSONSCHEMA"], "--regex-variant", "nonunicode"]
                    if subprocess.run([*check, "--builtin-schema", schema, file]).returncode:
                        fail(page, line, f"not as {schema} wants it")
            elif kind == "elsewhere":
                commands = [line.partition("#")[0].strip() for line in block["text"].splitlines()]
                if missing := [command for command in commands if command not in (root / value).read_text()]:
                    fail(page, line, f"{value} does not run {', '.join(missing)}")
            elif block["language"] == "sh":
                command = ["bash", "-euo", "pipefail", "-c", text]
                wanted = int(value) if kind == "exit" else 0
                log = here / f".log-{line}"
                with log.open("w") as output:
                    got = subprocess.run(command, cwd=here, env=env, stdout=output, stderr=output).returncode
                if got != wanted:
                    print(log.read_text()[-4000:])
                    fail(page, line, f"exit code {got}, not {wanted}")
            elif block["language"] != "text":
                fail(page, line, "a block that nothing checks")
            ran += 1
    finally:
        bank.terminate()
        bank.wait()
    if page.read_text().count("\n```") != 2 * ran:
        fail(page, 1, "a block that was not read")
    return ran


for argument in sys.argv[3:]:
    page = pathlib.Path(argument).resolve()
    begun = time.monotonic()
    ran = check(page)
    print(f"{page.relative_to(root)}: {ran} blocks, {time.monotonic() - begun:.1f} s", flush=True)
