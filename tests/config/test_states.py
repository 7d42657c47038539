"""`states` of a config: those of a classifier, and those of a detector with their zones."""

from pathlib import Path

import pytest

from edged.config import Config, StateConfig
from edged.config.load import load_config
from edged.errors import ConfigError

YARD = """
cameras: {yard: {source: 'synthetic:digits'}}
model: {path: found.onnx}
states:
  yard:
    zones:
      gate: [[0.1, 0.5], [0.6, 0.5], [0.6, 1], [0.1, 1]]
    present:
      visitor: {labels: [person], zone: gate, found: 2, of: 3, device_class: occupancy}
    count:
      cars: {labels: [car, truck]}
"""


def config_of(folder: Path, text: str) -> Config:
    file = folder / "edged.yaml"
    file.write_text(text)
    return load_config(file)


def test_a_detector_has_states_of_what_is_there_and_how_many(tmp_path: Path) -> None:
    yard = config_of(tmp_path, YARD).states["yard"]

    assert yard.zones["gate"][1] == (0.6, 0.5)
    assert (yard.present["visitor"].zone, yard.present["visitor"].least) == ("gate", 2)
    assert (yard.count["cars"].labels, yard.count["cars"].zone, yard.count["cars"].of) == (
        ("car", "truck"),
        None,
        5,
    )
    assert yard.described == "visitor: person in gate; cars: number of car or truck"
    assert yard.all_labels == ("person", "car", "truck")


def test_a_process_that_gets_the_config_from_another_reads_the_same(tmp_path: Path) -> None:
    config = config_of(tmp_path, YARD)

    assert Config.model_validate_json(config.model_dump_json()) == config


@pytest.mark.parametrize(("of", "least"), [(1, 1), (2, 2), (5, 3), (6, 4)])
def test_without_a_number_more_than_half_of_the_frames_decide(of: int, least: int) -> None:
    state = StateConfig.model_validate({"present": {"visitor": {"labels": ("person",), "of": of}}})

    assert state.present["visitor"].least == least


@pytest.mark.parametrize(
    ("written", "instead", "error"),
    [
        ("[[0.1, 0.5], [0.6, 0.5], [0.6, 1], [0.1, 1]]", "[[0.1, 0.5], [0.6, 0.5]]",
         "edged.yaml:7:13: states.yard.zones.gate: a zone has 3 to 100 corners, found 2"),
        ("[0.6, 1], [0.1, 1]", "[0.9, 0.5]",
         "edged.yaml:7:13: states.yard.zones.gate: the corners of a zone must not lie on one line"),
        ("[0.6, 1]", "[1.6, 1]",
         "edged.yaml:7:39: states.yard.zones.gate.2.0: expected at most 1.0, found 1.6; corners are shares of the "
         "picture: 320 of 640 pixels are 0.5"),
        ("[0.6, 1]", "[-0.6, 1]", "expected at least 0.0, found -0.6"),
        ("[0.6, 1]", "[0.6]", "edged.yaml:7:38: states.yard.zones.gate.2: item 2 is missing"),
        ("gate: [", "the.gate: [", "'the.gate': expected a name of letters, digits, '_' and '-', at most 64"),
        ("zone: gate", "zone: door", "states.yard.present: visitor: there is no zone door; there are: gate"),
        ("found: 2", "found: 4", "states.yard.present.visitor.found: expected at most `of`, 3, found 4"),
        ("cars:", "visitor:", "states.yard.count: visitor stands in present, too: names must differ"),
        ("    zones:", "    labels: [open]\n    zones:",
         "states.yard: labels is for a classifier, and present and count are for a detector"),
        ("    zones:", "    after: 2\n    zones:",
         "states.yard: after is for a classifier, and present and count are for a detector"),
        ("    zones:", "    device_class: door\n    zones:", "states.yard.device_class: is for two labels"),
        ("model: {path: found.onnx}", "model: {name: digits}",
         "states: yard: present and count are for a detector, and the model is a classifier: write labels"),
        ("model: {path: found.onnx}", "model: {path: found.onnx, task: classify}", "the model is a classifier"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_named_with_its_place(tmp_path: Path, written: str, instead: str, error: str) -> None:
    assert written in YARD
    with pytest.raises(ConfigError) as raised:
        config_of(tmp_path, YARD.replace(written, instead, 1))

    assert error in str(raised.value)


@pytest.mark.parametrize("of_model", ["task: detect", "decode: yolox"])
def test_labels_that_are_states_are_not_for_a_detector(tmp_path: Path, of_model: str) -> None:
    text = "cameras: {yard: {source: 'synthetic:digits'}}\nstates: {yard: {labels: [person]}}\n"
    config_of(tmp_path, text + "model: {path: found.onnx}\n")

    with pytest.raises(
        ConfigError, match="labels is for a classifier, and the model is a detector: write present"
    ):
        config_of(tmp_path, f"{text}model: {{path: found.onnx, {of_model}}}\n")


@pytest.mark.parametrize("yard", ["{}", "{zones: {gate: [[0, 0], [1, 0], [1, 1]]}}", "{after: 2}"])
def test_a_camera_must_have_one_kind_of_states(tmp_path: Path, yard: str) -> None:
    with pytest.raises(ConfigError, match=r"states.yard: expected labels \(of a classifier\), or present"):
        config_of(tmp_path, f"cameras: {{yard: {{source: 'synthetic:digits'}}}}\nstates: {{yard: {yard}}}\n")


def test_a_zone_needs_a_place_where_there_are_none(tmp_path: Path) -> None:
    states = "states: {yard: {count: {cars: {labels: [car], zone: a}}}}"

    with pytest.raises(ConfigError, match="cars: there is no zone a; there are no `zones`"):
        config_of(tmp_path, f"cameras: {{yard: {{source: 0}}}}\nmodel: {{path: a.onnx}}\n{states}\n")
