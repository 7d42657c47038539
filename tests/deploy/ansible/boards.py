"""Boards for deploy/ansible: machines with systemd, which Ansible enters by their namespaces in place of SSH."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import psutil
import pytest

from tests.conftest import ROOT
from tests.eventually import eventually
from tests.systemd.machine import booted, why_not

FOLDER = ROOT / "deploy/ansible"
SSH = Path(__file__).with_name("ssh")
EXTRAS = ["mqtt"]
PLAY_S = 600
# The Python of the boards is that of the tests, which may lie in a home.
IN_A_HOME = f"[Service]\nProtectHome=tmpfs\nBindReadOnlyPaths={sys.base_prefix}\nRestartSec=10ms\n"
COUNTS = re.compile(r"^(\S+)\s+: ok=(\d+)\s+changed=(\d+)\s+unreachable=(\d+)\s+failed=(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Boards:
    """Booted machines, and the inventory that has them."""

    folder: Path
    names: tuple[str, ...]

    def play(self, **variables: Any) -> tuple[int, str]:
        """Run site.yml with these variables; the exit code and what it printed."""
        inventory = {
            "boards": {
                "hosts": dict.fromkeys(self.names),
                "vars": {
                    "ansible_connection": "ssh",
                    "ansible_become": False,
                    "ansible_ssh_executable": str(SSH),
                    "ansible_ssh_transfer_method": "piped",
                    "ansible_python_interpreter": python(),
                    "edged_python": python(),
                    "edged_extras": EXTRAS,
                    "edged_wheels": str(self.folder / "wheels"),
                    "edged_wait_s": 60,
                    **variables,
                },
            }
        }
        (self.folder / "inventory.json").write_text(json.dumps(inventory))
        command = [f"{sys.prefix}/bin/ansible-playbook", "--inventory", "inventory.json", str(FOLDER / "site.yml")]
        own = {"EDGED_MACHINES": str(self.folder), "ANSIBLE_HOME": str(self.folder / "ansible"), "HOME": "/root"}
        own |= {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_RETRY_FILES_ENABLED": "0", "ANSIBLE_PIPELINING": "1"}
        own |= {"LC_ALL": "C.UTF-8"}
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")} | own
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PLAY_S,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def are_up(self) -> bool:
        """Whether all have booted."""
        return all(self.run(name, "systemctl is-active basic.target") == "active" for name in self.names)

    def run(self, name: str, *command: str) -> str:
        """What a command prints on a board."""
        line = [str(SSH), name, " ".join(command)]
        environment = {**os.environ, "EDGED_MACHINES": str(self.folder)}
        done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=60, check=False)
        return done.stdout.strip()


def python() -> str:
    """The interpreter of the tests, without their environment."""
    return str(Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}")


def counts(output: str) -> dict[str, tuple[int, int]]:
    """How many tasks of each board changed something, and how many failed."""
    return {name: (int(changed), int(failed)) for name, _, changed, _, failed in COUNTS.findall(output)}


@contextmanager
def boards(folder: Path, *names: str) -> Iterator[Boards]:
    """Machines of these names with nothing of edged. The test is skipped where there can be none."""
    if reason := why_not():
        pytest.skip(f"no systemd-nspawn here: {reason}")
    pytest.importorskip("ansible", reason="ansible-core is absent: make test-all")
    with ExitStack() as stack:
        for name in names:
            place = folder / f"{name}.machine"
            for service in ("edged.service", "edged-worker.service", "edged-compile.service"):
                drop_in = place / f"stage/etc/systemd/system/{service}.d/for-tests.conf"
                drop_in.parent.mkdir(parents=True)
                drop_in.write_text(IN_A_HOME)
            (place / "stage/etc/hostname").write_text(f"{name}\n")
            machine = stack.enter_context(booted(place, "basic.target"))
            (folder / name).write_text(str(first_process(machine.pid)))
        running = Boards(folder, names)
        eventually(running.are_up)
        yield running


def first_process(outside: int) -> int:
    """The process 1 of a machine, seen from here."""
    found = eventually(lambda: [each for each in psutil.Process(outside).children() if _is_init(each)])
    return int(found[0].pid)


def _is_init(process: psutil.Process) -> bool:
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False  # it ended after the list of children was read
    return bool(re.search(r"^NSpid:\t\d+\t1$", status, re.MULTILINE))


def wheel_of(folder: Path, version: str, **changed: str) -> Path:
    """A wheel of this checkout under another version; `changed`: text that is added to modules, by their paths."""
    source = folder / f"source-{version}"
    source.mkdir()
    (source / "tools").mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "tools/hatch_build.py"):
        shutil.copy(ROOT / name, source / name)
    shutil.copytree(ROOT / "edged", source / "edged", ignore=shutil.ignore_patterns("__pycache__"))
    package = source / "edged/__init__.py"
    package.write_text(re.sub(r'__version__ = ".*"', f'__version__ = "{version}"', package.read_text()))
    for module, text in changed.items():
        with (source / module).open("a") as file:
            file.write(text)
    _pip("wheel", "--no-deps", "--wheel-dir", folder, source)
    [wheel] = folder.glob(f"edged-{version}-*.whl")
    assert f"edged-{version}.dist-info/METADATA" in ZipFile(wheel).namelist()
    return wheel


def wheels_for(folder: Path, wheel: Path) -> None:
    """All that this wheel needs, in the versions that the tests have, into folder/wheels."""
    versions = folder / "constraints.txt"
    names = {f"{each.name}=={each.version}" for each in distributions() if each.name != "edged"}
    versions.write_text("\n".join(sorted(names)))
    needed = f"edged[{','.join(EXTRAS)}] @ file://{wheel}"
    _pip("wheel", "--wheel-dir", folder / "wheels", "--constraint", versions, needed)
    for each in (folder / "wheels").glob("edged-*.whl"):
        each.unlink()


def _pip(*arguments: "str | Path") -> None:
    command = [sys.executable, "-m", "pip", "--quiet", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PLAY_S, check=False)
    assert done.returncode == 0, done.stderr
