"""Make an apt repository of the packages, as a folder for any web server: `python -m tools.deb.repository --help`.

apt-ftparchive writes its lists, and gpg signs them. Each release has its own list, since its Python is its own.
"""

import argparse
import gzip
import shutil
import subprocess
import sys
from pathlib import Path

from tools.deb.release import PROCESSORS, RELEASES, Release
from tools.deb.tree import ROOT

COMPONENT = "main"
KEYRING = "edged-archive-keyring.gpg"  # what a board compares signatures with
PROGRAMS = {"apt-ftparchive": "apt-utils", "gpg": "gnupg"}


def main() -> None:
    """Write the repository. Exits with 2 where a program, the key or the packages are absent."""
    options = _options()
    if problem := _problem(options.key, options.packages):
        sys.exit(_error(problem))
    shutil.rmtree(options.output, ignore_errors=True)
    options.output.mkdir(parents=True)
    for release in RELEASES:
        if packages := sorted(options.packages.glob(f"edged_*~{release.version}_*.deb")):
            _write_release(options.output, release, packages, options.key)
    _gpg("--export", "--output", options.output / KEYRING, options.key)
    print(f"edged: {options.output} is an apt repository; how boards use it: docs/how-to/service.md")


def _error(problem: str) -> int:
    print(f"edged: {problem}", file=sys.stderr)
    return 2


def _problem(key: str, packages: Path) -> str:
    absent = [package for program, package in PROGRAMS.items() if not shutil.which(program)]
    if absent:
        return f"{' and '.join(absent)} required: apt-get install {' '.join(absent)}"
    if not key:
        return (
            "a key to sign with is required: make repository KEY=FINGERPRINT; `gpg --list-secret-keys` lists yours"
        )
    if subprocess.run(["gpg", "--list-secret-keys", key], capture_output=True, check=False).returncode:
        return f"gpg has no secret key {key}: `gpg --list-secret-keys` lists those that it has"
    if not any(packages.glob("edged_*.deb")):
        return f"{packages} has no packages: build them by make deb"
    return ""


def _write_release(repository: Path, release: Release, packages: list[Path], key: str) -> None:
    """Write pool/CODENAME/ with the packages, and dists/CODENAME/ with the signed lists of them."""
    pool, lists = repository / "pool" / release.codename, repository / "dists" / release.codename
    pool.mkdir(parents=True)
    for package in packages:
        shutil.copy(package, pool)
    for architecture in PROCESSORS:
        listed = _list("packages", "--arch", architecture, f"pool/{release.codename}", folder=repository)
        folder = lists / COMPONENT / f"binary-{architecture}"
        folder.mkdir(parents=True)
        (folder / "Packages").write_bytes(listed)
        (folder / "Packages.gz").write_bytes(gzip.compress(listed, 9, mtime=0))
    fields = {
        "Origin": "edged",
        "Label": "edged",
        "Codename": release.codename,
        "Architectures": " ".join(PROCESSORS),
        "Components": COMPONENT,
    }
    settings = [
        part for name, value in fields.items() for part in ("-o", f"APT::FTPArchive::Release::{name}={value}")
    ]
    (lists / "Release").write_bytes(_list(*settings, "release", ".", folder=lists))
    _gpg("--local-user", key, "--clearsign", "--output", lists / "InRelease", lists / "Release")


def _list(*arguments: str, folder: Path) -> bytes:
    return subprocess.run(["apt-ftparchive", *arguments], check=True, cwd=folder, stdout=subprocess.PIPE).stdout


def _gpg(*arguments: str | Path) -> None:
    subprocess.run(["gpg", "--batch", "--yes", "--quiet", *arguments], check=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.deb.repository", description=__doc__)
    parser.add_argument("--key", default="", metavar="FINGERPRINT", help="of the secret key that signs")
    parser.add_argument("--packages", type=Path, default=ROOT / "dist", help="folder of packages (default: dist)")
    parser.add_argument("--output", type=Path, default=ROOT / "dist/repository", help="default: dist/repository")
    return parser.parse_args()


if __name__ == "__main__":
    main()
