"""Generate batches of frames for `digits` ahead of the training, in separate processes."""

import os
import signal
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import SimpleQueue

import cv2
import numpy as np
from numpy.typing import NDArray

from edged.drawing.scene import compose, render
from edged.errors import TrainingError
from edged.system.process_end import die_with
from edged.train.drawn.handwriting import Bytes, plain_mask, turned, varied_mask
from edged.train.source import LabelledImages

SIDE = 120
NOTHING = 10
LABELS = (*"0123456789", "nothing")
SEED = 20261121

AHEAD = 4  # batches that each process may be ahead of the training


def draw_frame(rng: np.random.Generator, mask: Bytes | None, width: int = 160) -> Bytes:
    """Draw a frame, uint8 [120, 120, 3] RGB: the scene at width × 120, resized as a camera does."""
    frame = render(rng, compose(rng, width, SIDE, mask), rng.random())
    return np.asarray(cv2.resize(frame, (SIDE, SIDE), interpolation=cv2.INTER_AREA), np.uint8)


def draw_training_frame(rng: np.random.Generator, image: Bytes, digit: int) -> Bytes:
    """Draw varied writing (or nothing) in a frame of usually 4:3, else square or 16:9."""
    mask = None if digit == NOTHING else varied_mask(rng, image, digit)
    return draw_frame(rng, mask, int(rng.choice([160, 120, 213], p=[0.6, 0.2, 0.2])))


def placed(images: Bytes) -> Bytes:
    """Return MNIST's images unchanged, each in a scene, the same at each call: the evaluation data."""
    rng = np.random.default_rng(SEED)
    return np.stack([draw_frame(rng, plain_mask(image)) for image in images])


def empty_frames(count: int = 2000) -> Bytes:
    """Return frames without a digit, the same at each call."""
    rng = np.random.default_rng(SEED + 1)
    return np.stack([draw_frame(rng, None) for _ in range(count)])


@dataclass(frozen=True, eq=False)
class DrawingJob:
    """One batch to draw: images uint8 [n, 28, 28] and labels [n]; the same seed draws the same frames."""

    seed: tuple[int, ...]
    images: Bytes
    labels: NDArray[np.int32]


def draw(job: DrawingJob) -> LabelledImages:
    """Draw frames, uint8 [n, 120, 120, 3], with their labels."""
    rng = np.random.default_rng(job.seed)
    digits = [turned(rng, image, int(label)) for image, label in zip(job.images, job.labels, strict=True)]
    frames = [draw_training_frame(rng, image, digit) for image, digit in digits]
    return LabelledImages(np.stack(frames), np.array([digit for _, digit in digits], np.int32))


class Drawers:
    """Processes that draw. They start with the first batch, and end with this process if it is killed.

    Each has its own pipe, whose end shows its death even within a batch, and a thread that waits for its answer:
    so batches wait here, and no process waits for the training.
    """

    def __init__(self, processes: int) -> None:
        self._count = processes
        self._processes: list[BaseProcess] = []
        self._free: SimpleQueue[Connection] = SimpleQueue()
        self._threads = ThreadPoolExecutor(processes)

    def drawn(self, jobs: Iterator[DrawingJob]) -> Iterator[LabelledImages]:
        """Yield each job's batch, in order. Raises TrainingError if a process has died."""
        if not self._processes:
            self._start()
        ahead = islice(jobs, AHEAD * self._count)
        under_way = deque(self._threads.submit(self._request, job) for job in ahead)
        while under_way:
            batch = under_way.popleft().result()
            under_way.extend(self._threads.submit(self._request, job) for job in islice(jobs, 1))
            yield batch

    def close(self) -> None:
        """End the processes; batches that are no longer needed are not drawn."""
        self._threads.shutdown(cancel_futures=True)
        for _ in self._processes:
            self._free.get().close()
        for process in self._processes:
            process.join()
        self._processes = []

    def _start(self) -> None:
        context = get_context("spawn")
        for _ in range(self._count):
            ours, theirs = context.Pipe()
            process = context.Process(target=_draw_for, args=(os.getpid(), theirs), daemon=True)
            process.start()
            theirs.close()
            self._processes.append(process)
            self._free.put(ours)

    def _request(self, job: DrawingJob) -> LabelledImages:
        drawer = self._free.get()
        try:
            drawer.send(job)
            drawn: LabelledImages = drawer.recv()
        except (EOFError, OSError):
            raise TrainingError("a process that draws frames was killed; continue with --resume") from None
        finally:
            self._free.put(drawer)
        return drawn


def _draw_for(parent: int, client: Connection) -> None:
    """Draw the jobs of `parent` until it closes the pipe."""
    die_with(parent)
    # Ctrl-C is for the training process, which ends this one by `close`
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    cv2.setNumThreads(1)
    with suppress(EOFError, OSError):
        while True:
            client.send(draw(client.recv()))
