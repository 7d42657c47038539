"""Which segments a config may have, and what a person reads who got them wrong."""

from pathlib import Path

import pytest

from edged.config.load import load_config
from edged.config.worker import is_cut
from edged.errors import ConfigError

CAMERA = "cameras: {demo: {source: 'synthetic:digits'}}\n"
WORKERS = """\
workers:
- {device: gpu, group: front}
- {device: cpu, group: back}
- {device: cpu, host: big, group: back}
- {device: numpy}
"""


def write(folder: Path, segments: str, workers: str = WORKERS) -> Path:
    path = folder / "edged.yaml"
    path.write_text(f"{CAMERA}{workers}segments: {segments}\n")
    return path


def test_each_worker_of_a_segment_has_its_part_and_every_other_one_the_whole(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, "[{until: stage2, workers: front}, {workers: back}]"))
    assert [config.ends_of(index) for index in range(4)] == [
        (None, "stage2"),
        ("stage2", None),
        ("stage2", None),
        (None, None),
    ]


@pytest.mark.parametrize(
    ("segments", "problem"),
    [
        ("[{workers: front}]", "one segment is the whole network: add another, or leave segments out"),
        ("[{workers: front}, {workers: back}]", "segment 1 needs until: where it ends"),
        ("[{until: a, workers: front}, {until: b, workers: back}]", "the last segment ends with the network"),
        (
            "[{until: a, workers: frnt}, {workers: back}]",
            "no worker has group: frnt; the groups of workers: are fr",
        ),
        ("[{until: a, workers: back}, {workers: back}]", "group back is used twice"),
        ("[{until: a, workers: back}, {workers: front}]", "must be neighbours in workers:, in this order"),
        ("[{until: a, workers: front}, {workers: back, host: x}]", "unknown key 'host'"),
    ],
)
def test_what_cannot_be_run_is_reported_at_its_place(tmp_path: Path, segments: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=r"edged.yaml:7:") as raised:
        load_config(write(tmp_path, segments))
    assert problem in str(raised.value)


@pytest.mark.parametrize(
    ("workers", "problem"),
    [
        ("[{group: a}, {device: numpy}, {group: b}]", "a, b must be neighbours in workers:"),
        ("[{group: a}, {group: b}, {group: a}]", "a, b must be neighbours in workers:"),
        ("[{group: a, batch: 2}, {group: b}]", "the workers of all segments must have the same batch"),
        ("[{}, {device: numpy}]", "no worker has group: a; the groups of workers: are none"),
    ],
)
def test_the_list_of_workers_must_fit(tmp_path: Path, workers: str, problem: str) -> None:
    path = write(tmp_path, "[{until: c, workers: a}, {workers: b}]", f"workers: {workers}\n")
    with pytest.raises(ConfigError, match=problem):
        load_config(path)


def test_a_cut_is_named_by_its_operator_or_by_the_beginning_of_its_name() -> None:
    assert is_cut("stage2", "stage2.block4.conv3")
    assert is_cut("pool", "pool/flat")
    assert is_cut("conv1", "conv1")
    assert not is_cut("conv1", "conv11")
    assert not is_cut("conv1", None)
    assert is_cut(None, None)
