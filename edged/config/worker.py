"""`workers` and `segments`: which devices run the network, or which part of it."""

from collections.abc import Sequence
from itertools import groupby
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from edged.config.sections import Name, Section, Text

MAX_BATCH = 64  # frames of a job

Precision = Literal["fp32", "fp16-weights", "fp16", "bf16"]


class WorkerConfig(Section):
    """One entry of the list of devices, which is in order of preference."""

    host: Name | None = Field(
        None, description="Host that runs this worker (`edged worker`). Default: the hub's host"
    )
    group: Name | None = Field(
        None, description="Adjacent workers of the same group serve together; default: one worker at a time"
    )
    device: Text = Field(
        "auto", description="Part of an OpenCL platform or device name, gpu, cpu, auto, or numpy (no OpenCL)"
    )
    precision: Precision = Field(
        "fp32",
        description="How numbers are stored; sums are always fp32. fp16-weights: weights as fp16; fp16: tensors "
        "too; bf16: both as bfloat16, fast where a CPU multiplies it. `edged verify --precision` shows the error",
    )
    threads: int | None = Field(
        None,
        ge=1,
        le=1024,
        description="CPU threads (PoCL, numpy); several workers that set it share a CPU. 1: PoCL computes in the "
        "thread that submits a job, without waking another one. Default: 1 for numpy; PoCL takes all, for "
        "one worker, or 1 for a quick network, where that was measured to be as fast",
    )
    batch: int = Field(1, ge=1, le=MAX_BATCH, description="Largest number of frames in a job")
    max_wait_s: float = Field(
        0.0,
        ge=0,
        le=10,
        description="Longest time that a frame waits for others of its job, if `batch` is above 1",
    )
    credit: int = Field(2, ge=1, le=16, description="Jobs in flight: with 2 an upload overlaps a forward pass")
    rails: tuple[Text, ...] | None = Field(
        None,
        min_length=1,
        description="Rails whose joules are attributed to its predictions, such as [GPU]; default: all of "
        "`energy.rails`",
    )

    @field_validator("precision")
    @classmethod
    def _numpy_is_fp32(cls, precision: Precision, info: ValidationInfo) -> Precision:
        if precision != "fp32" and str(info.data.get("device")).lower() == "numpy":
            raise ValueError("must be fp32 for device numpy, which supports no other: leave it out")
        return precision


class Segment(Section):
    """A part of a network that several devices run as a pipeline, each on another frame.

    The groups of all segments serve together, as one. If a segment has no worker, the next group takes over, with
    the whole network.
    """

    until: Text | None = Field(
        None,
        description="Operator after which the network is cut, or the start of its name (stage2). A single "
        "tensor must cross there: `edged plan-split` lists such places. Required for all but the last segment",
    )
    workers: Name = Field(description="The group of `workers` that runs it")


def problem_of_segments(untils: Sequence[str | None], names: Sequence[str], groups: Sequence[str | None]) -> str:
    """Return why the groups `names` cannot run segments that end at the cuts `untils`; empty if they can.

    `groups`: the group of each worker, in the order of the list.
    """
    if not names:
        return ""
    return _problem_of_cuts(untils) or _problem_of_groups(names, groups)


def _problem_of_cuts(untils: Sequence[str | None]) -> str:
    if len(untils) == 1:
        return "one segment is the whole network: add another, or leave segments out"
    if None in untils[:-1]:
        return f"segment {untils.index(None) + 1} needs until: where it ends (the last one alone has none)"
    if untils[-1] is not None:
        return "the last segment ends with the network: leave its until out, or add the segment that follows it"
    return ""


def _problem_of_groups(names: Sequence[str], groups: Sequence[str | None]) -> str:
    if unknown := [name for name in names if name not in groups]:
        known = ", ".join(dict.fromkeys(group for group in groups if group)) or "none"
        return f"no worker has group: {unknown[0]}; the groups of workers: are {known}"
    if twice := [name for name in names if names.count(name) > 1]:
        return f"group {twice[0]} is used twice: each segment needs workers of its own"
    if not _are_neighbours(names, groups):
        return f"workers of the groups {', '.join(names)} must be neighbours in workers:, in this order"
    return ""


def _are_neighbours(names: Sequence[str], groups: Sequence[str | None]) -> bool:
    runs = [name for name, _ in groupby(groups) if name in names]
    indices = [index for index, group in enumerate(groups) if group in names]
    return runs == list(names) and indices == list(range(indices[0], indices[-1] + 1))


def is_cut(until: str | None, operator: str | None) -> bool:
    """Return whether `until` names `operator`, after which a worker cuts the network (see `model.cuts`)."""
    if until is None or operator is None:
        return until == operator
    return operator == until or operator.startswith((f"{until}.", f"{until}/"))
