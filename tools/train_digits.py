"""Train the bundled model `digits` on MNIST's training images, placed as a camera would see them.

Needs PyTorch, which edged itself does not:
  pip install torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu
Then, in the repository, with the four MNIST IDX files (plain or .gz) in a folder:
  python -m tools.train_digits MNIST_FOLDER
  python -m tools.evaluate_digits MNIST_FOLDER

Frames are drawn by worker processes while the network learns; each frame is seen `--replays` times, in other
colours. Interrupted, it goes on from its checkpoint.
"""

import argparse
import math
import time
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import onnx
import torch
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from edged.train.drawn.frames import NOTHING, draw_training_frame
from edged.train.drawn.handwriting import Bytes, turned
from edged.train.drawn.source import WRITTEN
from edged.train.idx import read_idx
from tools.digits_net import Digits, flip_colours, normalise, to_onnx

BATCH = 128
EMPTY_SHARE = 0.2  # frames without a digit, for each with one

Batch = tuple[Bytes, Bytes]
Job = tuple[tuple[int, ...], Bytes, Bytes]


class Tally:
    """What an epoch has come to so far; says so every 200 steps."""

    def __init__(self, epoch: int) -> None:
        self._epoch = epoch
        self._began = time.monotonic()
        self._steps = self._frames = self._right = 0
        self._loss = 0.0

    def add(self, frames: int, loss: float, right: int) -> None:
        """Count a step."""
        self._steps, self._frames = self._steps + 1, self._frames + frames
        self._loss, self._right = self._loss + loss, self._right + right
        if self._steps % 200 == 0:
            self.show()

    def show(self) -> None:
        """One line."""
        took, loss, right = time.monotonic() - self._began, self._loss / self._steps, self._right / self._frames
        head = f"epoch {self._epoch}: {self._steps} steps, {took:.0f} s"
        print(f"{head}, loss {loss:.4f}, {right:.4f} right", flush=True)


