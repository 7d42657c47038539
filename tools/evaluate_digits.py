"""Measure the bundled model `digits` with onnxruntime; nothing here takes part in training.

  python -m tools.evaluate_digits MNIST_FOLDER

Three shares of right answers: MNIST's 10,000 test images placed in scenes, frames without a digit, and the
synthetic camera's own frames at 640×480 through the camera's preprocessing, with the worst run of 100 frames.
`--sheet mistakes.png` shows what went wrong.
"""

import argparse
from itertools import islice
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import onnxruntime

from edged.camera.sources.synthetic import draw_pictures
from edged.pictures.prepare import fitted
from edged.train.drawn.ahead import LABELS, NOTHING, SIDE, empty_frames
from edged.train.drawn.handwriting import Bytes
from edged.train.drawn.source import open_drawn

RUN = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mnist", type=Path, help="folder with MNIST's IDX files")
    parser.add_argument("--model", type=Path, default=Path("edged/model/bundled/digits.onnx"))
    parser.add_argument("--seeds", type=int, default=10, help="synthetic cameras, of seeds 1, 2, …")
    parser.add_argument("--frames", type=int, default=2000, help="frames of each synthetic camera")
    parser.add_argument("--sheet", type=Path, help="PNG for the mistakes on synthetic frames")
    options = parser.parse_args()
    network = Network(options.model)
    for name, (frames, truths) in {"MNIST": written(options.mnist), "no digit": empty()}.items():
        print(f"{name}: {np.mean(network.answers(frames) == truths):.4f} of {len(truths)} right", flush=True)
    mistakes: list[Bytes] = []
    shares = [measure_camera(network, seed, options.frames, mistakes) for seed in range(1, options.seeds + 1)]
    print(f"synthetic cameras: {np.mean(shares):.4f} of {options.seeds * options.frames} right")
    if options.sheet and mistakes:
        cv2.imwrite(str(options.sheet), contact_sheet(mistakes))


def written(mnist: Path) -> tuple[Bytes, npt.NDArray[np.int32]]:
    """MNIST's test images in scenes, and their labels."""
    test = open_drawn(mnist, replays=1, processes=1, seed=0).test
    assert test, "there are no t10k files"
    return test.images, test.labels


def empty() -> tuple[Bytes, npt.NDArray[np.int32]]:
    """Return frames without a digit, each with the label for none."""
    frames = empty_frames()
    return frames, np.full(len(frames), NOTHING, np.int32)


class Network:
    """The model file, through onnxruntime, with the input that its metadata asks for left as constants here."""

    def __init__(self, path: Path) -> None:
        self._session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])

    def answers(self, frames: Bytes) -> npt.NDArray[np.int64]:
        """Class indices of frames uint8 [n, 120, 120, 3]."""
        parts = [self._scores(frames[start : start + RUN]) for start in range(0, len(frames), RUN)]
        return np.asarray(np.concatenate(parts).argmax(1), np.int64)

    def _scores(self, frames: Bytes) -> npt.NDArray[np.float32]:
        image = (frames.transpose(0, 3, 1, 2) / np.float32(255) - np.float32(0.5)) / np.float32(0.25)
        scores: npt.NDArray[np.float32] = self._session.run(None, {"image": image})[0]
        return scores


def measure_camera(network: Network, seed: int, count: int, mistakes: list[Bytes]) -> float:
    """Print and return the share of right answers; collect one frame a second of those that were wrong."""
    pictures = [(fitted(p.pixels, SIDE, SIDE), p.truth) for p in islice(draw_pictures(seed, 640, 480, 30), count)]
    answers = network.answers(np.stack([frame for frame, _ in pictures]))
    right = np.array([LABELS[answer] == truth for answer, (_, truth) in zip(answers, pictures, strict=True)])
    worst = np.convolve(right, np.ones(RUN, int), "valid").min()
    print(f"synthetic camera, seed {seed}: {right.mean():.4f} right; worst run: {worst} of {RUN}", flush=True)
    for index in np.flatnonzero(~right)[::6]:
        mistakes.append(
            captioned(pictures[index][0], f"{seed}:{index} {pictures[index][1]}->{LABELS[answers[index]]}")
        )
    return float(right.mean())


def captioned(frame: Bytes, caption: str) -> Bytes:
    """Return the frame twice as large, with a line of text below."""
    large = cv2.resize(frame[..., ::-1], (2 * SIDE, 2 * SIDE), interpolation=cv2.INTER_NEAREST)
    foot = cv2.putText(np.zeros((24, 2 * SIDE, 3), np.uint8), caption, (4, 18), 0, 0.5, (255, 255, 255), 1)
    return np.vstack([large, foot])


def contact_sheet(pictures: list[Bytes], columns: int = 6, most: int = 36) -> Bytes:
    """Return the first `most` pictures side by side."""
    shown = pictures[:most]
    shown += [np.zeros_like(shown[0])] * (-len(shown) % columns)
    return np.vstack([np.hstack(shown[start : start + columns]) for start in range(0, len(shown), columns)])


if __name__ == "__main__":
    main()
