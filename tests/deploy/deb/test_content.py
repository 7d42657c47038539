"""What is in the packages, before they are installed anywhere."""

import gzip
import json
from pathlib import Path

import pytest

from edged import __version__
from tests.deploy.deb.build import build, libraries_of, processor_of, programs, unpack
from tools.deb.release import PROCESSORS, RELEASES

pytestmark = pytest.mark.deep

BOOKWORM = RELEASES[0]
# by the packages of `Depends`
OF_LIBC6 = {
    "libmvec.so.1",
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "libutil.so.1",
    "libresolv.so.2",
}
LOADERS = {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
OTHERS = {"libgcc_s.so.1", "libstdc++.so.6", "libz.so.1"}


@pytest.fixture(scope="module", params=list(PROCESSORS))
def architecture(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A package by architecture."""
    folder = tmp_path_factory.mktemp("packages")
    return {architecture: build(folder, BOOKWORM, architecture) for architecture in PROCESSORS}


@pytest.fixture(scope="module")
def tree(packages: dict[str, Path], architecture: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package, unpacked."""
    return unpack(packages[architecture], tmp_path_factory.mktemp("unpacked") / "tree")


def test_every_program_is_for_the_processor_of_the_package(tree: Path, architecture: str) -> None:
    found = {processor_of(program) for program in programs(tree)}
    assert found == {PROCESSORS[architecture]}


def test_it_depends_on_every_library_that_is_not_inside(tree: Path) -> None:
    all_programs = list(programs(tree))
    inside = {program.name for program in all_programs}
    required = set().union(*map(libraries_of, all_programs))
    assert len(all_programs) > 50
    assert required - inside <= OF_LIBC6 | LOADERS | OTHERS


def test_it_has_units_users_permissions_completion_a_manual_and_a_config(tree: Path) -> None:
    names = {str(path.relative_to(tree)) for path in tree.rglob("*") if not path.is_dir()}
    assert names >= {
        "etc/edged/edged.yaml",
        "usr/bin/edged",
        "usr/lib/systemd/system/edged.service",
        "usr/lib/systemd/system/edged-bridge@.service",
        "usr/lib/systemd/system/edged-view.service",
        "usr/lib/sysusers.d/edged.conf",
        "usr/lib/tmpfiles.d/edged.conf",
        "usr/lib/udev/rules.d/70-edged.rules",
        "usr/share/bash-completion/completions/edged",
        "usr/share/doc/edged/copyright",
        "usr/share/doc/edged/docs/how-to/service.md",
        "usr/share/doc/edged/configs/teach.yaml",
    }
    manual = gzip.decompress((tree / "usr/share/man/man1/edged.1.gz").read_bytes()).decode()
    assert r"\fBedged subscribe\fR" in manual


def test_its_bill_of_materials_lists_every_package_inside(tree: Path) -> None:
    bill = json.loads((tree / "usr/share/doc/edged/edged.cdx.json").read_text())
    listed = {f"{each['name']}-{each['version']}".lower().replace("-", "_") for each in bill["components"]}
    inside = {path.name.removesuffix(".dist-info").lower().replace("-", "_") for path in tree.rglob("*.dist-info")}
    described = bill["metadata"]["component"]
    assert (bill["bomFormat"], described["name"], described["version"]) == ("CycloneDX", "edged", __version__)
    assert listed == {name for name in inside if not name.startswith("edged_")}
    assert len(listed) > 20


def test_only_root_may_write_and_all_may_read(tree: Path) -> None:
    modes = {path.stat().st_mode & 0o777 for path in tree.rglob("*") if not path.is_symlink()}
    assert modes == {0o755, 0o644}


def test_another_build_has_the_same_bytes(packages: dict[str, Path], tmp_path: Path) -> None:
    assert build(tmp_path, BOOKWORM, "amd64").read_bytes() == packages["amd64"].read_bytes()
