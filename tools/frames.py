"""Frames that a network for digits is trained on and measured with: a digit in a scene, or a scene alone."""

from pathlib import Path

import cv2
import numpy as np

from edged.drawing.scene import compose, render
from tools.handwriting import Bytes, plain_mask, read_mnist, varied_mask

SIDE = 120
NOTHING = 10
LABELS = (*"0123456789", "nothing")
SEED = 20261121


def draw_frame(rng: np.random.Generator, mask: Bytes | None, width: int = 160) -> Bytes:
    """uint8 [120, 120, 3] RGB: the scene at width × 120, stretched to the network's input as a camera does."""
    frame = render(rng, compose(rng, width, SIDE, mask), rng.random())
    return np.asarray(cv2.resize(frame, (SIDE, SIDE), interpolation=cv2.INTER_AREA), np.uint8)


def draw_training_frame(rng: np.random.Generator, image: Bytes, digit: int) -> Bytes:
    """Varied writing (or nothing), in a frame of 4:3 as a rule, else square or 16:9."""
    mask = None if digit == NOTHING else varied_mask(rng, image, digit)
    return draw_frame(rng, mask, int(rng.choice([160, 120, 213], p=[0.6, 0.2, 0.2])))


def mnist_frames(mnist: Path) -> tuple[Bytes, Bytes]:
    """MNIST's 10,000 test images placed with a fixed seed: frames uint8 [n, 120, 120, 3], labels uint8 [n]."""
    images, labels = read_mnist(mnist, "t10k")
    rng = np.random.default_rng(SEED)
    return np.stack([draw_frame(rng, plain_mask(image)) for image in images]), labels


def empty_frames(count: int = 2000) -> tuple[Bytes, Bytes]:
    """Frames without a digit, drawn with a fixed seed, and their labels."""
    rng = np.random.default_rng(SEED + 1)
    return np.stack([draw_frame(rng, None) for _ in range(count)]), np.full(count, NOTHING, np.uint8)
