"""`snapshot`: small pictures for people who look on."""

from pydantic import Field

from edged.config.section import Section


class Snapshot(Section):
    """Small JPEG pictures of frames, for `edged view`. Whoever may subscribe may see them."""

    every_s: float = Field(0.5, ge=0.1, le=3600, description="One at most in so many seconds")
    width: int = Field(
        320, ge=32, le=1920, description="It is at most so many pixels wide, and as many high; never enlarged"
    )
    quality: int = Field(70, ge=10, le=95, description="Of the JPEG, at best")
    max_kilobytes: int = Field(
        32,
        ge=2,
        le=512,
        description="A larger one is made with less quality, or left out where that is not enough",
    )
