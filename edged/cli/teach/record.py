"""`edged teach record`: store a camera's frames, as the network receives them, as crops of a label."""

import argparse
import json
import shutil
import sys
import time
from types import TracebackType
from typing import Self, TextIO

from edged.cli.daemon_client import DaemonClient, connect_daemon
from edged.cli.samples import check_started, read_sample, samples_from
from edged.cli.teach_folder import Place, find_place_of, warn_about
from edged.messages import Stop
from edged.messages.teaching import (
    LONGEST_TEACH_S,
    MOST_A_SECOND,
    CropSample,
    TeachRequest,
)
from edged.system.plain_text import counted
from edged.system.terminal import show, warn
from edged.teach.features import FeatureFiles, Vector
from edged.teach.pictures import in_terminal, shows_colours
from edged.teach.store import CropStore
from edged.teach.store_crop import Pixels, label_of

COLUMNS = 24
DRAWN_EVERY_S = 0.25
WRITTEN_EVERY_S = 5.0
READ_EVERY_S = 1.0  # by a program, with --json
SAVED_EVERY_S = 1.0
FEATURES = 256  # written in batches of so many crops
EVERY_S = 0.2  # between two crops, unless --every is given


class RecordScreen:
    """Progress with a picture: redrawn in place on a terminal, a line every few seconds elsewhere."""

    def __init__(self, out: TextIO, written_every_s: float = WRITTEN_EVERY_S) -> None:
        self._out = out
        self._redraws = out.isatty()
        self._colours = shows_colours(out)
        self._every_s = DRAWN_EVERY_S if self._redraws else written_every_s
        self._rows = 0
        self._shown = 0
        self._started_at = self._drawn_at = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self._redraws and self._rows:
            print(file=self._out, flush=True)

    def show(self, line: str, pixels: Pixels | None = None) -> None:
        """Show the newest line, and the picture `pixels` if the terminal has colours."""
        self._shown += 1
        now = time.monotonic()
        if self._rows and now - self._drawn_at < self._every_s:
            return
        rate = f"; {self._shown / max(now - self._started_at, 0.1):.1f} a second"
        picture = in_terminal(pixels, COLUMNS) if self._colours and pixels is not None else []
        widest = (
            shutil.get_terminal_size().columns - 1 if self._redraws else None
        )  # a wrapped line would not be cleared
        self._draw([*picture, (line + rate)[:widest]])
        self._drawn_at = now

    def _draw(self, rows: list[str]) -> None:
        """Draw over the rows before (ECMA-48: CUU, EL)."""
        if not self._redraws:
            print(rows[-1], file=self._out, flush=True)
        else:
            up = f"\x1b[{self._rows - 1}A" if self._rows > 1 else ""
            self._out.write("\r" + up + "\n".join(f"\x1b[2K{row}" for row in rows))
            self._out.flush()
        self._rows = len(rows)


def screen_of(arguments: argparse.Namespace) -> RecordScreen:
    """Return where progress goes: standard error if standard output is for JSON."""
    return RecordScreen(sys.stderr, READ_EVERY_S) if arguments.json else RecordScreen(sys.stdout)


class Recorder:
    """Adds crops to the store. `new`, `same`: how many were new, and how many it had already."""

    def __init__(self, store: CropStore, features: FeatureFiles, label: str) -> None:
        self.new = 0
        self.same = 0
        self.elsewhere: set[str] = set()
        self._store, self._files, self._label = store, features, label
        self._features: dict[str, Vector] = {}
        self._saved_at = time.monotonic()

    def add(self, taught: CropSample, payload: bytes) -> Pixels:
        """Store a crop and return its pixels. Raises EdgedError for a payload of the wrong size."""
        pixels, features = read_sample(taught, payload)
        crop = self._store.add(pixels, self._label, taught.camera, taught.captured_at)
        if crop is None:
            self.same += 1
        else:
            self.new += 1
            self.elsewhere.update(set(self._store.labels_of(crop.sha256)) - {self._label})
            self._features[crop.sha256] = features
        if time.monotonic() - self._saved_at > SAVED_EVERY_S:
            self._saved_at = time.monotonic()
            self._store.save()
            if len(self._features) >= FEATURES:
                self.close()
        return pixels

    def close(self) -> None:
        """Write everything that is not on disk yet. Raises StoreError."""
        self._files.add(self._features)
        self._features = {}
        self._store.save()


def run(arguments: argparse.Namespace) -> int:
    """Record until Ctrl-C, --count or --duration, then print a summary."""
    place, label = find_place_of(arguments), label_of(arguments.label)
    place.require_camera(arguments.camera)
    model, store = place.model(), CropStore.open(place.folder)
    warn_about(store)
    store.limit(arguments.crops, arguments.megabytes)
    recorder = Recorder(store, FeatureFiles(place.folder, model), label)
    try:
        with (
            connect_daemon(arguments.config, "teach", arguments.settings) as daemon,
            screen_of(arguments) as screen,
        ):
            _begin(daemon, arguments, place, model.sha256)
            _record(daemon, recorder, arguments.count, screen, label)
    except KeyboardInterrupt:
        pass
    finally:
        recorder.close()
    _print_summary(store, recorder, label, as_json=arguments.json)
    return 0 if recorder.new or recorder.same else 1


def _begin(daemon: DaemonClient, arguments: argparse.Namespace, place: Place, model: str) -> None:
    every_s = max(arguments.every or EVERY_S, 1 / MOST_A_SECOND)
    lasts_s = arguments.duration or LONGEST_TEACH_S
    daemon.send(TeachRequest(mode="record", camera=arguments.camera, every_s=every_s, seconds=lasts_s))
    check_started(daemon, place, model)


def _record(daemon: DaemonClient, recorder: Recorder, count: int | None, screen: RecordScreen, label: str) -> None:
    for message, payload in samples_from(daemon):
        pixels = recorder.add(message, payload)
        top = f"{message.top[0].label} {message.top[0].score:.0%}" if message.top else "nothing"
        same = f", {recorder.same} stored before" if recorder.same else ""
        screen.show(f"{label}: {counted(recorder.new, 'crop')}{same}; last: frame {message.frame}, {top}", pixels)
        if recorder.new == count:
            daemon.send(Stop())
            return


def _print_summary(store: CropStore, recorder: Recorder, label: str, *, as_json: bool) -> None:
    new, same, there = recorder.new, recorder.same, sum(crop.label == label for crop in store.crops)
    if as_json:
        counts = {"new": new, "stored_before": same, "crops": there}
        found = {"folder": str(store.folder), "label": label, **counts, "other_labels": sorted(recorder.elsewhere)}
        print(json.dumps(found, ensure_ascii=False))
    else:
        show(f"{label}: {new} new crops, {same} stored before; {there} in all, in {store.folder}")
    if recorder.elsewhere:
        others = ", ".join(sorted(recorder.elsewhere))
        warn(
            f"some of these crops have the label {others} too, and `edged teach train` will refuse them: "
            "remove one label's with `edged teach forget CONFIG LABEL`"
        )
