"""Commands in messages, as they have to be typed in each kind of installation."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import edged
from tests.conftest import ROOT

ASK = """
from edged.system.own_command import as_typed
print(as_typed("next: `edged check a.yaml`, not `edged.yaml`"))
"""


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A virtual environment `.venv` with the script of edged, in a folder of its own."""
    binaries = tmp_path / "my checkout/.venv/bin"
    binaries.mkdir(parents=True)
    base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    (binaries / "python3").symlink_to(base)
    (binaries.parent / "pyvenv.cfg").write_text(f"home = {base.parent}\n")
    (binaries / "edged").touch(0o755)
    return binaries


def asked(binaries: Path, folder: Path, path: Path) -> str:
    done = subprocess.run(
        [binaries / "python3", "-c", ASK],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": str(path)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip().removeprefix("next: ").removesuffix(", not `edged.yaml`")


def test_in_a_checkout_it_is_the_path_from_the_working_directory(environment: Path) -> None:
    assert asked(environment, environment.parents[1], Path("/nowhere")) == "`.venv/bin/edged check a.yaml`"


def test_elsewhere_it_is_the_whole_path_in_quotes_if_it_has_blanks(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert asked(environment, tmp_path / "other", Path("/nowhere")) == f"`'{environment}/edged' check a.yaml`"


def test_on_the_path_it_is_edged_alone_also_by_a_link_as_that_of_the_debian_package(
    environment: Path, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/edged").symlink_to(environment / "edged")

    for path in (environment, tmp_path / "bin"):
        assert asked(environment, tmp_path, path) == "`edged check a.yaml`"


def test_another_edged_on_the_path_is_not_meant(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "edged").touch(0o755)
    assert asked(environment, environment.parents[1], tmp_path) == "`.venv/bin/edged check a.yaml`"


def test_without_the_script_it_is_a_module_of_its_python(environment: Path) -> None:
    (environment / "edged").unlink()
    assert asked(environment, environment.parents[1], environment) == "`.venv/bin/python3 -m edged check a.yaml`"


def test_errors_notes_and_findings_say_it_so(tmp_path: Path) -> None:
    elsewhere = {"PATH": "/nowhere", "XDG_STATE_HOME": str(tmp_path)}
    file = tmp_path / "edged.yaml"

    wrong = edged("chek", env=elsewhere)
    written = edged("init", file, "--source", tmp_path, "--quick", env=elsewhere)

    assert "edged check`" in wrong.stderr
    assert "`edged check`" not in wrong.stderr
    assert "edged run` would keep trying" in written.stdout
    assert "`edged run`" not in written.stdout
    assert f"edged run {file}`" in written.stderr
    assert f"`edged run {file}`" not in written.stderr


def test_the_config_that_was_given_stands_in_the_command(tmp_path: Path) -> None:
    file = tmp_path / "my config.yaml"
    file.write_text("cameras: {demo: {source: 'synthetic:digits'}}\n")

    done = edged("teach", "versions", file, env={"XDG_STATE_HOME": str(tmp_path)})

    assert f"train one with `edged teach train '{file}'`" in done.stdout


def test_examples_of_a_help_say_it_so() -> None:
    help_of = edged("check", "--help", env={"PATH": "/nowhere"})

    assert "edged check edged.yaml --quick" in help_of.stdout
    assert "\n  edged check" not in help_of.stdout
