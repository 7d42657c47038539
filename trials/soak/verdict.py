"""What must be true at the end of a soak; each function gives the complaints."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from edged.messages import prediction_from_json
from tests.e2e.daemon import conserves
from tests.e2e.witness import is_kept, processes_of, untimed
from trials.soak.found import State, wrong_boxes, wrong_states, wrong_tracks
from trials.soak.setting import Setting

CACHED = {".faster", ".graph", ".packed", ".program", ".proof", ".trial", ".weights"}


def verdict(setting: Setting, summary: dict[str, Any]) -> list[str]:
    """The daemon has stopped."""
    journal = setting.kept | setting.in_journal()
    return [
        *_journal(setting, journal),
        *_client(setting, journal),
        *(_found(setting) if setting.subject.boxes else []),
        *([] if conserves(summary) else [f"frames are missing from the summary: {summary}"]),
        *([f"processes are left: {left}"] if (left := processes_of(setting.folder)) else []),
        *([f"{setting.runtime_folder} is left"] if setting.runtime_folder.exists() else []),
        *([f"files are left: {_some(files)}"] if (files := _unknown_files(setting.folder / "cache")) else []),
    ]


def _journal(setting: Setting, journal: dict[int, bytes]) -> list[str]:
    """Whatever left PUB is in it (`is_kept`), unless it says that it is not, and no frame was answered twice.

    A camera process that starts again counts its frames from 0: the time of capture tells them apart.
    """
    numbers = [seen.seq for seen in setting.raw.seen]
    owed = [seen for seen in setting.raw.seen if b'"journaled":false' not in seen.json]
    lost = [
        seen.seq
        for seen in owed
        if not is_kept(seen, journal)
        and not setting.went_with_the_journal(seen.seq, prediction_from_json(seen.json).published_at)
    ]
    predictions = [prediction_from_json(json) for json in journal.values()]
    frames = Counter((each.boot, each.camera, each.frame, each.captured_at) for each in predictions)
    twice = [frame for frame, count in frames.items() if count > 1]
    return [
        *([f"published, but not in the journal: {_some(lost)}"] if lost else []),
        *([f"answered twice: {_some(twice)}"] if twice else []),
        *(["numbers do not grow"] if numbers != sorted(set(numbers)) else []),
    ]


def _client(setting: Setting, journal: dict[int, bytes]) -> list[str]:
    """It has seen each exactly once and in order."""
    seen = {each.seq: each for each in setting.client.seen}
    numbers = [each.seq for each in setting.client.seen]
    published = journal.keys() | {each.seq for each in setting.raw.seen}
    owed = {number for number in published if numbers[0] <= number <= numbers[-1]} - setting.may_be_lost
    missed = sorted(owed - seen.keys())
    other = [
        number
        for number, each in seen.items()
        if number in journal and each.journaled and untimed(each) != untimed(prediction_from_json(journal[number]))
    ]
    return [
        *(["the client saw some twice or out of order"] if numbers != sorted(seen) else []),
        *([f"the client missed {_some(missed)}"] if missed else []),
        *([f"the client saw others than the journal holds: {_some(other)}"] if other else []),
    ]


def _found(setting: Setting) -> list[str]:
    """What a detector found was the same each time."""
    predictions = [prediction_from_json(each.json) for each in setting.raw.seen]
    states: list[State] = [
        (str(each["boot"]), str(each["camera"]), str(each["name"]), str(each["state"]))
        for each in setting.raw.events
        if each["event"] == "state"
    ]
    names = [name for of in setting.subject.states.values() for name in (*of["present"], *of["count"])]
    return [
        *wrong_boxes(predictions, setting.subject.boxes),
        *wrong_tracks(predictions),
        *wrong_states(states, names),
    ]


def _unknown_files(cache: Path) -> list[Path]:
    """Half-written or scratch files of a process that has ended."""
    return [path for path in sorted(cache.rglob("*")) if path.is_file() and path.suffix not in CACHED]


def _some(things: Sequence[object]) -> str:
    return f"{things[:9]} ({len(things)})"
