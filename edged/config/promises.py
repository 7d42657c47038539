"""`freshness` and `recovery`: how long frames may wait, and how often workers may fail."""

from pydantic import Field

from edged.config.section import Positive, Section


class Freshness(Section):
    """How long a frame may wait, and how many of each camera may."""

    keep: int = Field(1, ge=1, le=64, description="Frames of each camera that may wait; the newest stay")
    max_age_s: Positive = Field(0.5, description="A frame older than this is never predicted or published")
    deadline_s: Positive = Field(
        1.0,
        description="A worker that holds a job longer (at least five times its warm-up run) is killed and started "
        "again",
    )


class Recovery(Section):
    """When a worker is lost: how often it is started again, and when its device is given up."""

    losses: int = Field(
        3, ge=1, le=100, description="So many losses of a worker within_s, and the next one serves"
    )
    within_s: Positive = Field(60.0, description="The time in which losses are counted together")
    retry_device_s: Positive = Field(
        60.0, description="A device that was given up is tried again after this time, then after twice as long, …"
    )
    start_s: Positive = Field(
        300.0, description="A worker that is not ready by then is killed, its device given up"
    )
