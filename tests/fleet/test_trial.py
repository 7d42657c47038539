"""A model beside the one that answers, on the same frames."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from edged.config import EnergyConfig, ModelConfig, WorkerConfig
from edged.errors import DeviceError, ModelError
from edged.fleet.trial import AnsweredFrame, check_comparable, compare, verify
from edged.model import reference
from edged.model.package import Model, load_model
from edged.model.scores import score_rule
from edged.pictures.prepare import Pixels
from tests.cli.command import DEVICES
from tests.cli.models import SIZE, convolutions_alone, small_network
from tests.e2e.fleet import variation
from tests.model.onnx_files import Network

FRAMES = 12
NUMPY = WorkerConfig(device="numpy")
WITHOUT = EnergyConfig(rails="none")


def model(path: Path) -> Model:
    return load_model(ModelConfig(path=path))


@pytest.fixture
def first(tmp_path: Path) -> Model:
    return model(small_network(tmp_path / "first.onnx"))


@pytest.fixture
def samples(first: Model) -> list[AnsweredFrame]:
    """Pictures, with the label that the first model gives by the reference."""
    random = np.random.default_rng(1)
    pictures = [random.integers(0, 256, (SIZE, SIZE, 3), np.uint8) for _ in range(FRAMES)]
    outputs = [reference.run(first.graph, reference.prepare(each[np.newaxis], first.input)) for each in pictures]
    return [
        AnsweredFrame(picture, first.labels[int(output.argmax())])
        for picture, output in zip(pictures, outputs, strict=True)
    ]


@pytest.mark.parametrize("device", DEVICES)
def test_a_model_that_answers_alike_agrees_with_every_published_label(
    first: Model, tmp_path: Path, device: str, samples: list[AnsweredFrame]
) -> None:
    second = model(variation(tmp_path / "second.onnx"))
    found = compare(first, second, WorkerConfig(device=device), WITHOUT, samples)
    assert found.agreement == 1.0
    assert found.before.frames == found.after.frames == FRAMES
    assert found.after.not_finite == 0
    assert found.after.p99_s is not None
    assert found.after.joules is None
    assert found.joules_note == "switched off by energy.rails: none"


def test_another_model_disagrees_and_one_without_finite_numbers_is_counted(
    first: Model, tmp_path: Path, samples: list[AnsweredFrame]
) -> None:
    odd = model(variation(tmp_path / "odd.onnx", amount=5.0))
    agreement = compare(first, odd, NUMPY, WITHOUT, samples).agreement
    assert agreement is not None
    assert agreement < 1.0
    with np.errstate(all="ignore"):
        broken = compare(first, model(variation(tmp_path / "nan.onnx", amount=1e30)), NUMPY, WITHOUT, samples)
    assert (broken.after.not_finite, broken.agreement) == (FRAMES, 0.0)


def test_labels_of_a_network_with_one_output_are_those_that_the_daemon_publishes(
    tmp_path: Path, samples: list[AnsweredFrame]
) -> None:
    # given a network that answers how likely a label is, and another that answers the opposite
    one, opposite = (model(_with_one_output(tmp_path / f"{sign}.onnx", sign)) for sign in (1, -1))
    rule = score_rule(one)
    published = [
        AnsweredFrame(sample.pixels, one.labels[rule.best(rule.scores(_outputs(one, sample.pixels)), 1)[0].index])
        for sample in samples
    ]
    assert len({sample.label for sample in published}) == 2

    # when both are tried on frames that the first one has answered
    found = compare(one, opposite, NUMPY, WITHOUT, published)
    same = compare(one, one, NUMPY, WITHOUT, published)

    # then the one agrees with all of them, the other with none
    assert (same.agreement, found.agreement) == (1.0, 0.0)


def _with_one_output(path: Path, sign: int) -> Path:
    network = Network(["N", 3, SIZE, SIZE])
    network.add("GlobalAveragePool")
    network.add("Flatten")
    weights = np.array([[1.0], [-1.0], [0.0]], np.float32)  # red or green
    network.add("Gemm", network.weight(np.float32(sign * 100) * weights))
    network.add("Sigmoid")
    return network.save(path)


def _outputs(model: Model, pixels: Pixels) -> NDArray[np.float32]:
    return reference.run(model.graph, reference.prepare(pixels[np.newaxis], model.input)).reshape(-1)


def test_models_that_take_other_pictures_cannot_be_compared(first: Model, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="larger takes pictures of 24×24"):
        check_comparable(first, model(small_network(tmp_path / "larger.onnx", size=24)))
    with pytest.raises(ModelError, match="does not end in a fully connected layer"):
        check_comparable(model(convolutions_alone(tmp_path / "alone.onnx")), first)


@pytest.mark.skipif(len(DEVICES) == 1, reason="there is no OpenCL device")
def test_a_device_is_compared_with_the_reference(
    first: Model, samples: list[AnsweredFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    from edged.engine import verifying

    pictures = np.stack([sample.pixels for sample in samples[:2]])
    verify(first, WorkerConfig(device=DEVICES[-1]), pictures)
    monkeypatch.setattr(verifying.Verification, "is_trusted", property(lambda _: False))
    with pytest.raises(DeviceError, match="must not be trusted with first"):
        verify(first, WorkerConfig(device=DEVICES[-1]), pictures)
