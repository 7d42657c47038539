"""Authorities and what they sign, made by openssl."""

import subprocess
from pathlib import Path


def new_authority(folder: Path, name: str) -> None:
    """NAME.crt and NAME.key."""
    _request(folder, name, "-addext", "basicConstraints=critical,CA:TRUE")


def new_certificate(
    folder: Path, name: str, authority: str, *, names: str = "IP:127.0.0.1", days: int = 2
) -> None:
    """NAME.crt, for 127.0.0.1 or other `names`, and NAME.key. With `days` below 0 it has expired."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-keyout", f"{name}.key")
    _run(folder, "openssl", "req", "-new", *key, "-subj", f"/CN={name}", "-out", f"{name}.csr")
    (folder / f"{name}.ext").write_text(f"subjectAltName={names}\n")
    signed = ("-CA", f"{authority}.crt", "-CAkey", f"{authority}.key", "-days", str(days))
    files = ("-in", f"{name}.csr", "-extfile", f"{name}.ext", "-out", f"{name}.crt")
    _run(folder, "openssl", "x509", "-req", *signed, *files)


def _request(folder: Path, name: str, *arguments: str) -> None:
    kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-days", "2")
    files = ("-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.crt")
    command = ["openssl", "req", "-x509", *kind, *files, *arguments]
    _run(folder, *command)


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
