"""`python -m trials.fuzz.score_tails`: random ends of networks; scores are what their values in onnxruntime allow.

Each network is a matrix of the mean colours, then one to five operators of those that make scores, in any order.
Its answers are those of onnxruntime, on a device too. Colours go far beyond 255, so that values without a bound
show it.
"""

import argparse
import logging
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis
import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto

from edged.config import ModelConfig
from edged.inference.ready_model import ReadyModel
from edged.model import reference
from edged.model.package import Model, load_model
from edged.model.scores import score_rule
from tests.model.onnx_files import Network, onnxruntime_outputs

SIDE = 4
CLOSE = 2e-3
STEP = 1 / 256
LARGEST = 1e30  # beyond it float32 has no room for sums
Values = NDArray[np.float32]


@st.composite
def tailed(draw: st.DrawFn) -> Network:
    """Draw a network of one to six classes."""
    network = Network([1, 3, SIDE, SIDE], seed=draw(st.integers(0, 5)))
    classes = draw(st.integers(1, 6))
    network.add("GlobalAveragePool")
    network.add("Flatten")
    network.add("Gemm", network.normal(classes, 3, std=0.03), transB=1)
    for _ in range(draw(st.integers(1, 5))):
        classes = draw(st.sampled_from(NODES))(draw, network, classes)
    return network


def _number(network: Network, *values: float) -> str:
    return network.weight(np.array(values if len(values) > 1 else values[0], np.float32))


def _plain(draw: st.DrawFn, network: Network, classes: int) -> int:
    kinds = [
        "Sigmoid",
        "HardSigmoid",
        "Exp",
        "Log",
        "Tanh",
        "Relu",
        "Neg",
        "Identity",
        "Abs",
        "Reciprocal",
        "Softplus",
    ]
    network.add(draw(st.sampled_from(kinds)))
    return classes


def _softmax(draw: st.DrawFn, network: Network, classes: int) -> int:
    network.add(draw(st.sampled_from(["Softmax", "Softmax", "LogSoftmax"])), axis=1)
    return classes


def _with_number(draw: st.DrawFn, network: Network, classes: int) -> int:
    kind = draw(st.sampled_from(["Mul", "Div", "Add", "Sub", "Min", "Max"]))
    network.add(kind, _number(network, draw(st.sampled_from([100.0, 2.0, 1.0, 0.5, -1.0, 1e-9]))))
    return classes


def _with_vector(draw: st.DrawFn, network: Network, classes: int) -> int:
    factors = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=classes, max_size=classes))
    network.add(draw(st.sampled_from(["Mul", "Add"])), network.weight(np.array([factors], np.float32)))
    return classes


def _remainder(draw: st.DrawFn, network: Network, classes: int) -> int:
    network.add("Sub", network.tensor, reads=_number(network, 1.0))
    return classes


def _beside_its_remainder(draw: st.DrawFn, network: Network, classes: int) -> int:
    first = network.tensor
    network.add("Concat", first, reads=network.add("Sub", first, reads=_number(network, 1.0)), axis=1)
    return 2 * classes


def _clip(draw: st.DrawFn, network: Network, classes: int) -> int:
    low, high = draw(st.sampled_from([(0.0, 1.0), (1e-7, 1 - 1e-7), (0.0, 6.0), (-1.0, 1.0), (0.0, 0.5)]))
    network.add("Clip", _number(network, low), _number(network, high))
    return classes


def _slice(draw: st.DrawFn, network: Network, classes: int) -> int:
    first = draw(st.integers(0, classes - 1))
    last = draw(st.integers(first + 1, classes))
    network.add("Slice", *(network.weight(np.array([each])) for each in (first, last, 1)))
    return last - first


def _gather(draw: st.DrawFn, network: Network, classes: int) -> int:
    network.add("Gather", network.weight(np.arange(classes)[::-1].copy()), axis=1)
    return classes


def _reshape(draw: st.DrawFn, network: Network, classes: int) -> int:
    network.add("Reshape", network.weight(np.array([1, classes, 1, 1])))
    network.add("Flatten")
    return classes


def _steps(draw: st.DrawFn, network: Network, classes: int) -> int:
    scale, zero = _number(network, STEP), network.weight(np.array(0, np.uint8))
    network.add("QuantizeLinear", scale, zero)
    network.add("DequantizeLinear", scale, zero)
    return classes


def _double(draw: st.DrawFn, network: Network, classes: int) -> int:
    network.add("Cast", to=TensorProto.DOUBLE)
    network.add("Cast", to=TensorProto.FLOAT)
    return classes


