"""`edged plan-split`: find where to cut a network for several workers; print gain and config lines."""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from edged.cli.options import add_duration, add_example, add_json, duration
from edged.config import Config
from edged.config.load import load_config
from edged.engine.device import list_devices
from edged.errors import ConfigError
from edged.messages import ModelInfo, WorkerHello
from edged.messages.message import as_dict
from edged.runtime.base import NUMPY
from edged.split.measure import measure, try_each
from edged.split.pump import Tried
from edged.split.search import Ability, Cost, LinkSpeed, Unit, Way, Ways
from edged.split.workers import run_workers
from edged.system.machine_state import Account, watch
from edged.system.terminal import note, room_for_names, shortened, show

PLACE_COLUMNS = 11 + 16 + 11  # of a single cut, beside the names and the units
MS, KB = 1e3, 1e-3
FEWEST, MOST = 2, 6  # units: each order of them is looked at


@dataclass(frozen=True, slots=True)
class Figures:
    """Throughput and latency of one way to split."""

    frames_per_s: float
    latency_s: float


@dataclass(frozen=True)
class SplitReport:
    """The result. `frames`: in a job; `ways`: all predicted ones; `tried`: measurements of those that were run.

    `account`: the turns of this host, of which those of one state should be; `state`: of the workers' figures.
    """

    hellos: Mapping[str, WorkerHello]
    measured: Ways
    frames: int
    ways: Sequence[Way]
    tried: Mapping[Way, Tried]
    account: Account
    state: str

    @property
    def model(self) -> ModelInfo:
        return next(iter(self.hellos.values())).model

    def abilities(self) -> Iterator[tuple[WorkerHello, Ability]]:
        """Yield each worker with its measurements."""
        for unit in self.measured.units:
            yield from ((self.hellos[name], ability) for name, ability in unit.each())

    def figures(self, cost: Cost | Tried) -> Figures:
        """Convert a cost to frames per second and latency."""
        return Figures(self.frames / cost.period_s, cost.latency_s)

    def as_object(self) -> dict[str, Any]:
        """Return the report for JSON, in seconds and bytes."""
        return {
            "model": self.model.name,
            "random_weights": self.model.random_weights,
            "frames": self.frames,
            "workers": {
                hello.worker: {
                    "device": hello.device,
                    "precision": hello.precision,
                    "link": asdict(ability.link),
                    **as_dict(ability.measured),
                }
                for hello, ability in self.abilities()
            },
            "machine": self.account.as_object() | {"workers": self.state},
            "ways": [self._way_as_object(way) for way in self.ways],
        }

    def _way_as_object(self, way: Way) -> dict[str, Any]:
        measured = None
        if tried := self.tried.get(way):
            latency = {"latency_quartiles_s": list(tried.middle_s), "latencies": tried.jobs}
            measured = asdict(self.figures(tried)) | latency | {"state": tried.state}
        return {
            "title": way.title,
            "parts": [asdict(part) for part in way.parts],
            "predicted": asdict(self.figures(way.predicted)),
            "measured": measured,
        }


def as_text(report: SplitReport) -> str:
    return "\n".join(
        [*_heading(report), "", *_cut_points(report), "", *_ways(report), "", *_machine(report), *_advice(report)]
    )


def _machine(report: SplitReport) -> Iterator[str]:
    """Format the state of this host, and which figures are of another one."""
    yield str(report.account)
    states = {
        "the figures of the workers": report.state,
        **{way.title: t.state for way, t in report.tried.items()},
    }
    for title, state in states.items():
        if report.account.state not in (None, state):
            yield f"WARNING: of another state ({state}): {title}"


def _heading(report: SplitReport) -> Iterator[str]:
    model = report.model
    random = ", random weights" if model.random_weights else ""
    frames = f"{report.frames} frames" if report.frames > 1 else "1 frame"
    yield f"{model.name} {model.width}×{model.height}{random}, {frames} a job"
    for hello, ability in report.abilities():
        yield f"{hello.worker}: {hello.device}, {hello.precision}; its link: {_speed(ability.link)}"


def _speed(link: LinkSpeed) -> str:
    out, back = (f"{1e-6 / s:.0f} MB/s" if s else "at once" for s in (link.out_s_per_byte, link.back_s_per_byte))
    return f"{link.round_trip_s * MS:.2f} ms there and back, {out} there, {back} back"


def _cut_points(report: SplitReport) -> Iterator[str]:
    """Format a line for each place: the time from the place before on each unit, and a cut there."""
    ways = report.measured
    names = ["the scores" if point.after is None else point.after for point in ways.cut_points]
    wide = room_for_names(names, 11 * len(ways.units) + PLACE_COLUMNS)
    short = shortened(names, wide)
    heads = "".join(f"{unit.name[:10]:>11}" for unit in ways.units)
    yield f"{'up to':{wide}}{heads}{'crosses':>11}  a single cut there"
    for number, point in list(enumerate(ways.cut_points))[1:]:
        stretch = "".join(f"{_stretch_s(unit, number) * MS:8.2f} ms" for unit in ways.units)
        cut = ""
        if point.after is not None:
            found = report.figures(ways.at(number))
            cut = f"{point.nbytes * KB:8.1f} kB{found.frames_per_s:7.1f} frames/s{found.latency_s * MS:8.1f} ms"
        yield f"{short[names[number]]:{wide}}{stretch}{cut}"


