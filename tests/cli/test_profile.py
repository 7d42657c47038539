"""`edged profile` as a user runs it."""

import itertools
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from bench.swarm import MODEL
from edged.cli.profile.attach import _account
from edged.engine.device import list_devices
from edged.messages import WorkerHello
from edged.system.machine_state import Account, Turn
from tests.cli.command import edged_here
from tests.cli.models import small_network
from tests.e2e.terminal import edged_in_a_terminal

LAYERS = ["prepare", "a", "c", "scores"]

pytestmark = pytest.mark.skipif(not list_devices(), reason="no OpenCL device")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a small network: a convolution, a mean, a matrix."""
    return small_network(tmp_path_factory.mktemp("model") / "small.onnx")


@pytest.fixture(scope="module")
def trace(model: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Of two jobs."""
    path = tmp_path_factory.mktemp("trace") / "trace.json"
    edged_here("profile", "--model", model, "--runs", 2, "--trace", path)
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def events(trace: dict[str, Any], category: str) -> list[dict[str, Any]]:
    return [event for event in trace["traceEvents"] if event.get("cat") == category]


def test_each_kernel_has_a_line_and_the_sums_follow(model: Path) -> None:
    done = edged_here("profile", "--model", model, "--runs", 2)

    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert lines[0].startswith("small 16×16, batch 1")
    assert [line.split()[0] for line in lines[3:7]] == LAYERS
    assert [line.split(":")[0] for line in lines[7:12]] == [
        "4 kernels", "gaps between them", "before and after", "wall time of a job", "submitting, of that",
    ]  # fmt: skip


def test_a_worker_has_the_state_of_this_machine_if_its_processors_compute() -> None:
    here = WorkerHello(
        worker="local-0",
        device=list_devices()[0].name,
        precision="fp32",
        batch=1,
        credit=2,
        model=MODEL,
        energy="none",
    )
    elsewhere = msgspec.structs.replace(here, host="attic")
    turn, is_cpu = Turn("two-core slow-wake", 0.9), list_devices()[0].kind == "cpu"

    account = _account(here, turn, runs=20)

    assert account == (Account("two-core slow-wake", {"two-core slow-wake": 20}) if is_cpu else None)
    assert _account(elsewhere, turn, runs=20) is None


@pytest.mark.deep
def test_a_terminal_shows_the_runs_meanwhile(model: Path) -> None:
    with edged_in_a_terminal("profile", "--model", str(model), "--runs", "2", "--compare", "naive") as terminal:
        assert terminal.end() == 0

    for line in (b"timing small, variant auto: 0 of 2 runs", b"timing small, variant naive: 2 of 2 runs"):
        assert line in terminal.written


@pytest.mark.deep
def test_a_program_reads_one_object_whose_parts_add_up(model: Path) -> None:
    done = edged_here("profile", "--model", model, "--batch", 3, "--runs", 2, "--json", "--compare", "naive")

    found = json.loads(done.stdout)
    seconds = found["seconds"]
    assert sum(kernel["macs"] for kernel in found["kernels"]) == 3 * found["macs"]
    assert seconds["kernels"] + seconds["gaps"] == pytest.approx(seconds["forward"])
    assert (found["conv"], found["compared"]["conv"]) == ("auto", "naive")
    assert "conv_naive" in {kernel["kernel"] for kernel in found["compared"]["kernels"]}


@pytest.mark.deep
def test_two_variants_stand_side_by_side(model: Path) -> None:
    done = edged_here("profile", "--model", model, "--runs", 2, "--conv", "general", "--compare", "naive")

    _, heading, *lines = done.stdout.splitlines()
    assert heading.split() == ["layer", "general", "µs", "naive", "µs", "ratio"]
    assert [line.split()[0] for line in lines[: len(LAYERS) + 3]] == [*LAYERS, "kernels", "gaps", "wall"]
    _, ours, _, theirs, *_ = lines[1].split()
    assert (ours, theirs) == ("conv_general", "conv_naive")


@pytest.mark.deep
def test_a_trace_has_every_job_with_its_kernels_one_after_the_other(trace: dict[str, Any]) -> None:
    kernels = events(trace, "kernels")

    assert [kernel["name"] for kernel in kernels] == LAYERS * 2
    assert all(kernel["ph"] == "X" for kernel in kernels)
    for before, after in itertools.pairwise(kernels):
        assert before["ts"] + before["dur"] <= after["ts"] + 0.002  # times are rounded to nanoseconds
    assert [(event["name"], event["args"]["job"]) for event in events(trace, "job")] == [
        ("submit", 0), ("wait", 0), ("submit", 1), ("wait", 1),
    ]  # fmt: skip


@pytest.mark.deep
def test_every_track_of_a_trace_has_a_name(trace: dict[str, Any]) -> None:
    named = {(e["pid"], e["tid"]) for e in trace["traceEvents"] if e["name"] == "thread_name"}

    used = {(e["pid"], e["tid"]) for e in trace["traceEvents"] if e["ph"] == "X"}
    assert used == named
    assert {"host"} < {e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"}


@pytest.mark.deep
def test_a_roofline_has_a_dot_for_each_layer_that_multiplies(model: Path, tmp_path: Path) -> None:
    edged_here("profile", "--model", model, "--runs", 2, "--roofline", tmp_path / "roofline.svg")

    picture = ElementTree.parse(tmp_path / "roofline.svg")  # noqa: S314 (our own file)
    tooltips = [title.text or "" for title in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert {tooltip.splitlines()[0] for tooltip in tooltips} == {"a", "scores"}


@pytest.mark.parametrize(
    ("mistake", "code", "words"),
    [
        (("--conv", "fancy"), 2, "there are: auto, bfloat16, vector"),
        (("--compare", "fancy"), 2, "there are: auto, bfloat16, vector"),
        (("--device", "Voodoo"), 3, "no OpenCL device matches 'Voodoo'"),
        (("--device", "numpy"), 2, "no kernels to profile"),
        (("--batch", 65), 2, "expected 1 to 64 frames"),
        (("--roofline", "picture.bmp"), 2, "the name of an .svg file"),
        (("--trace", "/nonexistent/trace.json"), 2, "/nonexistent/trace.json: cannot be written"),
    ],
)
def test_a_mistake_is_one_clear_error(model: Path, mistake: tuple[str | int, ...], code: int, words: str) -> None:
    done = edged_here("profile", "--model", model, "--runs", 1, *mistake)

    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr
