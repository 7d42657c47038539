"""`edged train` on made-up data, as a user starts it."""

from pathlib import Path

import pytest

from edged.cli import run_command_line

NETWORK = """name: stripes
input: {width: 8, height: 8, color: gray, mean: [0.5], std: [0.25]}
layers: [{conv: 8}, norm, relu, {max_pool: 2}, flatten, {dense: classes}]
"""
LEARNING = "batch: 32, epochs: 8, optimizer: adam, rate: 0.02, schedule: cosine"


def config_file(path: Path, learning: str = LEARNING, network: str = NETWORK) -> Path:
    """The file of a training."""
    path.write_text(f"{network}train: {{{learning}}}\n")
    return path


def train(*arguments: str | Path | int) -> int:
    """The exit code of `edged train …`."""
    return run_command_line(["train", *map(str, arguments)])


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str | Path | int, code: int = 2) -> str:
    """What a training says that is to fail with exit code `code`."""
    capsys.readouterr()
    assert train(*arguments) == code
    return capsys.readouterr().err
