"""Each program of examples/ with a real daemon: what it prints, or does."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.e2e.daemon import Daemon, config_in, run_edged
from tests.e2e.node_packages import zeromq_folder
from tests.eventually import eventually

EXAMPLES = ROOT / "examples"
CAMERA = {"source": "synthetic:digits", "size": [160, 120], "fps": 10, "snapshot": {}}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    folder = tmp_path_factory.mktemp("examples")
    config = config_in(
        folder,
        cameras={"demo": CAMERA},
        model={"name": "digits"},
        states={"demo": {"labels": list("0123456789"), "after": 1}},
    )
    with run_edged(folder, config=config) as daemon:
        daemon.first(5)
        yield daemon


@contextmanager
def printed(*command: str | Path, **environment: str) -> Iterator[Iterator[str]]:
    """The lines that a program prints, until the end of the block."""
    with subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
    ) as process:
        assert process.stdout
        try:
            yield (line.rstrip() for line in process.stdout)
        finally:
            process.kill()


def example(name: str, *arguments: str | Path) -> list[str | Path]:
    return [sys.executable, EXAMPLES / name, *arguments]


def numbers_of(lines: list[str], place: int) -> list[int]:
    return [int(line.split()[place]) for line in lines]


def test_every_example_is_listed_and_tested() -> None:
    files = {file.name for file in EXAMPLES.iterdir()} - {"README.md"}
    listed = (EXAMPLES / "README.md").read_text()
    assert [name for name in files if f"({name})" not in listed] == []
    assert [name for name in files if name not in Path(__file__).read_text()] == []


@pytest.mark.parametrize("name", ["save_pictures.py", "react_to_state.py", "classify_folder.py"])
def test_one_without_its_arguments_says_how_to_call_it(name: str) -> None:
    done = subprocess.run(example(name), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"`python examples/{name} " in done.stderr
    assert "Traceback" not in done.stderr


def test_subscribe(daemon: Daemon) -> None:
    with printed(*example("subscribe.py", daemon.address)) as lines:
        first = list(islice(lines, 5))
    numbers = numbers_of(first, 0)
    assert numbers == list(range(numbers[0], numbers[0] + 5))


def test_several_nodes(daemon: Daemon) -> None:
    with printed(*example("several_nodes.py", daemon.address, daemon.address)) as lines:
        first = list(islice(lines, 6))
    assert {line.split()[0] for line in first} == {"test"}


def test_watch_node(daemon: Daemon) -> None:
    with printed(*example("watch_node.py", daemon.address)) as lines:
        status = next(line for line in lines if line.startswith("demo: up, "))
    assert status.endswith(" predictions")


def test_save_pictures(daemon: Daemon, tmp_path: Path) -> None:
    with printed(*example("save_pictures.py", tmp_path / "pictures", daemon.address)) as lines:
        file = Path(next(lines))
    assert file.read_bytes().startswith(b"\xff\xd8")


def test_last_hour(daemon: Daemon) -> None:
    with printed(*example("last_hour.py", daemon.address)) as lines:
        counted = list(lines)
    assert sum(int(line.split("\t")[2]) for line in counted) >= 5


@pytest.mark.deep
def test_react_to_state(daemon: Daemon, tmp_path: Path) -> None:
    command = example("react_to_state.py", "demo", "7", "touch", tmp_path / "seen")
    with printed(*command, EDGED_ADDRESS=daemon.address):
        eventually((tmp_path / "seen").exists)


@pytest.mark.deep
def test_classify_folder(daemon: Daemon, tmp_path: Path) -> None:
    with printed(*example("save_pictures.py", tmp_path / "pictures", daemon.address)) as lines:
        names = sorted(Path(line).name for line in islice(lines, 2))
    rows = subprocess.run(
        list(map(str, example("classify_folder.py", tmp_path / "pictures"))),
        capture_output=True,
        text=True,
        check=True,
    )
    assert [row.split(",")[0] for row in rows.stdout.splitlines()][:2] == names


@pytest.mark.deep
def test_subscribe_in_node(daemon: Daemon, tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(zeromq_folder() / "node_modules")
    script = Path(shutil.copy(EXAMPLES / "subscribe.mjs", tmp_path))  # modules are looked for beside it
    with printed("node", script, daemon.address) as lines:
        numbers = numbers_of(list(islice(lines, 5)), 0)
    assert numbers == list(range(numbers[0], numbers[0] + 5))
