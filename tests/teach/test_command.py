"""`edged teach` as a user starts it, with no daemon; `tests/e2e/test_teach.py` has one."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from edged.cli import run_command_line
from edged.model.head_versions import load_promoted
from edged.runtime.threads import OF_NUMPY
from edged.teach import device_choice
from edged.teach.store import CropStore
from tests.cli.models import small_network
from tests.conftest import ROOT
from tests.eventually import eventually
from tests.teach.crops import a_store, release_locks

SIDE = 16

Run = Callable[..., tuple[int, str, str]]
Teach = Callable[..., str]


@pytest.fixture(autouse=True)
def _in_this_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is not to have the lowest priority afterwards, nor its children one thread."""
    monkeypatch.setattr(device_choice, "NICE", 0)
    for variable in OF_NUMPY:
        monkeypatch.setenv(variable, "1")


@pytest.fixture
def config(folder: Path, tmp_path: Path) -> Path:
    """With a network that knows nothing of shapes, and 60 crops of two of them."""
    sections = {
        "node": "test",
        "cameras": {"door": {"source": "synthetic:digits"}},
        "model": {"path": str(small_network(tmp_path / "small.onnx", size=SIDE))},
        "workers": [{"device": "numpy"}],
    }
    (tmp_path / "edged.yaml").write_text(json.dumps(sections))
    a_store(folder, 30, side=SIDE)
    release_locks()
    return tmp_path / "edged.yaml"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """`edged teach ACTION …`: exit code, standard output and error."""

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        code = run_command_line(["teach", *map(str, arguments)])
        release_locks()
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def teach(run: Run) -> Teach:
    """What it says where it works."""

    def teach(*arguments: str | Path) -> str:
        code, told, error = run(*arguments)
        assert code == 0, error
        return told

    return teach


@pytest.fixture
def refused(run: Run) -> Teach:
    """What it says where it does not."""

    def refused(*arguments: str | Path, code: int = 2) -> str:
        ended, _, error = run(*arguments)
        assert ended == code, error
        return error

    return refused


@pytest.fixture
def train(config: Path, teach: Teach) -> Teach:
    """The beginning of a new version's hash."""

    def train(*arguments: str) -> str:
        told = teach("train", config, "--device", "numpy", *arguments)
        return re.search(r"version ([0-9a-f]{12}) \(bar, disc\)", told)[1]  # type: ignore[index]

    return train


def test_labels_are_listed_and_drawn(config: Path, tmp_path: Path, teach: Teach) -> None:
    told = teach("list", config, "--sheet", tmp_path / "crops.png")

    assert re.search(r"disc: 30 crops, \d+ of them held back, 0\.\d\d MB, from door, ", told)
    assert "\x1b" not in told
    assert (tmp_path / "crops.png").read_bytes().startswith(b"\x89PNG")


def test_training_judges_on_held_back_crops_and_gives_the_same_version_again(
    config: Path, teach: Teach, train: Teach
) -> None:
    told = teach("train", config, "--device", "numpy")

    assert re.search(r"trained on \d+ crops of 2 labels in \d+\.\d s on NumPy$", told, re.MULTILINE)
    assert re.search(r"the current model \(the config's model, small\): 0 of \d+ \(0.0%\)", told)
    assert re.search(r"^disc +[\d·]+ +[\d·]+ +\d+%$", told, re.MULTILINE)
    assert train() in told
    assert train("--seed", "2") not in told


def test_versions_are_promoted_and_rolled_back_for_the_next_start(
    config: Path, teach: Teach, refused: Teach, train: Teach
) -> None:
    first = train()
    assert f"version {first} answers from its next start on" in teach("promote", config)
    second = train("--seed", "2")
    teach("promote", config, "--force")
    assert f"{second}" in next(line for line in teach("versions", config).splitlines() if "current" in line)

    assert f"version {first} answers" in teach("rollback", config)
    assert "the config's model answers" in teach("rollback", config)
    assert "nothing to go back to" in refused("rollback", config)


def test_a_worse_version_is_promoted_by_force_alone(
    folder: Path, config: Path, teach: Teach, refused: Teach, train: Teach
) -> None:
    good = train()
    teach("promote", config, good)
    worse = train("--steps", "1", "--hidden", "1")

    assert "is worse than the current model; --force promotes it anyway" in refused("promote", config, worse)
    promoted = load_promoted(folder).version
    assert promoted is not None
    assert promoted.startswith(good)
    teach("promote", config, worse, "--force")


def test_a_version_of_another_model_is_not_promoted(
    config: Path, tmp_path: Path, refused: Teach, train: Teach
) -> None:
    train()
    small_network(tmp_path / "small.onnx", size=SIDE, largest=2.0)
    assert re.search(r"was trained on the model small .*: train one for it", refused("promote", config))


