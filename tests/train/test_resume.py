"""A training that was killed, stopped or left without room goes on as if nothing had happened."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.disks import a_small_disk
from tests.train.commands import NETWORK, config_file, error_of, train
from tests.train.made_up import idx_folder

EPOCHS = 100
RESULTS = ("stripes.onnx", "metrics.json", "curve.csv", "report.md")

Eventually = Callable[..., Any]


def long_training(folder: Path, rate: float = 0.003) -> Path:
    """The file of one that takes a while, of a network with little to compile."""
    network = NETWORK.replace(
        "[{conv: 8}, norm, relu, {max_pool: 2}, flatten,", "[flatten, {dense: 8}, norm, relu,"
    )
    learning = f"batch: 16, epochs: {EPOCHS}, stop_after: {EPOCHS}, optimizer: adam, rate: {rate}, average: 0.9"
    return config_file(folder / "in.yaml", f"{learning}, augment: {{shift: 1}}", network)


@pytest.fixture(name="data", scope="module")
def data_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return idx_folder(tmp_path_factory.mktemp("data"), training=60, test=30)


@pytest.fixture(name="uninterrupted", scope="module")
def uninterrupted_fixture(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    folder = tmp_path_factory.mktemp("uninterrupted")
    assert train(long_training(folder), "--data", data, "--output", folder / "out") == 0
    return folder / "out"


class Started:
    """`edged train --resume` in a process of its own."""

    def __init__(self, folder: Path, data: Path) -> None:
        self.output = folder / "out"
        path = long_training(folder)
        command = [
            sys.executable,
            "-m",
            "edged",
            "train",
            path,
            "--data",
            data,
            "--output",
            self.output,
            "--resume",
        ]
        self._process = subprocess.Popen(
            list(map(str, command)), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )

    def epochs(self) -> int:
        """So many are kept by now."""
        return max((int(path.stem[6:]) for path in self.output.glob("checkpoints/*.npz")), default=0)

    def has_kept(self, epochs: int) -> bool:
        return self.epochs() >= epochs or self._process.poll() is not None

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """Exit code, and what it said."""
        self._process.send_signal(number)
        said = self._process.communicate(timeout=60)[1]
        return self._process.returncode, said

    def wait(self) -> int:
        """Its exit code, once it has come to its end by itself."""
        self._process.communicate(timeout=60)
        return self._process.returncode

    def discard(self) -> None:
        """End it, if it still runs."""
        self._process.kill()
        self._process.communicate()


@pytest.fixture(name="start")
def start_fixture(tmp_path: Path, data: Path) -> Iterator[Callable[[], Started]]:
    started: list[Started] = []

    def start() -> Started:
        started.append(Started(tmp_path, data))
        return started[-1]

    yield start
    for one in started:
        one.discard()


def same_results(one: Path, other: Path) -> None:
    for name in RESULTS:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


@pytest.mark.deep
def test_killed_again_and_again_it_ends_with_the_same_bits(
    tmp_path_factory: pytest.TempPathFactory, data: Path, start: Callable[[], Started], eventually: Eventually
) -> None:
    uninterrupted = Started(tmp_path_factory.mktemp("whole"), data)  # here, there might be another device
    assert uninterrupted.wait() == 0
    reached = []
    for epochs in (1, 25, 50):
        started = start()
        eventually(partial(started.has_kept, epochs))
        started.end(signal.SIGKILL)
        reached.append(started.epochs())
    assert reached[1] < EPOCHS, "no kill came in time"

    assert start().wait() == 0

    same_results(uninterrupted.output, started.output)


@pytest.mark.deep
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_it_says_how_to_go_on(start: Callable[[], Started], eventually: Eventually, number: Any) -> None:
    started = start()
    eventually(partial(started.has_kept, 2))

    code, said = started.end(number)

    assert code == 130
    assert "Traceback" not in said
    assert f" of {EPOCHS} epochs are saved in {started.output}: continue with `edged train " in said
    assert said.rstrip().endswith("--resume`")


@pytest.fixture(name="begun")
def begun_fixture(uninterrupted: Path, tmp_path: Path) -> Path:
    """A folder that a kill has left, some epochs before the end."""
    folder = tmp_path / "begun"
    shutil.copytree(uninterrupted / "checkpoints", folder / "checkpoints")
    return folder


def test_what_is_under_way_is_not_begun_again_by_mistake(
    begun: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = error_of(capsys, long_training(tmp_path), "--data", data, "--output", begun)

    assert (
        "has an unfinished training (epoch-000100.npz): continue it with --resume, or give another --output"
        in said
    )


def test_a_damaged_checkpoint_is_reported_and_the_one_before_used(
    uninterrupted: Path, begun: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (begun / "checkpoints" / "epoch-000100.npz").write_bytes(b"PK")

    assert train(long_training(tmp_path), "--data", data, "--output", begun, "--resume") == 0

    said = capsys.readouterr().err
    assert "epoch-000100.npz: is damaged, or not a checkpoint; resuming from epoch-000099.npz" in said
    same_results(uninterrupted, begun)


def test_another_training_is_refused_with_what_differs(
    begun: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = idx_folder(tmp_path / "other", training=63, test=30)
    path = long_training(tmp_path, rate=0.004)

    said = error_of(capsys, path, "--data", other, "--output", begun, "--resume", "--seed", 5)

    assert "epoch-000100.npz is of another training:\n" in said
    assert "  train.rate: 0.003 there, 0.004 now\n" in said
    assert "  train.seed: 1 there, 5 now\n" in said
    assert "  data: " in said
    assert "train.batch" not in said


@pytest.mark.deep
def test_a_full_disk_ends_it_and_room_lets_it_go_on(
    uninterrupted: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = long_training(tmp_path)
    with a_small_disk(tmp_path / "disk", "96k") as disk:
        said = error_of(capsys, path, "--data", data, "--output", disk / "out", code=6)
        assert "cannot be written: No space left on device" in said
        assert "make room, then continue with --resume" in said
        assert train(path, "--data", data, "--output", disk / "out", "--resume") == 6, "there is no more room yet"
        shutil.copytree(disk / "out", tmp_path / "out")

    assert train(path, "--data", data, "--output", tmp_path / "out", "--resume") == 0

    same_results(uninterrupted, tmp_path / "out")
