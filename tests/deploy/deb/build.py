"""Build packages for tests, and look into them."""

import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT
from tools.deb.release import PROCESSORS, RELEASES, Release

BUILD_S = 600


def release_here() -> Release | None:
    """Return the release of this host, if packages are made for it."""
    lines = Path("/etc/os-release").read_text().splitlines()
    codename = next((line.partition("=")[2] for line in lines if line.startswith("VERSION_CODENAME=")), "")
    return next((release for release in RELEASES if release.codename == codename), None)


def architecture_here() -> str:
    """Return what Debian calls this host's processor."""
    return next(debian for debian, name in PROCESSORS.items() if name == platform.machine())


def build(folder: Path, release: Release, architecture: str, revision: int = 1) -> Path:
    """Build a package by the command of `make deb`, hardly compressed."""
    options = ("--release", release.codename, "--architecture", architecture, "--revision", str(revision))
    command = [sys.executable, "-m", "tools.deb", *options, "--compression", "0", "--output", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=BUILD_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (package,) = folder.glob(f"*-{revision}~{release.version}_{architecture}.deb")
    return package


def unpack(package: Path, folder: Path) -> Path:
    """Return the folder with all files, the control data in DEBIAN/."""
    subprocess.run(["dpkg-deb", "--raw-extract", package, folder], check=True)
    return folder


def programs(tree: Path) -> Iterator[Path]:
    """Yield every file in ELF, by its first bytes."""
    for path in tree.rglob("*"):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def processor_of(program: Path) -> str:
    """Return the processor that a file in ELF is for, by the number in its header."""
    with program.open("rb") as file:
        number = int.from_bytes(file.read(20)[18:20], "little")
    return {62: "x86_64", 183: "aarch64"}.get(number, f"number {number}")


def libraries_of(program: Path) -> set[str]:
    """Return the libraries that a file in ELF requires, by name."""
    done = subprocess.run(["readelf", "--dynamic", program], check=True, capture_output=True, text=True)
    return {line.partition("[")[2].partition("]")[0] for line in done.stdout.splitlines() if "(NEEDED)" in line}
