"""Writes the states of all entities of a Home Assistant into the file that EDGED_TEST_STATES names."""

import json
import os
from pathlib import Path
from typing import Any


async def async_setup(hass: Any, _config: object) -> bool:
    """Write them after each change."""
    path = Path(os.environ["EDGED_TEST_STATES"])

    async def write(_event: object) -> None:
        states = {each.entity_id: each.as_dict() for each in hass.states.async_all()}
        new = path.with_suffix(".new")
        new.write_text(json.dumps(states, default=str))
        new.replace(path)

    hass.bus.async_listen("state_changed", write)
    return True
