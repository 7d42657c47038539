"""`edged export` as a user starts it."""

import csv
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace
from pyarrow.parquet import read_table

from edged.cli.export import COLUMNS
from edged.hub.journal.reader import JournalReader
from edged.hub.journal.schema import checksum
from edged.messages import Box, Prediction, prediction_from_json, to_json
from tests.cli.command import edged_here
from tests.client.hub_end import Addresses, HubEnd, a_hub

HOUR_S = 3600.0


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[HubEnd]:
    config = {"node": "test", "cameras": {"door": {"source": "synthetic:digits"}}}
    config["journal"] = {"path": str(tmp_path / "journal.sqlite")}
    (tmp_path / "edged.yaml").write_text(json.dumps(config))
    where = Addresses()
    with a_hub(tmp_path, where) as hub:
        yield hub


def test_csv_has_a_row_a_prediction_while_the_daemon_runs(hub: HubEnd, tmp_path: Path) -> None:
    hub.publish(1500)
    exported = edged_here("export", tmp_path / "edged.yaml")
    assert exported.returncode == 0, exported.stderr
    header, *rows = csv.reader(exported.stdout.splitlines())
    assert tuple(header) == COLUMNS
    assert [int(row[0]) for row in rows] == list(range(1500))
    named = dict(zip(header, rows[0], strict=True))
    assert (named["camera"], named["label"], named["score"], named["truth"]) == ("door", "yes", "1.0", "")


def test_json_lines_are_what_was_published_since(hub: HubEnd, tmp_path: Path) -> None:
    hub.publish(3, ago_s=2 * HOUR_S)
    hub.publish(2)
    out = tmp_path / "out.jsonl"
    exported = edged_here("export", tmp_path / "edged.yaml", "--format", "jsonl", "--since", "1h", "--output", out)
    assert exported.returncode == 0, exported.stderr
    assert [prediction_from_json(line).seq for line in out.read_bytes().splitlines()] == [3, 4]


def test_parquet_has_the_columns_of_csv(hub: HubEnd, tmp_path: Path) -> None:
    hub.publish(1200)
    out = tmp_path / "out.parquet"
    exported = edged_here("export", tmp_path / "edged.yaml", "--format", "parquet", "--output", out)
    assert exported.returncode == 0, exported.stderr
    table = read_table(out)
    assert tuple(table.column_names) == COLUMNS
    assert table["seq"].to_pylist() == list(range(1200))
    assert set(table["label"].to_pylist()) == {"yes"}
    assert table["truth"].null_count == 1200


def insert(path: Path, predictions: list[Prediction]) -> None:
    """Write predictions into the journal at `path`, as the hub does."""
    with closing(sqlite3.connect(path)) as database, database:
        for each in predictions:
            blob = to_json(each)
            values = (each.seq, each.published_at, blob, checksum(each.seq, blob))
            database.execute("INSERT INTO predictions VALUES (?, ?, ?, ?)", values)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_detectors_prediction_has_a_row_for_each_box(hub: HubEnd, tmp_path: Path, form: str) -> None:
    hub.publish(1)
    journal, out = tmp_path / "journal.sqlite", tmp_path / f"out.{form}"
    [first] = (prediction_from_json(each) for each in JournalReader(journal).since(None))
    boxes = (
        Box(label="cat", index=1, score=0.75, box=(0.25, 0.5, 0.5, 1.0), track=7),
        Box(label="dog", index=2, score=0.5, box=(0.0, 0.0, 0.125, 0.25)),
    )
    found = replace(first, seq=1, boxes=boxes)
    insert(journal, [found, replace(first, seq=2, top=(), boxes=())])

    exported = edged_here("export", tmp_path / "edged.yaml", "--format", form, "--output", out)

    assert exported.returncode == 0, exported.stderr
    table = (
        read_table(out).to_pylist() if form == "parquet" else list(csv.DictReader(out.read_text().splitlines()))
    )
    names = ("seq", "label", "score", "left", "top", "right", "bottom", "track")
    shown = [tuple(row[name] for name in names) for row in table]
    expected = [
        (0, "yes", 1.0, None, None, None, None, None),
        (1, "cat", 0.75, 0.25, 0.5, 0.5, 1.0, 7),
        (1, "dog", 0.5, 0.0, 0.0, 0.125, 0.25, None),
        (2, None, None, None, None, None, None, None),
    ]
    texts = [tuple("" if value is None else str(value) for value in row) for row in expected]
    assert shown == (expected if form == "parquet" else texts)


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_entries_that_are_not_predictions_are_skipped(hub: HubEnd, tmp_path: Path, form: str) -> None:
    hub.publish(3)
    path = tmp_path / "journal.sqlite"
    for seq, blob in enumerate((b"{}", b"\xff", b'{"seq": 1e999}', b"[" * 9000), start=10):
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("INSERT INTO predictions VALUES (?, 0, ?, ?)", (seq, blob, checksum(seq, blob)))
    exported = edged_here("export", tmp_path / "edged.yaml", "--format", form)
    assert exported.returncode == 0, exported.stderr
    assert len(exported.stdout.splitlines()) == 3 + (form == "csv")
    assert exported.stderr.count("journal entry skipped, it is not a prediction") == 4


def test_parquet_needs_a_file(hub: HubEnd, tmp_path: Path) -> None:
    exported = edged_here("export", tmp_path / "edged.yaml", "--format", "parquet")
    assert exported.returncode == 2
    assert "needs --output FILE" in exported.stderr


def test_a_file_that_is_there_is_not_overwritten(hub: HubEnd, tmp_path: Path) -> None:
    hub.publish()
    again = edged_here("export", tmp_path / "edged.yaml", "--output", tmp_path / "edged.yaml")
    assert again.returncode == 2
    assert "File exists" in again.stderr


def test_no_journal_is_a_clear_error(tmp_path: Path) -> None:
    config = {"cameras": {"door": {"source": "synthetic:digits"}}, "journal": {"path": str(tmp_path / "none")}}
    (tmp_path / "edged.yaml").write_text(json.dumps(config))
    exported = edged_here("export", tmp_path / "edged.yaml")
    assert exported.returncode == 2
    assert "there is no journal at" in exported.stderr
