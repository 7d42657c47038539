"""The repository of packages, as apt on a board uses it: signed, and refused where somebody changed it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tools.deb.release import RELEASES

pytestmark = pytest.mark.deep

RELEASE = RELEASES[0]
NAME = f"edged_0.1.0-1~{RELEASE.version}_all.deb"
CONTROL = (
    "Package: edged\nVersion: 0.1.0-1\nArchitecture: all\nMaintainer: nobody <root@localhost>\nDescription: none\n"
)


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """An environment whose gpg has one secret key, `KEY`."""
    absent = [name for name in ("gpg", "apt-ftparchive", "apt-get", "dpkg-deb") if not shutil.which(name)]
    if absent:
        pytest.skip(f"{', '.join(absent)} not installed")
    home = tmp_path_factory.mktemp("gpg")
    home.chmod(0o700)
    environment = {**os.environ, "GNUPGHOME": str(home)}
    make = ["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", "edged <test@localhost>"]
    subprocess.run(make, check=True, env=environment, capture_output=True)
    yield {**environment, "KEY": "test@localhost"}
    subprocess.run(["gpgconf", "--kill", "all"], check=False, env=environment)


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A folder with a package that has nothing inside."""
    tree = tmp_path / "tree/DEBIAN"
    tree.mkdir(parents=True)
    (tree / "control").write_text(CONTROL)
    folder = tmp_path / "packages"
    folder.mkdir()
    subprocess.run(["dpkg-deb", "--build", tree.parent, folder / NAME], check=True, capture_output=True)
    return folder


def make(environment: dict[str, str], packages: Path, output: Path) -> subprocess.CompletedProcess[str]:
    """Make a repository as `make repository` does."""
    options = ("--key", environment.get("KEY", ""), "--packages", str(packages), "--output", str(output))
    command = [sys.executable, "-m", "tools.deb.repository", *options]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def apt(repository: Path, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run apt with this repository alone, and a state of its own in `folder`."""
    for name in ("state/lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    keyring = repository / "edged-archive-keyring.gpg"
    (folder / "sources.list").write_text(f"deb [signed-by={keyring}] file:{repository} {RELEASE.codename} main\n")
    settings = {
        "Dir::State": folder / "state",
        "Dir::Cache": folder / "cache",
        "Dir::Etc::SourceList": folder / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "APT::Sandbox::User": "root",
    }
    options = [part for name, value in settings.items() for part in ("-o", f"{name}={value}")]
    return subprocess.run([*command, *options], capture_output=True, text=True, timeout=60, check=False)


def test_a_board_finds_the_package_of_its_release(key: dict[str, str], packages: Path, tmp_path: Path) -> None:
    done = make(key, packages, tmp_path / "repository")
    assert done.returncode == 0, done.stderr

    updated = apt(tmp_path / "repository", tmp_path / "apt", "apt-get", "update")

    assert (updated.returncode, "W:" in updated.stderr) == (0, False), updated.stderr
    found = apt(tmp_path / "repository", tmp_path / "apt", "apt-cache", "policy", "edged").stdout
    assert "Candidate: 0.1.0-1" in found


def test_a_list_that_was_changed_is_refused(key: dict[str, str], packages: Path, tmp_path: Path) -> None:
    make(key, packages, tmp_path / "repository")
    signed = tmp_path / f"repository/dists/{RELEASE.codename}/InRelease"
    signed.write_text(signed.read_text().replace("Label: edged", "Label: Edged"))

    done = apt(tmp_path / "repository", tmp_path / "apt", "apt-get", "update")

    assert done.returncode != 0
    assert "not signed" in done.stderr or "BADSIG" in done.stderr


def test_without_a_key_or_packages_it_says_what_is_required(
    key: dict[str, str], packages: Path, tmp_path: Path
) -> None:
    without = make({**key, "KEY": ""}, packages, tmp_path / "repository")
    unknown = make({**key, "KEY": "somebody@else"}, packages, tmp_path / "repository")
    empty = make(key, tmp_path, tmp_path / "repository")

    assert {each.returncode for each in (without, unknown, empty)} == {2}
    assert "a key to sign with is required: make repository KEY=FINGERPRINT" in without.stderr
    assert "gpg has no secret key somebody@else" in unknown.stderr
    assert "has no packages: build them by make deb" in empty.stderr
    assert not (tmp_path / "repository").exists()
