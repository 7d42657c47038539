"""What must be true at the end of a soak; each function gives the complaints."""

from collections import Counter
from typing import Any

from edged.messages import prediction_from_json
from tests.e2e.daemon import conserves
from tests.e2e.witness import journal_of, processes_of
from tests.soak.setting import Setting


def verdict(setting: Setting, summary: dict[str, Any]) -> list[str]:
    """The daemon has stopped."""
    journal = journal_of(setting.folder / "journal.sqlite")
    return [
        *_journal(setting, journal),
        *_client(setting, journal),
        *([] if conserves(summary) else [f"frames are missing from the summary: {summary}"]),
        *([f"processes are left: {left}"] if (left := processes_of(setting.folder)) else []),
        *([f"{setting.runtime_folder} is left"] if setting.runtime_folder.exists() else []),
    ]


def _journal(setting: Setting, journal: dict[int, bytes]) -> list[str]:
    """Whatever left PUB is in it byte for byte, and no frame was answered twice.

    A camera process that starts again counts its frames from 0: the time of capture tells them apart.
    """
    numbers = [seen.seq for seen in setting.raw.seen]
    lost = [seen.seq for seen in setting.raw.seen if journal.get(seen.seq) != seen.json]
    predictions = map(prediction_from_json, journal.values())
    frames = Counter((each.boot, each.camera, each.frame, each.captured_at) for each in predictions)
    twice = [frame for frame, count in frames.items() if count > 1]
    return [
        *([f"published, but not in the journal: {lost[:9]} ({len(lost)})"] if lost else []),
        *([f"answered twice: {twice[:9]}"] if twice else []),
        *(["numbers do not grow"] if numbers != sorted(set(numbers)) else []),
    ]


def _client(setting: Setting, journal: dict[int, bytes]) -> list[str]:
    """It has seen each exactly once and in order."""
    seen = list(setting.client.seen)
    numbers = [each.seq for each in seen]
    other = [
        each.seq for each in seen if each.seq not in journal or each != prediction_from_json(journal[each.seq])
    ]
    return [
        *(
            ["the client missed some, or saw them twice"]
            if numbers != list(range(numbers[0], numbers[-1] + 1))
            else []
        ),
        *([f"the client saw others than the journal holds: {other[:9]} ({len(other)})"] if other else []),
    ]
