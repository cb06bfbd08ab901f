"""Holds our evidence against implementations of DSSE and in-toto attestations in another language, both ways.

Called with the path of the xs2aspec binary. Bundles signed with an RSA and an Ed25519 key, made by OpenSSL, are opened by
securesystemslib; the statement is parsed by in-toto-attestation; and each digest in it is counted again.
"""

import base64
import gzip
import hashlib
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile

from cryptography.hazmat.primitives.serialization import load_pem_public_key
from google.protobuf import json_format
from in_toto_attestation.predicates.test_result.v0 import test_result_pb2
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1 import statement_pb2
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import UnverifiedSignatureError
from securesystemslib.signer import SSlibKey

BINARY = pathlib.Path(sys.argv[1]).resolve()
FAULT = "periodic.months.duplicate/only-adjacent"


def run(*command, exits=(0,)):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert done.returncode in exits, (command, done.returncode, done.stdout, done.stderr)
    return done.stdout


def opened(envelope, key):
    """The payload, if the other implementation finds it signed by this key."""
    parsed = Envelope.from_dict(json.loads(envelope))
    parsed.verify([key], threshold=1)
    return parsed.payload


def refused(envelope, key):
    try:
        opened(envelope, key)
    except UnverifiedSignatureError:
        return True
    return False


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    run(BINARY, "run", "--quiet", "--fault", FAULT, "--only", "periodic.months.duplicate", "--only", "certificate.validity",
        "--out", folder / "run", exits=(1,))
    verdicts = [json.loads(line) for line in gzip.open(folder / "run/record.jsonl.gz", "rt").read().splitlines()]
    verdicts = [event for event in verdicts if event["event"] == "verdict" and event["role"] == "selected"]
    kinds = {"RSA": ["-pkeyopt", "rsa_keygen_bits:3072"], "ED25519": []}
    schemes = {"RSA": "rsassa-pss-sha256", "ED25519": "ed25519"}
    for kind, options in kinds.items():
        private, public = folder / f"{kind}.pem", folder / f"{kind}.public.pem"
        run("openssl", "genpkey", "-algorithm", kind, *options, "-out", private)
        run("openssl", "pkey", "-in", private, "-pubout", "-out", public)
        bundle = folder / f"{kind}.tar.gz"
        run(BINARY, "bundle", folder / "run", "--key", private, "--out", bundle)
        run(BINARY, "verify", bundle, "--key", public)
        with tarfile.open(bundle) as archive:
            members = {member.name: archive.extractfile(member).read() for member in archive.getmembers()}
        der = subprocess.run(["openssl", "pkey", "-pubin", "-in", public, "-outform", "DER"], capture_output=True, check=True)
        keyid = hashlib.sha256(der.stdout).hexdigest()
        key = SSlibKey.from_crypto(load_pem_public_key(public.read_bytes()), keyid=keyid, scheme=schemes[kind])
        envelope = members["statement.dsse.json"].decode()
        payload = opened(envelope, key)
        # Another payload under the same signature, and another key.
        changed = json.loads(envelope)
        changed["payload"] = base64.b64encode(payload.replace(b"FAILED", b"PASSED")).decode()
        assert refused(json.dumps(changed), key), "a changed payload passed"
        changed = json.loads(envelope)
        changed["payloadType"] = "application/json"
        assert refused(json.dumps(changed), key), "another type passed"

        statement = json_format.Parse(payload, statement_pb2.Statement())
        Statement.copy_from_pb(statement).validate()
        assert statement.predicate_type == "https://in-toto.io/attestation/test-result/v0.1"
        predicate = json_format.ParseDict(json_format.MessageToDict(statement.predicate), test_result_pb2.TestResult())
        assert predicate.result == "FAILED" and len(predicate.configuration) == 4
        of = lambda *words: sorted(event["case"] for event in verdicts if event["verdict"] in words)
        assert sorted(predicate.failed_tests) == of("fail") and len(predicate.failed_tests) > 3
        assert sorted(predicate.passed_tests) == of("pass", "observed")
        named = {subject.name: subject.digest["sha256"] for subject in statement.subject}
        counted = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
        counted.pop("statement.dsse.json")
        assert named == counted
        link = ""
        for line, expected in zip(members["record.jsonl"].splitlines(keepends=True), members["record.chain"].split(), strict=True):
            link = hashlib.sha256(link.encode() + line).hexdigest()
            assert link == expected.decode()
        print(f"{kind}: {len(envelope)} bytes of envelope opened, {len(named)} digests counted again")
