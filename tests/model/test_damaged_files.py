"""Whatever a model file holds: a graph or one clear ModelError, quickly."""

import os
import random
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import AttributeProto, TensorProto, helper
from onnx.external_data_helper import convert_model_to_external_data

from edged import config
from edged.errors import ModelError
from edged.model import reference
from edged.model.from_onnx.file import read_file
from edged.model.onnx_reader import read_onnx
from edged.model.package import load_model
from edged.model.passes import simplify
from tests.model.onnx_files import Network, onnxruntime_outputs, relative_error, resnet

MUTATIONS = 300


def small_resnet() -> onnx.ModelProto:
    return resnet(18, 40, 40, base=2, classes=4, head="shape_of").model()


def read_or_refuse(path: Path) -> bool:
    """Whether there is a graph; any exception but ModelError is a failure of the test."""
    try:
        simplify(read_onnx(path, (40, 40)))
    except ModelError:
        return False
    return True


def test_flipped_missing_and_repeated_bytes(tmp_path: Path) -> None:
    whole = small_resnet().SerializeToString()
    chance = random.Random(1)  # noqa: S311
    path, outcomes = tmp_path / "damaged.onnx", set()
    for _ in range(MUTATIONS):
        content = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            # structure lies at the front, weights at the end
            place = int(len(content) * chance.random() ** 3)
            match chance.randrange(4):
                case 0:
                    content[place % len(content)] ^= 1 << chance.randrange(8)
                case 1:
                    del content[place : place + chance.randint(1, 200)]
                case 2:
                    content[place:place] = content[place : place + chance.randint(1, 200)]
                case 3:
                    content[place:place] = chance.randbytes(chance.randint(1, 8))
        path.write_bytes(content)
        outcomes.add(read_or_refuse(path))
    assert outcomes == {True, False}


def test_every_tenth_length_of_a_cut_file(tmp_path: Path) -> None:
    whole = small_resnet().SerializeToString()
    path = tmp_path / "cut.onnx"
    for tenth in range(10):
        path.write_bytes(whole[: len(whole) * tenth // 10])
        assert not read_or_refuse(path)


NUMBERS = (0, 1, -1, 2, 3, 7, 255, 2**31 - 1, 2**40, 2**63 - 1, -(2**63))


def change_something(model: onnx.ModelProto, chance: random.Random) -> None:
    """A well-formed message that says something odd."""
    node = chance.choice(model.graph.node)
    tensor = chance.choice(model.graph.initializer)
    match chance.randrange(9):
        case 0 if node.attribute:
            attribute = chance.choice(node.attribute)
            attribute.ints[:] = [chance.choice(NUMBERS) for _ in range(chance.randint(0, 5))]
        case 1 if node.attribute:
            chance.choice(node.attribute).type = chance.choice(AttributeProto.AttributeType.values())
        case 2:
            node.op_type = chance.choice(
                ["Relu", "Conv", "Add", "Reshape", "Slice", "Pad", "Concat", "Squeeze", "If"]
            )
        case 3 if node.input:
            node.input[chance.randrange(len(node.input))] = chance.choice(["", "input", tensor.name])
        case 4:
            tensor.dims[:] = [chance.choice(NUMBERS) for _ in range(chance.randint(0, 5))]
        case 5:
            tensor.data_type = chance.choice((*TensorProto.DataType.values(), 99))
        case 6:
            dim = chance.choice(model.graph.input[0].type.tensor_type.shape.dim)
            dim.dim_value = chance.choice(NUMBERS)
        case 7:
            del node.input[:]
        case _:
            model.graph.node.remove(node)


def test_well_formed_files_that_make_no_sense(tmp_path: Path) -> None:
    chance = random.Random(2)  # noqa: S311
    original = small_resnet()
    path, outcomes = tmp_path / "odd.onnx", set()
    for _ in range(MUTATIONS):
        model = onnx.ModelProto()
        model.CopyFrom(original)
        for _ in range(chance.randint(1, 3)):
            change_something(model, chance)
        path.write_bytes(model.SerializeToString())
        outcomes.add(read_or_refuse(path))
    assert outcomes == {True, False}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no network"),
        (b"model: resnet50\nsize: 224\n", "is not an ONNX file, or is cut short"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "is not an ONNX file, or is cut short"),
    ],
)
def test_files_of_another_kind(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)

    with pytest.raises(ModelError, match=f"model.onnx: {message}"):
        read_file(path)


@pytest.mark.parametrize("text", [b"conv_0", b"input", b"weight_3", b"Conv", b"pads", b"animals", b"edged.name"])
def test_names_that_are_not_utf8(tmp_path: Path, text: bytes) -> None:
    whole = resnet(18, 40, 40, base=2, classes=4).model({"edged.name": "animals"}).SerializeToString()
    path = tmp_path / "model.onnx"
    assert text in whole
    for count in (1, -1):
        path.write_bytes(whole.replace(text, b"\xff" * len(text), count))
        with suppress(ModelError):
            load_model(config.ModelConfig(path=path))


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="absent: no such file"):
        read_file(tmp_path / "absent")
    with pytest.raises(ModelError, match="is not a file"):
        read_file(tmp_path)


