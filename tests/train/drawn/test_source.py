"""Frames of digits as a data source: drawn by processes, replayed in other colours, the same for the same seed."""

import os
import signal
from collections.abc import Iterator
from contextlib import closing

import numpy as np
import psutil
import pytest

from edged.errors import TrainingError
from edged.train.drawn.ahead import LABELS, NOTHING
from edged.train.drawn.source import Drawn, recoloured
from edged.train.source import Chunk, LabelledImages
from tests.eventually import eventually

IMAGES = np.zeros((10, 28, 28, 1), np.uint8)
IMAGES[:, 6:22, 12:16] = 255
ONES = LabelledImages(IMAGES, np.ones(10, np.int32))


@pytest.fixture(scope="module")
def source() -> Iterator[Drawn]:
    with closing(Drawn(ONES, ONES, replays=2, processes=2, seed=3)) as drawn:
        yield drawn


def seen(chunks: Iterator[Chunk]) -> tuple[np.ndarray, np.ndarray]:
    """All frames and labels, in the order in which they are learnt from."""
    batches = [(chunk.examples, step) for chunk in chunks for step in chunk.order]
    frames = [examples.images[step] for examples, step in batches]
    return np.concatenate(frames), np.concatenate([examples.labels[step] for examples, step in batches])


def test_an_epoch_replays_each_digit_and_a_fifth_as_many_empty_scenes(
    source: Drawn,
) -> None:
    frames, labels = seen(source.chunks(epoch=0, batch=4))

    assert len(frames) == 4 * source.steps(batch=4) == 24
    assert np.bincount(labels, minlength=len(LABELS))[[1, NOTHING]].tolist() == [20, 4]
    assert frames.shape[1:] == (120, 120, 3)


def test_an_epoch_is_the_same_at_each_call_and_unlike_the_next(source: Drawn) -> None:
    frames, labels = seen(source.chunks(epoch=1, batch=4))
    again, same = seen(source.chunks(epoch=1, batch=4))
    later, _ = seen(source.chunks(epoch=2, batch=4))

    assert np.array_equal(frames, again)
    assert np.array_equal(labels, same)
    assert not np.array_equal(frames, later)


def test_it_is_measured_with_written_digits_in_scenes(source: Drawn) -> None:
    assert source.test
    assert source.test.images.shape == (10, 120, 120, 3)
    assert source.test.labels.tolist() == [1] * 10


def test_other_colours_are_other_channels_or_the_negative() -> None:
    frame = np.arange(12, dtype=np.uint8).reshape(1, 2, 2, 3)

    ways = {recoloured(frame, np.random.default_rng(seed)).tobytes() for seed in range(100)}

    assert len(ways) == 12
    assert frame.tobytes() in ways
    assert (255 - frame).tobytes() in ways


def test_a_process_that_is_killed_while_it_draws_ends_the_training_with_a_word() -> None:
    with closing(Drawn(ONES, ONES, replays=1, processes=1, seed=3)) as source:
        chunks = source.chunks(epoch=0, batch=1)
        (drawer,) = drawers_of(chunks)
        os.kill(drawer.pid, signal.SIGKILL)

        with pytest.raises(TrainingError, match=r"was killed.*--resume"):
            for _ in source.chunks(epoch=1, batch=1):
                pass


def test_no_process_is_left_once_the_source_is_closed() -> None:
    source = Drawn(ONES, ONES, replays=1, processes=1, seed=3)
    (drawer,) = drawers_of(source.chunks(epoch=0, batch=1))

    source.close()

    eventually(lambda: not drawer.is_running())


def drawers_of(chunks: Iterator[Chunk]) -> list[psutil.Process]:
    """The processes that begin when the first chunk is asked for."""
    before = drawers()
    next(chunks)
    return [process for process in drawers() if process not in before]


def drawers() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "spawn_main" in " ".join(child.cmdline())]
