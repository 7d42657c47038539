"""Files with codebooks: other runtimes read them, and edged."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from edged import config
from edged.compress.codebook import share
from edged.compress.coded_file import coded
from edged.compress.pruning import pruned
from edged.compress.weights import weights_of, with_weights
from edged.errors import ModelError
from edged.model import reference
from edged.model.package import load_model
from tests.cli.models import small_network
from tests.compress.networks import network
from tests.model.onnx_files import onnxruntime_outputs, relative_error

IMAGES = np.random.default_rng(3).normal(size=(1, 3, 16, 16)).astype(np.float32)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def both(tmp_path: Path, plain: Path, entries: int, zeros: float) -> tuple[Path, Path]:
    """The network with shared weights as plain floats, and with codebooks."""
    model = onnx.load(str(plain))
    weights = pruned(weights_of(model, "small"), zeros)
    codebooks = {name: share(values, entries) for name, values in weights.items()}
    expected, found = tmp_path / "expected.onnx", tmp_path / "found.onnx"
    onnx.save(with_weights(model, {name: each.values for name, each in codebooks.items()}), str(expected))
    onnx.save(coded(model, codebooks), str(found))
    return expected, found


@pytest.mark.parametrize(("entries", "zeros"), [(256, 0.0), (16, 0.0), (16, 0.9)])
@pytest.mark.parametrize("ir_version", [3, 9])
def test_onnxruntime_and_edged_compute_the_shared_weights(
    tmp_path: Path, entries: int, zeros: float, ir_version: int
) -> None:
    plain = network(tmp_path / "net.onnx", ir_version=ir_version)

    expected, found = both(tmp_path, plain, entries, zeros)

    scores = onnxruntime_outputs(expected, IMAGES)
    assert relative_error(onnxruntime_outputs(found, IMAGES), scores) < 1e-6
    graph = load_model(config.ModelConfig(path=found)).graph
    assert relative_error(reference.run(graph, IMAGES), scores) < 1e-5
    assert found.stat().st_size < plain.stat().st_size / 2.5


def test_float16_stays_float16(tmp_path: Path) -> None:
    expected, found = both(tmp_path, network(tmp_path / "net.onnx", dtype=np.float16), 16, 0.5)

    images = IMAGES.astype(np.float16)
    assert np.array_equal(onnxruntime_outputs(found, images), onnxruntime_outputs(expected, images))


def test_metadata_is_kept(tmp_path: Path) -> None:
    _, found = both(tmp_path, network(tmp_path / "net.onnx"), 16, 0.0)

    kept = {entry.key: entry.value for entry in onnx.load(str(found)).metadata_props}
    assert kept == {"edged.preprocess": "unit", "author": "somebody"}


def test_a_network_without_large_weights_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="small: has no weights worth compressing"):
        weights_of(onnx.load(str(small_network(tmp_path / "small.onnx", channels=1))), "small")
