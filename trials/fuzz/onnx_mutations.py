"""Well-formed ONNX messages that say something odd."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from edged.model.from_onnx.constants import FOLDED
from edged.model.onnx_reader import CONVERTERS

NUMBERS = (0, 1, -1, 2, 3, 4, 5, 7, 10, 255, 65536, 2**24, 2**31 - 1, 2**31, 2**40, 2**63 - 1, -(2**63))
SMALL = (0, 1, 1, 2, 2, 3, -1)
FLOATS = (0.0, -0.0, 1.0, -1.0, 1e-5, 1e-45, 3e38, -3e38, float("inf"), float("-inf"), float("nan"))
WORDS = ("constant", "reflect", "edge", "SAME_LOWER", "SAME_UPPER", "VALID", "NOTSET", "", "\N{SNOWMAN}")
KINDS = (*CONVERTERS, *FOLDED, "Constant", "If", "Loop", "Scan", "LSTM", "Resize", "QuantizeLinear", "")
ATTRIBUTES = tuple(sorted({name for _, names in CONVERTERS.values() for name in names} | {"value", "axis", "to"}))
METADATA = ("{", "[" * 100_000, "NaN", "[1,2", '"x"', "[1e999,0,0]", "\ud800".encode("utf-8", "replace").decode())


def numbers(chance: random.Random, before: Sequence[int] = ()) -> list[int]:
    """Mostly few and small; half of the time one of those `before` alone is another."""
    if before and chance.random() < 0.5:
        changed = list(before)
        changed[chance.randrange(len(changed))] = chance.choice(SMALL)
        return changed
    pool = SMALL if chance.random() < 0.7 else NUMBERS
    return [chance.choice(pool) for _ in range(chance.choice((0, 1, 2, 2, 3, 4, 4, 4, 5, 8)))]


def attribute(model: onnx.ModelProto, chance: random.Random) -> None:
    """Other values, another type, another name."""
    node = chance.choice(model.graph.node)
    if not node.attribute or chance.random() < 0.3:
        value = chance.choice(
            (chance.choice(NUMBERS), chance.choice(FLOATS), chance.choice(WORDS), [1, 1], [2, 2])
        )
        node.attribute.append(helper.make_attribute(chance.choice(ATTRIBUTES), value))
        return
    entry = chance.choice(node.attribute)
    match chance.randrange(8):
        case 0 | 1 | 2:
            entry.ints[:] = numbers(chance, entry.ints)
        case 3:
            entry.i = chance.choice(chance.choice((SMALL, NUMBERS)))
        case 4:
            entry.f = chance.choice(FLOATS)
        case 5:
            entry.s = chance.choice(WORDS).encode()
        case 6:
            entry.type = chance.choice(AttributeProto.AttributeType.values())
        case 7:
            node.attribute.remove(entry)


def node(model: onnx.ModelProto, chance: random.Random) -> None:
    """Another kind, other tensors, another place, once more, not at all."""
    nodes = model.graph.node
    one = chance.choice(nodes)
    match chance.randrange(8):
        case 0:
            one.op_type = chance.choice(KINDS)
        case 1 | 2 if one.input:
            one.input[chance.randrange(len(one.input))] = _tensor(model, chance)
        case 3:
            one.input.append(_tensor(model, chance))
        case 4:
            one.output.append(_tensor(model, chance))
        case 5:
            one.output[:] = [_tensor(model, chance)] if chance.random() < 0.7 else []
        case 6:
            order = list(nodes)
            chance.shuffle(order)
            copies = [onnx.NodeProto.FromString(each.SerializeToString()) for each in order]
            del nodes[:]
            nodes.extend(copies)
        case _:
            nodes.remove(one)


def window(model: onnx.ModelProto, chance: random.Random) -> None:
    """Another window, which may well be legal."""
    found = [each for each in model.graph.node if each.op_type in {"Conv", "MaxPool", "AveragePool"}]
    if not found:
        return
    one = chance.choice(found)
    name, value = chance.choice(
        (
            ("auto_pad", chance.choice(("SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"))),
            ("ceil_mode", chance.randrange(2)),
            ("count_include_pad", chance.randrange(2)),
            ("dilations", [chance.randint(1, 3), chance.randint(1, 3)]),
            ("kernel_shape", [chance.randint(1, 5), chance.randint(1, 5)]),
            ("pads", [chance.randrange(3) for _ in range(4)]),
            ("strides", [chance.randint(1, 4), chance.randint(1, 4)]),
        )
    )
    if one.op_type == "Conv" and name in {"ceil_mode", "count_include_pad", "kernel_shape"}:
        name, value = "strides", [chance.randint(1, 4), chance.randint(1, 4)]
    kept = [each for each in one.attribute if each.name != name and (name, each.name) != ("auto_pad", "pads")]
    attributes = [onnx.AttributeProto.FromString(each.SerializeToString()) for each in kept]
    del one.attribute[:]
    one.attribute.extend([*attributes, helper.make_attribute(name, value)])


def legal_node(model: onnx.ModelProto, chance: random.Random) -> None:
    """One more operator that can act on an image, or on any tensor."""
    kind, attributes, constants = chance.choice(
        (
            ("Relu", {}, []),
            ("Identity", {}, []),
            ("MaxPool", {"kernel_shape": [2, 2], "pads": [0, 1, 1, 0]}, []),
            ("AveragePool", {"kernel_shape": [2, 3], "strides": [1, 2], "ceil_mode": 1}, []),
            ("Pad", {}, [np.array([0, chance.randrange(2), 1, 0, 0, chance.randrange(2), 2, 1])]),
            ("Slice", {}, [np.array(each) for each in ([0], [99], [chance.randint(2, 3)], [2])]),
            ("Mul", {}, [np.array([-1.5], np.float32)]),
            ("Add", {}, [np.array([[[0.5]]], np.float32)]),
            ("Softmax", {"axis": 1}, []),
            ("Flatten", {}, []),
            ("Reshape", {}, [np.array([0, 0, -1])]),
            ("ReduceMean", {"axes": [2, 3], "keepdims": 1}, []),
        )
    )
    graph = model.graph
    names = [f"constant_{len(graph.initializer) + i}" for i in range(len(constants))]
    graph.initializer.extend(numpy_helper.from_array(*each) for each in zip(constants, names, strict=True))
    place = chance.randrange(len(graph.node))
    before = graph.node[place].output[0] if graph.node[place].output else ""
    for each in graph.node[place + 1 :]:
        each.input[:] = [f"legal_{place}" if name == before else name for name in each.input]
    graph.node.insert(place + 1, helper.make_node(kind, [before, *names], [f"legal_{place}"], "", **attributes))


def inserted_node(model: onnx.ModelProto, chance: random.Random) -> None:
    """One more operator between two others."""
    graph = model.graph
    place = chance.randrange(len(graph.node))
    before = graph.node[place]
    inputs = [
        before.output[0] if before.output else "",
        *(_tensor(model, chance) for _ in range(chance.randrange(3))),
    ]
    new = helper.make_node(chance.choice(KINDS), inputs, [f"new_{len(graph.node)}"], "new")
    for each in graph.node[place + 1 :]:
        each.input[:] = [new.output[0] if name == inputs[0] else name for name in each.input]
    graph.node.insert(place + 1, new)


def tensor(model: onnx.ModelProto, chance: random.Random) -> None:
    """Other dimensions, another type, other numbers, more or fewer of them."""
    one = chance.choice(model.graph.initializer)
    match chance.randrange(9):
        case 0:
            one.dims[:] = numbers(chance)
        case 1:
            one.data_type = chance.choice((*TensorProto.DataType.values(), 99, 2**31 - 1))
        case 2:
            one.raw_data = one.raw_data[: chance.randrange(len(one.raw_data) + 1)]
        case 3:
            one.raw_data += chance.randbytes(chance.choice((1, 4, 64)))
        case 4:
            values = np.frombuffer(one.raw_data[: len(one.raw_data) // 4 * 4], np.float32).copy()
            values[chance.randrange(len(values)) if len(values) else slice(0)] = chance.choice(FLOATS)
            one.raw_data = values.tobytes()
        case 5:
            one.name = _tensor(model, chance)
        case 6:
            one.ClearField("raw_data")
            one.float_data[:] = [chance.choice(FLOATS) for _ in range(chance.randrange(40))]
        case 7:
            one.ClearField("raw_data")
            one.data_type = TensorProto.STRING
            one.string_data[:] = [b"text"] * chance.choice((1, 4, 36))
        case _:
            one.int64_data[:] = numbers(chance)


def integers(model: onnx.ModelProto, chance: random.Random) -> None:
    """Other numbers in a constant that says how: a shape, pads, places."""
    found = [each for each in model.graph.initializer if each.data_type == TensorProto.INT64]
    if found:
        one = chance.choice(found)
        values = numbers(chance, np.frombuffer(one.raw_data[: len(one.raw_data) // 8 * 8], np.int64).tolist())
        one.dims[:] = [len(values)]
        one.raw_data = np.array(values, np.int64).tobytes()


def ends(model: onnx.ModelProto, chance: random.Random) -> None:
    """Another input or output."""
    graph = model.graph
    match chance.randrange(7):
        case 0 | 1 if graph.input:
            dims = graph.input[0].type.tensor_type.shape.dim
            if dims:
                chance.choice(dims).dim_value = chance.choice(chance.choice((SMALL, NUMBERS)))
        case 2 if graph.input:
            graph.input[0].type.tensor_type.elem_type = chance.choice((*TensorProto.DataType.values(), 99))
        case 3 if graph.output:
            graph.output[0].name = _tensor(model, chance)
        case 4:
            graph.output.append(helper.make_tensor_value_info(_tensor(model, chance), TensorProto.FLOAT, None))
        case 5:
            graph.input.append(helper.make_tensor_value_info(_tensor(model, chance), TensorProto.FLOAT, [1]))
        case _:
            graph.ClearField(chance.choice(("input", "output", "initializer", "node", "name")))


def declared(model: onnx.ModelProto, chance: random.Random) -> None:
    """A tensor, or weights, that the file declares with any shape and type."""
    kind = chance.choice((TensorProto.FLOAT, TensorProto.FLOAT, *TensorProto.DataType.values(), 99))
    dims = None if chance.random() < 0.1 else numbers(chance)
    entry = helper.make_tensor_value_info(_tensor(model, chance), kind, dims)
    where = model.graph.input if chance.random() < 0.1 else model.graph.value_info
    where.append(entry)


def frame(model: onnx.ModelProto, chance: random.Random) -> None:
    """Other versions and properties."""
    match chance.randrange(4):
        case 0:
            model.opset_import[0].version = chance.choice((*range(5, 28), *NUMBERS))
        case 1:
            model.opset_import[0].domain = chance.choice(("", "ai.onnx", "com.example"))
        case 2:
            key = chance.choice(("name", "labels", "color", "scale", "mean", "std"))
            model.metadata_props.add(key=f"edged.{key}", value=chance.choice(METADATA))
        case _:
            model.ir_version = chance.choice(NUMBERS)


def nested(model: onnx.ModelProto, chance: random.Random) -> None:
    """Graphs in attributes of nodes of graphs."""
    inner = helper.make_graph([], "inner", [], [])
    for _ in range(chance.choice((1, 10, 20, 30))):
        node = helper.make_node("If", ["input"], ["output"], then_branch=inner)
        inner = helper.make_graph([node], "inner", [], [])
    model.graph.node[0].attribute.append(helper.make_attribute("then_branch", inner))


def growth(model: onnx.ModelProto, chance: random.Random) -> None:
    """Constants that are computed to be large, and larger, by a chain of nodes."""
    graph = model.graph
    name = chance.choice([each.name for each in graph.initializer] or [""])
    kind = chance.choice(("Concat", "Add", "Mul", "ConstantOfShape", "Gather", "Cast", "Unsqueeze", "Reshape"))
    for number in range(chance.choice((1, 3, 30, 300))):
        inputs = {"Concat": [name] * chance.choice((2, 50)), "Cast": [name], "ConstantOfShape": [name]}
        attributes: dict[str, dict[str, Any]] = {
            "Concat": {"axis": 0},
            "Gather": {"axis": 0},
            "Cast": {"to": chance.choice((1, 7, 8, 11, 16))},
        }
        new = helper.make_node(
            kind, inputs.get(kind, [name, name]), [f"grown_{number}"], "", **attributes.get(kind, {})
        )
        graph.node.insert(number, new)
        name = new.output[0]


def many(model: onnx.ModelProto, chance: random.Random) -> None:
    """The same node, hundreds of times."""
    last = model.graph.node[-1]
    kind = chance.choice(("Identity", "Relu", "BatchNormalization", "Unsqueeze", last.op_type))
    rest = list(last.input[1:]) if kind == last.op_type else []
    name = last.output[0] if last.output else ""
    for number in range(chance.choice((10, 100, 1000))):
        node = helper.make_node(kind, [name, *rest], [f"many_{number}"], "")
        node.attribute.extend(last.attribute if kind == last.op_type else [])
        model.graph.node.append(node)
        name = node.output[0]
    if model.graph.output:
        model.graph.output[0].name = name


def _tensor(model: onnx.ModelProto, chance: random.Random) -> str:
    names = ["", "input", "absent", "weight_0/flat", "x" * 5000]
    names += [each.name for each in model.graph.initializer]
    names += [name for each in model.graph.node for name in each.output] * 2
    return chance.choice(names)


Mutation = Callable[[onnx.ModelProto, random.Random], None]
MUTATIONS: Sequence[Mutation] = (
    *(window,) * 8,
    *(legal_node,) * 8,
    *(attribute,) * 6,
    *(node,) * 4,
    *(inserted_node,) * 4,
    *(tensor,) * 4,
    *(integers,) * 3,
    *(ends,) * 2,
    *(declared,) * 2,
    frame,
    nested,
    growth,
    many,
)
