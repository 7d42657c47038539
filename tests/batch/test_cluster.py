"""`edged batch` on a real Ray cluster: the same files as on one machine, whatever is killed."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from edged.batch.run_folder import OURS
from tests.batch.archives import answer_files, archive, unfinished_files
from tests.batch.ray_cluster import RayCluster, ray_cluster
from tests.cli.command import DEVICES
from tests.eventually import LIMIT_S, eventually, free_port
from tests.model.detectors import detector_file

EACH = 40
WITHIN_S = 300

pytestmark = pytest.mark.deep


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster(devices=2) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return archive(tmp_path_factory.mktemp("archive"), each=EACH, size=120)


@pytest.fixture(scope="module")
def expected(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a run on this machine alone."""
    output = tmp_path_factory.mktemp("alone")
    require_success(started(root, output, dict(os.environ)))
    return answer_files(output)


def started(
    root: Path, output: Path, environment: dict[str, str], *more: str, model: str | Path = "digits"
) -> "subprocess.Popen[bytes]":
    """A run in chunks of three."""
    command = ["batch", model, "--input", root, "--output", output, "--chunk", "3", "--quiet"]
    device = ["--device", DEVICES[-1], "--threads", "1"]
    whole = [sys.executable, "-m", "edged", *map(str, command), *device, *more]
    return subprocess.Popen(whole, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def on_cluster(cluster: RayCluster, root: Path, output: Path, *more: str) -> "subprocess.Popen[bytes]":
    return started(root, output, cluster.environment, "--ray", cluster.address, *more)


def wait_for_files(running: "subprocess.Popen[bytes]", output: Path, count: int) -> None:
    """Until a run has written so many; it must not have ended."""
    eventually(lambda: len(answer_files(output)) >= count or running.poll() is not None, WITHIN_S)
    assert running.poll() is None, "it had ended before"


def require_success(running: "subprocess.Popen[bytes]") -> None:
    """Wait for the end of a run, which must be a good one: with a warning of the picture that cannot be read."""
    printed = errors_of(running)
    assert running.returncode == 0, printed
    assert printed == "edged: warning: 1 picture without an answer: column `problem` says why\n"


def errors_of(running: "subprocess.Popen[bytes]") -> str:
    """What it has printed, once it has ended."""
    return running.communicate(timeout=WITHIN_S)[1].decode()


def test_the_files_are_those_of_one_machine(
    cluster: RayCluster, root: Path, expected: dict[str, bytes], tmp_path: Path
) -> None:
    require_success(on_cluster(cluster, root, tmp_path / "answers"))

    assert answer_files(tmp_path / "answers") == expected


def test_a_killed_actor_loses_and_repeats_nothing(
    cluster: RayCluster, root: Path, expected: dict[str, bytes], tmp_path: Path
) -> None:
    running = on_cluster(cluster, root, tmp_path / "answers")
    for files in (2, 8):
        wait_for_files(running, tmp_path / "answers", files)
        victim = eventually(cluster.actors, WITHIN_S)[0]
        cluster.kill([victim])

    require_success(running)
    assert answer_files(tmp_path / "answers") == expected


def test_after_a_killed_driver_the_same_command_goes_on(
    cluster: RayCluster, root: Path, expected: dict[str, bytes], tmp_path: Path
) -> None:
    running = on_cluster(cluster, root, tmp_path / "answers")
    wait_for_files(running, tmp_path / "answers", 4)
    running.kill()
    errors_of(running)
    assert running.returncode == -signal.SIGKILL
    eventually(lambda: not cluster.actors(), WITHIN_S)
    done = answer_files(tmp_path / "answers")
    assert 4 <= len(done) < len(expected)

    require_success(on_cluster(cluster, root, tmp_path / "answers"))

    assert answer_files(tmp_path / "answers") == expected
    assert list(unfinished_files(tmp_path / "answers")) == []


def test_a_killed_node_loses_and_repeats_nothing(root: Path, expected: dict[str, bytes], tmp_path: Path) -> None:
    with ray_cluster(devices=1) as cluster:
        node = cluster.add_node(devices=1)
        running = on_cluster(cluster, root, tmp_path / "answers")
        wait_for_files(running, tmp_path / "answers", 2)
        eventually(lambda: len(cluster.actors()) == 2, WITHIN_S)
        wait_for_files(running, tmp_path / "answers", 6)
        children = [child for each in node if each.is_running() for child in each.children(recursive=True)]
        cluster.kill([*node, *children])

        require_success(running)
    assert answer_files(tmp_path / "answers") == expected


def test_a_cluster_that_cannot_be_used_is_one_clear_line(cluster: RayCluster, root: Path, tmp_path: Path) -> None:
    output = tmp_path / "answers"
    nowhere = started(root, output, cluster.environment, "--ray", f"127.0.0.1:{free_port()}")
    assert "not a Ray head node" in (line := errors_of(nowhere))
    assert (nowhere.returncode, line.count("\n")) == (2, 1)

    other = on_cluster(cluster, root, output, "--resource", "gpu")
    assert "no node has the resource `gpu`" in (line := errors_of(other))
    assert (other.returncode, line.count("\n")) == (2, 1)

    without_token = {key: value for key, value in cluster.environment.items() if not key.startswith("RAY_AUTH")}
    stranger = started(root, output, without_token, "--ray", cluster.address)
    assert "set RAY_AUTH_MODE=token" in (line := errors_of(stranger))
    assert (stranger.returncode, line.count("\n")) == (2, 1)

    assert answer_files(output) == {}


@pytest.mark.parametrize("greeting", [b"", b"\xff" + bytes(8) + b"\x7f\3\0NULL"], ids=["silent", "ZeroMQ"])
def test_a_listener_that_is_no_ray_is_one_clear_line(root: Path, tmp_path: Path, greeting: bytes) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    with socket.create_server(("127.0.0.1", free_port())) as listener:
        listener.settimeout(LIMIT_S)
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        running = started(root, tmp_path / "answers", dict(os.environ), "--ray", address)
        with listener.accept()[0] as connection:
            connection.sendall(greeting)
            line = errors_of(running)

    assert f"--ray {address}: not a Ray head node" in line
    assert (running.returncode, line.count("\n")) == (2, 1)


@pytest.mark.skipif(DEVICES[-1] == "numpy", reason="no OpenCL runtime: NumPy has no lock")
def test_a_device_that_another_actor_holds_is_reported_with_its_node(
    cluster: RayCluster, root: Path, tmp_path: Path
) -> None:
    command = ["batch", "digits", "--input", root, "--output", tmp_path / "answers", "--chunk", "3", "-q"]
    whole = [sys.executable, "-m", "edged", *map(str, command), "--ray", cluster.address]
    done = subprocess.run(whole, env=cluster.environment, capture_output=True, text=True, check=False, timeout=120)

    assert done.returncode == 3, done.stderr + (tmp_path / "answers" / OURS / "ray.log").read_text()
    assert "is in use by process" in done.stderr
    assert "share a CPU with --threads" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_detectors_files_are_those_of_one_machine(cluster: RayCluster, tmp_path: Path) -> None:
    root, model = archive(tmp_path / "all", each=4), detector_file(tmp_path / "net.onnx", "yolox")
    options = "--threshold", "0.3"
    require_success(started(root, tmp_path / "alone", dict(os.environ), *options, model=model))
    on_ray = "--ray", cluster.address

    require_success(started(root, tmp_path / "out", cluster.environment, *on_ray, *options, model=model))

    files = answer_files(tmp_path / "alone")
    assert files
    assert answer_files(tmp_path / "out") == files
