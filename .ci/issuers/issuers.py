"""Certificates of made-up authorities whose names are unusual, and how libraries write these names.

    issuers.py make KEY DIR     makes DIR/NAME.pem: each of the certificates below, for the public half of KEY
    issuers.py render DIR       prints how OpenSSL, Java and `cryptography` write the issuer of each, as renderings.tsv has it

`make` is for a new KEY only: the authorities' own keys are random and thrown away, so it gives other certificates each time.
"""

import datetime
import pathlib
import subprocess
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID as Type

HERE = pathlib.Path(__file__).resolve().parent

COUNTRY = [(Type.COUNTRY_NAME, "NO", "PrintableString")]
IDENTIFIER = [(Type.ORGANIZATION_IDENTIFIER, "PSDXX-TEST-3", "UTF8String")]
MAIL = [(Type.EMAIL_ADDRESS, "ca@trust.example", "IA5String")]


def text(kind, value):
    return [(kind, value, "UTF8String")]


def cn(value):
    return text(Type.COMMON_NAME, value)


def o(value):
    return text(Type.ORGANIZATION_NAME, value)


def ou(value):
    return text(Type.ORGANIZATIONAL_UNIT_NAME, value)


# File name, serial number, and the issuer as it stands in the certificate: a list of relative names, each a list of values.
ISSUERS = [
    ("identifier", 0x0A1B2C, [COUNTRY, o("Synthetic Trust AS"), IDENTIFIER, cn("Synthetic Seal CA")]),
    ("mail", 0x8F01, [COUNTRY, o("Synthetic Trust AS"), cn("Synthetic Mail CA"), MAIL]),
    ("components", 0x77, [
        [(Type.DOMAIN_COMPONENT, "example", "IA5String")], [(Type.DOMAIN_COMPONENT, "synthetic", "IA5String")],
        ou("Trust"), ou("Seals"), cn("Synthetic Directory CA"),
    ]),
    ("letters", 0xFEDCBA98, [
        COUNTRY, text(Type.STATE_OR_PROVINCE_NAME, "Trøndelag"), text(Type.LOCALITY_NAME, "Å"), o("Ærlig Betaling ČSŐ"),
        cn("Synthetic € CA"),
    ]),
    ("several", 0x1234567890, [
        COUNTRY, o("Synthetic Trust AS"), ou("Seals") + cn("Synthetic CA") + [(Type.SERIAL_NUMBER, "7", "PrintableString")],
    ]),
    ("whole", 0x0ABC1234, [
        COUNTRY, text(Type.STATE_OR_PROVINCE_NAME, "Akershus"), text(Type.LOCALITY_NAME, "Ås"), o("Synthetic Trust AS"),
        ou("Seals"), IDENTIFIER, cn("Synthetic Whole CA"), MAIL,
    ]),
    ("special", 0xF1E2D3C4B5A697, [
        COUNTRY, o('Ærlig, "Test" \\ Bank; <A> = #1'), ou(" blank first") + cn("Two+Three"), cn("#hash and end "),
    ]),
    ("encodings", 0x00C0FFEE, [
        COUNTRY, [(Type.ORGANIZATION_NAME, "Sm\u00f8r AS", "BMPString")], [(Type.ORGANIZATIONAL_UNIT_NAME, "Seals", "PrintableString")],
        [(Type.COMMON_NAME, "Synthetic Old CA", "T61String")],
    ]),
    ("types", 0x0123456789ABCDEF0123456789ABCDEF01234567, [
        COUNTRY, text(Type.STREET_ADDRESS, "Gate 1"), text(Type.POSTAL_CODE, "0101"), o("Synthetic Trust AS"), IDENTIFIER,
        text(Type.TITLE, "Seal"), text(Type.GIVEN_NAME, "Kari"), text(Type.SURNAME, "Nordmann"),
        [(Type.SERIAL_NUMBER, "310000019", "PrintableString")], text(Type.USER_ID, "ca-1"), cn("Synthetic Person CA"), MAIL,
    ]),
]

OPENSSL = {
    # The four forms of keyId.
    "RFC 4514": "esc_2253,esc_ctrl,utf8,dump_unknown,dump_der,sep_comma_plus,dn_rev,sname",
    "RFC 4514, spaced": "esc_2253,esc_ctrl,utf8,dump_unknown,dump_der,sep_comma_plus_space,dn_rev,sname",
    "forward": "esc_2253,esc_ctrl,utf8,dump_unknown,dump_der,sep_comma_plus,sname",
    "forward, spaced": "esc_2253,esc_ctrl,utf8,dump_unknown,dump_der,sep_comma_plus_space,sname",
    # What it calls so.
    "RFC2253": "RFC2253",
    "oneline": "oneline",
    # Numbers for all types, and all values as RFC 4514 section 2.4 has them where the type is a number.
    "numbers": "esc_2253,dump_all,dump_der,sep_comma_plus,dn_rev,oid",
    "lname": "esc_2253,esc_ctrl,utf8,sep_semi_plus_space,lname",
}


def relative_names(names):
    # There is no other way to choose the kind of text.
    from cryptography.x509.name import _ASN1Type as Kind

    def relative(values):
        return x509.RelativeDistinguishedName([x509.NameAttribute(kind, value, Kind[how]) for kind, value, how in values])

    return x509.Name([relative(values) for values in names])


def make(key, folder):
    public = serialization.load_pem_private_key(key.read_bytes(), None).public_key()
    subject = relative_names([o("xs2aspec test material"), cn("xs2aspec test TPP")])
    for name, serial, issuer in ISSUERS:
        authority = rsa.generate_private_key(65537, 2048)
        utc = datetime.timezone.utc
        certificate = (
            x509.CertificateBuilder().serial_number(serial).issuer_name(relative_names(issuer)).subject_name(subject).public_key(public)
            .not_valid_before(datetime.datetime(2020, 1, 1, tzinfo=utc))
            .not_valid_after(datetime.datetime(2099, 12, 31, tzinfo=utc))
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()), critical=False)
            .sign(authority, hashes.SHA256())
        )
        (folder / f"{name}.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


def output(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True).stdout.decode()


def render(folder):
    for file in sorted(folder.glob("*.pem")):
        rows = []
        for form, options in OPENSSL.items():
            line = output("openssl", "x509", "-in", file, "-noout", "-issuer", "-nameopt", options)
            rows.append(["OpenSSL", form, line.removesuffix("\n").removeprefix("issuer=")])
        certificate = x509.load_pem_x509_certificate(file.read_bytes())
        rows.append(["cryptography", "rfc4514_string", certificate.issuer.rfc4514_string()])
        rows += [["Java", line] for line in output("java", HERE / "Issuers.java", file).splitlines()]
        for row in rows:
            print("\t".join([file.stem, *row]))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", key, folder]:
            make(pathlib.Path(key), pathlib.Path(folder))
        case ["render", folder]:
            render(pathlib.Path(folder))
        case _:
            sys.exit(__doc__)