def main() -> None:
    """Parse, train, export."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mnist", type=Path, help="folder with MNIST's IDX files")
    parser.add_argument("--output", type=Path, default=Path("edged/model/bundled/digits.onnx"))
    parser.add_argument("--checkpoint", type=Path, default=Path("digits.pt"))
    parser.add_argument("--epochs", type=int, default=6, help="times that every digit is drawn anew")
    parser.add_argument("--replays", type=int, default=3, help="times that each drawn frame is learnt from")
    parser.add_argument("--workers", type=int, default=2, help="processes that draw")
    parser.add_argument("--threads", type=int, default=1, help="of the network; the result repeats with 1 alone")
    parser.add_argument("--rate", type=float, default=3e-3, help="peak of the learning rate")
    parser.add_argument("--start", type=Path, help="checkpoint of an earlier run: go on with its averaged network")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    onnx.save(to_onnx(train(options)), options.output)
    print(f"wrote {options.output} ({options.output.stat().st_size} bytes)")


def train(options: argparse.Namespace) -> Digits:
    """The averaged network (exponential moving average of the weights) after all epochs."""
    training, _, _ = read_idx(options.mnist, None, WRITTEN)
    images, labels = training.images[..., 0], training.labels.astype(np.uint8)
    steps = options.epochs * options.replays * -(-_frames(labels) // BATCH)
    start = averaged(options.start) if options.start else Digits()
    net: Digits = start.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    mean = _averaging(net)
    learner = torch.optim.AdamW(net.parameters(), options.rate, weight_decay=0.05)
    rate = torch.optim.lr_scheduler.LambdaLR(learner, lambda step: _rate(step / steps))
    parts: dict[str, Any] = {"net": net, "mean": mean, "learner": learner, "rate": rate}
    first = _resume(options.checkpoint, parts)
    with get_context("spawn").Pool(options.workers, cv2.setNumThreads, (1,)) as pool:
        for epoch in range(first, options.epochs):
            drawn = pool.imap(draw_batch, _jobs(images, labels, options.seed, epoch))
            tally = Tally(epoch)
            for frames, truths in _replayed(drawn, options.replays, options.seed + epoch):
                tally.add(len(truths), *_learn(net, learner, frames, truths))
                rate.step()
                mean.update_parameters(net)
            states = {key: part.state_dict() for key, part in parts.items()}
            torch.save(states | {"epoch": epoch}, options.checkpoint)
            tally.show()
    return averaged(options.checkpoint)


def averaged(checkpoint: Path) -> Digits:
    """The averaged network of a run, ready to answer."""
    mean = _averaging(Digits())
    mean.load_state_dict(torch.load(checkpoint, weights_only=True)["mean"])
    assert isinstance(mean.module, Digits)
    return mean.module.eval()


def _averaging(net: Digits) -> AveragedModel:
    average = get_ema_multi_avg_fn(0.998)  # type: ignore[no-untyped-call]
    return AveragedModel(net, multi_avg_fn=average, use_buffers=True)


def _rate(progress: float) -> float:
    """Share of the peak rate: up in a line over a twentieth of the steps, then down a cosine."""
    return min(1.0, 20 * progress) * (0.5 + 0.5 * math.cos(math.pi * min(1.0, progress)))


def draw_batch(job: Job) -> Batch:
    """Frames uint8 [n, 120, 120, 3] and labels, always the same for the same job."""
    seed, images, labels = job
    rng = np.random.default_rng(seed)
    digits = [turned(rng, image, int(label)) for image, label in zip(images, labels, strict=True)]
    frames = [draw_training_frame(rng, image, digit) for image, digit in digits]
    return np.stack(frames), np.array([digit for _, digit in digits], np.uint8)


def _frames(labels: Bytes) -> int:
    return round(len(labels) * (1 + EMPTY_SHARE))


def _jobs(images: Bytes, labels: Bytes, seed: int, epoch: int) -> Iterator[Job]:
    """One epoch: every digit once, and frames without one between them."""
    order = np.random.default_rng((seed, epoch)).permutation(_frames(labels))
    for start in range(0, len(order), BATCH):
        chosen = order[start : start + BATCH]
        empty = chosen >= len(labels)
        chosen = np.where(empty, 0, chosen)
        yield (seed, epoch, start), images[chosen], np.where(empty, NOTHING, labels[chosen]).astype(np.uint8)


def _replayed(drawn: Iterator[Batch], replays: int, seed: int) -> Iterator[Batch]:
    """The batches as they are drawn, then again from memory in other orders and colours."""
    rng = np.random.default_rng(seed)
    kept = []
    for batch in drawn:
        kept.append(batch)
        yield batch
    for _ in range(replays - 1):
        for index in rng.permutation(len(kept)):
            frames, truths = kept[index]
            yield flip_colours(frames, rng), truths


def _learn(net: Digits, learner: torch.optim.Optimizer, frames: Bytes, truths: Bytes) -> tuple[float, int]:
    """One step; bfloat16 where it is safe. Returns the loss and how many were right."""
    net.train()
    target = torch.from_numpy(truths.astype(np.int64))
    with torch.autocast("cpu", torch.bfloat16):
        scores = net(normalise(torch.from_numpy(frames)))
    loss = torch.nn.functional.cross_entropy(scores.float(), target, label_smoothing=0.05)
    learner.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    learner.step()
    return loss.item(), int((scores.argmax(1) == target).sum())


def _resume(checkpoint: Path, parts: dict[str, Any]) -> int:
    """Load the parts where there is a checkpoint; the epoch to go on with."""
    if not checkpoint.exists():
        return 0
    saved = torch.load(checkpoint, weights_only=True)
    for key, part in parts.items():
        part.load_state_dict(saved[key])
    return int(saved["epoch"]) + 1


if __name__ == "__main__":
    main()
