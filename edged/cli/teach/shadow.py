"""`edged teach shadow`: run a version in shadow of the active one, and compare their answers."""

import argparse
import json
from collections import Counter
from typing import Any

from edged.cli.daemon_client import DaemonClient, connect_daemon
from edged.cli.samples import check_started, received_from
from edged.cli.teach.record import RecordScreen, screen_of
from edged.cli.teach_folder import find_place_of
from edged.messages import Label
from edged.messages.teaching import LONGEST_TEACH_S, ShadowResult, TeachRequest
from edged.system.plain_text import counted, printable
from edged.teach.versions import find_version

SHOWN = 10


class ShadowTally:
    """Counts of both answers to each frame."""

    def __init__(self) -> None:
        self.pairs: Counter[tuple[str, str]] = Counter()
        self.known = self.right = self.right_in_shadow = 0

    def add(self, shadowed: ShadowResult) -> None:
        """Count the two answers to one frame."""
        pair = _best(shadowed.top), _best(shadowed.shadow)
        self.pairs[pair] += 1
        if shadowed.truth is not None:
            self.known += 1
            self.right += pair[0] == shadowed.truth
            self.right_in_shadow += pair[1] == shadowed.truth

    @property
    def agree(self) -> int:
        """Return the number of frames with the same answer."""
        return sum(count for (ours, other), count in self.pairs.items() if ours == other)

    def __str__(self) -> str:
        return f"{counted(self.pairs.total(), 'frame')}, both models agree on {self.agree}"

    def as_object(self) -> dict[str, Any]:
        """Return all counts for JSON."""
        pairs = [
            {"answer": ours, "in_shadow": other, "frames": count}
            for (ours, other), count in self.pairs.most_common()
        ]
        labelled = {"frames": self.known, "right": self.right, "right_in_shadow": self.right_in_shadow}
        return {"frames": self.pairs.total(), "agree": self.agree, "pairs": pairs, "labelled": labelled}

    def table(self) -> str:
        """List the most frequent pairs of answers, and the accuracy on frames whose true label is known."""
        lines = [
            f"{count:7d}  {printable(ours)}  →  {printable(other)}"
            for (ours, other), count in self.pairs.most_common(SHOWN)
        ]
        if self.known:
            lines.append(
                f"accuracy on {counted(self.known, 'labelled frame')}: {self.right / self.known:.1%}, "
                f"in shadow {self.right_in_shadow / self.known:.1%}"
            )
        return "\n".join(["frames   answer  →  in shadow", *lines])


def run(arguments: argparse.Namespace) -> int:
    """Compare until Ctrl-C or --duration, then print a summary."""
    place = find_place_of(arguments)
    if arguments.camera is not None:
        place.require_camera(arguments.camera)
    version, tally = find_version(place.folder, arguments.version), ShadowTally()
    request = TeachRequest(
        mode="shadow",
        camera=arguments.camera,
        version=version.sha256,
        seconds=arguments.duration or LONGEST_TEACH_S,
    )
    try:
        with (
            connect_daemon(arguments.config, "teach", arguments.settings) as daemon,
            screen_of(arguments) as screen,
        ):
            daemon.send(request)
            check_started(daemon, place, version.base.sha256)
            _listen(daemon, tally, screen)
    except KeyboardInterrupt:
        pass
    if arguments.json:
        print(json.dumps({"version": version.sha256, **tally.as_object()}, ensure_ascii=False))
    else:
        print(f"{tally}\n{tally.table()}")
    return 0 if tally.pairs else 1


def _listen(daemon: DaemonClient, tally: ShadowTally, screen: RecordScreen) -> None:
    for message, _ in received_from(daemon):
        if not isinstance(message, ShadowResult):
            raise daemon.unexpected(message)
        tally.add(message)
        both = f"{_best(message.top)} → {_best(message.shadow)}"
        screen.show(f"{tally}; {message.camera}: {both}")


def _best(top: tuple[Label, ...]) -> str:
    return top[0].label if top else "nothing"
