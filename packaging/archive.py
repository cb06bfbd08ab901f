"""Makes the archive: all staged files in one folder, as .tar.gz, for Windows as .zip."""

import zipfile

from facts import arguments, compressed, facts, program, tar, time


def main():
    staged, target, folder = arguments()
    name = f"xs2aspec-{facts().version}-{target}"
    files = [
        (f"{name}/{path.relative_to(staged).as_posix()}", 0o755 if path.name == program(target) else 0o644, path.read_bytes())
        for path in sorted(staged.rglob("*"))
        if path.is_file()
    ]
    if "windows" not in target:
        (folder / f"{name}.tar.gz").write_bytes(compressed(tar(files)))
        return
    with zipfile.ZipFile(folder / f"{name}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path, _, content in files:
            entry = zipfile.ZipInfo(path, time().timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)


if __name__ == "__main__":
    main()