def _by_sum(draw: st.DrawFn, network: Network, classes: int) -> int:
    """x ÷ Σ x, x · 1 ÷ Σ x, or x less log Σ eˣ."""
    x, axis, how = (
        network.tensor,
        network.weight(np.array([1])),
        draw(st.sampled_from(["divide", "multiply", "log"])),
    )
    if how == "log":
        network.add("Log", reads=network.add("ReduceSum", axis, reads=network.add("Exp")))
        network.add("Sub", network.tensor, reads=x)
        return classes
    total = network.add("ReduceSum", axis)
    if how == "multiply":
        network.add("Mul", network.add("Reciprocal"), reads=x)
    else:
        network.add("Div", total, reads=x)
    return classes


def _with_another_softmax(draw: st.DrawFn, network: Network, classes: int) -> int:
    x = network.tensor
    network.add("Softmax", reads=network.add("Mul", _number(network, 0.5)), axis=1)
    network.add(draw(st.sampled_from(["Add", "Mul"])), x)
    return classes


NODES: tuple[Callable[[st.DrawFn, Network, int], int], ...] = (
    _plain, _softmax, _softmax, _with_number, _with_vector, _remainder, _beside_its_remainder, _clip, _slice,
    _gather, _reshape, _steps, _double, _by_sum, _with_another_softmax,
)  # fmt: skip


def compare(examples: int, seed: int = 0, device: str | None = None) -> None:
    """Try so many networks, the same for each seed. Raises AssertionError with the smallest that is wrong."""
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

    @hypothesis.seed(seed)
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=quiet)
    @given(tailed())
    def each(network: Network) -> None:
        with TemporaryDirectory() as folder:
            _compare(network.save(Path(folder) / "network.onnx"), device)

    each()


def _compare(path: Path, device: str | None) -> None:
    colours = (
        np.random.default_rng(1).normal(0, 1, (24, 3, 1, 1)) * np.repeat([100, 1000, 1e4], 8)[:, None, None, None]
    )
    x = np.broadcast_to(colours, (24, 3, SIDE, SIDE)).astype(np.float32)
    values = np.concatenate([onnxruntime_outputs(path, each[None]) for each in x])
    assume(bool(np.isfinite(values).all()) and float(np.abs(values).max()) < LARGEST)
    model = load_model(ModelConfig(path=path, preprocess="raw"))
    found = reference.run(model.graph, x)
    _check_values(found, values)
    _check_scores(model, values)
    if device:
        _check_device(path, model, device)


def _check_values(found: Values, values: Values) -> None:
    """Allow one step of QuantizeLinear, where a value lies in the middle between two."""
    largest = max(1.0, float(np.abs(values).max()))
    assert np.allclose(found, values, rtol=1e-3, atol=STEP * largest), (found, values)


def _check_scores(model: Model, values: Values) -> None:
    """Check that scores do what their kind promises, and that values which are scores already stay."""
    rule = score_rule(model)
    scores = rule.by_label(rule.scores(values))
    sums = scores.sum(axis=1)
    if rule.known_by == "network":
        assert scores.min() >= -CLOSE, (rule, scores)
        assert scores.max() <= 1 + CLOSE, (rule, scores)
        assert rule.is_independent or sums.max() <= 1 + CLOSE * len(scores[0]), (rule, scores)
    varies = bool(np.ptp(values, axis=0).max() > CLOSE)
    is_share = values.min() >= 0 and len(values[0]) > 1 and np.allclose(values.sum(axis=1), 1, atol=CLOSE)
    if is_share and varies:
        assert rule.kind == "probabilities", (rule, values)
        assert np.allclose(scores, values, atol=CLOSE), (rule, values)


def _check_device(path: Path, model: Model, device: str) -> None:
    pictures = np.random.default_rng(2).integers(0, 256, (4, SIDE, SIDE, 3), np.uint8)
    with ReadyModel(model, device) as network:
        found = network.outputs(list(pictures))
    x = pictures.transpose(0, 3, 1, 2).astype(np.float32)
    values = np.concatenate([onnxruntime_outputs(path, each[None]) for each in x])
    _check_values(found, values)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m trials.fuzz.score_tails", description=__doc__)
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="another one: other networks")
    parser.add_argument("--device", help="compute on this device, too, as the config names it (slower)")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    compare(arguments.examples, arguments.seed, arguments.device)
    print(f"score tails: {arguments.examples} of seed {arguments.seed} are right")
