"""`workers` and `segments`: which devices run the network, or which part of it."""

from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from edged.config.sections import Name, Section, Text

MAX_BATCH = 64  # frames of a job

Precision = Literal["fp32", "fp16-weights", "fp16"]


class Worker(Section):
    """One entry of the list of devices, which is in order of preference."""

    host: Name | None = Field(
        None, description="Where `edged worker` serves with it; default: the hub starts it, on its own host"
    )
    group: Name | None = Field(
        None, description="Neighbours in the list with the same group serve together; default: one after the other"
    )
    device: Text = Field(
        "auto", description="Part of an OpenCL platform or device name, gpu, cpu, auto, or numpy (no OpenCL)"
    )
    precision: Precision = Field(
        "fp32",
        description="How numbers are stored; arithmetic is always fp32. fp16-weights: weights as fp16; "
        "fp16: tensors too. See `edged bench --precision` for the error",
    )
    threads: int | None = Field(
        None,
        ge=1,
        le=1024,
        description="Of a CPU (PoCL, numpy); workers with it share one. Default: all, for one worker alone",
    )
    batch: int = Field(1, ge=1, le=MAX_BATCH, description="Frames that one job may carry")
    max_wait_s: float = Field(
        0.0, ge=0, le=10, description="How long a frame may wait for others, where a job may carry more than one"
    )
    credit: int = Field(2, ge=1, le=16, description="Jobs in hand: 2 lets an upload overlap a forward pass")
    rails: tuple[Text, ...] | None = Field(
        None,
        min_length=1,
        description="Whose joules its predictions bear: the rails that its device uses, such as [GPU]; default: "
        "all that `energy.rails` reads",
    )

    @field_validator("precision")
    @classmethod
    def _numpy_is_fp32(cls, precision: Precision, info: ValidationInfo) -> Precision:
        if precision != "fp32" and str(info.data.get("device")).lower() == "numpy":
            raise ValueError("must be fp32 for device numpy, which knows no other: leave it out")
        return precision


class Segment(Section):
    """A part of the network, where several devices run it one after another, each with a frame of its own.

    The groups of all segments serve together, as one: where a part has no worker, the next group takes
    over, with the whole network.
    """

    until: Text | None = Field(
        None,
        description="The operator after which the network is cut, or what its name begins with (stage2); a single "
        "tensor must cross there: `edged plan-split` says where. The last segment has none",
    )
    workers: Name = Field(description="The group of `workers` that runs it")
