"""What a worker makes of the first answers of its device."""

from pathlib import Path

import numpy as np
import pytest

from edged import config
from edged.errors import DeviceError
from edged.model.model_part import Features, Images, whole_model
from edged.model.package import Model, load_model
from edged.runtime.numpy_runtime import NumpyPending, NumpyResult, NumpyRuntime
from edged.worker.warm_up import warm_up
from tests.cli.models import small_network


class Broken(NumpyRuntime):
    """Answers everything with NaN."""

    def submit(self, frames: Images | Features, *, features: bool = False, by_layer: bool = False) -> NumpyPending:
        class Nothing(NumpyPending):
            def wait(self) -> NumpyResult:
                result = super().wait()
                return NumpyResult(np.full_like(result.outputs, np.nan), result.forward_s)

        return Nothing(self._part, frames)


def model_in(folder: Path, largest: float) -> Model:
    return load_model(config.ModelConfig(path=small_network(folder / "model.onnx", largest=largest)))


def test_a_device_that_answers_with_nan_where_the_reference_has_numbers_is_refused(tmp_path: Path) -> None:
    model = model_in(tmp_path, largest=1.0)
    with pytest.raises(DeviceError, match="with NaN or infinity, where the reference has numbers"):
        warm_up(Broken(whole_model(model)), whole_model(model), config.WorkerConfig(device="cpu"))


def test_a_network_whose_own_answer_is_nan_is_logged_and_may_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model = model_in(tmp_path, largest=3e37)
    with np.errstate(all="ignore"):
        _, known = warm_up(
            NumpyRuntime(whole_model(model)), whole_model(model), config.WorkerConfig(device="numpy")
        )
    assert not np.isfinite(known.outputs).all()
    assert "answers even noise with NaN or infinity" in caplog.text


def test_half_precision_may_overflow_where_the_reference_does_not(tmp_path: Path) -> None:
    model = model_in(tmp_path, largest=1.0)
    _, known = warm_up(
        Broken(whole_model(model)), whole_model(model), config.WorkerConfig(device="cpu", precision="fp16")
    )
    assert np.isnan(known.outputs).all()
