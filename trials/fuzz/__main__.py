"""`python -m trials.fuzz KIND …`: run cases of one kind; print what was found, then the figures."""

import argparse
import logging
import sys
from collections.abc import Mapping
from importlib import import_module

from trials.fuzz.trial import run

KINDS: Mapping[str, str] = {
    "caches": "trials.fuzz.caches",
    "configs": "trials.fuzz.configs",
    "journals": "trials.fuzz.journals",
    "messages": "trials.fuzz.messages",
    "onnx": "trials.fuzz.onnx_files",
    "records": "trials.fuzz.records",
    "teachings": "trials.fuzz.teachings",
}


def main() -> int:
    """0, or 1 where there was a finding."""
    parser = argparse.ArgumentParser(prog="python -m trials.fuzz", description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case, to run a finding again")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)  # of each file that the host computes in part
    with import_module(KINDS[arguments.kind]).prepared() as case:
        numbers = range(arguments.first, arguments.first + arguments.cases)
        tally = run(arguments.kind, case, numbers)
    for finding in tally.findings.values():
        print(finding)
    print(f"{arguments.kind}: {tally}")
    return 1 if tally.findings else 0


if __name__ == "__main__":
    sys.exit(main())
