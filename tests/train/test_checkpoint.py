"""What survives a kill, a full disk, a damaged file."""

from pathlib import Path

import numpy as np
import pytest

from edged.errors import DataError, TrainingError
from edged.train.checkpoint import Checkpoints
from tests.disks import a_small_disk, fill

ARRAYS = {"state.weights of a/b": np.arange(12, dtype=np.float32).reshape(3, 4), "state.step": np.array(7)}


def test_what_is_saved_is_read_again_bit_for_bit(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "checkpoints")
    checkpoints.save(1, {"history": [1.5, None]}, ARRAYS)

    found, problems = checkpoints.newest()

    assert found is not None
    assert (found.facts, problems) == ({"history": [1.5, None]}, [])
    assert {name: array.tobytes() for name, array in found.arrays.items()} == {
        name: array.tobytes() for name, array in ARRAYS.items()
    }


def test_two_are_kept(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    for epoch in range(1, 12):
        checkpoints.save(epoch, {}, ARRAYS)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["epoch-000010.npz", "epoch-000011.npz"]


def test_what_a_killed_training_left_half_written_goes_with_the_next(tmp_path: Path) -> None:
    (tmp_path / ".epoch-000001.npz-0f1e2d3c").write_bytes(b"half")

    Checkpoints(tmp_path).save(1, {}, ARRAYS)

    assert [path.name for path in tmp_path.iterdir()] == ["epoch-000001.npz"]


def test_there_may_be_none(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path / "absent").newest() == (None, [])


@pytest.mark.parametrize("harm", ["cut", "flip", "empty", "text"])
def test_the_one_before_takes_the_place_of_a_damaged_one(tmp_path: Path, harm: str) -> None:
    checkpoints = Checkpoints(tmp_path)
    for epoch in (1, 2):
        checkpoints.save(epoch, {"epoch": epoch}, ARRAYS)
    damaged = tmp_path / "epoch-000002.npz"
    content = bytearray(damaged.read_bytes())
    content[content.index(np.float32(7).tobytes())] ^= 1
    damaged.write_bytes(
        {"cut": bytes(content[:200]), "flip": bytes(content), "empty": b"", "text": b"<html>"}[harm]
    )

    found, [problem] = checkpoints.newest()

    assert found is not None
    assert found.facts == {"epoch": 1}
    assert "epoch-000002.npz: is damaged" in str(problem)
    (tmp_path / "epoch-000001.npz").write_bytes(b"")
    with pytest.raises(DataError, match=r"is damaged, or not a checkpoint; there is no other: start again"):
        checkpoints.newest()


def test_a_full_disk_leaves_the_one_before(tmp_path: Path) -> None:
    with a_small_disk(tmp_path / "disk") as disk:
        checkpoints = Checkpoints(disk)
        checkpoints.save(1, {"epoch": 1}, ARRAYS)
        fill(disk)

        with pytest.raises(
            TrainingError, match=r"epoch-000002.npz: cannot be written: No space left .*epoch-000001"
        ):
            checkpoints.save(2, {"epoch": 2}, {"large": np.zeros(100_000)})

        found, problems = checkpoints.newest()
        assert found is not None
        assert (found.facts, problems) == ({"epoch": 1}, [])
