"""The committed configs and the committed JSON Schema hold what the code says."""

import json
from pathlib import Path

import jsonschema
import pytest

from edged.cli import run_command_line
from edged.cli.init import config_text
from edged.cli.options import packaged_demo
from edged.config.load import json_schema, load_config, save_config
from edged.config.yaml_positions import read
from tests.conftest import ROOT

SCHEMA = ROOT / "edged/edged.schema.json"
EXAMPLES = sorted((ROOT / "configs").glob("*.yaml"))


def test_there_is_a_config_for_each_common_case() -> None:
    assert {path.stem for path in EXAMPLES} >= {
        "demo", "usb-camera", "rtsp", "video-file", "image-folder", "two-cameras", "juno"
    }  # fmt: skip


def test_the_committed_schema_is_fresh() -> None:
    assert SCHEMA.read_text() == json_schema(), "run: edged config schema > edged/edged.schema.json"


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["config", "schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "The config file of edged"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_each_example_loads_and_fits_the_schema(path: Path) -> None:
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(read(path.read_text()).value)
    assert load_config(path).cameras


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_saved_config_is_read_again_as_the_same_by_this_user_alone(path: Path, tmp_path: Path) -> None:
    config, saved = load_config(path), tmp_path / "config.json"
    save_config(config, saved)
    assert load_config(saved) == config
    assert saved.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_each_example_opens_with_the_schema_for_editors_and_what_it_is_for(path: Path) -> None:
    schema, purpose, *_ = path.read_text().splitlines()
    assert schema == "# yaml-language-server: $schema=../edged/edged.schema.json"
    assert purpose.startswith("# ")
    assert (path.parent / schema.partition("=")[2]).exists()


def test_the_schema_of_the_packaged_demo_resolves_where_the_package_is() -> None:
    schema = packaged_demo().read_text().splitlines()[0].partition("=")[2]
    assert json.loads((packaged_demo().parent / schema).read_text())["title"] == "The config file of edged"


def test_the_schema_of_a_config_that_init_writes_resolves_anywhere(tmp_path: Path) -> None:
    text = config_text(tmp_path / "edged.yaml", "door", "0", "model: {name: digits}")
    schema = Path(text.splitlines()[0].partition("=")[2])
    assert schema.is_absolute()
    assert schema.exists()


def test_every_key_has_a_description_in_the_schema() -> None:
    schema = json.loads(json_schema())
    sections = {name: definition["properties"] for name, definition in schema["$defs"].items()}
    silent = [
        f"{name}.{key}"
        for name, properties in sections.items()
        for key, value in properties.items()
        if "description" not in value
    ]
    assert sections.keys() >= {"CameraConfig", "WorkerConfig"}
    assert silent == []
