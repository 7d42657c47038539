"""CastLike: the Cast to the type of another tensor."""

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from edged.errors import ModelError
from edged.model import reference
from edged.model.onnx_reader import read_onnx
from edged.model.passes import simplify
from tests.model.onnx_files import Network, onnxruntime_outputs


def _cast_like(name: str) -> Network:
    network = Network([1, 3, 4, 5], opset=23)
    dtype = helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(name))
    like = network.weight(np.ones(1, np.float32))
    network.weights[-1].CopyFrom(numpy_helper.from_array(np.ones(1, dtype), like))
    network.add("CastLike", like)
    network.add("Cast", to=TensorProto.FLOAT)
    return network


@pytest.mark.parametrize("name", ["FLOAT8E5M2", "INT8", "BOOL", "DOUBLE"])
def test_a_cast_like_another_tensor_is_a_cast(tmp_path: Path, name: str) -> None:
    network = _cast_like(name)
    network.add("Flatten", axis=1)
    path = network.save(tmp_path / "net.onnx")
    x = np.random.default_rng(0).standard_normal((1, 3, 4, 5)).astype(np.float32)

    found = reference.run(simplify(read_onnx(path)), x)

    assert np.array_equal(found, onnxruntime_outputs(path, x))


@pytest.mark.parametrize("name", ["FLOAT8E4M3FN", "FLOAT8E5M2FNUZ", "FLOAT4E2M1", "INT4", "UINT4"])
def test_a_cast_like_a_type_that_is_not_supported_is_rejected(tmp_path: Path, name: str) -> None:
    network = _cast_like(name)

    with pytest.raises(ModelError, match=f"casts to {name}; supported are FLOAT, FLOAT16"):
        read_onnx(network.save(tmp_path / "net.onnx"))
