"""What concerns one camera or one file never ends a daemon that is ready."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.models import CLASSES
from tests.e2e.daemon import SYNTHETIC, Daemon, config_in, conserves, run_edged
from tests.eventually import LIMIT_S, eventually, free_port

PASSWORD = "hunter2"  # noqa: S105
LABELS = "".join(f"label {number}\n" for number in range(CLASSES))


def remove(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_text("")


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def restore(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    path.write_text(PASSWORD)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One daemon for one fault after another: `door` has a password, and nobody answers at its address."""
    folder = tmp_path_factory.mktemp("survival")
    restore(folder / "password")
    (folder / "labels").write_text(LABELS)
    door = {"source": f"rtsp://127.0.0.1:{free_port()}/live", "user": "me", "password_file": "password"}
    config = config_in(folder, cameras={"demo": SYNTHETIC, "door": door})
    config["model"]["labels"] = "labels"
    with run_edged(folder, config=config) as daemon:
        daemon.first(1)
        yield daemon
        assert conserves(daemon.stop())
    assert PASSWORD not in daemon.log()


@pytest.mark.deep
@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (remove, "cannot read this password file: No such file or directory"),
        (empty, "expected a password on one line, and nothing else"),
        (make_folder, "expected a password file, found a folder"),
    ],
)
def test_a_password_file_that_cannot_be_read_is_its_cameras_failure_until_it_can(
    daemon: Daemon, damage: Callable[[Path], None], why: str
) -> None:
    password = daemon.folder / "password"
    refused = f"camera door is down: {password}: {why}"
    damage(password)
    daemon.child("door").kill()
    eventually(lambda: refused in daemon.log())
    assert daemon.first(3)

    restore(password)

    def is_read_again() -> bool:
        return "127.0.0.1" in daemon.log().rpartition(refused)[2]

    eventually(is_read_again)
    assert daemon.process.poll() is None


def cut_in_half(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


DEEP = pytest.mark.deep


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("small.onnx", remove),
        pytest.param("small.onnx", cut_in_half, marks=DEEP),
        ("labels", remove),
        pytest.param("labels", empty, marks=DEEP),
    ],
)
def test_a_worker_whose_model_or_labels_cannot_be_read_starts_again_until_they_can(
    daemon: Daemon, name: str, damage: Callable[[Path], None]
) -> None:
    file, lost = daemon.folder / name, "local-0 ended with exit code 2; it starts again"
    whole, losses = file.read_bytes(), daemon.log().count(lost)
    worker = daemon.child("worker")
    damage(file)
    worker.kill()
    eventually(lambda: daemon.log().count(lost) > losses)
    assert daemon.process.poll() is None

    file.write_bytes(whole)
    assert daemon.first(3)


def test_a_password_that_cannot_be_had_at_the_start_is_an_error_at_once(tmp_path: Path) -> None:
    door = {"source": "rtsp://127.0.0.1:9/live", "user": "me", "password_file": "password"}
    with run_edged(tmp_path, config=config_in(tmp_path, cameras={"door": door})) as daemon:
        assert daemon.process.wait(LIMIT_S) == 2
        absent = f"{tmp_path}/password: cannot read this password file: No such file or directory"
        assert daemon.log() == f"edged: {absent}\n"
