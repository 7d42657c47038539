"""Writes the tables of figures of README.md and docs/ from docs/benchmarks/: `python -m bench.write_tables`.

A table stands between `<!-- table NAME: ... -->` and `<!-- end of table -->`. Below it are the commands that
measured it, the dates, the machine, and how many turns were left out.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from bench import throughput
from bench.demo import CACHED, MILLISECONDS, NOTHING_CACHED
from bench.hub_load import COLUMNS, Load, Window, as_rows
from bench.load_picture import dot, picture
from bench.peers.cases import IN_README
from bench.peers.contenders import YARDSTICK
from bench.peers.rounds import Figures, figures
from bench.peers.rounds import states as states_of_turns
from bench.peers.table import as_markdown
from bench.quartiles import FEWEST, Quartiles, states_of
from bench.raw_results import FOLDER, Measured, read
from edged.system.machine_state import LEFT_OUT
from tests.conftest import ROOT

DOCUMENTS = ("README.md", "docs/explanation/benchmarks.md", "docs/explanation/load.md")
TABLE = re.compile(r"(<!-- table (?P<name>[a-z-]+):[^>]*-->\n).*?(<!-- end of table -->)", re.DOTALL)
PICTURE = "docs/explanation/load.svg"
NAMES = {
    "alexnet": "AlexNet",
    "densenet121": "DenseNet-121",
    "digits": "`digits`",
    "efficientnet_lite0": "EfficientNet-Lite0",
    "googlenet": "GoogLeNet",
    "mobilenetv2": "MobileNetV2",
    "mobilenetv3_large": "MobileNetV3-Large",
    "shufflenetv2": "ShuffleNetV2",
    "squeezenet1_1": "SqueezeNet 1.1",
}
FAMILIES = {"resnet": "ResNet", "vgg": "VGG"}  # names that end with the depth
TITLES = {
    "edged": "edged",
    "edged-fp16-weights": "`fp16-weights`",
    "edged-int8": "edged, 8 bits",
    "edged-bf16": "edged, `bf16`",
    "onnxruntime-int8": "onnxruntime, 8 bits",
    "openvino": "OpenVINO",
    "openvino-int8": "OpenVINO, 8 bits",
    "openvino-bf16": "OpenVINO, bf16",
    "ncnn": "ncnn",
    "tinygrad": "tinygrad",
    "clblast": "CLBlast",
    "opencv-opencl": "OpenCV DNN",
    "edged-naive": "`--conv naive`",
}
WRONG = 1e-2  # of the scores' range: such an answer is marked
PEERS = ("edged", "edged-fp16-weights", "openvino", "ncnn")
ENGINES = ("edged", "openvino", "ncnn")
QUANTIZED = ("edged-int8", "onnxruntime-int8", "openvino-int8", "edged-bf16", "openvino-bf16")
KERNELS = ("edged", "tinygrad", "clblast", "opencv-opencl", "edged-naive")
WHAT = {
    "total_ms": "from capture to publication, ms",
    "rest_ms": "the same without the forward pass, ms",
    "age_ms": "from capture until a subscriber has the prediction, ms",
}


def main() -> None:
    """Write all tables, and the picture of the hub's load."""
    for name in DOCUMENTS:
        path = ROOT / name
        path.write_text(fill(path.read_text(), FOLDER))
    if drawn := load_picture(read(FOLDER / "hub.json")):
        (ROOT / PICTURE).write_text(drawn)


def fill(document: str, folder: Path) -> str:
    """Return the document with each of its tables as the raw results in `folder` give it. Raises KeyError."""
    return TABLE.sub(lambda found: found[1] + TABLES[found["name"]](folder) + found[3], document)


def summary(folder: Path) -> str:
    """Medians of the cases in README.md, with two threads on one machine on one day."""
    measured = [each for each in read(folder / "peers.json") if each["case"] in IN_README and each["threads"] == 2]
    if not measured:
        return _not_measured("make bench-peers")
    [(date, machine)] = {(each["date"], each["machine"]) for each in measured}
    in_order = sorted(measured, key=lambda each: IN_README.index(each["case"]))
    head = ("network", "machine state", YARDSTICK, *(TITLES[name] for name in ENGINES))
    states = "[machine states](docs/benchmarks/README.md)"
    caption = f"Measured on {date}, {machine}; medians; {states}."
    return "\n".join([*as_markdown([head, *map(_summary_row, in_order)]), "", caption, ""])


