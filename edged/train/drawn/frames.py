"""Frames that the network `digits` learns from and is measured with: a digit in a scene, or a scene alone."""

import cv2
import numpy as np

from edged.drawing.scene import compose, render
from edged.train.drawn.handwriting import Bytes, plain_mask, varied_mask

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


def placed(images: Bytes) -> Bytes:
    """MNIST's images as they are, each in a scene of its own, the same at each call: what is measured with."""
    rng = np.random.default_rng(SEED)
    return np.stack([draw_frame(rng, plain_mask(image)) for image in images])


def empty_frames(count: int = 2000) -> Bytes:
    """Frames without a digit, the same at each call."""
    rng = np.random.default_rng(SEED + 1)
    return np.stack([draw_frame(rng, None) for _ in range(count)])
