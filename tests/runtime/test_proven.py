"""A device is opened for a network once it agrees with the reference; that is remembered."""

from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from edged import config
from edged.engine import proving
from edged.engine.proofs import Proofs
from edged.errors import DeviceError
from edged.model import reference
from edged.model.model_part import whole_model
from edged.model.package import Model, load_model
from edged.runtime.proven import Proven, open_proven, proofs_folder
from edged.runtime.select import opencl_device
from edged.worker.warm_up import make_ready
from tests.cli.models import small_network
from tests.e2e.daemon import compiled
from tests.engine.wrong_kernels import RELU_IS_MIN, WRONG_VECTOR, wrong_kernel

CPU = config.WorkerConfig(device="cpu")


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return load_model(config.ModelConfig(path=small_network(tmp_path / "small.onnx")))


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache without proofs, but with the programs that other tests have compiled."""
    programs = compiled() / "edged" / "programs"
    programs.mkdir(parents=True, exist_ok=True)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "programs").symlink_to(programs)
    return tmp_path / "cache" / "programs"


def agrees(proven: Proven, model: Model) -> bool:
    part = whole_model(model)
    frames = part.noise(1)
    found = proven.runtime.submit(frames).wait().outputs
    proven.runtime.close()
    return np.allclose(found, part.truth(frames), rtol=0, atol=1e-4)


def test_a_warm_start_compares_nothing(model: Model, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert agrees(open_proven(whole_model(model), CPU, cache=cache), model)
    monkeypatch.setattr(proving, "examine", None)

    assert agrees(open_proven(whole_model(model), CPU, cache=cache), model)

    [proof] = Proofs(proofs_folder(cache), opencl_device("cpu")).all_proofs()
    assert (proof.model, proof.sha256, proof.precision) == (model.name, model.sha256, "fp32")
    assert "average_pool" in proof.variants


def test_another_network_is_compared_again(model: Model, cache: Path, tmp_path: Path) -> None:
    open_proven(whole_model(model), CPU, cache=cache).runtime.close()
    other = load_model(config.ModelConfig(path=small_network(tmp_path / "other.onnx", largest=0.5)))

    open_proven(whole_model(other), CPU, cache=cache).runtime.close()

    assert len(list(Proofs(proofs_folder(cache), opencl_device("cpu")).all_proofs())) == 2


def test_another_variant_takes_over_and_that_is_remembered(
    model: Model, cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with wrong_kernel(WRONG_VECTOR):
        first = open_proven(whole_model(model), CPU, cache=cache)
        assert agrees(first, model)
        monkeypatch.setattr(proving, "examine", None)
        second = open_proven(whole_model(model), CPU, cache=cache)
        assert agrees(second, model)

    [left_out] = first.excluded_variants
    assert left_out.startswith("conv_vector for Conv 3×16×16 → 8×16×16")
    assert second.excluded_variants == first.excluded_variants
    assert "conv_vector for Conv 3×16×16" in caplog.text


def test_a_kernel_that_was_mended_is_used_again(model: Model, cache: Path) -> None:
    with wrong_kernel(WRONG_VECTOR):
        open_proven(whole_model(model), CPU, cache=cache).runtime.close()

    assert open_proven(whole_model(model), CPU, cache=cache).excluded_variants == ()


def test_a_device_that_is_wrong_by_every_variant_is_refused(
    model: Model, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with wrong_kernel(RELU_IS_MIN):
        with pytest.raises(DeviceError, match=r"computes .* \(Conv 3×16×16 .* wrongly by every variant"):
            open_proven(whole_model(model), CPU, cache=cache)
        monkeypatch.setattr(proving, "examine", None)  # nor is it compared again at the next start
        with pytest.raises(DeviceError, match="wrongly by every variant"):
            open_proven(whole_model(model), CPU, cache=cache)


def test_a_cache_that_cannot_be_written_costs_no_more_than_the_next_comparison(
    model: Model, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    proofs_folder(cache).write_text("")

    assert agrees(open_proven(whole_model(model), CPU, cache=cache), model)

    assert "the proof of a device cannot be kept" in caplog.text


def test_a_device_that_could_not_be_compared_serves_and_is_compared_at_the_next_start(
    model: Model, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(*_: object) -> NoReturn:
        raise MemoryError("Unable to allocate 512. MiB for an array")

    with monkeypatch.context() as short:
        short.setattr(reference, "run", no_memory)
        assert agrees(open_proven(whole_model(model), CPU, cache=cache), model)
    assert not list(Proofs(proofs_folder(cache), opencl_device("cpu")).all_proofs())

    open_proven(whole_model(model), CPU, cache=cache).runtime.close()

    assert len(list(Proofs(proofs_folder(cache), opencl_device("cpu")).all_proofs())) == 1


def test_a_fault_of_the_comparison_is_one_line_that_names_it_and_what_to_do(
    model: Model, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(*_: object) -> NoReturn:
        raise ValueError("cannot reshape array of size 5\ninto shape (1,5,1,5)")

    monkeypatch.setattr(reference, "run", faulty)

    with pytest.raises(
        DeviceError, match=r"device cpu: small cannot .* size 5 into shape .*: a fault of edged"
    ) as found:
        open_proven(whole_model(model), CPU, cache=cache)

    assert "name another device in `workers:`" in str(found.value)
    assert "\n" not in str(found.value)


def test_a_fault_of_the_reference_ends_no_worker_with_a_traceback(
    model: Model, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(*_: object) -> NoReturn:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(reference, "compute", faulty)

    with pytest.raises(DeviceError, match=r"device numpy: small cannot .* \(ZeroDivisionError: division by zero"):
        make_ready(whole_model(model), config.WorkerConfig(device="numpy"), cache)


def test_numpy_is_the_reference_and_needs_no_proof(model: Model, cache: Path) -> None:
    assert agrees(open_proven(whole_model(model), config.WorkerConfig(device="numpy"), cache=cache), model)
    assert not proofs_folder(cache).exists()
