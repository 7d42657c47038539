"""A batch of images from those on the device."""

import numpy as np
import pytest

from edged.engine.gradients.gather import BatchImages, gather
from edged.engine.launch import Resident
from edged.engine.layout import Halo, Tensor
from edged.model import reference
from edged.model.package import Input
from edged.train.reference.network import augment
from tests.engine.bench import Bench
from tests.engine.lab import Lab, assert_close
from tests.engine.training import BGR, IMAGES, ORDER


@pytest.mark.parametrize(("block", "flip", "shift"), [(1, False, 0), (1, True, 2), (4, True, 0), (16, False, 3)])
def test_images_are_normalised_and_moved_as_the_reference_says(
    lab: Lab, block: int, flip: bool, shift: int
) -> None:
    target = Tensor("batch", 4, 3, 6, 5, block, Halo(1, 1, 1, 1))
    images, order = Resident("images", IMAGES.nbytes), Resident("order", ORDER.nbytes)
    launches = gather(BatchImages(images, order, BGR, flip, shift), target, lab.device)
    bench = Bench(lab, launches, {images: IMAGES, order: ORDER})

    bench.run(first=np.int32(2), seed=np.uint32(7), step=np.uint32(11))

    moved = augment(IMAGES[ORDER[2:]], 7, 11, flip=flip, shift=shift)
    assert_close(bench.image(target), reference.prepare(moved, BGR))


def test_a_gray_image_has_one_channel(lab: Lab) -> None:
    gray, target = Input(5, 6, "gray", 1 / 255, (0.1,), (0.5,)), Tensor("batch", 6, 1, 6, 5, 1)
    pixels = np.ascontiguousarray(IMAGES[..., :1])
    images, order = Resident("images", pixels.nbytes), Resident("order", ORDER.nbytes)
    bench = Bench(
        lab, gather(BatchImages(images, order, gray), target, lab.device), {images: pixels, order: ORDER}
    )

    bench.run(first=np.int32(0))

    assert_close(bench.image(target), (pixels[ORDER] / 255.0 - 0.1).transpose(0, 3, 1, 2) / 0.5)
