"""What the result of a training depends on: a checkpoint of another one is refused."""

import json
from collections.abc import Mapping
from typing import Any

from edged import __version__
from edged.train.config import Training


def facts_of(training: Training, fingerprint: str, start: str | None, device: str) -> dict[str, str]:
    """By name. fingerprint: of the data; start: SHA-256 of the model that it starts from; device: its name."""
    said = training.model_dump(mode="json", exclude={"output", "data", "train"}, exclude_defaults=True)
    said["train"] = training.train.model_dump(mode="json", exclude_none=True)
    facts = {"data": fingerprint, "from": start or "random weights", "device": device, "edged": __version__}
    return {**_flat(said), **facts}


def _flat(values: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """{"train": {"rate": 0.1}} → {"train.rate": "0.1"}; lists as JSON."""
    flat: dict[str, str] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{before}{key}.")
        else:
            flat[before + key] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return flat
