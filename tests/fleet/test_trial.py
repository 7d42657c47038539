"""A model beside the one that answers, on the same frames."""

from pathlib import Path

import numpy as np
import pytest

from edged.config import EnergyConfig, ModelConfig, WorkerConfig
from edged.errors import DeviceError, ModelError
from edged.fleet.trial import AnsweredFrame, check_comparable, compare, verify
from edged.model import reference
from edged.model.package import Model, load_model
from tests.cli.command import DEVICES
from tests.cli.models import SIZE, convolutions_alone, small_network
from tests.e2e.fleet import variation

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
