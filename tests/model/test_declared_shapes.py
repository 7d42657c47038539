"""Shapes and types that a file declares, beside those that its nodes write; onnxruntime judges likewise."""

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, ValueInfoProto, helper, shape_inference

from edged.errors import ModelError
from edged.model import reference
from edged.model.from_onnx.file import read_file
from edged.model.from_onnx.order import nodes_of
from edged.model.graph import Pair
from edged.model.onnx_reader import read_network, read_onnx
from tests.cli.models import small_network
from tests.model.onnx_files import Network, onnxruntime_outputs, relative_error
from tests.model.random_networks import networks

Change = Callable[[onnx.ModelProto], None]
Dims = Sequence[int | str] | None


def tensor(name: str, dims: Dims, kind: int = TensorProto.FLOAT) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, dims)


def between(*dims: int | str, kind: int = TensorProto.FLOAT, name: str = "a") -> Change:
    """Declare a tensor between two nodes; `a` is [1, 8, 16, 16]."""
    return lambda model: model.graph.value_info.append(tensor(name, dims, kind))


def at_the_end(*dims: int | str, kind: int = TensorProto.FLOAT) -> Change:
    """Declare the output, which is [1, 5], as something else."""
    return lambda model: model.graph.output[0].CopyFrom(tensor("scores", dims, kind))


def input_of(*dims: int | str) -> Change:
    return lambda model: model.graph.input[0].CopyFrom(tensor("image", dims))


def weights(dims: Sequence[int], kind: int = TensorProto.FLOAT) -> Change:
    """Declare the weights as an input that has a default, as older exporters do."""
    return lambda model: model.graph.input.append(tensor("kernel", dims, kind))


def file_with(folder: Path, *changes: Change) -> Path:
    path = small_network(folder / "model.onnx")
    model = onnx.load(str(path))
    for change in changes:
        change(model)
    path.write_bytes(model.SerializeToString())
    return path


def contradictions(path: Path, size: Pair | None = None) -> tuple[str, ...]:
    return read_network(read_file(path), size).contradictions


A = "node first (Conv) writes a of the shape [1, 8, 16, 16], but the file declares "
SCORES = "node last (Gemm) writes scores of the shape [1, 5], but the file declares "


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([between(1, 7, 16, 16)], f"{A}[1, 7, 16, 16]"),
        ([between("N", 8, "rows", 15)], f"{A}[N, 8, rows, 15]"),
        ([between(1, 8, 16)], f"{A}[1, 8, 16]"),
        ([between(4, 8, 16, 16)], f"{A}[4, 8, 16, 16]"),
        ([input_of("N", 3, 16, 16), at_the_end("N", 5), between("N", 16, 16, 16)], f"{A}[N, 16, 16, 16]"),
        ([at_the_end(1, 6)], f"{SCORES}[1, 6]"),
        ([at_the_end(1, 5, 1, 1)], f"{SCORES}[1, 5, 1, 1]"),
    ],
)
def test_a_shape_other_than_computed_is_named_and_the_computed_one_counts(
    tmp_path: Path, changes: Sequence[Change], message: str
) -> None:
    path = file_with(tmp_path, *changes)
    x = np.random.default_rng(0).standard_normal((1, 3, 16, 16)).astype(np.float32)

    assert contradictions(path) == (message,)
    assert relative_error(reference.run(read_onnx(path), x), onnxruntime_outputs(path, x)) < 1e-5


@pytest.mark.parametrize(
    "changes",
    [
        [between(1, 8, 16, 16), at_the_end(1, 5)],
        [between("N", "channels", "rows", "columns"), at_the_end("N", "classes")],
        [between(-1, 8, 16, 16)],
        [between(1, 7, name="no tensor of the file")],
        [between(1, 7, name="image")],
        [input_of("N", 3, 16, 16), between(1, 8, 16, 16), at_the_end(1, 5)],
        [input_of("N", 3, 16, 16), between(4, 8, 16, 16), at_the_end("N", 5)],
        [input_of(4, 3, 16, 16), between(4, 8, 16, 16), at_the_end(4, 5)],
    ],
)
def test_what_is_open_in_a_file_contradicts_nothing(tmp_path: Path, changes: Sequence[Change]) -> None:
    assert contradictions(file_with(tmp_path, *changes)) == ()


