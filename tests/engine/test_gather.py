"""The first kernels of a training step."""

import numpy as np
import pytest

from edged.engine.gradients.batch import BatchImages, gather, gather_features, gather_vectors
from edged.engine.launch import Resident
from edged.engine.layout import Halo, Tensor
from edged.model import reference
from edged.model.package import Input
from tests.engine.bench import Bench
from tests.engine.lab import Lab, assert_close, random
from tests.engine.training import BGR, IMAGES, ORDER
from tests.train.reference.network import augment


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


@pytest.mark.parametrize(("block", "flip", "shift"), [(16, False, 0), (4, True, 2)])
def test_images_are_normalised_moved_and_flattened(lab: Lab, block: int, flip: bool, shift: int) -> None:
    target = Tensor("batch", 1, 90, 1, 4, block, Halo(0, 1, 0, 1))
    images, order = Resident("images", IMAGES.nbytes), Resident("order", ORDER.nbytes)
    launches = gather_vectors(BatchImages(images, order, BGR, flip, shift), target, lab.device)
    bench = Bench(lab, launches, {images: IMAGES, order: ORDER})

    bench.run(first=np.int32(2), seed=np.uint32(7), step=np.uint32(11))

    moved = augment(IMAGES[ORDER[2:]], 7, 11, flip=flip, shift=shift)
    assert_close(bench.image(target)[0, :, 0].T, reference.prepare(moved, BGR).reshape(4, 90))


def test_the_bytes_of_gray_images_are_taken_as_they_lie(lab: Lab) -> None:
    gray, target = Input(5, 6, "gray", 1 / 255, (0.1,), (0.5,)), Tensor("batch", 1, 30, 1, 6, 4)
    pixels = np.ascontiguousarray(IMAGES[..., :1])
    images, order = Resident("images", pixels.nbytes), Resident("order", ORDER.nbytes)
    bench = Bench(
        lab, gather_vectors(BatchImages(images, order, gray), target, lab.device), {images: pixels, order: ORDER}
    )

    bench.run(first=np.int32(0))

    assert_close(bench.image(target)[0, :, 0].T, (pixels[ORDER].reshape(6, 30) / 255.0 - 0.1) / 0.5)


@pytest.mark.parametrize("block", [4, 16])
def test_vectors_become_the_pixels_of_one_row(lab: Lab, block: int) -> None:
    vectors, target = random(9, 21), Tensor("batch", 1, 21, 1, 4, block, Halo(0, 1, 0, 1))
    features, order = Resident("features", vectors.nbytes), Resident("order", ORDER.nbytes)
    bench = Bench(lab, gather_features(features, order, target, lab.device), {features: vectors, order: ORDER})

    bench.run(first=np.int32(2))

    assert np.array_equal(bench.image(target)[0, :, 0].T, vectors[ORDER[2:]])
