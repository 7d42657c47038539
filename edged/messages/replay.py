"""Replay of published predictions: a DEALER socket requests, a ROUTER socket answers."""

from typing import Literal

from pydantic import Field

from edged.messages.message import Count, Message

Format = Literal["payloads", "lines", "zlib"]


class ReplayRequest(Message):
    """Request predictions by sequence number or by time of publication, oldest first."""

    kind: Literal["replay_request"] = "replay_request"
    first_seq: Count | None = Field(None, description="First sequence number")
    last_seq: Count | None = Field(None, description="Last sequence number")
    since: float | None = Field(None, description="Only those published since then, in seconds since 1970")
    limit: int = Field(1000, ge=1, le=1000, description="Largest number of predictions in the answer")
    format: Format = Field(
        "payloads",
        description="payloads: one for each prediction; lines: all in one, a line for each; zlib: those lines "
        "compressed (RFC 1950), a fifth of the bytes, for many subscribers or a slow network",
    )


class ReplayAnswer(Message):
    """The header of an answer; its payloads follow, as `format` of the request says."""

    kind: Literal["replay_answer"] = "replay_answer"
    predictions: Count = Field(description="Number of predictions in this answer")
    withdrawn: Count = Field(
        0, description="Numbers between them that were never published: those predictions were too old"
    )
    first_kept: int | None = Field(description="Oldest sequence number in the journal; null: it is empty")
    last_kept: int | None = Field(description="Newest sequence number in the journal; null: it is empty")
    next_seq: int | None = Field(description="First sequence number of the next page; null: this is the last")


class ReplayFailure(Message):
    """The answer while the journal cannot be read: request again later."""

    kind: Literal["replay_failure"] = "replay_failure"
