"""`python -m bench.machine_state` prints for a while what edged/system/machine_state.py sees."""

import argparse
import time
from collections import Counter

from edged.system.machine_state import MachineState


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long to look (default: 10)")
    options = parser.parse_args()
    states: Counter[str] = Counter()
    with MachineState() as machine:
        end = time.monotonic() + options.seconds
        while time.monotonic() < end:
            speed = machine.speed()
            _, turn = machine.during(lambda: time.sleep(0.2))
            states[turn.state] += 1
            print(
                f"{turn.state:10} one {speed.one:.0f}, all {speed.every:.0f} GFLOP/s; "
                f"wake {speed.wake:.1f}; others {turn.others:.2f}"
            )
    print(", ".join(f"{state} {count}" for state, count in states.most_common()))


if __name__ == "__main__":
    main()
