"""Makes an image for containers without a daemon: the program, the libraries it needs, certificates, a user.

The libraries are Debian's, of the release that this machine runs. `org.xs2aspec.debian` among the labels names their versions.
"""

import hashlib
import io
import json
import pathlib
import re
import subprocess
import tarfile
import tempfile

from facts import PLATFORMS, arguments, compressed, facts, licences, output, readelf, tar, time

USER = 65532
PASSWD = f"root:x:0:0:root:/root:/sbin/nologin\nxs2aspec:x:{USER}:{USER}:xs2aspec:/work:/sbin/nologin\n"
GROUP = f"root:x:0:\nxs2aspec:x:{USER}:\n"
BUNDLE = "etc/ssl/certs/ca-certificates.crt"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


class Package:
    """A package of Debian, downloaded."""

    def __init__(self, name, arch):
        with tempfile.TemporaryDirectory() as folder:
            get = ["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", f"{name}:{arch}"]
            if subprocess.run(get, cwd=folder, stderr=subprocess.PIPE, check=False).returncode:
                subprocess.run(["apt-get", "update", "-qq"], check=True)
                subprocess.run(get, cwd=folder, check=True)
            [file] = pathlib.Path(folder).iterdir()
            self.control = output("dpkg-deb", "--field", str(file))
            packed = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(file)], check=True, stdout=subprocess.PIPE).stdout
        self.name = name
        self.version = re.search(r"^Version: (.*)$", self.control, re.MULTILINE)[1]
        self.files = {}
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            for member in archive:
                # `/lib` and `/usr/lib` are one folder in newer releases; here all is below `/lib`.
                path = re.sub(r"^usr/lib", "lib", member.name.removeprefix("./"))
                if member.isfile():
                    self.files[path] = archive.extractfile(member).read()
                elif member.issym():
                    self.files[path] = member.linkname


def system(program, arch):
    """Files below the program, and the packages that they are from."""
    packages = [Package(name, arch) for name in ["libc6", "libgcc-s1"]] + [Package("ca-certificates", "all")]
    interpreter = readelf("--program-headers", program, r"interpreter: /([^]]+)")
    needed = set(readelf("--dynamic", program, r"\(NEEDED\).*\[(.+)\]")) | {"libc.so.6"}
    files = {}
    for package in packages:
        for path, content in package.files.items():
            if pathlib.PurePath(path).name in needed or path in interpreter:
                files[path] = content
    missing = needed - {pathlib.PurePath(path).name for path in files}
    if missing or not set(interpreter) <= set(files):
        raise SystemExit(f"the program needs {', '.join(missing or interpreter)}, which no package of the image has")
    own = packages[-1].files
    certificates = [own[path] for path in sorted(own) if path.endswith(".crt")]
    files[BUNDLE] = b"".join(content.rstrip() + b"\n" for content in certificates)
    for package in packages:
        # Some packages have it in common with another one.
        shared = package.files.get(f"usr/share/doc/{package.name}")
        holder = Package(shared, arch) if shared else package
        files[f"usr/share/doc/{package.name}/copyright"] = holder.files[f"usr/share/doc/{holder.name}/copyright"]
        # Where scanners look for what is installed.
        files[f"var/lib/dpkg/status.d/{package.name}"] = package.control.encode()
    files["etc/os-release"] = pathlib.Path("/etc/os-release").read_bytes()
    return files, packages


def entries(files):
    """The files and their folders, as a layer has them."""
    folders = {folder.as_posix() for path in files for folder in pathlib.PurePath(path).parents} - {"."}
    layer = [(folder, 0o755, None) for folder in folders]
    for path, content in files.items():
        runs = path.startswith("usr/bin/") or "/ld-linux" in path
        layer.append((path, 0o755 if runs else 0o644, content))
    # Where reports go, and all else that is written.
    layer += [("work", 0o755, None, USER), ("tmp", 0o1777, None)]
    return sorted(layer, key=lambda entry: entry[0])


def main():
    staged, target, folder = arguments()
    said, arch = facts(), PLATFORMS[target]["arch"]
    program = staged / "xs2aspec"
    files, packages = system(program, arch)
    files["usr/bin/xs2aspec"] = program.read_bytes()
    files |= {f"usr/share/doc/xs2aspec/{name}": text for name, text in licences(staged).items()}
    files |= {"etc/passwd": PASSWD.encode(), "etc/group": GROUP.encode(), "etc/nsswitch.conf": b"hosts: files dns\n"}
    content = tar(entries(files))
    labels = {
        "org.opencontainers.image.title": said.name,
        "org.opencontainers.image.description": said.description,
        "org.opencontainers.image.version": said.version,
        "org.opencontainers.image.licenses": said.license,
        "org.opencontainers.image.created": time().strftime("%Y-%m-%dT%H:%M:%SZ"),
        "org.xs2aspec.debian": ", ".join(f"{package.name} {package.version}" for package in packages),
    }
    blobs = {}

    def blob(media, stored, **more):
        digest = hashlib.sha256(stored).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = stored
        return {"mediaType": media, "digest": f"sha256:{digest}", "size": len(stored), **more}

    config = {
        "created": labels["org.opencontainers.image.created"],
        "architecture": arch,
        "os": "linux",
        "config": {
            "User": f"{USER}:{USER}",
            # The root may be read-only: nothing is written but below /work.
            "Env": ["PATH=/usr/bin", "HOME=/work", "TMPDIR=/work", f"SSL_CERT_FILE=/{BUNDLE}"],
            "Entrypoint": ["/usr/bin/xs2aspec"],
            "WorkingDir": "/work",
            "Volumes": {"/work": {}},
            "Labels": labels,
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(content).hexdigest()}"]},
        "history": [{"created": labels["org.opencontainers.image.created"], "created_by": "packaging/image.py"}],
    }
    config = blob("application/vnd.oci.image.config.v1+json", json.dumps(config).encode())
    layer = blob("application/vnd.oci.image.layer.v1.tar+gzip", compressed(content))
    manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer], "annotations": labels}
    name = f"localhost/{said.name}:{said.version}"
    manifest = blob(
        MANIFEST,
        json.dumps(manifest).encode(),
        platform={"architecture": arch, "os": "linux"},
        annotations={"org.opencontainers.image.ref.name": said.version, "io.containerd.image.name": name},
    )
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [manifest]}
    # The last one is for a Docker that reads no OCI layout.
    paths = {one: f"blobs/sha256/{two['digest'].removeprefix('sha256:')}" for one, two in [("config", config), ("layer", layer)]}
    docker = [{"Config": paths["config"], "RepoTags": [name], "Layers": [paths["layer"]]}]
    blobs["oci-layout"] = b'{"imageLayoutVersion": "1.0.0"}'
    blobs["index.json"] = json.dumps(index).encode()
    blobs["manifest.json"] = json.dumps(docker).encode()
    packed = tar((path, 0o644, blobs[path]) for path in sorted(blobs))
    (folder / f"{said.name}-{said.version}-linux-{arch}.oci.tar").write_bytes(packed)


if __name__ == "__main__":
    main()
