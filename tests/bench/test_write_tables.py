"""The tables of figures in the documents are those of the raw results."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.raw_results import FOLDER, keep, machine_name, origin, read
from bench.write_tables import DOCUMENTS, PICTURE, commands_of, fill, load_picture, network
from tests.conftest import ROOT

ORIGIN = {"command": "python -m bench.x", "date": "1 May 2026", "machine": "2 processors of a Test"}
PLACE = "before\n<!-- table {}: do not edit -->\nold\n<!-- end of table -->\nafter\n"


def write(folder: Path, name: str, *measured: dict[str, Any]) -> None:
    (folder / name).write_text(json.dumps([ORIGIN | each for each in measured]))


def cells(text: str, first: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith(f"| {first}")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_tables_of_a_document_are_those_that_its_raw_results_give(name: str) -> None:
    document = (ROOT / name).read_text()

    assert "<!-- table " in document
    assert document == fill(document, FOLDER), "run: python -m bench.write_tables"


def test_the_picture_of_the_load_is_that_of_the_raw_results() -> None:
    drawn = load_picture(read(FOLDER / "hub.json"))

    assert drawn is None or drawn == (ROOT / PICTURE).read_text(), "run: python -m bench.write_tables"


def test_each_raw_result_names_its_command_machine_and_date() -> None:
    results = [(path.name, measured) for path in FOLDER.glob("*.json") for measured in read(path)]
    assert results
    assert [name for name, measured in results if not all(measured[key] for key in ORIGIN)] == []


def contender(name: str, *ms: float) -> dict[str, Any]:
    states = ["two-core"] * 3 + ["one-core"] * 3 + ["disturbed"]
    turns = [[number, state, 0.0, each, 5] for number, (state, each) in enumerate(zip(states, ms, strict=True))]
    return {"name": name, "error": 2e-7, "weight_bytes": 1, "turns": turns}


def test_peers_have_a_row_for_each_state_with_ratios_and_quartiles(tmp_path: Path) -> None:
    rows = [contender("onnxruntime", 10, 10, 10, 20, 20, 20, 99), contender("edged", 8, 9, 10, 30, 30, 30, 1)]
    write(tmp_path, "peers.json", {"case": "resnet50@120", "threads": 2, "contenders": rows})

    text = fill(PLACE.format("peers"), tmp_path)

    two, one = cells(text, "ResNet-50 at 120×120, 2")
    assert two[1:] == ["two-core, 3", "10.00 (10.00 to 10.00) ms", "0.90 (0.85 to 0.95)", "–", "–", "–", "2e-07"]
    assert one[1:4] == ["one-core, 3", "20.00 (20.00 to 20.00) ms", "1.50 (1.50 to 1.50)"]
    assert "`python -m bench.x` on 1 May 2026, 2 processors of a Test; 2 of 14 turns were left out" in text
    assert text.startswith("before\n")
    assert text.endswith("<!-- end of table -->\nafter\n")


def test_the_summary_has_the_cases_of_the_readme_alone(tmp_path: Path) -> None:
    rows = [contender("onnxruntime", 10, 10, 10, 20, 20, 20, 99), contender("edged", 8, 9, 10, 30, 30, 30, 1)]
    measured = [{"case": case, "threads": 2, "contenders": rows} for case in ("resnet50@120", "resnet101@224")]
    write(tmp_path, "peers.json", *measured)

    text = fill(PLACE.format("summary"), tmp_path)

    assert cells(text, "ResNet-50") == [["ResNet-50 at 120×120", "two-core", "10.0 ms", "0.90", "–", "–"]]
    assert "Measured on 1 May 2026, 2 processors of a Test; medians; " in text
    assert "ResNet-101" not in text
    assert "ResNet-101" in fill(PLACE.format("peers"), tmp_path)


def test_a_wrong_answer_of_a_peer_is_marked(tmp_path: Path) -> None:
    rows = [contender("onnxruntime", *[10] * 7), contender("openvino", *[9] * 7) | {"error": 0.54}]
    write(tmp_path, "peers.json", {"case": "shufflenetv2@224", "threads": 2, "contenders": rows})

    [row, _] = cells(fill(PLACE.format("peers"), tmp_path), "ShuffleNetV2")

    assert "0.90 (0.90 to 0.90), wrong by 0.54 of the range" in row


def test_the_hub_has_a_row_for_each_load_and_a_picture(tmp_path: Path) -> None:
    columns = ["state", "others", "fps", "cpu_us", "cpu_share", "p50_ms", "p99_ms", "most_ms", "rss_mb"]
    windows = [["two-core", 0.0, 240.0, us, 0.15, 1.0, 2.0, 3.0, 53.0] for us in (500.0, 600.0, 700.0)]
    load = {"cameras": 8, "workers": 4, "fps": 30.0, "batch": 1, "curve": False}
    write(tmp_path, "hub.json", {"load": load, "columns": columns, "windows": windows})

    text = fill(PLACE.format("hub"), tmp_path)

    [row] = cells(text, "ipc")
    assert row[3:9] == [
        "two-core, 3", "240", "240", "1.0 (1.0 to 1.0) ms", "2.0 (2.0 to 2.0) ms", "600 (550 to 650) µs",
    ]  # fmt: skip
    assert "<svg" in str(load_picture(read(tmp_path / "hub.json")))


def test_the_demo_has_its_ages_starts_and_memory(tmp_path: Path) -> None:
    windows = [["two-core", 0.0, 90, ms, ms - 1, ms + 1] for ms in (3.0, 4.0, 5.0)]
    starts = [["one-core", 0.0, "all cached", seconds] for seconds in (1.0, 2.0, 3.0)]
    measured = {
        "windows": {"columns": ["state", "others", "frames", "total_ms", "rest_ms", "age_ms"], "rows": windows},
        "starts": {"columns": ["state", "others", "cached", "seconds"], "rows": starts},
        "memory": {"columns": ["hub", "camera", "worker"], "rows": [[44.0, 80.0, 134.0]] * 3},
    }
    write(tmp_path, "demo.json", measured)

    text = fill(PLACE.format("demo"), tmp_path)

    assert cells(text, "the same without") == [
        ["the same without the forward pass, ms", "two-core, 3", "3.0 (2.5 to 3.5)"]
    ]
    assert cells(text, "start") == [
        ["start to the first prediction, all cached, s", "one-core, 3", "2.0 (1.5 to 2.5)"]
    ]
    assert cells(text, "memory")[0][2] == "44, 80, 134"


def test_throughput_is_compared_with_the_first_case_in_the_same_state(tmp_path: Path) -> None:
    columns = ["state", "others", "case", "fps", "age_ms"]
    figures = {"one worker": ("two-core", 50.0), "two workers": ("two-core", 100.0), "alone": ("one-core", 40.0)}
    windows = [[state, 0.0, case, fps, 20.0] for case, (state, fps) in figures.items() for _ in range(3)]
    write(tmp_path, "throughput.json", {"what": "threads", "columns": columns, "windows": windows})

    text = fill(PLACE.format("threads"), tmp_path)

    assert cells(text, "two workers") == [
        ["two workers", "two-core, 3", "100.0 (100.0 to 100.0)", "2.00", "20.0 (20.0 to 20.0) ms"]
    ]
    assert cells(text, "alone")[0][3] == "–"
    assert "Not measured" in fill(PLACE.format("batches"), tmp_path)


def test_a_table_without_raw_results_names_the_command_that_makes_them(tmp_path: Path) -> None:
    assert "`make bench-peers`" in fill(PLACE.format("peers"), tmp_path)
    assert "`python -m bench.demo`" in fill(PLACE.format("demo"), tmp_path)


def test_a_table_that_nobody_writes_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="speeds"):
        fill(PLACE.format("speeds"), tmp_path)


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ("digits", "`digits`"),
        ("resnet18@224", "ResNet-18 at 224×224"),
        ("resnet50@120x8", "ResNet-50 at 120×120, batch 8"),
        ("squeezenet1_1@224", "SqueezeNet 1.1 at 224×224"),
        ("vgg16@224", "VGG-16 at 224×224"),
    ],
)
def test_a_case_has_the_name_that_readers_know(case: str, name: str) -> None:
    assert network(case) == name


def test_a_measurement_replaces_the_one_with_the_same_key_and_leaves_the_others(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "raw.json"
    for case, ms in (("a", 1), ("b", 2), ("a", 3)):
        keep(path, {"case": case, "ms": ms}, ("case",))

    assert [(each["case"], each["ms"]) for each in read(path)] == [("b", 2), ("a", 3)]


def test_a_measurement_says_where_it_comes_from_but_not_where_it_went(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["x", "--cases", "digits", "--output", "anywhere.json", "--rounds", "3"])

    found = origin("bench.peers")

    assert found["command"] == "python -m bench.peers --cases digits --rounds 3"
    assert found["machine"] == machine_name()
    assert "processors of a" in found["machine"]


def test_commands_that_differ_in_their_cases_alone_become_one() -> None:
    commands = ["m --cases a b --rounds 8", "m --cases c --rounds 8", "m --cases c --rounds 9", "m"]

    assert commands_of([{"command": each} for each in commands]) == [
        "m --cases a b c --rounds 8",
        "m --cases c --rounds 9",
        "m",
    ]
