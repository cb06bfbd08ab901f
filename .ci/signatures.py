"""Holds our signatures against an implementation of the same draft in another language, both ways.

Called with the path of the xs2aspec binary. The other implementation (httpsig, on pycryptodome) verifies what the suite
sends, and signs requests that the reference bank accepts; what was changed after signing neither of them lets pass.
"""

import base64
import datetime
import hashlib
import http.client
import http.server
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import uuid
from urllib.parse import urlsplit

from Crypto.PublicKey import RSA
from httpsig.sign import HeaderSigner
from httpsig.verify import HeaderVerifier

BINARY = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parent.parent
# The headers that the document wants signed, each when available.
SIGNED = ["date", "digest", "x-request-id", "psu-id", "psu-corporate-id", "tpp-redirect-uri"]
# Cases whose requests are signed as the document says, bare.
LEGAL = ["ncbct.path/plain", "periodic.path/plain", "basket.body/plain", "customers.path/plain", "purpose-code.listed", "digest.sha-512"]


def verified(headers):
    """Whether the other implementation finds a request signed by the key of its certificate, over all that is due."""
    headers = {name.lower(): value for name, value in headers.items()}
    key = RSA.import_key(base64.b64decode(headers["tpp-signature-certificate"]))
    due = [name for name in SIGNED if name in headers]
    verifier = HeaderVerifier(headers, key.export_key(), required_headers=due, sign_header="signature")
    return verifier.verify()


class Receiver(http.server.BaseHTTPRequestHandler):
    """Keeps what it is sent, and accepts everything."""

    protocol_version = "HTTP/1.1"
    received = []

    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        Receiver.received.append(dict(self.headers.items()))
        body = b'{"paymentId": "p-1", "transactionStatus": "RCVD", "_links": {}}'
        self.send_response(201)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_):
        pass


def we_sign():
    """The other implementation verifies what the suite sends."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as out:
        only = [argument for name in LEGAL for argument in ("--only", name)]
        command = [BINARY, "run", "--quiet", "--target", url, "--out", out, *only]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    server.shutdown()
    requests = Receiver.received
    assert len(requests) > 20, f"only {len(requests)} requests arrived"
    for headers in requests:
        assert verified(headers), f"not verified: {headers}"
    # What was changed after signing does not verify: the check can fail.
    for headers in requests:
        for name in [name for name in headers if name.lower() in SIGNED]:
            assert not verified({**headers, name: headers[name] + "0"}), f"{name} can be changed"
    return len(requests)


def they_sign():
    """The reference bank accepts what the other implementation signs, and refuses what was changed after."""
    key = (ROOT / "fixtures/keys/tpp.key.pem").read_text()
    pem = (ROOT / "fixtures/keys/tpp.cert.pem").read_text()
    certificate = "".join(pem.split("-----")[2].split())
    inspected = subprocess.run(
        [BINARY, "keys", "show", ROOT / "fixtures/keys/tpp.cert.pem"], capture_output=True, text=True, check=True
    )
    key_ids = [line.split(None, 1)[1] for line in inspected.stdout.splitlines() if line.startswith("keyId")]
    key_id = next(line.removesuffix("   <- usual") for line in key_ids if line.endswith("<- usual"))
    bank = subprocess.Popen([BINARY, "serve", "--quiet"], stdout=subprocess.PIPE, text=True)
    address = urlsplit(bank.stdout.readline().strip())
    others = {
        "X-Request-ID": str(uuid.uuid4()),
        "Digest": "SHA-256=" + base64.b64encode(hashlib.sha256(b"another body").digest()).decode(),
        "Date": "Thu, 01 Jan 1970 00:00:00 GMT",
    }
    sent = 0
    try:
        for path, body in requests(address):
            method = "POST" if body else "GET"
            for spoiled in [None, "X-Request-ID", "Digest" if body else "Date"]:
                headers = fields(body, certificate)
                names = [name for name in SIGNED if name in {known.lower() for known in headers}]
                signer = HeaderSigner(key_id, key, algorithm="rsa-sha256", headers=names, sign_header="signature")
                signed = signer.sign(headers, method=method, path=path)
                headers["Signature"] = next(value for name, value in signed.items() if name.lower() == "signature")
                if spoiled:
                    headers[spoiled] = others[spoiled]
                connection = http.client.HTTPConnection(address.hostname, address.port)
                connection.request(method, path, body=body, headers=headers)
                answer = connection.getresponse()
                said = answer.read().decode()
                connection.close()
                accepted = 200 <= answer.status < 300
                assert accepted == (spoiled is None), f"{path}, {spoiled} changed: {answer.status} {said}"
                sent += 1
    finally:
        bank.terminate()
        bank.wait()
    return sent


def fields(body, certificate):
    """Header fields of a request."""
    fields = {
        "Accept": "application/json",
        "x-accept-fix": "amount-as-string",
        "X-Request-ID": str(uuid.uuid4()),
        "TPP-Session-ID": "1c0f9a52-7a3e-4a53-9a6b-2f6c5c1f0d11",
        "Date": datetime.datetime.now(datetime.timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT"),
        "TPP-Signature-Certificate": certificate,
    }
    if body:
        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
        fields |= {
            "Content-Type": "application/json",
            "Digest": f"SHA-256={digest}",
            "PSU-ID": "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f",
            "PSU-IP-Address": "192.0.2.10",
            "TPP-Redirect-URI": "https://tpp.example/return",
        }
    return fields


def requests(address):
    """Paths and bodies, from the description that the bank gives of itself."""
    connection = http.client.HTTPConnection(address.hostname, address.port)
    connection.request("GET", "/openapi.json")
    description = json.loads(connection.getresponse().read())
    connection.close()
    yield "/v1/sandbox/customers", None
    for path in [
        "/v1/payments/norwegian-cross-border-credit-transfers",
        "/v1/periodic-payments/norwegian-domestic-credit-transfers",
    ]:
        content = description["paths"][path]["post"]["requestBody"]["content"]["application/json"]
        example = content.get("example") or next(iter(content["examples"].values()))["value"]
        yield path, json.dumps(example).encode()


if __name__ == "__main__":
    print(f"{we_sign()} requests of the suite verified by another implementation, none of them after a change")
    print(f"{they_sign()} requests signed by another implementation: right ones accepted, changed ones refused")
