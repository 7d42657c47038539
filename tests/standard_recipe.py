"""The usual preparation of ImageNet's pictures, written down plainly and apart from edged.

Pillow's BILINEAR (a triangle as wide as the shrinking, columns before rows, rounded between), torchvision's Resize
and CenterCrop: compared with both, pixel by pixel.
"""

import numpy as np
from numpy.typing import NDArray

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def of_16_bits(values: NDArray[np.uint16]) -> NDArray[np.uint8]:
    """65535 as 255, and all others in proportion, rounded."""
    return np.rint(values / 257).astype(np.uint8)


def without_alpha(pixels: NDArray[np.uint8], *, is_multiplied: bool = False) -> NDArray[np.uint8]:
    """The colours of [height, width, 4], which may have been multiplied by alpha."""
    colours, alpha = pixels[..., :3], pixels[..., 3:]
    if not is_multiplied:
        return colours
    return np.rint(np.minimum(colours / np.maximum(alpha / 255, 1 / 255), 255)).astype(np.uint8)


def centre_of(pixels: NDArray[np.uint8], side: int = 224) -> NDArray[np.uint8]:
    """The shorter side resized to 256/224 of `side`, then the centre: uint8 [side, side, 3]."""
    height, width = pixels.shape[:2]
    shorter = round(side * 256 / 224)
    longer = int(shorter * max(height, width) / min(height, width))
    size = (longer, shorter) if height >= width else (shorter, longer)
    left, top = round((size[1] - side) / 2), round((size[0] - side) / 2)
    return _resized(pixels, *size)[top : top + side, left : left + side]


def normalised(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    """float32 [1, 3, height, width]."""
    return ((pixels / 255 - MEAN) / STD).astype(np.float32).transpose(2, 0, 1)[np.newaxis]


def _resized(pixels: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    across = np.einsum("ow,hwc->hoc", _weights(pixels.shape[1], width), pixels.astype(float))
    rounded = np.floor(across + 0.5).clip(0, 255)
    down: NDArray[np.float64] = np.einsum("oh,hwc->owc", _weights(pixels.shape[0], height), rounded)
    return np.floor(down + 0.5).astype(np.uint8)


def _weights(size: int, wanted: int) -> NDArray[np.float64]:
    """[wanted, size], each row a mean."""
    scale = size / wanted
    width = max(scale, 1.0)
    rows = np.zeros((wanted, size))
    for output in range(wanted):
        centre = (output + 0.5) * scale
        for pixel in range(max(int(centre - width + 0.5), 0), min(int(centre + width + 0.5), size)):
            rows[output, pixel] = max(1 - abs(pixel + 0.5 - centre) / width, 0)
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))
