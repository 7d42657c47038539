"""Replay of published predictions and events: a DEALER socket requests, a ROUTER socket answers."""

from typing import Annotated, Literal

from msgspec import Meta

from edged.messages.message import Count, Message

Format = Literal["payloads", "lines", "zlib"]


class ReplayRequest(Message, frozen=True):
    """Request predictions by sequence number or by time of publication, oldest first."""

    first_seq: Annotated[Count | None, Meta(description="First sequence number")] = None
    last_seq: Annotated[Count | None, Meta(description="Last sequence number")] = None
    since: Annotated[float | None, Meta(description="Only those published since then, in seconds since 1970")] = (
        None
    )
    limit: Annotated[int, Meta(ge=1, le=1000, description="Largest number of predictions in the answer")] = 1000
    format: Annotated[
        Format,
        Meta(
            description="payloads: one for each prediction; lines: all in one, a line for each; zlib: those lines "
            "compressed (RFC 1950), a fifth of the bytes, for many subscribers or a slow network"
        ),
    ] = "payloads"


class ReplayAnswer(Message, frozen=True, kw_only=True):
    """The header of an answer; its payloads follow, as `format` of the request says."""

    predictions: Annotated[Count, Meta(description="Number of predictions in this answer")]
    withdrawn: Annotated[
        Count, Meta(description="Numbers between them that were never published: those predictions were too old")
    ] = 0
    first_kept: Annotated[int | None, Meta(description="Oldest sequence number in the journal; null: it is empty")]
    last_kept: Annotated[int | None, Meta(description="Newest sequence number in the journal; null: it is empty")]
    next_seq: Annotated[
        int | None, Meta(description="First sequence number of the next page; null: this is the last")
    ]


class EventsRequest(Message, frozen=True):
    """Request the newest events of this start of the hub, those of the time before the request."""


class EventsAnswer(Message, frozen=True):
    """The header of its answer; one payload follows: the events' JSON, oldest first, a line for each."""

    events: Annotated[Count, Meta(description="Number of events in this answer")]


class ReplayFailure(Message, frozen=True):
    """The answer while the journal cannot be read, or to a request that is none of this protocol."""

    problem: Annotated[
        str,
        Meta(description="Why this edged cannot read the request, and both versions; empty: request again later"),
    ] = ""
