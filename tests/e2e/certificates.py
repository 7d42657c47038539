"""Authorities and what they sign, made by openssl."""

import subprocess
from pathlib import Path


def new_authority(folder: Path, name: str) -> None:
    """NAME.crt and NAME.key."""
    _request(folder, name, "-addext", "basicConstraints=critical,CA:TRUE")


def new_certificate(folder: Path, name: str, authority: str) -> None:
    """NAME.crt, for 127.0.0.1, and NAME.key."""
    signed = ("-CA", f"{authority}.crt", "-CAkey", f"{authority}.key")
    _request(folder, name, *signed, "-addext", "subjectAltName=IP:127.0.0.1")


def _request(folder: Path, name: str, *arguments: str) -> None:
    kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-days", "2")
    files = ("-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.crt")
    command = ["openssl", "req", "-x509", *kind, *files, *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
