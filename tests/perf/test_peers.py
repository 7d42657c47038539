"""What surrounds the figures of `make bench-peers`; no test here judges a time."""

from collections import Counter

import numpy as np
import onnxruntime
import pytest

from edged.model.graph import Graph
from edged.model.resnet import random_resnet
from tests.perf.peers.cases import load_case, parse_case
from tests.perf.peers.ncnn_model import ncnn_model
from tests.perf.peers.table import section
from tests.perf.peers.turns import FEWEST, time_in_turn


def test_a_case_names_its_model_size_and_batch() -> None:
    wanted, batch = parse_case("resnet50@120x8")

    assert (wanted.name, wanted.size, batch) == ("resnet50", 120, 8)


@pytest.mark.parametrize("name", ["", "resnet50@", "resnet50x0", "resnet50@120 x8"])
def test_what_is_no_case_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="expected MODEL"):
        parse_case(name)


def test_the_truth_has_no_error_and_a_shifted_score_has_its_share_of_the_range() -> None:
    case = load_case("digits")
    shifted = case.truth.copy()
    shifted[0, 3] += np.ptp(case.truth) / 2

    assert case.error(case.truth) == 0
    assert case.error(shifted) == pytest.approx(0.5)


def test_the_peers_get_the_network_that_edged_has() -> None:
    case = load_case("digits")
    session = onnxruntime.InferenceSession(case.onnx, providers=["CPUExecutionProvider"])

    assert case.error(session.run(None, {case.network.input: case.x})[0]) < 1e-5


@pytest.mark.parametrize(
    "network", [random_resnet(18, 32, 32), load_case("digits").network], ids=lambda network: network.name
)
def test_ncnn_reads_each_tensor_once_and_only_after_it_was_written(network: Graph) -> None:
    param, weights = ncnn_model(network)
    magic, counts, *lines = param.splitlines()
    written: Counter[str] = Counter()
    read: Counter[str] = Counter()
    for line in lines:
        _, _, ins, outs, *names = line.split()
        inputs, outputs = names[: int(ins)], names[int(ins) : int(ins) + int(outs)]
        assert all(name in written for name in inputs)
        read.update(inputs)
        written.update(outputs)

    assert magic == "7767517"
    assert counts == f"{len(lines)} {len(written)}"
    assert set(written.values()) == set(read.values()) == {1}
    assert written - read == Counter([network.output])
    assert len(weights) % 4 == 0


def test_who_is_too_slow_for_the_budget_gets_the_fewest_rounds_and_the_others_all() -> None:
    scores = np.zeros(1)

    times = time_in_turn({"quick": lambda: scores}, rounds=12, budget_s=60)
    slow = time_in_turn({"slow": lambda: scores}, rounds=12, budget_s=0)

    assert sum(map(len, times["quick"])) == 12
    assert sum(map(len, slow["slow"])) == FEWEST


def test_a_peer_that_could_not_run_is_in_the_table_with_its_reason() -> None:
    measured = {
        "case": "digits",
        "threads": 1,
        "batch": 1,
        "flops": 2_000_000,
        "weight_bytes": 4_000_000,
        "peaks": {"flops_per_s": 1e9, "bytes_per_s": 1e9},
        "rows": [
            {"name": "onnxruntime", "error": 1e-7, "weight_bytes": 4_000_000, "turns": [[0.01, 0.01], [0.02]]},
            {"name": "edged", "error": None, "weight_bytes": 2_000_000, "turns": [[0.005], [0.01, 0.01]]},
            {"name": "ncnn", "missing": "ImportError: no ncnn here", "turns": []},
        ],
    }

    text = section(measured)

    edged = next(line for line in text.splitlines() if line.startswith("| edged"))
    assert [cell.strip() for cell in edged.split("|")][2:6] == ["10.00", "7.50 10.00", "100.0", "0.50"]
    assert "- ncnn: not run: ImportError: no ncnn here" in text
