"""Signatures by the openssl command: code of nobody's SDK, for providers that have none."""

import base64
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path


def run(*arguments: str, data: bytes = b"") -> bytes:
    """The output of one openssl command. Raises CalledProcessError."""
    return subprocess.run(
        ["openssl", *arguments], input=data, capture_output=True, check=True
    ).stdout


def mac(algorithm: str, key: bytes, message: bytes) -> bytes:
    """An HMAC."""
    return run(
        "mac",
        "-digest",
        algorithm,
        "-macopt",
        f"hexkey:{key.hex()}",
        "-binary",
        "HMAC",
        data=message,
    )


def digest(algorithm: str, message: bytes) -> bytes:
    """A plain digest."""
    return run("dgst", f"-{algorithm}", "-binary", data=message)


def hex_or_base64(raw: bytes, encoding: str) -> str:
    """The signature as it is written."""
    return raw.hex() if encoding == "hex" else base64.b64encode(raw).decode()


class RsaKey:
    """An RSA key in a folder that goes away with it."""

    def __init__(self, bits: int = 2048) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.path = str(Path(self._folder.name) / "key.pem")
        run(
            "genpkey", "-algorithm", "RSA", "-pkeyopt", f"rsa_keygen_bits:{bits}", "-out", self.path
        )
        self.private_pem = Path(self.path).read_text()
        self.public_pem = run("pkey", "-in", self.path, "-pubout").decode()

    def sign(self, message: bytes, algorithm: str = "sha256") -> str:
        """PKCS #1 v1.5 in base64."""
        return base64.b64encode(
            run("dgst", f"-{algorithm}", "-sign", self.path, data=message)
        ).decode()


def is_signed(public_pem: str, message: bytes, signature: bytes, algorithm: str = "sha256") -> bool:
    """Whether openssl takes it for a signature of the message."""
    with tempfile.TemporaryDirectory() as folder:
        key, made = Path(folder) / "key.pem", Path(folder) / "signature"
        key.write_text(public_pem)
        made.write_bytes(signature)
        arguments = ("dgst", f"-{algorithm}", "-verify", str(key), "-signature", str(made))
        done = subprocess.run(
            ["openssl", *arguments], input=message, capture_output=True, check=False
        )
        return done.returncode == 0


def certificate(
    subject: str,
    key: RsaKey,
    issuer: "tuple[str, RsaKey] | None" = None,
    *,
    ca: bool,
    extensions: Sequence[str] = (),
    dates: tuple[str, str] = ("20250101000000Z", "20350101000000Z"),
) -> str:
    """A certificate in PEM, signed by itself or by an issuer (its certificate and key)."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "index").touch()
        (here / "ca.cnf").write_text(
            _CA.format(folder=folder, ca=str(ca).lower(), more="\n".join(extensions))
        )
        run(
            "req",
            "-new",
            "-key",
            key.path,
            "-utf8",
            "-subj",
            subject,
            "-out",
            str(here / "request"),
        )
        by = ["-selfsign", "-keyfile", key.path]
        if issuer:
            (here / "issuer.pem").write_text(issuer[0])
            by = ["-cert", str(here / "issuer.pem"), "-keyfile", issuer[1].path]
        run(
            "ca",
            "-batch",
            "-config",
            str(here / "ca.cnf"),
            "-utf8",
            "-notext",
            "-startdate",
            dates[0],
            "-enddate",
            dates[1],
            *by,
            "-in",
            str(here / "request"),
            "-out",
            str(here / "made.pem"),
        )
        return (here / "made.pem").read_text()


def vouches(root_pem: str, between_pem: str, leaf_pem: str, now: int) -> bool:
    """Whether openssl finds a chain from the leaf to the root that is valid at that time."""
    with tempfile.TemporaryDirectory() as folder:
        names = {}
        for name, pem in (("root", root_pem), ("between", between_pem), ("leaf", leaf_pem)):
            names[name] = str(Path(folder) / name)
            Path(names[name]).write_text(pem)
        arguments = (
            "verify",
            "-attime",
            str(now),
            "-no-CApath",
            "-no-CAstore",
            "-CAfile",
            names["root"],
            "-untrusted",
            names["between"],
            names["leaf"],
        )
        return (
            subprocess.run(["openssl", *arguments], capture_output=True, check=False).returncode
            == 0
        )


_CA = """[ca]
default_ca = here
[here]
database = {folder}/index
new_certs_dir = {folder}
default_md = sha256
policy = any
x509_extensions = ext
unique_subject = no
rand_serial = yes
string_mask = utf8only
[any]
commonName = supplied
[ext]
basicConstraints = critical,CA:{ca}
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
{more}
"""
