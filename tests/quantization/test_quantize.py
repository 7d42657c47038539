"""`edged quantize`: a real network of floats becomes one of whole numbers that is as often right."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from edged.cli import run_command_line
from edged.compress.judge import Judge, Measured
from edged.config import ModelConfig
from edged.errors import ModelError
from edged.model import reference
from edged.model.from_onnx.file import read_file
from edged.model.graph import Conv, Dense, Graph, Quantize, QuantizedConv
from edged.model.onnx_reader import read_onnx
from edged.model.package import load_model
from edged.quantization.calibration import Calibration, Quantizer
from edged.quantization.noise import LAYERS, LayerNoise, layer_noise, worst
from edged.quantization.search import nodes_at_ends, nodes_before, nodes_of
from edged.system.python_packages import install_command
from tests.cli import models
from tests.engine.networks import random_images
from tests.evaluation.pictures import picture
from tests.model.onnx_files import Network
from tests.model.quantized_files import node_by_node


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for seed in range(12):
        picture(tmp_path / "photos" / f"{seed}.png", seed)
    return tmp_path / "photos"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = models.small_network(tmp_path / "model.onnx")
    model = onnx.load(path)
    onnx.helper.set_model_props(model, {"edged.color": "bgr"})
    onnx.save(model, path)
    return path


@pytest.fixture
def nameless(source: Path) -> Path:
    """A network whose nodes have no names: exporters may leave them out."""
    model = onnx.load(source)
    for node in model.graph.node:
        node.name = ""
    onnx.save(model, source)
    return source


def quantized(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> dict[str, Any]:
    assert run_command_line(["quantize", *map(str, arguments), "--preprocess", "unit", "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("method", ["minmax", "mse", pytest.param("entropy", marks=pytest.mark.deep)])
def test_the_result_is_of_whole_numbers_and_runs_in_onnxruntime_with_the_same_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: Path, photos: Path, method: str
) -> None:
    target = tmp_path / "small.onnx"

    chart = tmp_path / "noise.svg"

    report = quantized(
        *(capsys, source, "--images", photos, "--output", target),
        *("--method", method, "--chart", chart, "--device", "numpy"),
    )

    assert all(layer["layer"] in chart.read_text() for layer in report["layers"])
    assert report["file"] == str(target)
    assert report["in_floats"] == []
    assert all(layer["quantized"] and layer["decibels"] > 15 for layer in report["layers"])
    assert report["accuracy"][0] == 1
    model = load_model(ModelConfig(path=target))
    assert model.input.color == "bgr"  # as the original's file says
    assert any(isinstance(operator, QuantizedConv) for operator in model.graph.operators)
    assert not any(isinstance(operator, Conv) for operator in model.graph.operators)
    x = reference.prepare(random_images(model.input, 3), model.input)
    found = reference.run(model.graph, x)
    expected = np.concatenate([node_by_node(target, one[np.newaxis]) for one in x])
    assert np.abs(found - expected).max() < 0.05 * np.ptp(found)


@pytest.mark.parametrize(
    "options",
    [
        {"preprocess": "imagenet"},
        {"preprocess": "caffe", "color": "rgb"},
        {"scale": 0.5, "mean": (1.0, 2.0, 3.0), "std": (4.0, 5.0, 6.0), "resize": "pad"},
        {"preprocess": "tf", "labels": "labels.txt"},
    ],
    ids="-".join,
)
def test_the_result_needs_no_options_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: Path, photos: Path, options: dict[str, Any]
) -> None:
    model = onnx.load(source)
    onnx.helper.set_model_props(model, {"edged.mean": "[9, 9, 9]", "author": "Ada"})
    onnx.save(model, source)
    if "labels" in options:
        options = options | {"labels": tmp_path / "labels.txt"}
        options["labels"].write_text("0 ant\n1 bee\n2 cat\n3 dog\n4 elk\n")
    target = tmp_path / "small.onnx"
    given = [
        f"--{key}={','.join(map(str, value)) if isinstance(value, tuple) else value}"
        for key, value in options.items()
    ]

    command = ["quantize", source, "--images", photos, "--output", target, "--device", "numpy", *given]
    assert run_command_line(list(map(str, command))) == 0

    alone, asked = load_model(ModelConfig(path=target)), load_model(ModelConfig(path=source, **options))
    assert (alone.input, alone.labels, alone.prepared_by) == (asked.input, asked.labels, "file")
    assert "author" in read_file(target).metadata


def test_an_output_with_hardly_any_weights_keeps_its_bias(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: Path, photos: Path
) -> None:
    model = onnx.load(source)
    first = next(node for node in model.graph.node if node.op_type == "Conv")
    weight = next(tensor for tensor in model.graph.initializer if tensor.name == first.input[1])
    values = onnx.numpy_helper.to_array(weight).copy()
    values[0] = (
        127 * 0.5 * 255 / (0.9999 * 2**31)
    )  # 127 steps, of which the bias has nearly as many as 32 bits hold
    weight.CopyFrom(onnx.numpy_helper.from_array(values, weight.name))
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.full(len(values), 0.5, np.float32), "bias"))
    first.input.append("bias")
    onnx.save(model, source)
    target = tmp_path / "small.onnx"

    quantized(capsys, source, "--images", photos, "--output", target, "--device", "numpy")

    exact, found = (load_model(ModelConfig(path=path, preprocess="unit")) for path in (source, target))
    x = reference.prepare(random_images(exact.input, 3), exact.input)
    expected = reference.run(exact.graph, x)
    assert np.abs(reference.run(found.graph, x) - expected).max() < 0.05 * np.ptp(expected)


def test_an_old_file_becomes_one_that_onnxruntime_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: Path, photos: Path
) -> None:
    model = onnx.load(source)
    model.opset_import[0].version = 11  # has no scales by channel
    onnx.save(model, source)
    target = tmp_path / "small.onnx"
    quantized(capsys, source, "--images", photos, "--output", target, "--device", "numpy")
    floats = load_model(ModelConfig(path=source))
    x = reference.prepare(random_images(floats.input, 1), floats.input)
    expected = reference.run(floats.graph, x)
    assert np.abs(node_by_node(target, x) - expected).max() < 0.1 * np.ptp(expected)


def test_weights_behind_a_link_are_quantized(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: Path, photos: Path
) -> None:
    (tmp_path / "snapshot").mkdir()
    link = tmp_path / "snapshot/linked.onnx"
    onnx.save(onnx.load(source), link, save_as_external_data=True, location="linked.data", size_threshold=0)
    (tmp_path / "snapshot/linked.data").rename(tmp_path / "blob")
    (tmp_path / "snapshot/linked.data").symlink_to(tmp_path / "blob")

    target = tmp_path / "small.onnx"
    report = quantized(capsys, link, "--images", photos, "--output", target, "--device", "numpy")

    assert load_model(ModelConfig(path=target)).graph.operators
    assert report["bytes"] == [link.stat().st_size + (tmp_path / "blob").stat().st_size, target.stat().st_size]


@pytest.mark.parametrize("rescaling", [["Mul"], ["Mul", "Add"], ["Sub", "Div"]])
def test_a_network_with_its_channels_last_that_scales_its_pictures_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], photos: Path, rescaling: list[str]
) -> None:
    network = Network([1, 16, 16, 3])
    for kind in rescaling:
        network.add(
            kind, network.weight(np.array({"Mul": 1 / 255, "Div": 255, "Sub": 100, "Add": -0.5}[kind], np.float32))
        )
    network.add("Transpose", perm=[0, 3, 1, 2])
    network.add("Conv", network.normal(8, 3, 3, 3, std=0.2), kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    network.add("Relu")
    network.add("GlobalAveragePool")
    network.add("Flatten")
    network.add("Gemm", network.normal(8, 5, std=0.5))
    source, target = network.save(tmp_path / "last.onnx"), tmp_path / "small.onnx"

    arguments = ["quantize", source, "--images", photos, "--output", target, "--preprocess", "raw"]
    assert run_command_line([*map(str, arguments), "--device", "numpy", "--json"]) == 0

    assert all(layer["quantized"] for layer in json.loads(capsys.readouterr().out)["layers"])
    model = load_model(ModelConfig(path=target, preprocess="raw"))
    x = reference.prepare(random_images(model.input, 1), model.input)
    expected = node_by_node(target, x.transpose(0, 2, 3, 1))
    assert np.abs(reference.run(model.graph, x) - expected).max() < 0.02 * np.ptp(expected)


def accuracy_is(monkeypatch: pytest.MonkeyPatch, of: Callable[[Graph], float]) -> None:
    """Judge networks by this function, in place of pictures."""

    def measure(judge: Judge, weights_sha256: str, graph: Callable[[], Graph]) -> Measured:
        return Measured(of(graph()), 0.0)

    monkeypatch.setattr(Judge, "measure", measure)


def test_layers_stay_in_floats_where_too_much_is_lost(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    nameless: Path,
    photos: Path,
) -> None:
    def right_with_two_layers_in_floats(graph: Graph) -> float:
        return min(1.0, sum(isinstance(operator, Conv | Dense) for operator in graph.operators) / 2)

    accuracy_is(monkeypatch, right_with_two_layers_in_floats)
    target = tmp_path / "small.onnx"
    report = quantized(capsys, nameless, "--images", photos, "--output", target, "--device", "numpy")
    assert report["accuracy"] == [1, 1]
    assert len(report["in_floats"]) == 2
    assert {each["layer"] for each in report["layers"] if not each["quantized"]} == set(report["in_floats"])
    operators = load_model(ModelConfig(path=target)).graph.operators
    assert sum(isinstance(operator, Conv | Dense) for operator in operators) == 2


def test_the_first_and_the_last_layers_stay_in_floats_where_that_is_best(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, photos: Path
) -> None:
    def right_with_both_ends_in_floats(graph: Graph) -> float:
        layers = [each for each in graph.operators if isinstance(each, LAYERS)]
        return sum(isinstance(layer, Conv | Dense) for layer in (layers[0], layers[-1])) / 2

    accuracy_is(monkeypatch, right_with_both_ends_in_floats)
    network, target = Network([1, 3, 8, 8]), tmp_path / "small.onnx"
    for channels in (3, 4, 4):
        last = network.add("Conv", network.normal(4, channels, 3, 3), pads=[1, 1, 1, 1])
    network.add("GlobalAveragePool")
    network.add("Flatten")

    report = quantized(
        capsys, network.save(tmp_path / "model.onnx"), "--images", photos, "--output", target, "--device", "numpy"
    )

    assert report["accuracy"] == [1, 1]
    assert report["in_floats"] == ["conv_0", last]
    layers = [each for each in load_model(ModelConfig(path=target)).graph.operators if isinstance(each, LAYERS)]
    assert [type(each) for each in layers] == [Conv, QuantizedConv, Conv]


def test_no_more_is_computed_in_floats_than_accuracy_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, photos: Path
) -> None:
    def right_with_three_layers_in_floats(graph: Graph) -> float:
        return min(1.0, sum(isinstance(operator, Conv | Dense) for operator in graph.operators) / 3)

    accuracy_is(monkeypatch, right_with_three_layers_in_floats)
    network = Network([1, 3, 8, 8])
    names = [
        network.add("Conv", network.normal(4, channels, 3, 3), pads=[1, 1, 1, 1], strides=[stride, stride])
        for channels, stride in ((3, 1), (4, 1), (4, 1), (4, 2))  # the last one has the fewest multiplications
    ]
    network.add("GlobalAveragePool")
    network.add("Flatten")

    report = quantized(
        *(capsys, network.save(tmp_path / "model.onnx"), "--images", photos, "--max-loss", "0"),
        *("--output", tmp_path / "small.onnx", "--device", "numpy"),
    )

    assert report["accuracy"] == [1, 1]
    assert report["in_floats"] == [names[0], names[1], names[3]]  # not four, which are tried before three


def test_the_first_trial_is_kept_if_no_other_is_better(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, source: Path, photos: Path
) -> None:
    accuracy_is(monkeypatch, lambda graph: 0.5)
    report = quantized(
        capsys, source, "--images", photos, "--output", tmp_path / "small.onnx", "--device", "numpy"
    )
    assert report["accuracy"] == [1, 0.5]
    assert report["in_floats"] == []


def test_without_onnxruntime_one_error_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, source: Path, photos: Path
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert run_command_line(["quantize", str(source), "--images", str(photos), "--device", "numpy"]) == 2
    assert f"quantizing needs onnxruntime: {install_command('onnxruntime')}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mobilenetv2", "--images", "PHOTOS"], "has random weights"),
        (["SOURCE", "--images", "nowhere"], "nowhere: is not a folder"),
        (["SOURCE", "--images", "PHOTOS", "--output", "SOURCE"], "is the original; give another name"),
    ],
)
def test_what_cannot_be_quantized_is_one_clear_error(
    capsys: pytest.CaptureFixture[str], source: Path, photos: Path, arguments: list[str], message: str
) -> None:
    given = [each.replace("SOURCE", str(source)).replace("PHOTOS", str(photos)) for each in arguments]
    assert run_command_line(["quantize", *given, "--device", "numpy"]) == 2
    assert message in capsys.readouterr().err
    assert load_model(ModelConfig(path=source)).graph.operators  # the original is as it was


def test_a_network_of_whole_numbers_is_refused_with_the_way_out(source: Path) -> None:
    model = onnx.load(source)
    model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.UINT8
    model_input = load_model(ModelConfig(path=source)).input
    with pytest.raises(ModelError, match="takes no floats: quantize the network that it was converted from"):
        Quantizer(
            replace(read_file(source), model=model), Calibration(model_input, random_images(model_input), "minmax")
        )


def test_a_quantized_network_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: Path, photos: Path
) -> None:
    small = tmp_path / "small.onnx"
    quantized(capsys, source, "--images", photos, "--output", small, "--device", "numpy")
    assert run_command_line(["quantize", str(small), "--images", str(photos), "--device", "numpy"]) == 2
    assert f"{small}: is quantized: quantize the network that it was made from" in capsys.readouterr().err


def test_a_network_without_layers_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], photos: Path
) -> None:
    network = Network([1, 3, 8, 8])
    network.add("GlobalAveragePool")
    network.add("Flatten")
    path, target = network.save(tmp_path / "mean.onnx"), tmp_path / "small.onnx"
    arguments = ["quantize", str(path), "--images", str(photos), "--output", str(target), "--device", "numpy"]
    assert run_command_line(arguments) == 2
    assert f"{path}: has no layers to quantize: expected Conv, Gemm or MatMul" in capsys.readouterr().err
    assert not target.exists()


def test_noise_is_that_of_what_the_next_layer_reads(tmp_path: Path) -> None:
    floats = read_onnx(models.small_network(tmp_path / "model.onnx"))
    first = floats.operators[0]
    steps = Quantize("quantize", (first.output,), "steps", 0.1, (-128, 127))
    x = np.random.default_rng(0).random((2, *floats.shapes[floats.input]), np.float32)
    same = Graph("same", floats.input, floats.output, floats.operators, floats.shapes)
    assert {each.decibels for each in layer_noise(floats, same, x)} == {200.0}
    coarse = Graph(
        "coarse", floats.input, "steps", (first, steps), {**floats.shapes, "steps": floats.shapes[first.output]}
    )
    (noise,) = layer_noise(floats, coarse, x)
    assert noise.decibels == noise.own_decibels < 60


def test_a_layer_does_not_answer_for_the_noise_of_those_before_it(source: Path) -> None:
    floats = read_onnx(source)
    noisy = [
        replace(each, weight=np.round(each.weight)) if isinstance(each, Conv) else each
        for each in floats.operators
    ]
    x = np.random.default_rng(0).random((2, *floats.shapes[floats.input]), np.float32)
    first, last = layer_noise(floats, replace(floats, operators=tuple(noisy)), x)
    assert first.decibels == first.own_decibels < 30
    assert last.decibels < 60
    assert last.own_decibels == 200


def test_the_worst_layers_are_quantized_ones_that_add_noise() -> None:
    layers = [
        LayerNoise("a", True, 10.0, 30.0),
        LayerNoise("b", False, 1.0, 1.0),
        LayerNoise("c", True, 20.0, 10.0),
    ]
    assert [each.layer for each in worst(layers)] == ["c", "a"]


def test_nodes_of_a_layer_are_those_up_to_its_output(source: Path) -> None:
    graph = onnx.load(source).graph
    assert nodes_of(graph, ["b", "scores"]) == ["second", "first", "last"]
    assert nodes_of(graph, ["unknown"]) == []


def test_the_first_layers_stay_in_floats_with_all_nodes_before_the_next_one(source: Path) -> None:
    graph = onnx.load(source).graph
    assert nodes_before(graph, 1) == ["first", "second", "third", "fourth"]
    assert nodes_before(graph, 2) == ["first", "second", "third", "fourth", "last"]


def test_the_last_layer_stays_in_floats_with_all_nodes_after_the_one_before_it(source: Path) -> None:
    graph = onnx.load(source).graph
    assert nodes_at_ends(graph, 0) == ["second", "third", "fourth", "last"]
    assert nodes_at_ends(graph, 1) == ["first", "second", "third", "fourth", "last"]


def test_with_one_layer_the_whole_network_stays_in_floats() -> None:
    network = Network([1, 3, 8, 8])
    names = [network.add("Relu"), network.add("Conv", network.normal(4, 3, 1, 1)), network.add("Flatten")]
    assert nodes_at_ends(network.model().graph, 0) == names