@pytest.mark.deep
def test_a_training_that_is_killed_loses_nothing(folder: Path, config: Path, teach: Teach, train: Teach) -> None:
    before = train()
    crops = {crop.file for crop in CropStore.read(folder).crops}
    options = ["--device", "numpy", "--steps", "1000000"]
    command = [sys.executable, "-m", "edged", "teach", "train", str(config), *options]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd=ROOT) as training:
        try:
            eventually(psutil.Process(training.pid).nice)  # it leaves the processors to others, and begins
            began_s = _processor_seconds(training.pid)
            eventually(lambda: _processor_seconds(training.pid) > began_s + 0.2)  # it is at its steps
        finally:
            training.kill()

    assert {crop.file for crop in CropStore.read(folder).crops} == crops
    assert before in teach("versions", config)
    assert train() == before


def _processor_seconds(pid: int) -> float:
    time.sleep(0.02)
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def test_crops_are_forgotten(config: Path, teach: Teach, refused: Teach) -> None:
    assert "30 crops removed; 30 are left" in teach("forget", config, "disc")
    assert "has one label alone, bar" in refused("train", config)
    assert "there are the labels: bar" in refused("forget", config, "disc")


def test_damage_is_reported_and_repaired(
    folder: Path, config: Path, teach: Teach, refused: Teach, train: Teach
) -> None:
    (folder / "manifest.json").write_text("{")
    crop = sorted((folder / "crops/disc").iterdir())[0]
    crop.write_bytes(crop.read_bytes()[:100])

    told = refused("train", config, "--device", "numpy")
    repaired = teach("repair", config)

    assert "manifest.json is damaged" in told
    assert f"edged: {crop} is damaged or cut off (100 bytes); expected a PNG" in told
    assert f"damaged, moved to {folder / 'damaged' / ('disc-' + crop.name)}" in repaired
    train()


@pytest.mark.parametrize(
    ("action", "options", "problem"),
    [
        ("record", ["--label", "x", "--camera", "gate"], "has no camera gate: it has door"),
        ("record", ["--label", "../x", "--camera", "door"], "'../x' cannot be a label"),
        ("promote", [], "has no version; there are: none"),
        ("shadow", ["abc"], "has no version abc"),
        ("train", ["--device", "none such"], "no OpenCL"),
    ],
)
def test_a_request_that_cannot_be_met_is_one_clear_error(
    config: Path, action: str, options: list[str], problem: str, run: Run
) -> None:
    code, _, error = run(action, config, *options)
    assert code in {2, 3}
    assert problem in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "the following arguments are required: ACTION"),
        (["record", "edged.yaml", "--label", "x"], "the following arguments are required: --camera"),
        (["list", "edged.yaml", "--count", "3"], "unrecognized arguments: --count 3"),
        (["edged.yaml", "--train"], "invalid choice: 'edged.yaml' (choose from 'record', 'list'"),
    ],
)
def test_options_belong_to_one_action(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["teach", *arguments]) == 2
    assert problem in capsys.readouterr().err


def test_labels_and_versions_are_printed_as_json(config: Path, teach: Teach, train: Teach) -> None:
    version = train()
    teach("promote", config)

    labels = json.loads(teach("list", config, "--json"))["labels"]
    versions = json.loads(teach("versions", config, "--json"))

    assert [(each["label"], each["crops"], each["cameras"]) for each in labels] == [
        ("bar", 30, ["door"]),
        ("disc", 30, ["door"]),
    ]
    assert versions["promoted"].startswith(version)
    assert [each["answers"] for each in versions["versions"]] == [True]


def test_a_version_that_is_trained_and_promoted_is_printed_as_json(config: Path, teach: Teach) -> None:
    trained = json.loads(teach("train", config, "--device", "numpy", "--json"))
    promoted = json.loads(teach("promote", config, "--json"))
    rolled_back = json.loads(teach("rollback", config, "--json"))

    assert trained["labels"] == ["bar", "disc"]
    assert trained["before"]["name"] == "the config's model, small"
    assert promoted["accepted"]
    assert promoted["version"] == trained["sha256"]
    assert promoted["held_back"] == trained["held_back"]
    assert rolled_back["version"] == ""


def test_crops_that_are_removed_or_damaged_are_printed_as_json(folder: Path, config: Path, teach: Teach) -> None:
    crop = sorted((folder / "crops/bar").iterdir())[0]
    crop.write_bytes(b"no picture")

    removed = json.loads(teach("forget", config, "disc", "--json"))
    repaired = json.loads(teach("repair", config, "--json"))

    assert len(removed["removed"]) == 30
    assert removed["folder"] == str(folder)
    assert repaired["damaged"] == [str(folder / "damaged" / f"bar-{crop.name}")]
    assert repaired["crops"] == 29


def test_recording_needs_a_daemon(config: Path, refused: Teach) -> None:
    assert "no running edged uses" in refused("record", config, "--label", "open", "--camera", "door", code=1)
