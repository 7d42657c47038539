"""The part of docs/architecture.md that is measured, and what it says."""

import re
from collections.abc import Iterator
from pathlib import Path

from tools.frame_path.way import MOST_FILES, MOST_HUB_FILES, MOST_JUMPS, Stop, Way, stops_of

PAGE = Path(__file__).parents[2] / "docs/architecture.md"
BEGIN, END = "<!-- frame path: measured by python -m tools.frame_path -->\n", "<!-- frame path: end -->\n"


def table(way: Way) -> str:
    """Return the figures of each leg, in Markdown."""
    rows = [(leg.title, len(leg.functions), len(leg.files), len(leg.jumps)) for leg in way.legs]
    total = ("**all, each once**", len(way.functions), len(way.files), len(way.jumps))
    lines = [f"| {title} | {functions} | {files} | {jumps} |" for title, functions, files, jumps in (*rows, total)]
    return "\n".join(["| leg | functions | files | jumps |", "|---|---:|---:|---:|", *lines])


def measured_part(way: Way) -> str:
    """Return what stands between the markers."""
    pictures = [
        f"### {leg.title.capitalize()}\n\n```text\n" + "\n".join(_picture(leg_stops)) + "\n```\n"
        for leg in way.legs
        if (leg_stops := stops_of(leg))
    ]
    figures = (
        f"One frame enters {len(way.files)} files (at most {MOST_FILES}), {len(way.hub_files)} of them in `hub/` "
        f"(at most {MOST_HUB_FILES}), by {len(way.jumps)} jumps (at most {MOST_JUMPS})."
    )
    return f"\n{figures}\n\n{table(way)}\n\n" + "\n".join(pictures) + "\n"


def _picture(stops: list[Stop]) -> Iterator[str]:
    for stop in stops:
        yield from stop.lines()


def write(way: Way) -> None:
    """Put the measured part into the page."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + BEGIN + measured_part(way) + END + after)


def named_functions(text: str) -> dict[str, set[str]]:
    """Return the functions that the pictures of a page name, by file (below `edged/`)."""
    named: dict[str, set[str]] = {}
    for line in re.findall(r"^[│├└─ ]*([\w/]+\.py)  (.*)$", text, re.MULTILINE):
        file, owner = line[0], ""
        for name in filter(None, line[1].split(", ")):
            full = owner + name if name.startswith(".") else name
            owner = full.rpartition(".")[0]
            named.setdefault(file, set()).add(full)
        named.setdefault(file, set())
    return named


def figures_of(text: str) -> tuple[int, int, int]:
    """Return files, files of the hub and jumps, as a page says. Raises ValueError where it does not."""
    found = re.search(r"enters (\d+) files .*?, (\d+) of them in `hub/` .*?, by (\d+) jumps", text)
    if not found:
        raise ValueError("the page has no figures: run python -m tools.frame_path --write")
    files, hub_files, jumps = map(int, found.groups())
    return files, hub_files, jumps
