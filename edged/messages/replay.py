"""Replay of what was published: DEALER asks, ROUTER answers."""

from typing import Literal

from pydantic import Field

from edged.messages.message import Count, Message

Format = Literal["payloads", "lines", "zlib"]


class ReplayRequest(Message):
    """Ask for predictions by sequence number, or for those published since a wall time, oldest first.

    `format`: each in a payload of its own; all in one payload, a line each; or these lines compressed (RFC 1950),
    a fifth of the bytes, which is what many subscribers at once or a slow network need.
    """

    kind: Literal["replay_request"] = "replay_request"
    first_seq: Count | None = None
    last_seq: Count | None = None
    since: float | None = None
    limit: int = Field(1000, ge=1, le=1000)
    format: Format = "payloads"


class ReplayAnswer(Message):
    """Followed by `predictions` payloads (a prediction's JSON each), or by one payload with all of them.

    `withdrawn`: numbers between these that were never published, their predictions were too old. `first_kept` and
    `last_kept` bound what the journal holds (null: empty); `next_seq`: where the next page begins (null: this was
    the last).
    """

    kind: Literal["replay_answer"] = "replay_answer"
    predictions: Count
    withdrawn: Count = 0
    first_kept: int | None
    last_kept: int | None
    next_seq: int | None


class ReplayFailure(Message):
    """Sent in place of an answer where the journal cannot be read just now: ask again later."""

    kind: Literal["replay_failure"] = "replay_failure"
