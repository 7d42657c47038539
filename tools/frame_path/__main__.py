"""Measure the way of one frame through the running daemon: `python -m tools.frame_path`.

It runs the daemon on a synthetic camera and a NumPy worker, with a profiling hook in each process. It prints which
functions and files one frame enters in each, and how many jumps lead from one file into another.
"""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.frame_path.page import measured_part, write
from tools.frame_path.record import record
from tools.frame_path.way import shows_each_leg, way_of

HERE = Path(__file__).parents[2]


def main() -> int:
    """Return 1 where a limit is exceeded."""
    parser = argparse.ArgumentParser(prog="python -m tools.frame_path", description=__doc__)
    parser.add_argument("--config", type=Path, default=HERE / "configs/demo.yaml", help="its cameras are used")
    parser.add_argument("--root", type=Path, default=HERE, help="the checkout to measure (default: this one)")
    parser.add_argument(
        "--frames", type=int, default=40, help="predictions to wait for at least (default: %(default)s)"
    )
    parser.add_argument("--write", action="store_true", help="write docs/architecture.md")
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        way = way_of(record(arguments.root, arguments.config, arguments.frames, Path(folder), shows_each_leg))
    print(measured_part(way))
    print(f"jumps, if each leg counts its own: {way.jumps_of_all_legs}")
    if arguments.write:
        write(way)
    problems = way.problems()
    print("\n".join(problems) or "within the limits")
    return 1 if problems and arguments.root == HERE else 0


if __name__ == "__main__":
    sys.exit(main())