def _summary_row(measured: Measured) -> tuple[str, ...]:
    contenders = {row["name"]: row for row in measured["contenders"]}
    yardstick = contenders[YARDSTICK]
    state = states_of(states_of_turns([yardstick]))[0]
    theirs = figures(yardstick, None, state)
    assert theirs
    found = [figures(contenders[name], yardstick, state) if name in contenders else None for name in ENGINES]
    ratios = (f"{each.ratio.median:.2f}" if each and each.ratio else "–" for each in found)
    return network(measured["case"]), state, f"{theirs.ms.median:.1f} ms", *ratios


def peers(folder: Path) -> str:
    """Ratios of whole networks to onnxruntime, by network, threads and state."""
    return _ratios(read(folder / "peers.json"), PEERS, "make bench-peers")


def kernels(folder: Path) -> str:
    """Likewise, of other OpenCL kernels."""
    return _ratios(read(folder / "kernels.json"), KERNELS, "make bench-peers")


def quantized(folder: Path) -> str:
    """Likewise, of networks with 8 bits and with bfloat16."""
    return _ratios(read(folder / "quantized.json"), QUANTIZED, "make bench-peers")


def _ratios(measured: Sequence[Measured], names: Sequence[str], command: str) -> str:
    rows = [row for each in measured for row in _ratio_rows(each, names)]
    if not rows:
        return _not_measured(command)
    head = ("network, threads", "machine state, turns", YARDSTICK, *(TITLES[name] for name in names), "error")
    states = [state for each in measured for state in states_of_turns(each["contenders"])]
    return _table([head, *rows], measured, states)


