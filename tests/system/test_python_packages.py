"""The command that installs a package beside edged, in each kind of installation."""

import shlex
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from edged.system.python_packages import MARKER, install_command
from tests.conftest import ROOT

ASK = "from edged.system.python_packages import install_command; print(install_command('tiny', 'a[b]'))"


def asked(python: str | Path) -> str:
    """What this Python names, as root would see it: without `sudo`."""
    done = subprocess.run(
        [python, "-c", ASK],
        env={"PYTHONPATH": str(ROOT), "PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def without_pip(folder: Path, more: str = "") -> Path:
    """The Python of a virtual environment as the Debian package has it: links and one file."""
    (folder / "bin").mkdir(parents=True)
    python = folder / "bin/python3"
    base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    python.symlink_to(base)
    (folder / "pyvenv.cfg").write_text(f"home = {base.parent}\ninclude-system-site-packages = false\n{more}")
    return python


def tiny_wheel(folder: Path) -> Path:
    wheel = folder / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny.py", "")
        archive.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr(
            "tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("tiny-1.0.dist-info/RECORD", "")
    return wheel


def test_a_virtual_environment_with_pip_uses_its_own() -> None:
    assert asked(sys.executable) == f"{sys.executable} -m pip install tiny 'a[b]'"


def test_the_debian_package_which_has_no_pip_uses_that_of_the_system(tmp_path: Path) -> None:
    python = without_pip(tmp_path / "opt/edged")

    command, _, where = asked(python).partition(" (")

    assert command == f"python3 -m pip --python {python} install tiny 'a[b]'"
    assert where == "pip is in the package python3-pip)"


def test_the_command_for_the_debian_package_installs_there(tmp_path: Path) -> None:
    python = without_pip(tmp_path / "opt/edged")
    _, *arguments = shlex.split(asked(python).partition(" (")[0])
    offline = [str(tiny_wheel(tmp_path)) if each == "tiny" else each for each in arguments if each != "a[b]"]

    subprocess.run([sys.executable, *offline, "--no-index", "--quiet"], check=True)

    subprocess.run([python, "-c", "import tiny"], check=True)


def test_an_environment_that_uv_made_uses_uv(tmp_path: Path) -> None:
    python = without_pip(tmp_path / "with blanks", "uv = 0.9.0\n")

    assert asked(python) == f"uv pip install --python '{python}' tiny 'a[b]'"


def test_the_system_s_python_is_asked_to_accept_it() -> None:
    python = Path(sys.base_prefix) / "bin/python3"
    managed = " --break-system-packages" if (Path(sysconfig.get_path("stdlib")) / MARKER).exists() else ""

    assert asked(python) == f"{python} -m pip install{managed} tiny 'a[b]'"


def test_another_user_s_environment_needs_sudo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sudo").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "not-ours"))  # root may write into every folder that exists

    assert install_command("tiny") == f"sudo {sys.executable} -m pip install tiny"
