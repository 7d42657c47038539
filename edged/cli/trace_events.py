"""Events of the "Trace Event Format" of the Chromium project, as Perfetto and chrome://tracing read them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Track:
    """A thread of a process, by the numbers that they have in the trace."""

    process: int
    thread: int


@dataclass(frozen=True, slots=True)
class Events:
    """Makes them, with times in microseconds since `origin_ns`."""

    origin_ns: int

    def span(self, track: Track, name: str, begin_ns: int, end_ns: int, **about: Any) -> Event:
        """Something that a thread has done; such spans nest or do not touch."""
        times = {"ts": self._us(begin_ns), "dur": round((end_ns - begin_ns) / 1000, 3)}
        return {"ph": "X", "name": name, "cat": "work", **_place(track), **times, "args": about}

    def moment(self, track: Track, name: str, at_ns: int, **about: Any) -> Event:
        """Something that has happened to a thread."""
        what = {"ph": "i", "s": "t", "name": name, "cat": "moment"}
        return {**what, **_place(track), "ts": self._us(at_ns), "args": about}

    def stretch(
        self, track: Track, which: str, name: str, begin_ns: int, end_ns: int, **about: Any
    ) -> tuple[Event, Event]:
        """Something that no thread does: a beginning and an end. Those of `which` lie within one another."""
        common = {"name": name, "cat": "frame", "id2": {"local": which}, **_place(track)}  # of this process alone
        return (
            {"ph": "b", **common, "ts": self._us(begin_ns), "args": about},
            {"ph": "e", **common, "ts": self._us(end_ns)},
        )

    def arrows(self, number: int, name: str, spans: list[Event]) -> Iterator[Event]:
        """From span to span, in the order of their time."""
        for index, span in enumerate(spans):
            ends = {"ph": "f", "bp": "e"} if index == len(spans) - 1 else {"ph": "t" if index else "s"}
            place = {key: span[key] for key in ("pid", "tid", "ts")}
            yield {**ends, "name": name, "cat": "flow", "id": number, **place}

    def _us(self, at_ns: int) -> float:
        return round((at_ns - self.origin_ns) / 1000, 3)


def process_names(number: int, name: str, threads: Mapping[int, str]) -> Iterator[Event]:
    """What a process and its threads are called, and their order."""
    for what, value in (("process_name", {"name": name}), ("process_sort_index", {"sort_index": number})):
        yield {"ph": "M", "name": what, "pid": number, "tid": 0, "args": value}
    for thread, called in threads.items():
        place = {"ph": "M", "pid": number, "tid": thread}
        yield {**place, "name": "thread_name", "args": {"name": called}}
        yield {**place, "name": "thread_sort_index", "args": {"sort_index": thread}}


def _place(track: Track) -> Event:
    return {"pid": track.process, "tid": track.thread}
