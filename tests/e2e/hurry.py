"""Prometheus' rules with shorter times, so that an alert need not be waited for for minutes.

Every duration is divided by `FASTER`. A window stays long enough for a few scrapes and short enough for a test;
one of days is twice as long as the longest of the others, and what `offset` compares with lies before those.
Thresholds stay as they are.
"""

import re
from pathlib import Path
from typing import Any

import yaml

FASTER = 60
WINDOW_S = (4, 8)  # at least, and at most
DAYS_S = (16, 16)
FOR_S = (1, 3)
SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800, "y": 31536000}
DURATION = r"(?:\d+(?:ms|[smhdwy]))+"


def seconds(duration: str) -> float:
    """Of 1h30m."""
    return sum(int(number) * SECONDS[unit] for number, unit in re.findall(r"(\d+)(ms|[smhdwy])", duration))


def hurried(expression: str) -> str:
    """With windows and offsets shortened."""
    return re.sub(rf"(?<=\[|:){DURATION}|(?<=offset ){DURATION}", lambda found: _window(found[0]), expression)


def hurried_rules(file: Path) -> dict[str, Any]:
    """A rule file as it is read, with all its times shortened."""
    content: dict[str, Any] = yaml.safe_load(file.read_text())
    for group in content["groups"]:
        group.pop("interval", None)
        for rule in group["rules"]:
            rule["expr"] = hurried(rule["expr"])
            for key in {"for", "keep_firing_for"} & rule.keys():
                rule[key] = _shorter(rule[key], *FOR_S)
    return content


def _window(duration: str) -> str:
    return _shorter(duration, *(WINDOW_S if seconds(duration) < SECONDS["d"] else DAYS_S))


def _shorter(duration: str, least: float, most: float) -> str:
    return f"{1000 * min(most, max(least, seconds(duration) / FASTER)):.0f}ms"