def _stretch_s(unit: Unit, number: int) -> float:
    """Return the device time of the fastest worker between the place before and this one, in seconds."""
    each = [ability.measured.cut_points for ability in unit.abilities]
    return min(cut_points[number].reached_s - cut_points[number - 1].reached_s for cut_points in each)


def _ways(report: SplitReport) -> Iterator[str]:
    wide = max(len(way.title) for way in report.ways)
    tried = f"{'measured':>21}{'ratio':>13}" if report.tried else ""
    yield f"{'':{wide}}{'predicted':>21}{tried}"
    for way in report.ways:
        yield f"{way.title:{wide}}{_figures(report, way)}"
        if len(way.parts) > 1:
            yield "  " + ", then ".join(part.unit + (f" to {part.end}" if part.end else "") for part in way.parts)


def _figures(report: SplitReport, way: Way) -> str:
    expected, tried = report.figures(way.predicted), report.tried.get(way)
    text = f"{expected.frames_per_s:8.1f}/s{expected.latency_s * MS:8.1f} ms"
    if tried is None:
        return text
    came = report.figures(tried)
    ratios = came.frames_per_s / expected.frames_per_s, came.latency_s / expected.latency_s
    return f"{text}{came.frames_per_s:8.1f}/s{came.latency_s * MS:8.1f} ms{ratios[0]:7.2f}{ratios[1]:6.2f}"


def _advice(report: SplitReport) -> Iterator[str]:
    """Advise against a split if the workers are faster side by side."""
    together, split = report.measured.unsplit[-1], report.measured.split[0]
    if together.predicted.period_s <= split.predicted.period_s:
        yield "Unsplit and side by side (all in one group, no segments), these workers answer more frames."


def lines_of(config: Config, way: Way) -> str:
    """Format the config's `workers:` (those of the segments first, in their order) and `segments:`."""
    first = [(name, part.unit) for part in way.parts for name in part.workers]
    by_name = {config.worker_name(index): worker for index, worker in enumerate(config.workers)}
    others = [worker for name, worker in by_name.items() if name not in dict(first)]
    workers = [*(by_name[name].model_copy(update={"group": group}) for name, group in first), *others]
    # the device, and the keys that are not defaults
    keys = [{"device": each.device, **each.model_dump(mode="json", exclude_defaults=True)} for each in workers]
    segments = [{**({"until": part.end} if part.end else {}), "workers": part.unit} for part in way.parts]
    return "\n".join([
        "workers:",
        *(f"  - {_flow(each)}" for each in keys),
        "segments:",
        *(f"  - {_flow(segment)}" for segment in segments),
    ])  # fmt: skip


def _flow(values: object) -> str:
    text: str = yaml.safe_dump(values, default_flow_style=True, sort_keys=False, allow_unicode=True, width=1e9)
    return text.rstrip()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the config, and how to measure."""
    config = "the config of a hub that is not running; start its workers on other hosts before or meanwhile"
    parser.add_argument("config", type=Path, metavar="CONFIG", help=config)
    wait = "how long to wait for workers of other hosts (default: 1m)"
    parser.add_argument("--wait", type=duration(), default=60.0, metavar="TIME", help=wait)
    add_duration(parser, "how long each measurement takes (default: 2s)", default=2.0)
    tries = "also run each partition, and compare it with its prediction"
    parser.add_argument("--try", action="store_true", dest="tries", help=tries)
    add_json(parser)
    add_example(parser, "edged plan-split configs/split.yaml --try")


def run(arguments: argparse.Namespace) -> int:
    """Measure the workers, predict the ways to split, and try them with --try."""
    config = load_config(arguments.config).model_copy(update={"segments": ()})
    groups = groups_of(config)
    if not FEWEST <= len(groups) <= MOST:
        raise ConfigError(
            f"{arguments.config}: workers: has {len(groups)} groups (a worker without one is a group); "
            f"expected {FEWEST} to {MOST}"
        )
    with run_workers(config, note) as team:
        team.gather([name for names in groups.values() for name in names], arguments.wait)
        frames = min(hello.batch for hello in team.hellos.values())
        with watch(computes=_computes(config, team.hellos)) as machine:
            units, turns = measure(team, groups, frames, arguments.duration, machine)
            ways, state = Ways(units), turns[-1].state
            tried: Mapping[Way, Tried] = {}
            if arguments.tries:
                tried, of_ways = try_each(team, ways, frames, arguments.duration, machine, state)
                turns += of_ways
        each = list(tried) or [*ways.unsplit, *ways.split]
        account = Account.of([turn.state for turn in turns])
        report = SplitReport(team.hellos, ways, frames, each, tried, account, state)
    best = ways.split[0]
    lines = lines_of(config, best)
    if arguments.json:
        print(json.dumps(report.as_object() | {"config": lines}))
    else:
        show(as_text(report))
        print(f"# {best.title}", lines, sep="\n")
    return 0


def groups_of(config: Config) -> dict[str, list[str]]:
    """List the names of workers by group; a worker without a group is one of its own."""
    groups: dict[str, list[str]] = {}
    for index, worker in enumerate(config.workers):
        name = config.worker_name(index)
        groups.setdefault(worker.group or name, []).append(name)
    return groups


def _computes(config: Config, hellos: Mapping[str, WorkerHello]) -> bool:
    """Return whether a worker of this host computes on its processors."""
    here = [config.worker_name(index) for index, worker in enumerate(config.workers) if worker.host is None]
    cpus = {NUMPY, *(device.name for device in list_devices() if device.kind == "cpu")}
    return any(hellos[name].device in cpus for name in here)
