"""The tests of single nodes in the package `onnx`: each is right or rejected."""

import pytest

from tests.conformance.node_cases import node_cases
from tests.conformance.outcome import Outcome, by_reference, outcome

# What image networks consist of; of these at least 95 % must be right.
OF_NETWORKS = (
    "Abs Add ArgMax AveragePool BatchNormalization Clip Concat Conv ConvTranspose DepthToSpace Div Elu Erf "
    "Flatten Gather Gelu Gemm GlobalAveragePool GlobalMaxPool GroupNormalization HardSigmoid HardSwish Identity "
    "InstanceNormalization LRN LayerNormalization LeakyRelu LogSoftmax MatMul Max MaxPool Min Mul PRelu Pad Pow "
    "ReduceMax ReduceMean ReduceSum Relu Reshape Resize Sigmoid Slice Softmax SpaceToDepth Split Sqrt Squeeze "
    "Sub Sum Tanh Transpose Unsqueeze"
)
pytestmark = pytest.mark.deep  # to make the tests takes ten seconds


def outcomes_of(kinds: list[str]) -> list[Outcome]:
    return [outcome(case) for kind in kinds for case in node_cases()[kind]]


def test_nothing_is_wrong_and_95_percent_of_what_networks_consist_of_is_right() -> None:
    every = outcomes_of(list(node_cases()))
    of_networks = outcomes_of(OF_NETWORKS.split())

    assert [found for found in every if found.result == "wrong"] == []
    rejected = [found for found in of_networks if found.result == "rejected"]
    assert len(rejected) <= 0.05 * len(of_networks), rejected
    assert all(found.detail and "\n" not in found.detail for found in every if found.result == "rejected")


def test_a_wrong_answer_would_be_found() -> None:
    (case, *_) = node_cases()["Relu"]

    assert outcome(case, lambda graph, x: by_reference(graph, x) + 1e-3).result == "wrong"
