"""Does a split answer what `edged plan-split` has predicted? `python -m bench.split_prediction resnet50@120`.

Two workers with one thread each, on this host: measured, predicted, tried by the command itself, and then run by a
real hub with the lines it printed, under more frames than it can answer. A round in which others took more than
a little of the processors counts for nothing.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from bench.hub_load import Load, heard, swarm
from bench.quiet import wait_for_quiet
from edged.system.processor_use import busy, ours
from tests.e2e.daemon import run_edged
from tests.eventually import free_port

CAMERAS, FPS, WARM_S = 8, 30.0, 1.0
WORKER = {"device": "cpu", "threads": 1}

Figures = dict[str, dict[str, float]]


def planned(model: dict[str, Any], folder: Path, seconds: float) -> tuple[dict[str, Any], float]:
    """What the command says, and how many processors others kept busy meanwhile."""
    path = folder / "plan.yaml"
    path.write_text(json.dumps({"cameras": {"c0": {"source": 0}}, "model": model, "workers": [WORKER, WORKER]}))
    how = (str(path), "--duration", str(seconds), "--try", "--json")
    command = [sys.executable, "-m", "edged", "plan-split", *how]
    environment = {**os.environ, "XDG_STATE_HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
    start_s, busy_s, children_s = time.monotonic(), busy(), waited_for()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    others_s = busy() - busy_s - (waited_for() - children_s)
    plan: dict[str, Any] = json.loads(done.stdout)
    return plan, others_s / (time.monotonic() - start_s)


def waited_for() -> float:
    """Seconds that processes have worked whose end we have seen, or our children theirs."""
    times = os.times()
    return times.children_user + times.children_system


def by_the_hub(model: dict[str, Any], lines: str, folder: Path, seconds: float) -> tuple[float, float]:
    """Frames a second that a hub with these lines answers, and how many processors others kept busy."""
    config = {
        "node": "test",
        "cameras": {f"c{index}": {"source": 0, "host": "swarm"} for index in range(CAMERAS)},
        "model": model,
        **yaml.safe_load(lines),
        "publish": {"address": f"ipc://{folder}/pub", "replay": f"ipc://{folder}/replay"},
        "metrics": {"address": f"127.0.0.1:{free_port()}"},
        "link": {"address": f"ipc://{folder}/link"},
    }
    with run_edged(folder, config=config) as daemon, swarm(Load(CAMERAS, 0, FPS), daemon):
        heard(daemon, WARM_S)
        busy_s, ours_s = busy(), ours()
        ages = heard(daemon, seconds)
        return len(ages) / seconds, (busy() - busy_s - ours() + ours_s) / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("network", nargs="+", help="such as resnet50@120")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--others", type=float, default=0.2, help="processors that others may keep busy")
    options = parser.parse_args()
    for network in options.network:
        name, _, size = network.partition("@")
        with TemporaryDirectory() as folder:
            rounds({"name": name, "size": int(size)}, Path(folder), options)


def rounds(model: dict[str, Any], folder: Path, options: argparse.Namespace) -> None:
    """Print each round that was quiet, and the medians of them."""
    found: dict[str, list[float]] = {}
    while len(found.get("by the hub", ())) < options.rounds:
        wait_for_quiet(options.others)
        plan, others = planned(model, folder, options.seconds)
        if others > options.others:
            print(f"(others kept {others:.2f} processors busy: once more)", flush=True)
            continue
        best = plan["ways"][3]
        fps, others = by_the_hub(model, plan["config"], folder, options.seconds)
        ratios = {
            way["title"]: way["measured"]["frames_per_s"] / way["predicted"]["frames_per_s"]
            for way in plan["ways"]
        }
        ratios["latency"] = best["measured"]["latency_s"] / best["predicted"]["latency_s"]
        if others <= options.others:
            ratios["by the hub"] = fps / best["predicted"]["frames_per_s"]
        print(plan["model"], best["parts"][0]["end"], best["predicted"], best["measured"], fps, flush=True)
        for what, ratio in ratios.items():
            found.setdefault(what, []).append(ratio)
    for what, each in found.items():
        print(f"{what:40}{median(each):6.2f} of what was predicted, median of {len(each)}")


if __name__ == "__main__":
    main()
