"""Certificates for tests, made by the openssl program."""
import dataclasses
import pathlib
import shutil
import subprocess
import time

from support.programs import skip

CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

if not shutil.which("openssl"):
    skip("no openssl program")


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


@dataclasses.dataclass
class Pair:
    certificate: pathlib.Path
    key: pathlib.Path


class Authority:
    """A certificate authority; its certificates and keys are files in a folder."""

    def __init__(self, folder, name="ca"):
        self.folder = pathlib.Path(folder)
        self.file, self.key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        openssl("req", "-x509", *CURVE, "-keyout", self.key, "-out", self.file, "-subj", f"/CN={name}", "-days", 2)

    def issue(self, name, alternative="DNS:localhost,IP:127.0.0.1", days=2, subject=None):
        """A certificate for `name`. With `days` 0 it has expired when this returns."""
        pair = Pair(self.folder / f"{name}.pem", self.folder / f"{name}.key")
        request, extensions = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName={alternative}\n", encoding="utf-8")
        openssl("req", "-new", *CURVE, "-keyout", pair.key, "-out", request, "-subj", f"/CN={subject or name}")
        openssl("x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self.key, "-CAcreateserial", "-days", days,
                "-extfile", extensions, "-out", pair.certificate)
        while days == 0 and is_valid(pair.certificate):
            time.sleep(0.1)
        return pair


def is_valid(certificate):
    return subprocess.run(["openssl", "x509", "-in", certificate, "-noout", "-checkend", "0"], check=False,
                          capture_output=True).returncode == 0
