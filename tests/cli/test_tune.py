"""`edged tune` as a user runs it."""

import json
from pathlib import Path

import jsonschema
import pytest

from edged.cli.tune.session import as_line
from edged.engine.selection import Choice
from edged.engine.shape import Image, Shape
from edged.engine.tuning.tuner import TuningProgress
from edged.engine.variants.conv_general import CONV_GENERAL
from tests.cli.command import edged, edged_here
from tests.cli.models import small_network
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a small network."""
    return small_network(tmp_path_factory.mktemp("model") / "small.onnx")


@pytest.mark.deep
def test_a_short_run_keeps_a_record_and_says_what_it_brought(model: Path, tmp_path: Path) -> None:
    done = edged("tune", "--model", model, "--duration", "1.2", env={"XDG_STATE_HOME": str(tmp_path)})

    assert done.returncode == 0, done.stderr
    [record] = (tmp_path / "edged" / "tuned").glob("*.json")
    schema = json.loads((ROOT / "edged" / "tuning.schema.json").read_text())
    jsonschema.validate(json.loads(record.read_text()), schema)
    assert "untuned" in done.stdout
    assert f"record: {record}" in done.stdout
    assert "gain" in done.stderr

    record.write_text(record.read_text()[:100])
    damaged = edged("tune", "--model", model, "--duration", "1.2", env={"XDG_STATE_HOME": str(tmp_path)})
    assert (damaged.returncode, damaged.stdout) == (2, "")
    assert f"tuning record {record}: Invalid JSON" in damaged.stderr
    served = edged("bench", "--model", model, "--runs", 1, env={"XDG_STATE_HOME": str(tmp_path)})
    assert served.returncode == 0
    assert f"tuning record {record}: Invalid JSON" in served.stderr


@pytest.mark.parametrize(
    ("mistake", "code", "words"),
    [
        (("--duration", 0), 2, "'0' is not a time like 30, 30s, 5m, 2h or 1d"),
        (("--batch", 65), 2, "expected 1 to 64 frames"),
        (("--device", "numpy"), 2, "numpy has no variants"),
        (("--device", "Voodoo"), 3, "no OpenCL device matches 'Voodoo'"),
    ],
)
def test_a_mistake_is_one_clear_error(model: Path, mistake: tuple[str | int, ...], code: int, words: str) -> None:
    done = edged_here("tune", "--model", model, *mistake)

    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr


def test_the_line_says_how_far_it_is_and_what_it_has_gained() -> None:
    image = Image(channels=8, height=5, width=4, block=4)
    shape = Shape(operator="Conv", frames=1, inputs=(image,), output=image, attributes={"weight": [8, 8, 3, 3]})
    choice = Choice(CONV_GENERAL, {"TILE": 4})

    assert as_line(TuningProgress(3, 25, 0.002, 0.010, 0.0005, shape, choice)) == (
        "[####----------------] 3 of 25 shapes, 20 % of the frame; gain 5.0 %; "
        "Conv 8×5×4 → 8×5×4, weight 8×8×3×3: conv_general TILE=4"
    )