def _ratio_rows(measured: Measured, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """A row for each state in which onnxruntime had turns enough."""
    contenders = {row["name"]: row for row in measured["contenders"]}
    yardstick = contenders[YARDSTICK]
    threads = measured["threads"]
    for state in states_of(states_of_turns([yardstick])):
        theirs = figures(yardstick, None, state)
        if theirs is None:
            continue
        found = [figures(contenders[name], yardstick, state) if name in contenders else None for name in names]
        errors = (contenders.get(name, {}).get("error") for name in names if name.startswith("edged"))
        yield (
            f"{network(measured['case'])}, {threads}",
            f"{state}, {theirs.ms.count}",
            f"{theirs.ms.text(2)} ms",
            *(_ratio(each, contenders.get(name, {})) for name, each in zip(names, found, strict=True)),
            ", ".join(f"{error:.0e}" for error in errors if error is not None),
        )


def _ratio(found: Figures | None, contender: Mapping[str, Any]) -> str:
    if not found or not found.ratio:
        return "–"
    error = contender.get("error") or 0.0
    return f"{found.ratio.text(2)}, wrong by {error:.2g} of the range" if error > WRONG else found.ratio.text(2)


def network(case: str) -> str:
    """Return a case as a reader knows it: `resnet50@120x8` is ResNet-50 at 120×120, batch 8."""
    parts = re.fullmatch(r"(\w+?)(?:@(\d+))?(?:x(\d+))?", case)
    assert parts
    model, size, batch = parts.groups()
    family = model.rstrip("0123456789")
    depth = model.removeprefix(family)
    name = NAMES.get(model) or f"{FAMILIES.get(family, family)}-{depth}"
    at = f" at {size}×{size}" if size else ""
    return f"{name}{at}{f', batch {batch}' if batch else ''}"


def hub(folder: Path) -> str:
    """What the hub bears, by load and state."""
    measured = read(folder / "hub.json")
    rows = [row for each in measured for row in as_rows(Load(**each["load"]), _windows(each))]
    if not rows:
        return _not_measured("python -m bench.hub_load")
    return _table([COLUMNS, *rows], measured, [window.state for each in measured for window in _windows(each)])


def threads(folder: Path) -> str:
    """Frames a second of two workers with a thread each, beside those of one."""
    return _throughput(folder, "threads")


def batches(folder: Path) -> str:
    """Frames a second of jobs of several frames, beside those of one."""
    return _throughput(folder, "batch")


def _throughput(folder: Path, what: str) -> str:
    measured = [each for each in read(folder / "throughput.json") if each["what"] == what]
    windows = [throughput.Window(**row) for each in measured for row in _rows(each)]
    rows = list(throughput.as_rows(windows)) if windows else []
    if not rows:
        return _not_measured(f"python -m bench.throughput {what}")
    return _table([throughput.COLUMNS, *rows], measured, [window.state for window in windows])


def load_picture(measured: Sequence[Measured]) -> str | None:
    """Draw the hub's load; None where no load has figures."""
    dots = [each for one in measured if (each := dot(Load(**one["load"]), _windows(one)))]
    return picture(dots) if dots else None


def _windows(measured: Measured) -> list[Window]:
    return [Window(**row) for row in _rows(measured)]


def demo(folder: Path) -> str:
    """The demo's starts, ages and memory."""
    measured = read(folder / "demo.json")
    rows = [row for each in measured for row in _demo_rows(each)]
    if not rows:
        return _not_measured("python -m bench.demo")
    states = [row["state"] for each in measured for kind in ("starts", "windows") for row in _rows(each[kind])]
    return _table([("what", "state, count", "median (quartiles)"), *rows], measured, states)


def _demo_rows(measured: Measured) -> Iterator[tuple[str, ...]]:
    windows, starts = list(_rows(measured["windows"])), list(_rows(measured["starts"]))
    for name in MILLISECONDS:
        yield from _by_state(WHAT[name], windows, name, 1)
    for cached in (CACHED, NOTHING_CACHED):
        of_kind = [row for row in starts if row["cached"] == cached]
        yield from _by_state(f"start to the first prediction, {cached}, s", of_kind, "seconds", 1)
    memory = list(_rows(measured["memory"]))
    if len(memory) >= FEWEST:
        each = [
            f"{Quartiles.of([row[name] for row in memory]).median:.0f}" for name in ("hub", "camera", "worker")
        ]
        yield "memory of hub, camera, worker, MB", f"any, {len(memory)}", ", ".join(each)


def _by_state(what: str, rows: Sequence[Mapping[str, Any]], name: str, digits: int) -> Iterator[tuple[str, ...]]:
    for state in states_of(row["state"] for row in rows):
        found = Quartiles.of([row[name] for row in rows if row["state"] == state])
        yield what, f"{state}, {found.count}", found.text(digits)


def _rows(kept: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Rows as mappings from the names of their columns."""
    for row in kept.get("rows", kept.get("windows", ())):
        yield dict(zip(kept["columns"], row, strict=True))


def _table(rows: Sequence[tuple[str, ...]], measured: Sequence[Measured], states: Sequence[str]) -> str:
    gone = sum(state in LEFT_OUT for state in states)
    origin = (
        f"Measured by {_origins(measured)}{_versions(measured)}; {gone} of {len(states)} turns were left out: "
        "other programs disturbed them, or the state of the machine changed meanwhile."
    )
    return "\n".join([*as_markdown(rows), "", origin, ""])


def _origins(measured: Sequence[Measured]) -> str:
    """Name each command with its date and machine."""
    alike: dict[tuple[str, str], list[Measured]] = {}
    for each in measured:
        alike.setdefault((each["date"], each["machine"]), []).append(each)
    return "; by ".join(
        f"{', '.join(f'`{command}`' for command in commands_of(those))} on {date}, {machine}"
        for (date, machine), those in alike.items()
    )


def _versions(measured: Sequence[Measured]) -> str:
    """Name the versions of the peers that take part."""
    versions = {name: text for each in measured for name, text in each.get("versions", {}).items()}
    names = [name for name in ("onnxruntime", "openvino", "ncnn", "tinygrad", "CLBlast") if name in versions]
    return "".join(f", {name} {versions[name]}" for name in names)


def commands_of(measured: Sequence[Measured]) -> list[str]:
    """Return each command once; those that differ in their cases alone become one."""
    cases: dict[tuple[str, str], list[str]] = {}
    for each in measured:
        before, _, rest = each["command"].partition(" --cases ")
        named = list(takewhile(lambda word: not word.startswith("--"), rest.split()))
        cases.setdefault((before, rest[len(" ".join(named)) :]), []).extend(named)
    return [
        f"{before} --cases {' '.join(dict.fromkeys(named))}{after}" if named else before
        for (before, after), named in cases.items()
    ]


def _not_measured(command: str) -> str:
    return f"Not measured yet in turns of a known state: `{command}`.\n"


TABLES: Mapping[str, Callable[[Path], str]] = {
    each.__name__: each for each in (summary, peers, quantized, kernels, hub, demo, threads, batches)
}


if __name__ == "__main__":
    main()
