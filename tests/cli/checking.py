"""`edged check` on a config with a small model."""

from pathlib import Path

import pytest

from edged.cli import run_command_line
from tests.cli import models
from tests.eventually import free_port


def config_file(folder: Path, text: str) -> Path:
    """Write `text` as a config. What it leaves out is added: free addresses, a camera, a small model."""
    ports = [free_port() for _ in range(3)]
    defaults = {
        "cameras": "{demo: {source: 'synthetic:digits'}}",
        "model": f"{{path: {models.small_network(folder / 'model.onnx')}}}",
        "publish": f"{{address: 'tcp://127.0.0.1:{ports[0]}', replay: 'tcp://127.0.0.1:{ports[1]}'}}",
        "metrics": f"{{address: '127.0.0.1:{ports[2]}'}}",
        "journal": f"{{path: {folder}/journal.sqlite}}",
    }
    lines = [f"{key}: {value}" for key, value in defaults.items() if f"{key}:" not in text]
    file = folder / "config.yaml"
    file.write_text("\n".join([text, *lines]) + "\n")
    return file


def check(file: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, str]]:
    """Run `edged check`; return its exit code, and level and text of each finding by its subject."""
    code = run_command_line(["check", str(file), *options])
    lines = capsys.readouterr().out.splitlines()[:-1]
    columns = max(line.find("  ", 9) for line in lines)
    return code, {line[9:columns].strip(): f"{line[:8].strip()} {line[columns:].strip()}" for line in lines}
