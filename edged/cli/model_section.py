"""Write the `model:` section of a config, for `edged inspect` and `edged init`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from edged.messages.preparation import RECIPES
from edged.model.package import Model, is_file_name
from edged.system.plain_text import counted


def config_of(named: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the section `model:` for this file or name and these options."""
    values = {key: _plain(value) for key, value in given.items()}
    return {"path" if is_file_name(named) else "name": named, **values}


def config_lines(named: str, given: Mapping[str, Any], model: Model) -> str:
    """Return the section in YAML, to paste."""
    section = config_of(named, given)
    return "\n".join(["model:", *(f"  {line_of(*entry)}" for entry in section.items()), *_open(model)])


def _open(model: Model) -> list[str]:
    """Return comment lines for the keys that neither the file nor the options define."""
    if model.random_weights:
        return []
    lines = []
    if not model.has_labels:
        count = counted(len(model.labels), "line")
        lines.append(f"  # labels: labels.txt    # one label a line, {count} in the order of the classes")
    if model.prepared_by == "default":
        lines.append(f"  # preprocess: unit      # as it was trained: {', '.join(RECIPES)}")
    return lines


def line_of(key: str, value: Any) -> str:
    """Return a key of YAML with its value on one line."""
    listed = yaml.safe_dump([value], default_flow_style=True, allow_unicode=True, width=float("inf"))
    return f"{key}: {listed.strip()[1:-1]}"


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value
