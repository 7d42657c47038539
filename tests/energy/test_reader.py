"""A file that blocks holds up its reader once, for the bound, and nobody else's reading is lost."""

import logging
import os
import threading
import time
from pathlib import Path

import pytest

from edged.energy import bounded, reader
from edged.energy.meter import Meter
from edged.energy.rails import Rail
from edged.energy.reader import Reader
from tests.eventually import eventually


def rails_in(folder: Path, *names: str) -> list[Rail]:
    for name in names:
        (folder / name).write_text("2000000\n")
    return [Rail(name, folder / name) for name in names]


def block(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def test_rails_that_block_are_set_aside_and_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(reader, "PAUSE_S", 0.01)
    monkeypatch.setattr(bounded, "BOUND_S", 0.2)
    before = set(threading.enumerate())
    rails = rails_in(tmp_path, "GPU", "BIG", "SYS")
    reads = Reader(rails)
    assert reads.read() == {"GPU": 2.0, "BIG": 2.0, "SYS": 2.0}
    for name in ("GPU", "SYS"):
        block(tmp_path / name)

    start = time.monotonic()
    assert reads.read() == {"BIG": 2.0}
    assert time.monotonic() - start >= 2 * 0.2
    for _ in range(3):
        assert reads.read() == {"BIG": 2.0}
    new = set(threading.enumerate()) - before
    assert [thread.name for thread in new] == ["rails"] * 3  # the reader's own, and one for each that blocks

    for name in ("GPU", "SYS"):  # the driver answers at last, and from then on
        (tmp_path / f"{name}.new").write_text("3000000\n")
        pipe = os.open(tmp_path / name, os.O_RDWR | os.O_NONBLOCK)
        (tmp_path / f"{name}.new").replace(tmp_path / name)
        os.write(pipe, b"5\n")
        os.close(pipe)
    assert eventually(lambda: reads.read() if len(reads.read()) == 3 else None) == {
        "GPU": 3.0,
        "BIG": 2.0,
        "SYS": 3.0,
    }
    reads.close()
    told = {
        name: [record.message for record in caplog.records if name in record.message] for name in ("GPU", "SYS")
    }
    for name, messages in told.items():
        assert "cannot be read now" in messages[0]
        assert messages[-1] == f"rail {name} is read again"


def test_a_rail_of_power_that_blocks_leaves_the_sampling_of_the_others_alone(tmp_path: Path) -> None:
    gpu, soc = [Rail(rail.name, rail.path, gives="watts") for rail in rails_in(tmp_path, "GPU", "SOC")]
    meter = Meter([gpu, soc], attributed_rails=("SOC",), sample_hz=100)
    block(tmp_path / "GPU")

    def measures() -> bool:
        meter.start_job()
        time.sleep(0.02)
        spent = meter.finish_job()
        return spent.joules is not None and spent.joules > 0 and spent.rails["GPU"] == 0

    eventually(measures)
    meter.close()
