"""`python -m tests.conformance zoo`: export architectures, compare each with onnxruntime, and write the page."""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

import onnxruntime

from tests.conformance.zoo.architectures import Exporter, exports
from tests.conformance.zoo.compare import ZooOutcome
from tests.conformance.zoo.page import page

OUTCOMES = Path("tests/conformance/zoo/outcomes.json")
PAGE = Path("docs/reference/architectures.md")
EXPORT = Path(__file__).with_name("export.py")
LIMIT_S = 600  # of an export, or of a comparison

Export = tuple[str, str, Exporter]


def main(given: Sequence[str]) -> int:
    """Run a part of the exports, merge its outcomes into those that are kept, and write the page.

    Returns 1 if an answer is wrong.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.conformance zoo", description=__doc__)
    parser.add_argument("--python", default=".venv-zoo/bin/python", help="the Python that has PyTorch: make zoo")
    parser.add_argument("--devices", default="numpy,auto", help="as the config names them (default: numpy,auto)")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="part K of N of the architectures")
    parser.add_argument("--only", help="architectures whose names contain this")
    parser.add_argument("--jobs", type=int, default=2, help="exports at the same time (default: 2)")
    arguments = parser.parse_args(given)
    part, parts = map(int, arguments.part.split("/"))
    chosen = [each for place, each in enumerate(exports()) if place // 2 % parts == part - 1]
    chosen = [each for each in chosen if not arguments.only or arguments.only in each[1]]
    devices = arguments.devices.split(",")
    outcomes = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for outcome in pool.map(lambda each: _outcome(each, arguments.python, devices), chosen):
            outcomes.append(outcome)
            PAGE.write_text(page(_merged(outcomes), onnxruntime.__version__), "utf-8")
    print(f"wrote {PAGE}")
    return int(any(each.result == "wrong" for each in outcomes))


def _outcome(export: Export, python: str, devices: Sequence[str]) -> ZooOutcome:
    library, name, exporter = export
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.onnx"
        if problem := _run([python, str(EXPORT), library, name, exporter, str(file)])[1]:
            return _shown(ZooOutcome(library, name, exporter, "not exported", problem))
        text, problem = _run([sys.executable, "-m", "tests.conformance.zoo.compare", str(file), *devices])
        if problem:
            return _shown(ZooOutcome(library, name, exporter, "wrong", problem))
        return _shown(ZooOutcome(library, name, exporter, *json.loads(text)))


def _run(command: Sequence[str]) -> tuple[str, str]:
    """Return the last line of a program's output, and the last line of its errors if it failed."""
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return "", f"took more than {LIMIT_S} s"
    problem = (ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"])[-1]
    return ended.stdout.strip().rpartition("\n")[2], problem if ended.returncode else ""


def _shown(outcome: ZooOutcome) -> ZooOutcome:
    print(f"{outcome.result:12}  {outcome.name}, {outcome.exporter}  {outcome.detail}", flush=True)
    return outcome


def _merged(outcomes: Iterable[ZooOutcome]) -> list[ZooOutcome]:
    """Keep these outcomes beside those of other architectures, in the order of the list."""
    known = [ZooOutcome(**each) for each in json.loads(OUTCOMES.read_text())] if OUTCOMES.is_file() else []
    found = {(each.library, each.name, each.exporter): each for each in [*known, *outcomes]}
    kept = [found[each] for each in exports() if each in found]
    lines = ",\n".join(json.dumps(asdict(each), ensure_ascii=False) for each in kept)
    OUTCOMES.write_text(f"[\n{lines}\n]\n", "utf-8")
    return kept
