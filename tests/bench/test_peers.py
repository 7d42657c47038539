"""What surrounds the figures of `make bench-peers`; no test here judges a time."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from bench.peers import onnxruntime_cpu
from bench.peers.cases import load_case, parse_case
from bench.peers.contender import Contender, MissingError, timed_runs
from bench.peers.ncnn_model import ncnn_model, shuffled_parts
from bench.peers.rounds import figures, order, play, states
from bench.peers.table import section
from edged.model.graph import Graph
from edged.model.resnet import random_resnet
from edged.system.machine_state import MachineState
from tests.model.detectors import detector_file


def test_a_case_names_its_model_size_and_batch() -> None:
    settings, batch = parse_case("resnet50@120x8")

    assert (settings.name, settings.size, batch) == ("resnet50", 120, 8)


def test_a_file_is_a_case_that_the_peers_read_as_it_is(tmp_path: Path) -> None:
    file = detector_file(tmp_path / "two_outputs.onnx", "ssd")
    case = load_case(str(file))

    found = onnxruntime_cpu.prepare(case, 1, "cpu")()

    assert case.onnx == file.read_bytes()
    assert case.error(found) < 1e-5


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


@pytest.mark.deep
@pytest.mark.parametrize("name", ["digits", "mobilenetv2@64", "shufflenetv2@64", "squeezenet1_1@64"])
def test_the_peers_get_the_network_that_edged_has(name: str) -> None:
    case = load_case(name)
    session = onnxruntime.InferenceSession(case.onnx, providers=["CPUExecutionProvider"])

    assert case.error(session.run(None, {case.network.input: case.x})[0]) < 1e-5


@pytest.mark.parametrize(
    "network",
    [random_resnet(18, 32, 32), load_case("digits").network, load_case("shufflenetv2@32").network],
    ids=lambda network: network.name,
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


def test_a_shuffle_is_known_by_its_parts_and_channels_in_a_row_are_one() -> None:
    assert shuffled_parts((3, 4, 5)) == 1
    assert shuffled_parts((7,)) == 1
    assert shuffled_parts((0, 2, 4, 1, 3, 5)) == 3
    with pytest.raises(NotImplementedError, match="order"):
        shuffled_parts((0, 2, 3, 1))


def test_a_turn_runs_once_at_least_and_then_until_its_time_is_over() -> None:
    scores = np.zeros(1)

    assert len(timed_runs(lambda: scores, seconds=0, settle_s=0)) == 1
    assert len(timed_runs(lambda: scores, seconds=0.1, settle_s=0)) > 1


@pytest.mark.deep
def test_a_contender_in_its_own_process_answers_as_the_reference_does_and_takes_its_turns(tmp_path: Path) -> None:
    case = load_case("digits")
    contender = Contender.start("onnxruntime", "digits", 1, "cpu", tmp_path / "log")
    try:
        scores, weight_bytes = contender.scores()
        with MachineState(most_others=float("inf")) as machine:
            [played] = play([contender], rounds=2, turn_s=0.01, machine=machine)
    finally:
        contender.end()

    assert case.error(scores) < 1e-5
    assert weight_bytes == case.weight_bytes
    assert [turn[0] for turn in played["turns"]] == [0, 1]
    assert all(ms > 0 and runs > 0 for _, _, _, ms, runs in played["turns"])


@pytest.mark.deep
def test_a_contender_that_fails_to_start_says_why(tmp_path: Path) -> None:
    contender = Contender.start("onnxruntime", "digits", 1, "cpu", tmp_path / "log")
    lost = Contender.start("clblast", "resnet50@32", 1, "no such device", tmp_path / "log")
    try:
        with pytest.raises(MissingError, match=r"no such device|libclblast"):
            lost.scores()
        contender.scores()
        contender._process.kill()
        contender._process.wait()
        with pytest.raises(MissingError, match="ended with code -9"):
            contender.run_for(0)
    finally:
        contender.end()
        lost.end()


def test_every_contender_has_each_place_of_the_order() -> None:
    names = ["a", "b", "c"]

    firsts = {order(names, number)[0] for number in range(6)}

    assert firsts == {"a", "b", "c"}
    assert all(sorted(order(names, number)) == names for number in range(6))


# two rounds in one state, one in the other, one disturbed: round, state, others, ms, runs
STATES = ("two-core", "two-core", "two-core", "one-core", "one-core", "one-core", "disturbed")


def kept(name: str, *ms: float, states: tuple[str, ...] = STATES) -> dict[str, Any]:
    turns = [[number, state, 0.0, each, 9] for number, (state, each) in enumerate(zip(states, ms, strict=True))]
    return {"name": name, "error": 1e-7, "weight_bytes": 4_000_000, "turns": turns}


def test_figures_are_of_one_state_and_ratios_of_the_same_round_in_the_same_state() -> None:
    yardstick = kept("onnxruntime", 10, 20, 10, 30, 30, 30, 99)
    edged = kept("edged", 9, 18, 9, 15, 15, 15, 1)

    two, one = figures(edged, yardstick, "two-core"), figures(edged, yardstick, "one-core")

    assert two
    assert two.ratio
    assert one
    assert one.ratio
    assert (two.ms.median, two.ms.count, two.ratio.median, one.ratio.median) == (9, 3, 0.9, 0.5)
    assert states([edged]) == list(STATES)


def test_a_round_in_which_the_yardstick_had_another_state_has_no_ratio() -> None:
    elsewhere = ("one-core", *STATES[1:])
    yardstick = kept("onnxruntime", 10, 20, 10, 30, 30, 30, 99, states=elsewhere)

    found = figures(kept("edged", 9, 18, 9, 15, 15, 15, 1), yardstick, "two-core")

    assert found
    assert found.ms.count == 3
    assert found.ratio is None  # two rounds are too few


def test_a_peer_that_could_not_run_is_in_the_table_with_its_reason() -> None:
    rows = [
        kept("onnxruntime", 10, 20, 10, 30, 30, 30, 99),
        kept("edged", 9, 18, 9, 15, 15, 15, 1),
        {"name": "ncnn", "missing": "ImportError: no ncnn here", "turns": []},
    ]
    sizes = {"batch": 1, "flops": 2_000_000, "weight_bytes": 4_000_000}

    text = section({"case": "digits", "threads": 1, **sizes, "contenders": rows})

    lines = [line for line in text.splitlines() if line.startswith("| edged")]
    assert [cell.strip() for cell in lines[0].split("|")][2:9] == [
        "two-core", "9.00", "9.00 13.50", "111.1", "0.90", "0.90 0.90", "3",
    ]  # fmt: skip
    assert "| one-core |" in lines[1]
    assert "disturbed 2" in text
    assert "- ncnn: not run: ImportError: no ncnn here" in text
