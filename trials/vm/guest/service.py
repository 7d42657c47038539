"""edged.service as `make install` has put it there: one V4L2 camera, and one that is drawn and never fails."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import psutil

from tests.eventually import LIMIT_S
from tests.systemd.inside.unit import CONFIG, prop, systemctl, text
from trials.vm.guest import vivid

METRICS = "http://127.0.0.1:9464/metrics"  # the default of metrics.address
MODEL = "/checkout/.small.onnx"  # written by trials/vm/checkout.py
DOOR = {"source": str(vivid.LINK), "size": [320, 180], "fps": 10}
CALM = {"source": "synthetic:digits", "size": [64, 48], "fps": 4}


def write_config(**sections: Any) -> bool:
    """A small network on NumPy, changed by `sections`: an emulated machine is slow. Whether that is news."""
    config = {
        "node": "machine",
        "cameras": {"door": DOOR, "calm": CALM},
        "model": {"path": MODEL},
        "workers": [{"device": "numpy"}],
        **sections,
    }
    before = CONFIG.read_text()
    CONFIG.write_text(json.dumps(config))
    return CONFIG.read_text() != before


def start(since: float = 0.0) -> None:
    """Start it, or leave it running."""
    systemctl("reset-failed", "edged")
    done = systemctl("start", "edged")
    assert done.returncode == 0, done.stderr + text(since)


def metric(name: str, **labels: str) -> float:
    """Its value now, summed over the labels that are not given; 0 where there is none."""
    with urlopen(METRICS, timeout=LIMIT_S) as answer:
        lines = answer.read().decode().splitlines()
    wanted = {f'{key}="{value}"' for key, value in labels.items()}
    found = (re.fullmatch(rf"{name}(?:\{{(.*)\}})? (\S+)", line) for line in lines)
    return sum(float(each[2]) for each in found if each and wanted <= set((each[1] or "").split(",")))


def camera_process() -> psutil.Process:
    """The one that reads the V4L2 camera."""
    return next(each for each in map(psutil.Process, family()) if "door" in each.cmdline())


def family() -> set[int]:
    """The processes of the service: hub, cameras, worker."""
    group = Path(f"/sys/fs/cgroup{prop('ControlGroup')}")
    return {int(pid) for pid in (group / "cgroup.procs").read_text().split()}


def anonymous_bytes() -> int:
    """Memory of the service that the kernel cannot take back by forgetting what is on disk."""
    return _group_counters("memory.stat")["anon"]


def oom_kills() -> int:
    """How many processes of the service the kernel has killed for want of memory."""
    return _group_counters("memory.events")["oom_kill"]


def _group_counters(file: str) -> dict[str, int]:
    lines = Path(f"/sys/fs/cgroup{prop('ControlGroup')}", file).read_text().splitlines()
    return {name: int(value) for name, value in (line.split() for line in lines)}
