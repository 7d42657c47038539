"""Figures of a model, and the gate of a roll-out: conditions such as `agreement>=0.98,p99<=1.2x,not_finite=0`."""

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from edged.errors import ConfigError

NO_JOULES = "energy is neither measured nor estimated on this node (no rails, no energy.watts_per_core)"
INSTEAD = "set energy.watts_per_core there, or leave joules out of the gate"

Metric = Literal["agreement", "p99", "joules", "not_finite"]
EXAMPLE = "agreement>=0.98,p99<=1.2x,joules<=1.1x,not_finite=0"
COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
UNITS: Mapping[Metric, tuple[str, ...]] = {  # x: times the figure of the model that answered before
    "agreement": ("",),
    "p99": ("x", "ms", "s"),
    "joules": ("x", "J"),
    "not_finite": ("",),
}
_CONDITION = re.compile(r"\s*(\w+)\s*(>=|<=|>|<|=)\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


class ModelFigures(BaseModel):
    """What a model costs a frame. None: not measured."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)

    frames: int = Field(0, ge=0)
    p99_s: float | None = None
    joules: float | None = None
    not_finite: int = Field(0, ge=0)


class Comparison(BaseModel):
    """A model beside the one that answered before. `agreement`: share of frames with the same first label."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)

    agreement: float | None = None
    before: ModelFigures
    after: ModelFigures
    joules_note: str = NO_JOULES


def figures_of(seconds: Sequence[float], joules: Sequence[float | None], not_finite: int = 0) -> ModelFigures:
    """Summarize frames: seconds of the forward pass and joules of each; all joules are known, or none counts."""
    known = [each for each in joules if each is not None]
    whole = known and len(known) == len(joules)
    return ModelFigures(
        frames=len(seconds),
        p99_s=percentile(seconds, 0.99) if seconds else None,
        joules=math.fsum(known) / len(known) if whole else None,
        not_finite=not_finite,
    )


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of all values does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition. `unit`: of `limit`, as `UNITS` lists them."""

    metric: Metric
    comparison: str
    limit: float
    unit: str

    def __str__(self) -> str:
        return f"{self.metric}{self.comparison}{self.limit:g}{self.unit}"

    def judge(self, found: Comparison) -> "GateVerdict":
        """Return whether the figures meet the condition, or why that is unknown."""
        value, problem = _value_of(self, found)
        if value is None:
            return GateVerdict(self, None, f"{self.metric} cannot be evaluated: {problem}")
        return GateVerdict(self, value)


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """A condition with the figure found, in its unit. `problem`: why there is none."""

    condition: Condition
    value: float | None
    problem: str = ""

    @property
    def holds(self) -> bool:
        """Return whether the condition is met; an unknown figure does not meet it."""
        return self.value is not None and COMPARED[self.condition.comparison](self.value, self.condition.limit)

    def __str__(self) -> str:
        if self.value is None:
            return self.problem
        return f"{self.condition.metric} {self.value:.4g}{self.condition.unit}, required {self.condition}"


Gate = tuple[Condition, ...]


def parse_gate(text: str) -> Gate:
    """Parse the conditions. Raises ConfigError, which names the one that is wrong."""
    conditions = tuple(map(_condition, text.split(",")))
    metrics = [condition.metric for condition in conditions]
    if twice := next((metric for metric in metrics if metrics.count(metric) > 1), None):
        raise ConfigError(f"gate {text!r}: {twice} is there twice: give each metric once")
    return conditions


def failures(gate: Gate, found: Comparison) -> list[GateVerdict]:
    """Return the conditions that the figures do not meet, or that cannot be evaluated."""
    return [verdict for verdict in (condition.judge(found) for condition in gate) if not verdict.holds]


def measured_in_use(gate: Gate) -> Gate:
    """Return the conditions that predictions alone can show: none of them compares two answers to a frame."""
    return tuple(condition for condition in gate if condition.metric != "agreement")


def _condition(text: str) -> Condition:
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise ConfigError(f"gate: invalid condition {text.strip()!r}; expected, for example, {EXAMPLE}")
    name, comparison, limit, unit = match.groups()
    metric = next((known for known in UNITS if known == name), None)
    if metric is None:
        raise ConfigError(f"gate: there is no metric {name}; there are: {', '.join(UNITS)}")
    if unit not in UNITS[metric]:
        units = " or ".join(unit or "none" for unit in UNITS[metric])
        raise ConfigError(f"gate: {text.strip()!r}: the unit of {metric} is {units}")
    value = float(limit)
    if not math.isfinite(value) or (metric == "agreement" and value > 1):
        raise ConfigError(f"gate: {text.strip()!r}: agreement is a share, 0 to 1")
    return Condition(metric, comparison, value, unit)


def _value_of(condition: Condition, found: Comparison) -> tuple[float | None, str]:
    """Return the figure in the unit of the condition; None with the reason."""
    if condition.metric == "agreement":
        return found.agreement, "no answers were compared"
    if condition.metric == "not_finite":
        return found.after.not_finite, "not counted"
    which = "p99_s" if condition.metric == "p99" else "joules"
    after: float | None = getattr(found.after, which)
    before: float | None = getattr(found.before, which)
    unknown = f"{found.joules_note}; {INSTEAD}" if which == "joules" else "there are no predictions"
    if after is None:
        return None, unknown
    if condition.unit != "x":
        return after * (1000 if condition.unit == "ms" else 1), ""
    if not before:
        return None, f"of the model before: {unknown if before is None else 'it is 0'}"
    return after / before, ""