def test_sizes_that_the_input_leaves_open_contradict_nothing_but_dimensions_do(tmp_path: Path) -> None:
    is_open = input_of("N", 3, "rows", "columns")
    of_another_size = file_with(tmp_path, is_open, between("N", 8, 224, 224), at_the_end("N", 5))

    assert contradictions(of_another_size, (16, 16)) == ()
    assert contradictions(file_with(tmp_path, is_open, between("N", 8)), (16, 16)) == (f"{A}[N, 8]",)


def test_constants_that_are_computed_from_shapes_have_those_that_the_file_declares(tmp_path: Path) -> None:
    """As Ultralytics exports networks with sizes left open."""
    network = Network([1, 8, 3, 3])
    size = network.add("Gather", network.weight(np.array(1)), reads=network.add("Shape"), axis=0)
    rows = network.add("Unsqueeze", network.weight(np.array([0])), reads=size)
    one, rest = network.weight(np.array([1])), network.weight(np.array([-1]))
    network.add("Reshape", network.add("Concat", rows, rest, reads=one, axis=0), reads="input")
    model = network.model()
    model.graph.value_info.extend(
        tensor(name, dims, TensorProto.INT64) for name, dims in ((size, []), (rows, [1]))
    )
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())

    assert contradictions(path) == ()


def test_a_batch_of_several_frames_may_be_part_of_another_axis(tmp_path: Path) -> None:
    network = Network([4, 8, 3, 3])
    network.add("Transpose", perm=[1, 0, 2, 3])
    merged = network.add("Reshape", network.weight(np.array([8, -1, 3])))
    network.add("Relu")
    network.add("Reshape", network.weight(np.array([8, -1, 3, 3])))
    network.add("Transpose", perm=[1, 0, 2, 3])
    network.add("Flatten")
    model = network.model()
    model.graph.value_info.append(tensor(merged, [8, 12, 3]))  # 4 frames of 3 rows
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())

    assert contradictions(path) == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            between(1, 8, 16, 16, kind=TensorProto.INT64),
            r"node first \(Conv\) writes a of float32, but the file declares INT64: the file contradicts itself",
        ),
        (at_the_end(1, 5, kind=TensorProto.UINT8), r"node last \(Gemm\) writes scores of float32, but .* UINT8"),
        (weights([8, 3, 5, 5]), r"kernel is declared as \[8, 3, 5, 5\], but holds \[8, 3, 3, 3\]: the file"),
        (weights([8, 3, 9]), r"kernel is declared as \[8, 3, 9\], but holds \[8, 3, 3, 3\]: the file"),
        (weights([8, 3, 3, 3], TensorProto.INT64), "kernel is declared as INT64, but holds FLOAT: the file"),
    ],
)
def test_what_onnxruntime_rejects_is_rejected(tmp_path: Path, change: Change, message: str) -> None:
    path = file_with(tmp_path, change)

    with pytest.raises(Exception, match="Type Error"):
        ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    with pytest.raises(ModelError, match=rf"model\.onnx: (input: )?{message}"):
        read_onnx(path)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(networks(), st.sampled_from([1, 4, "N"]), st.data())
def test_right_shapes_contradict_nothing_and_each_wrong_one_is_named(
    network: Network, batch: int | str, data: st.DataObject
) -> None:
    network.shape[0] = batch
    model = shape_inference.infer_shapes(network.model(), data_prop=True)

    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(model.SerializeToString())
        try:
            assert contradictions(path) == ()
        except ModelError:
            assert batch == 4  # frames that are joined
            return
        computed = {name for node in nodes_of(model.graph) for name in node.output}
        entries = [*(entry for entry in model.graph.value_info if entry.name in computed), model.graph.output[0]]
        entry = data.draw(st.sampled_from(entries))
        dims = [dim for dim in entry.type.tensor_type.shape.dim if dim.dim_value]
        if batch == 1 and dims:
            data.draw(st.sampled_from(dims)).dim_value += 1
            path.write_bytes(model.SerializeToString())
            (named,) = contradictions(path)
            assert f" writes {entry.name} of the shape " in named
