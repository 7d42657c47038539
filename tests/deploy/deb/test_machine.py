"""The package on a machine of its own without a network: what is tested there is in inside/checks.py."""

from pathlib import Path

import pytest

from tests.deploy.deb.build import architecture_here, build, release_here
from tests.deploy.deb.machine import run_checks
from tests.systemd.machine import why_not

pytestmark = pytest.mark.deep


def test_it_is_installed_upgraded_removed_and_purged_without_a_network(tmp_path: Path) -> None:
    if reason := why_not():
        pytest.skip(f"no systemd-nspawn here: {reason}")
    release = release_here()
    if release is None:
        pytest.skip("no package for this host's release")
    for revision in (1, 2):
        build(tmp_path / "packages", release, architecture_here(), revision)

    code, output = run_checks(tmp_path, tmp_path / "packages")

    print(output)
    assert code == 0, output
