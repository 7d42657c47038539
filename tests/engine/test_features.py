"""A network's features, read back beside its scores: what the reference has there, and nothing of the next job."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from edged.engine.device import Device
from edged.engine.runtime import Runtime
from edged.errors import ModelError
from edged.model import reference
from edged.model.cuts import cuts, part
from edged.model.graph import Float32
from edged.model.head import features_of
from edged.model.model_part import ModelPart, inner_part
from tests.engine.lab import assert_close
from tests.engine.networks import RGB, random_images, small_network

CLOSE = 1e-4  # of the range of the values
BATCH = 4

GRAPH = small_network()
FEATURES = features_of(GRAPH)


def truth(images: NDArray[np.uint8]) -> Float32:
    return reference.run_all(GRAPH, reference.prepare(images, RGB))[FEATURES.tensor].reshape(len(images), -1)


@pytest.mark.parametrize("unified", [True, False], ids=["shared memory", "memory of its own"])
def test_features_are_those_of_the_reference_for_as_many_frames_as_a_job_has(
    network_device: Device, programs_directory: Path, unified: bool
) -> None:
    device = replace(network_device, unified_memory=unified)
    runtime = Runtime(
        ModelPart(GRAPH, RGB, features=FEATURES.tensor), device, batch=BATCH, cache=programs_directory
    )

    for frames in (BATCH, 1, 3):
        images = random_images(RGB, frames)
        features = runtime.submit(images, features=True).wait().features
        assert features is not None
        assert_close(features, truth(images), CLOSE)


def test_features_are_of_their_own_job_whatever_follows_it(
    network_device: Device, programs_directory: Path
) -> None:
    runtime = Runtime(ModelPart(GRAPH, RGB, features=FEATURES.tensor), network_device, cache=programs_directory)
    several = [image[None] for image in random_images(RGB, 6)]

    pending = [runtime.submit(images, features=number % 2 == 0) for number, images in enumerate(several)]

    for number, (images, each) in enumerate(zip(several, pending, strict=True)):
        features = each.wait().features
        if number % 2:
            assert features is None
        else:
            assert features is not None
            assert_close(features, truth(images), CLOSE)


def test_scores_are_the_same_to_the_bit_with_features_or_without(
    network_device: Device, programs_directory: Path
) -> None:
    images = random_images(RGB, 1)
    plain = Runtime(ModelPart(GRAPH, RGB), network_device, cache=programs_directory)
    runtime = Runtime(ModelPart(GRAPH, RGB, features=FEATURES.tensor), network_device, cache=programs_directory)

    scores = runtime.submit(images, features=True).wait().outputs

    assert np.array_equal(scores, plain.submit(images).wait().outputs)
    assert runtime.kernels == plain.kernels


@pytest.mark.deep
def test_features_of_halves_come_as_floats(network_device: Device, programs_directory: Path) -> None:
    images = random_images(RGB, 1)
    runtime = Runtime(
        ModelPart(GRAPH, RGB, features=FEATURES.tensor), network_device, precision="fp16", cache=programs_directory
    )

    features = runtime.submit(images, features=True).wait().features

    assert features is not None
    assert features.dtype == np.float32
    assert_close(features, truth(images), 2e-2)


@pytest.mark.parametrize("before", [1, 0], ids=["a part with features inside", "a part that begins with them"])
def test_the_last_part_of_a_network_gives_them(
    network_device: Device, programs_directory: Path, before: int
) -> None:
    begin = [cut for cut in cuts(GRAPH) if cut.operators <= FEATURES.operators][-1 - before]
    first, last = part(GRAPH, None, begin), part(GRAPH, begin, None)
    images = random_images(RGB, 2)
    crossing = Runtime(inner_part(first, RGB), network_device, batch=2, cache=programs_directory)
    runtime = Runtime(
        ModelPart(last, None, features=FEATURES.tensor), network_device, batch=2, cache=programs_directory
    )
    between = crossing.submit(images).wait().outputs.reshape(2, *begin.shape)

    given = runtime.submit(between if len(begin.shape) == 3 else between[..., None, None], features=True).wait()

    assert given.features is not None
    assert_close(given.features, truth(images), CLOSE)


def test_a_job_that_wants_features_where_there_are_none_is_refused(
    network_device: Device, programs_directory: Path
) -> None:
    runtime = Runtime(ModelPart(GRAPH, RGB), network_device, cache=programs_directory)
    with pytest.raises(ModelError, match="has no features"):
        runtime.submit(random_images(RGB, 1), features=True)
