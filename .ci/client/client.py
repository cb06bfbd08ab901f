"""Clients on a signing library of others, judged: one that keeps the document, and some with habits of their own.

Called with the path of the xs2aspec binary. The library is httpsig, on pycryptodome. The first client has the session of
docs/src/clients.md with `xs2aspec serve --record`, and `client report` ends with 0; the others call them through `xs2aspec proxy`, and what is found is their
habit and nothing else: a form of keyId, a list of header fields.
"""

import base64
import datetime
import gzip
import hashlib
import http.client
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import uuid
from urllib.parse import urlsplit

from httpsig.sign import HeaderSigner

BINARY = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
BANK = tomllib.loads((ROOT / "fixtures/targets/reference.toml").read_text())
KEY = (ROOT / "fixtures/keys/tpp.key.pem").read_text()
CERTIFICATE = (ROOT / "fixtures/keys/tpp.cert.pem").read_text()
# The header fields that the document wants signed, each when available.
SIGNED = ["date", "digest", "x-request-id", "psu-id", "psu-corporate-id", "tpp-redirect-uri"]
NCBCT = "/v1/payments/norwegian-cross-border-credit-transfers"
PERIODIC = "/v1/periodic-payments/norwegian-domestic-credit-transfers"


class Client:
    """A client of the interface."""

    def __init__(self, url, key_id, signed):
        self.address = urlsplit(url)
        self.key_id = key_id
        # What is signed: a list of names, or what the library signs by itself.
        self.signed = signed

    def call(self, method, path, body=None, **more):
        """Sends a request, again after 429, and gives status and body of its response."""
        while True:
            status, wait, said = self.send(method, path, body, **more)
            if status != 429:
                return status, said
            time.sleep(float(wait))

    def send(self, method, path, body=None, wrapped=False, sha="sha256", **more):
        """Sends a request, and gives status, Retry-After and body of its response."""
        content = json.dumps(body).encode() if body is not None else b""
        headers = self.fields(content, sha, path)
        headers.update({name.replace("_", "-"): value for name, value in more.items()})
        names = self.signed and [name for name in self.signed if name in {known.lower() for known in headers}]
        signer = HeaderSigner(self.key_id, KEY, algorithm="rsa-sha256", headers=names, sign_header="signature")
        signed = signer.sign(headers, method=method, path=path)
        signature = next(value for name, value in signed.items() if name.lower() == "signature")
        # A scheme in front of the parameters belongs to Authorization (section 3.1 of the draft), not to Signature.
        signature = signature.removeprefix("Signature ")
        if wrapped:
            signature = f"=?utf-8?B?{base64.b64encode(signature.encode()).decode()}?="
        headers["Signature"] = signature
        connection = http.client.HTTPConnection(self.address.hostname, self.address.port)
        connection.request(method, path, body=content or None, headers=headers)
        answer = connection.getresponse()
        said = answer.read()
        connection.close()
        return answer.status, answer.getheader("Retry-After"), json.loads(said) if said else None

    def fields(self, content, sha, path):
        """Header fields of a request."""
        fields = {
            "Accept": "application/json",
            "X-Request-ID": str(uuid.uuid4()),
            "Date": datetime.datetime.now(datetime.timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT"),
            "TPP-Signature-Certificate": "".join(CERTIFICATE.split("-----")[2].split()),
        }
        if "/sandbox/" not in path:
            fields |= {
                "x-accept-fix": "amount-as-string",
                "TPP-Session-ID": BANK["session-id"],
                "TPP-Redirect-URI": BANK["redirect-uri"],
                "PSU-IP-Address": "192.0.2.10",
            }
        if "/payments/" in path or "-payments/" in path or "baskets" in path:
            fields["PSU-ID"] = BANK["psu"]["private"]["id"]
        if content:
            fields["Content-Type"] = "application/json"
            if "baskets" not in path:
                name = {"sha256": "SHA-256", "sha512": "SHA-512"}[sha]
                fields["Digest"] = f"{name}={base64.b64encode(hashlib.new(sha, content).digest()).decode()}"
        return fields

    def payment(self, number, path=NCBCT, **more):
        """Makes a cross-border payment."""
        accounts = BANK["accounts"]
        creditor = accounts["foreign-creditor"]
        debtor = accounts["corporate-debtor" if more.get("PSU_Context") == "CORPORATE" else "debtor"]
        body = {
            "instructedAmount": {"amount": f"1{number:05}.10", "currency": "NOK"},
            "creditorName": "Synthetic Creditor Ltd",
            "creditorAccount": {"iban": creditor["iban"], "currency": creditor["currency"]},
            "debtorAccount": {"iban": debtor["iban"], "currency": debtor["currency"]},
            "regulatoryReportingCode": "14",
            "regulatoryReportingInformation": "Purchase of synthetic goods",
        }
        return self.call("POST", path, body, **more)

    def everything(self):
        """Calls every operation; gives the statuses."""
        accounts = BANK["accounts"]
        start = datetime.date.today() + datetime.timedelta(days=30)
        while start.weekday() > 4:
            start += datetime.timedelta(days=1)
        series = {
            "instructedAmount": {"amount": "1234.50", "currency": "NOK"},
            "creditorName": "Synthetic Creditor AS",
            "creditorAccount": {"iban": accounts["domestic-creditor"]["iban"], "currency": "NOK"},
            "debtorAccount": {"iban": accounts["debtor"]["iban"], "currency": "NOK"},
            "startDate": start.isoformat(),
            "frequency": "Monthly",
        }
        corporate = BANK["psu"]["corporate"]
        read = BANK["transaction"][1]
        answers = [
            self.call("GET", "/v1/sandbox/customers?withAccounts=true&withAgreements=true"),
            self.payment(1, PSU_Context="PRIVATE"),
            self.payment(2, wrapped=True, sha="sha512"),
            self.payment(3, PSU_Context="CORPORATE", **{"PSU-ID": corporate["id"], "PSU-Corporate-ID": corporate["corporate-id"]}),
            self.call("POST", PERIODIC, series),
            self.call("GET", f"/v1/accounts/{read['account-id']}/transactions/{read['transaction-id']}"),
        ]
        # The bank rejects the same payment, as the client wishes.
        answers.append(self.payment(1, path=f"{NCBCT}?allowLogicalDuplicate=false", PSU_Context="PRIVATE"))
        ids = [body["paymentId"] for status, body in answers[1:3] if status == 201]
        answers.append(self.call("POST", "/v1/signing-baskets", {"paymentIds": ids}))
        for payment in ids[:1]:
            answers.append(self.call("GET", f"{NCBCT}/{payment}/status"))
            answers.append(self.call("DELETE", f"{NCBCT}/{payment}"))
        return [status for status, _ in answers]


class Command:
    """A command that runs until it is interrupted, and whose first line is its address."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([BINARY, *arguments], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def end(self):
        """Interrupts it; gives its exit code and what it said."""
        self.process.send_signal(signal.SIGINT)
        said, _ = self.process.communicate(timeout=60)
        return self.process.returncode, said


def found(folder):
    """The clauses that the client broke by the record in a folder, and the number of exchanges."""
    clauses, exchanges = set(), 0
    for line in gzip.open(folder / "record.jsonl.gz", "rt").read().splitlines():
        event = json.loads(line)
        exchanges += event["event"] == "exchange"
        if event["event"] == "verdict":
            ends = [(finding.get("end", "bank"), finding["clause"]) for finding in event.get("findings", [])]
            clauses |= {clause for end, clause in ends if end == "client"}
    return clauses, exchanges


def key_id():
    """The keyId of the test certificate."""
    command = [BINARY, "keys", "show", ROOT / "fixtures/keys/tpp.cert.pem"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    key_ids = [line.split(None, 1)[1] for line in said.splitlines() if line.startswith("keyId")]
    return next(line.removesuffix("   <- usual") for line in key_ids if line.endswith("<- usual"))


def one_that_keeps_the_document(out):
    """Against the reference bank, which records it."""
    bank = Command("serve", "--quiet", "--record", out, "--variation", "json.unknown-members/answered", "--busy", "5")
    statuses = Client(bank.url, key_id(), SIGNED).everything()
    code, said = bank.end()
    assert [status for status in statuses if status >= 300] == [409], statuses
    clauses, exchanges = found(out)
    assert (clauses, code) == (set(), 0) and exchanges > len(statuses), (clauses, exchanges, code, said)
    report = subprocess.run(
        [BINARY, "client", "report", out, "--out", out / "client"], capture_output=True, text=True, check=False
    )
    statement = re.search(r"the client conforms: (\d+) of \1 required items shown", report.stdout)
    assert report.returncode == 0 and statement, report.stdout + report.stderr
    return len(statuses), statement


def with_a_habit(key, signed, out):
    """Through the proxy; gives the clauses that the client broke."""
    bank = Command("serve", "--quiet")
    proxy = Command("proxy", "--quiet", "--target", bank.url, "--out", out)
    statuses = Client(proxy.url, key, signed).everything()
    code, said = proxy.end()
    bank.end()
    assert all(400 <= status < 500 for status in statuses), statuses
    clauses, exchanges = found(out)
    assert exchanges == len(statuses) and code == 1, (exchanges, code, said)
    return clauses


# What clients on such libraries do by themselves, and the one clause that each breaks.
HABITS = [
    ("a keyId that is any text", "a key of a synthetic TPP", SIGNED, "signature.key-id"),
    ("the library's own list, which is Date without saying so", None, None, "signature.parameters.headers"),
    ("the list of the draft's examples", None, ["(request-target)", "host", "date"], "signature.headers.missing"),
]


def main():
    """One that keeps the document, and those that do not."""
    with tempfile.TemporaryDirectory() as out:
        sent, statement = one_that_keeps_the_document(pathlib.Path(out) / "keeps")
        print(f"a client on httpsig that keeps the document: {sent} requests, nothing broken, {statement[0]}")
        for number, (habit, key, signed, clause) in enumerate(HABITS):
            clauses = with_a_habit(key or key_id(), signed, pathlib.Path(out) / str(number))
            assert clauses == {clause}, (habit, clauses)
            print(f"a client on httpsig with {habit}: {clause}, and nothing else")


if __name__ == "__main__":
    main()
