"""The dense network on MNIST: `edged train mnist-dense`, and what it reached."""

import json
import subprocess
import sys
import time
from pathlib import Path

from edged.errors import TrainingError
from tools.reproduce.table import table


def report(data: Path, output: Path) -> str:
    """Train into the folder `output` and return a table. Raises TrainingError; its cause is printed above."""
    command = [sys.executable, "-m", "edged", "train", "mnist-dense", "--data", str(data), "--output", str(output)]
    start = time.monotonic()
    if subprocess.run(command, check=False).returncode:
        raise TrainingError("edged train mnist-dense failed: its message is above")
    took = time.monotonic() - start
    found = json.loads((output / "metrics.json").read_text())
    steps = found["history"][-1]["step"]
    accuracy = f"{found['accuracy']:.2%} of {found['pictures']:,} pictures ({found['judged_by']})"
    return table(
        ("network", "accuracy", "steps", "took"), [("784 → 500 → 10", accuracy, f"{steps:,}", f"{took:.0f} s")]
    )