def set_input(*dims: int, kind: int = TensorProto.FLOAT) -> Callable[[onnx.ModelProto], None]:
    def change(model: onnx.ModelProto) -> None:
        model.graph.input[0].CopyFrom(helper.make_tensor_value_info("input", kind, dims))

    return change


def another_input(model: onnx.ModelProto) -> None:
    model.graph.input.append(helper.make_tensor_value_info("mask", TensorProto.FLOAT, [1]))


def operator_set(version: int) -> Callable[[onnx.ModelProto], None]:
    return lambda model: setattr(model.opset_import[0], "version", version)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: model.graph.ClearField("input"), "input: the network has no inputs; supported is one"),
        (another_input, r"the network has 2 inputs \(input, mask\); supported is one"),
        (lambda model: model.graph.ClearField("output"), "output: the network has no outputs; supported is one"),
        (set_input(1, 3, 40), "input has 3 dimensions; supported are batch, channels, height, width"),
        (set_input(1, 3, 2**40, 40), "a side has 1099511627776 pixels; supported are 1 to 16384"),
        (set_input(1, 3, 0, 40), "the file leaves the input size open: give it as size"),
        (set_input(1, 3, 40, 40, kind=TensorProto.INT32), "is of INT32; supported are FLOAT, FLOAT16, DOUBLE"),
        (set_input(1, 2**20, 16000, 16000), "do not fit 1048576 input channels"),
        (operator_set(999), r"requires ONNX operator set \[999\]; supported are 7 to"),
        (operator_set(6), r"requires ONNX operator set \[6\]; supported are 7 to"),
        (
            lambda model: model.graph.node.append(model.graph.node[0]),
            "writes tensor conv_0, which is already written",
        ),
    ],
)
def test_what_a_network_must_be(tmp_path: Path, change: Callable[[onnx.ModelProto], None], message: str) -> None:
    model = small_resnet()
    change(model)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())

    with pytest.raises(ModelError, match=message):
        read_onnx(path)


def test_a_size_other_than_the_file_fixes(tmp_path: Path) -> None:
    path = resnet(18, 40, 40, base=2, classes=4).save(tmp_path / "model.onnx")

    with pytest.raises(ModelError, match="the file fixes a side at 40 pixels but size asks for 64"):
        read_onnx(path, (64, 64))


def with_external_weights(folder: Path) -> onnx.ModelProto:
    model = small_resnet()
    convert_model_to_external_data(model, location="weights.bin", size_threshold=64)
    onnx.save_model(model, str(folder / "model.onnx"))
    return onnx.load(str(folder / "model.onnx"), load_external_data=False)


def test_weights_in_a_file_beside_the_model(tmp_path: Path) -> None:
    with_external_weights(tmp_path)
    path = tmp_path / "model.onnx"
    x = np.random.default_rng(0).standard_normal((1, 3, 40, 40)).astype(np.float32)

    before = read_file(path).sha256
    assert relative_error(reference.run(read_onnx(path), x), onnxruntime_outputs(path, x)) < 1e-5

    weights = bytearray((tmp_path / "weights.bin").read_bytes())
    weights[0] ^= 1
    (tmp_path / "weights.bin").write_bytes(weights)
    assert read_file(path).sha256 != before


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("../secret.bin", "lies in ../secret.bin, outside the model's folder"),
        ("/etc/passwd", "lies in /etc/passwd, outside the model's folder"),
        ("absent.bin", "which does not exist: put it beside the model"),
        ("inner/../weights.bin", "lies in inner/../weights.bin, outside the model's folder"),
        ("FOLDER/weights.bin", "FOLDER/weights.bin, outside the model's folder"),
        ("up/secret.bin", "lies in up/secret.bin, outside the model's folder"),
        ("loop.bin", "cannot be read from its file|which does not exist"),
        ("zero.bin", "which does not exist"),
        ("short.bin", "cannot be read from its file|is damaged"),
        ("a\0b", "cannot be read from its file"),
        ("", "which does not exist"),
    ],
)
def test_weights_in_other_files_that_are_refused(tmp_path: Path, location: str, message: str) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    model = with_external_weights(folder)
    (tmp_path / "secret.bin").write_bytes(bytes(100_000))
    (folder / "inner").mkdir()
    (folder / "up").symlink_to(tmp_path)
    (folder / "loop.bin").symlink_to("loop.bin")
    (folder / "zero.bin").symlink_to("/dev/zero")
    (folder / "short.bin").write_bytes(b"1234")
    for tensor in model.graph.initializer:
        for entry in tensor.external_data:
            if entry.key == "location":
                entry.value = location.replace("FOLDER", str(folder))
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())

    with pytest.raises(ModelError, match=message.replace("FOLDER", str(folder))):
        read_onnx(path)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"offset": "99999999"}, "bytes from 99999999 of a file of"),
        ({"offset": "-4"}, "bytes from -4 of a file of"),
        ({"length": "1e3"}, "cannot be read from its file"),
        ({"length": "9" * 30}, "cannot be read from its file: 9999"),
        ({"length": "-1"}, "cannot be read from its file: -1 bytes"),
    ],
)
def test_places_in_another_file_that_are_not_there(tmp_path: Path, entries: dict[str, str], message: str) -> None:
    model = with_external_weights(tmp_path)
    tensor = next(each for each in model.graph.initializer if each.external_data)
    kept = [(entry.key, entry.value) for entry in tensor.external_data if entry.key not in entries]
    del tensor.external_data[:]
    for key, value in (*kept, *entries.items()):
        tensor.external_data.add(key=key, value=value)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())

    with pytest.raises(ModelError, match=message):
        read_onnx(path)


