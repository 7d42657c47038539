"""What the "Trace Event Format" of the Chromium project wants, checked without any of edged's own code."""

from collections import defaultdict
from typing import Any

Event = dict[str, Any]
PHASES = {"M", "X", "i", "b", "e", "s", "t", "f"}
METADATA = {"process_name", "process_sort_index", "thread_name", "thread_sort_index"}
ROUNDED = 0.0011  # times are in microseconds, to the nanosecond


def faults(trace: dict[str, Any]) -> list[str]:
    """All that a reader could stumble over; of a good trace, nothing."""
    events: list[Event] = trace["traceEvents"]
    found = [f"{event}: {why}" for event in events if (why := _fault(event))]
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    nameless = (event for event in events if event["ph"] in {"X", "i"} and _place(event) not in named)
    found += [f"{event}: its thread has no name" for event in nameless]
    return [*found, *_overlaps(events), *_unbalanced(events), *_loose_arrows(events)]


def _fault(event: Event) -> str:
    if event["ph"] not in PHASES:
        return "no such phase"
    if not (event["name"] and isinstance(event["pid"], int) and isinstance(event["tid"], int)):
        return "no name or place"
    if event["ph"] == "M":
        return "" if event["name"] in METADATA and event["args"] else "no such metadata"
    if event["ts"] < 0 or event.get("dur", 0) < 0:
        return "it runs backwards"
    belongs = "id" if event["ph"] in {"s", "t", "f"} else "id2" if event["ph"] in {"b", "e"} else "ts"
    if not (event["cat"] and belongs in event):
        return "nobody knows what it belongs to"
    return ""


def _place(event: Event) -> tuple[int, int]:
    return event["pid"], event["tid"]


def _overlaps(events: list[Event]) -> list[str]:
    """Spans of a thread that neither nest nor keep apart."""
    found, open_spans = [], defaultdict[tuple[int, int], list[Event]](list)
    spans = [event for event in events if event["ph"] == "X"]
    for span in sorted(spans, key=lambda each: (each["ts"], -each["dur"])):
        around = open_spans[_place(span)]
        while around and around[-1]["ts"] + around[-1]["dur"] <= span["ts"] + ROUNDED:
            around.pop()
        if around and span["ts"] + span["dur"] > around[-1]["ts"] + around[-1]["dur"] + ROUNDED:
            found.append(f"{span} overlaps {around[-1]}")
        around.append(span)
    return found


def _unbalanced(events: list[Event]) -> list[str]:
    """Beginnings without an end, ends of something else, and times that run backwards."""
    found, open_names = [], defaultdict[tuple[int, str, str], list[str]](list)
    last: dict[tuple[int, str, str], float] = {}
    for event in events:
        if event["ph"] not in {"b", "e"}:
            continue
        key = event["pid"], event["cat"], event["id2"]["local"]
        if event["ts"] < last.get(key, 0.0):
            found.append(f"{event} comes too late")
        last[key] = event["ts"]
        if event["ph"] == "b":
            open_names[key].append(event["name"])
        elif not open_names[key] or open_names[key].pop() != event["name"]:
            found.append(f"{event} ends nothing")
    return found + [f"{key} has no end" for key, names in open_names.items() if names]


def _loose_arrows(events: list[Event]) -> list[str]:
    """Arrows that have no beginning or end, run backwards, or touch no span."""
    spans = defaultdict[tuple[int, int], list[tuple[float, float]]](list)
    for event in events:
        if event["ph"] == "X":
            spans[_place(event)].append((event["ts"], event["ts"] + event["dur"]))
    arrows = defaultdict[int, list[Event]](list)
    for event in events:
        if event["ph"] in {"s", "t", "f"}:
            arrows[event["id"]].append(event)
    found = []
    for number, points in arrows.items():
        times = [point["ts"] for point in points]
        if [points[0]["ph"], points[-1]["ph"]] != ["s", "f"] or times != sorted(times):
            found.append(f"arrow {number} is {points}")
        for point in points:
            if not any(begin <= point["ts"] <= end for begin, end in spans[_place(point)]):
                found.append(f"{point} touches nothing")
    return found
