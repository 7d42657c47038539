"""Standard output and error that are full, closed, not read, or know ASCII alone: nothing ends for it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import pytest

from tests.cli.models import CLASSES
from tests.e2e.daemon import SYNTHETIC, Daemon, compiled, config_in, run_edged
from tests.eventually import LIMIT_S, eventually

pytestmark = pytest.mark.deep


@contextmanager
def started(
    folder: Path,
    *arguments: str,
    stdout: int | IO[Any] | None = None,
    stderr: IO[Any] | None = None,
    encoding: str = "",
) -> Iterator[Daemon]:
    """`edged run` with these streams (default: files of their names), once it predicts."""
    config = config_in(folder, cameras={"demo": SYNTHETIC})
    path = folder / "edged.yaml"
    path.write_text(json.dumps(config))
    environment = {**os.environ, "XDG_STATE_HOME": str(folder), "XDG_CACHE_HOME": str(compiled())}
    environment |= {"PYTHONIOENCODING": encoding} if encoding else {}
    with (folder / "stdout").open("w") as usual, (folder / "stderr").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "edged", "run", str(path), *arguments],
            stdout=usual if stdout is None else stdout,
            stderr=log if stderr is None else stderr,
            text=True,
            env=environment,
            start_new_session=True,
        )
    daemon = Daemon(process, config, folder)
    try:
        daemon.first(1)
        yield daemon
    finally:
        process.kill()
        process.wait()


def several_status_lines(daemon: Daemon) -> None:
    """Wait as long as the daemon needs to write some: it is ready, and a line comes each second."""
    last = daemon.first(1)[0].published_at
    eventually(lambda: daemon.first(1)[0].published_at - last > 2.5)


def test_a_full_disk_under_the_status_lines_leaves_the_daemon_running(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full, started(tmp_path, stdout=full) as daemon:
        several_status_lines(daemon)
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.process.wait(LIMIT_S) == 1
    log = daemon.log()
    assert log.count("status lines cannot be written to standard output (No space left on device)") == 1
    assert log.endswith("edged: the summary cannot be written: No space left on device\n")
    assert "Traceback" not in log


def test_a_full_disk_under_the_log_leaves_the_daemon_running(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full, started(tmp_path, "--json", stderr=full) as daemon:
        several_status_lines(daemon)
        assert daemon.stop()["predictions"] > 0


def test_the_reader_of_the_status_lines_may_go(tmp_path: Path) -> None:
    with started(tmp_path, stdout=subprocess.PIPE) as daemon:
        assert daemon.process.stdout
        daemon.process.stdout.readline()
        daemon.process.stdout.close()
        several_status_lines(daemon)
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.process.wait(LIMIT_S) == 0
    assert "Traceback" not in daemon.log()


def full_pipe() -> tuple[int, IO[Any]]:
    """A pipe that nobody reads, without room: where to read it, and its other end."""
    reader, pipe = os.pipe()
    os.set_blocking(pipe, False)
    with suppress(BlockingIOError):
        while True:
            os.write(pipe, b"x" * 4096)
    os.set_blocking(pipe, True)
    return reader, os.fdopen(pipe, "w")


def test_a_reader_that_does_not_read_holds_up_neither_the_daemon_nor_its_end(tmp_path: Path) -> None:
    reader, pipe = full_pipe()
    with pipe, started(tmp_path, stdout=pipe) as daemon:
        several_status_lines(daemon)
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.process.wait(LIMIT_S) == 1
    os.close(reader)
    assert "the summary was not written within 2 s: no process reads standard output" in daemon.log()


def test_standard_output_that_is_closed_is_no_socket_of_ours(tmp_path: Path) -> None:
    (tmp_path / "edged.yaml").write_text(json.dumps(config_in(tmp_path)))
    command = f"{sys.executable} -m edged run {tmp_path}/edged.yaml --count 20 >&- <&-"
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "XDG_CACHE_HOME": str(compiled())}
    done = subprocess.run(
        ["sh", "-c", command], stderr=subprocess.PIPE, text=True, env=environment, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_an_output_of_ascii_gets_every_line(tmp_path: Path) -> None:
    with started(tmp_path, encoding="ascii") as daemon:
        several_status_lines(daemon)
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.process.wait(LIMIT_S) == 0
    assert "predictions of" in (tmp_path / "stdout").read_bytes().decode("ascii")
    assert "Traceback" not in daemon.log()


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One that only has listeners; its labels are not in ASCII."""
    folder = tmp_path_factory.mktemp("listeners")
    config = config_in(folder)
    labels = folder / "labels.txt"
    labels.write_text("\n".join(f"größe {number}" for number in range(CLASSES)) + "\n")
    config["model"]["labels"] = str(labels)
    with run_edged(folder, config=config) as daemon:
        daemon.first(30)
        yield daemon
        daemon.stop()


def verb(daemon: Daemon, name: str) -> list[str]:
    """A verb that prints much, or for ever."""
    path = str(daemon.folder / "edged.yaml")
    listen = [daemon.address]
    arguments = {
        "subscribe": [*listen, "--json"],
        "top": [*listen, "--plain", "--every", "0.1"],
        "export": [path, "--format", "jsonl"],
    }
    return [sys.executable, "-m", "edged", name, *arguments[name]]


VERBS = ["subscribe", "top", "export"]


def environment_of(daemon: Daemon, **more: str) -> dict[str, str]:
    return {**os.environ, "XDG_STATE_HOME": str(daemon.folder), **more}


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_whose_output_finds_no_room_says_so_once(daemon: Daemon, name: str) -> None:
    with open("/dev/full", "w") as full:
        command, environment = verb(daemon, name), environment_of(daemon)
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment, timeout=60, check=False
        )
    assert done.returncode == 1
    assert done.stderr == "edged: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_whose_reader_has_gone_ends_quietly(daemon: Daemon, name: str) -> None:
    reader, pipe = os.pipe()
    os.close(reader)
    command, environment = verb(daemon, name), environment_of(daemon)
    done = subprocess.run(
        command, stdout=pipe, stderr=subprocess.PIPE, text=True, env=environment, timeout=60, check=False
    )
    os.close(pipe)
    waits = [line for line in done.stderr.splitlines() if line.endswith("is `edged run` running?")]
    assert (done.returncode, done.stderr.splitlines()) == (0, waits)


def test_json_on_an_output_of_ascii_is_json_with_the_same_text(daemon: Daemon) -> None:
    command = [*verb(daemon, "subscribe"), "--count", "1"]
    environment = environment_of(daemon, PYTHONIOENCODING="ascii")
    done = subprocess.run(command, capture_output=True, env=environment, timeout=60, check=True)
    assert json.loads(done.stdout.decode("ascii"))["top"][0]["label"].startswith("größe ")