def test_a_second_location_is_refused_however_harmless_the_first_is(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    model = with_external_weights(folder)
    (tmp_path / "secret.bin").write_bytes(bytes(100_000))
    tensor = next(each for each in model.graph.initializer if each.external_data)
    tensor.external_data.add(key="location", value="../secret.bin")
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())

    with pytest.raises(ModelError, match="an entry is repeated"):
        read_onnx(path)


def test_data_in_other_files_is_limited_in_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_external_weights(tmp_path)
    monkeypatch.setattr("edged.model.from_onnx.external.MAX_BYTES", 1000)

    with pytest.raises(ModelError, match=r"lies in weights\.bin, which is too large: data in other files may"):
        read_onnx(tmp_path / "model.onnx")


def test_a_pipe_in_the_place_of_the_weights_is_not_waited_for(tmp_path: Path) -> None:
    with_external_weights(tmp_path)
    (tmp_path / "weights.bin").unlink()
    os.mkfifo(tmp_path / "weights.bin")

    with pytest.raises(ModelError, match=r"weights\.bin, which does not exist"):
        read_onnx(tmp_path / "model.onnx")


def test_more_nodes_than_any_network_has(tmp_path: Path) -> None:
    network = Network(["N", 3, 8, 8])
    for _ in range(20_001):
        network.nodes.append(helper.make_node("Relu", ["input"], ["x"]))
    path = network.save(tmp_path / "long.onnx")

    with pytest.raises(ModelError, match="has 20001 nodes; supported are up to 20000"):
        read_onnx(path)


def test_constants_make_room_once_nothing_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(["N", 3, 8, 8])
    name = network.weight(np.zeros((64, 64), np.float32))
    for _ in range(100):  # as weights are standardized: each step makes another array of them
        name = network.add("Add", name, reads=name)
    network.add("ReduceMax", reads=name, keepdims=0)
    network.add("Add", network.tensor, reads="input")
    network.add("Flatten")

    monkeypatch.setattr("edged.model.from_onnx.scope.MAX_VALUES", 2**16)

    assert read_onnx(network.save(tmp_path / "steps.onnx")).shapes


GROWTH = {
    "concatenation": ("Concat", 50, {"axis": 0}, 100),
    "addition": ("Add", 2, {}, 1200),  # each sum takes the place of the one before, but all of them take time
    "gathering": ("Gather", 2, {"axis": 0}, 100),
}


@pytest.mark.parametrize("growth", GROWTH)
def test_a_small_file_cannot_make_large_constants(
    tmp_path: Path, growth: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, count, attributes, nodes = GROWTH[growth]
    network = Network(["N", 3, 8, 8])
    name = network.weight(np.zeros((256, 64), np.int64))
    for _ in range(nodes):
        name = network.add(kind, *[name] * (count - 1), reads=name, **attributes)
    network.add("Add", name, reads="input")
    path = network.save(tmp_path / "grows.onnx")

    monkeypatch.setattr("edged.model.from_onnx.scope.MAX_VALUES", 2**20)
    tracemalloc.start()
    with pytest.raises(ModelError, match="takes the constants of the network beyond 1048576 values"):
        read_onnx(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 * 2**20


def test_weights_that_many_nodes_read_count_for_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(["N", 4, 8, 8])
    weight = network.normal(4, 4)
    network.add("GlobalAveragePool")
    network.add("Flatten")
    for _ in range(20):
        network.add("MatMul", weight)
    path = network.save(tmp_path / "shares.onnx")

    assert read_onnx(path)
    monkeypatch.setattr("edged.model.from_onnx.scope.MAX_VALUES", 19 * 16)
    with pytest.raises(ModelError, match="takes the weights of the network beyond"):
        read_onnx(path)
