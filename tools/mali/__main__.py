"""Compile every kernel of networks for Mali GPUs that are not here, and print what Mesa's compilers say of them.

python -m tools.mali resnet50 --size 120 --gpu t620,t860,g52,g610

The first time it makes a root of Debian with Mesa's compilers for arm64, which QEMU runs (as root; half a minute).
"""

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any, get_args

from edged.cli.model_options import validated
from edged.config import Precision
from edged.errors import EdgedError
from edged.model.package import Model, is_file_name, load_model
from tools.mali.gpus import GPUS, Gpu, gpus_named
from tools.mali.launches import plan_for, programs_of, with_answers
from tools.mali.neighbours import Layer, layers_of
from tools.mali.report import Report, explanation
from tools.mali.root import RELEASES, Root, default_folder


def main(argv: Sequence[str]) -> int:
    """Print the figures of each network on each GPU and return the exit code."""
    arguments = _parser().parse_args(argv)
    try:
        _print(arguments)
    except EdgedError as error:
        print(f"mali: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def report_on(name: str, model: Model, gpu: Gpu, precision: Precision, root: Root) -> Report:
    """Plan a network for a GPU and compile its kernels. Raises ModelError, DeviceError."""
    plan = plan_for(model, root.device(gpu), precision)
    answers = root.compile(gpu, programs_of(plan.launches, plan.device))
    launches = (with_answers(one, plan.choice_of(one), plan.device, gpu, answers) for one in plan.launches)
    return Report(name, gpu, plan, tuple(launches))


def _print(arguments: argparse.Namespace) -> None:
    gpus = gpus_named(arguments.gpu.split(","))
    models = {name: _load(name, arguments.size) for name in arguments.models}
    root = Root(arguments.root, arguments.release)
    root.make()

    def of(case: tuple[str, Gpu]) -> tuple[Report, tuple[Layer, ...]]:
        report = report_on(case[0], models[case[0]], case[1], arguments.precision, root)
        return report, layers_of(report.plan, case[1], root) if arguments.candidates else ()

    found: list[dict[str, Any]] = []
    cases = list(product(models, gpus))
    with ThreadPoolExecutor(len(cases)) as pool:
        for report, layers in pool.map(of, cases):
            found.append(report.as_json() | ({"layers": [each.as_json() for each in layers]} if layers else {}))
            if not arguments.json:
                print("\n".join([report.text(), *(layer.text() for layer in layers)]), flush=True)
    print(json.dumps(found, indent=1) if arguments.json else f"\n{explanation(gpus)}")


def _load(name: str, size: int | None) -> Model:
    keys = {"path" if is_file_name(name) else "name": name} | ({} if size is None else {"size": size})
    return load_model(validated(**keys))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.mali", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "models", nargs="+", metavar="MODEL", help="names or files of networks, as for edged bench"
    )
    parser.add_argument("--size", type=int, help="height and width of the pictures (default: the network's)")
    parser.add_argument(
        "--gpu", default="t620,g52,g610", help=f"GPUs, of {', '.join(GPUS)} (default: %(default)s)"
    )
    parser.add_argument("--precision", choices=get_args(Precision), default="fp32", help="default: %(default)s")
    parser.add_argument(
        "--candidates", action="store_true", help="compile what the tuner would try, too (many minutes)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--release", choices=RELEASES, default=RELEASES[0], help="of Debian, whose Mesa compiles (%(default)s)"
    )
    parser.add_argument("--root", type=Path, default=default_folder(), help="folder of the roots (%(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
