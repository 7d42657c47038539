"""A self-test whose driver ends the process at one step, as some do."""

import json
import os
import signal
from pathlib import Path

from edged.engine.apart import read_request

CRASHES_AT = "plain naive"


def main() -> None:
    _, request = read_request()
    for step in request["steps"].split(" / "):
        if step == CRASHES_AT:
            os.kill(os.getpid(), signal.SIGABRT)
        with Path(request["report"]).open("a") as file:
            file.write(json.dumps({"step": step, "figures": {"seconds": 1.0}}) + "\n")


if __name__ == "__main__":
    main()
