"""`edged teach --camera NAME --label LABEL`: crops of a camera, as its network gets them."""

import argparse
import sys
import time
from collections.abc import Iterator

import numpy as np

from edged.cli.running import BEATS_S, Running, running
from edged.cli.teach_folder import Place, place_of, tell_about, warn
from edged.cli.teach_screen import Screen
from edged.errors import ConfigError, EdgedError
from edged.messages import LinkMessage, Stop
from edged.messages.teaching import (
    LONGEST_TEACH_S,
    MOST_A_SECOND,
    Taught,
    TeachBegins,
    TeachEnds,
    TeachProgress,
    TeachRequest,
)
from edged.teach.features import FeatureFiles, Vector
from edged.teach.store import Store
from edged.teach.store_crop import label_of

SAVED_EVERY_S = 1.0
FEATURES = 256  # of so many crops at a time are written
EVERY_S = 0.2


class Recorder:
    """Puts what comes into the store. `new`: crops; `same`: those that were there before."""

    def __init__(self, store: Store, features: FeatureFiles, label: str) -> None:
        self.new = 0
        self.same = 0
        self.elsewhere: set[str] = set()
        self._store, self._files, self._label = store, features, label
        self._features: dict[str, Vector] = {}
        self._saved_at = time.monotonic()

    def take(self, taught: Taught, payload: bytes) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
        """The crop. Raises EdgedError for a payload that is none."""
        size = taught.width * taught.height * 3
        if len(payload) != size + 4 * taught.features:
            raise EdgedError(f"a crop of {len(payload)} bytes came: is the edged that runs another version?")
        pixels = np.frombuffer(payload[:size], np.uint8).reshape(taught.height, taught.width, 3)
        crop = self._store.add(pixels, self._label, taught.camera, taught.captured_at)
        if crop is None:
            self.same += 1
        else:
            self.new += 1
            self.elsewhere.update(set(self._store.labels_of(crop.sha256)) - {self._label})
            self._features[crop.sha256] = np.frombuffer(payload[size:], "<f4").astype(np.float32)
        if time.monotonic() - self._saved_at > SAVED_EVERY_S:
            self._save()
        return pixels

    def close(self) -> None:
        """Write what is left. Raises StoreError."""
        self._files.add(self._features)
        self._features = {}
        self._store.save()

    def _save(self) -> None:
        self._saved_at = time.monotonic()
        self._store.save()
        if len(self._features) >= FEATURES:
            self.close()


def run(arguments: argparse.Namespace) -> int:
    """Record until Ctrl-C, --count or --seconds."""
    place, label = place_of(arguments), label_of(arguments.label)
    if arguments.camera not in place.config.cameras:
        names = ", ".join(place.config.cameras)
        raise ConfigError(f"{place.file} has no camera {arguments.camera}: it has {names}")
    model, store = place.model(), Store.open(place.folder)
    tell_about(store)
    store.limit(arguments.crops, arguments.megabytes)
    recorder = Recorder(store, FeatureFiles(place.folder, model), label)
    try:
        with running(arguments.config, "teach") as daemon, Screen(sys.stdout) as screen:
            _begin(daemon, arguments, place, model.sha256)
            _record(daemon, recorder, arguments.count, screen, label)
    except KeyboardInterrupt:
        pass
    finally:
        recorder.close()
    _summary(store, recorder, label)
    return 0 if recorder.new or recorder.same else 1


def _begin(daemon: Running, arguments: argparse.Namespace, place: Place, model: str) -> None:
    every_s = max(arguments.every or EVERY_S, 1 / MOST_A_SECOND)
    lasts_s = arguments.seconds or LONGEST_TEACH_S
    daemon.say(TeachRequest(mode="record", camera=arguments.camera, every_s=every_s, seconds=lasts_s))
    check_begins(daemon, place, model)


def check_begins(daemon: Running, place: Place, model: str) -> TeachBegins:
    """Raises EdgedError where the hub refuses, or is not the one that we mean."""
    begins, _ = daemon.hear()
    if not isinstance(begins, TeachBegins):
        raise daemon.unexpected(begins)
    if begins.refused:
        raise EdgedError(begins.refused)
    if begins.base and begins.base.sha256 != model:
        raise EdgedError(
            f"the edged that runs has the model {begins.base.sha256[:12]}, {place.file} names {model[:12]}: "
            "restart it, or name the file that it was started with"
        )
    if begins.folder and begins.folder != str(place.folder):
        raise EdgedError(
            f"the edged that runs looks for versions in {begins.folder}, not in {place.folder}: "
            "run `edged teach` as its user, with its STATE_DIRECTORY (docs/teaching.md)"
        )
    return begins


def what_comes(daemon: Running) -> Iterator[tuple[LinkMessage, bytes]]:
    """Frames with their payloads, until the hub says that it is over. Warns of why none come."""
    waits = ""
    while True:
        match daemon.hear(BEATS_S):
            case TeachProgress() as progress, _:
                if progress.waits and progress.waits != waits:
                    warn(progress.waits)
                waits = progress.waits
            case TeachEnds() as ends, _:
                if ends.message:
                    warn(ends.message)
                return
            case message, payload:
                yield message, payload


def _record(daemon: Running, recorder: Recorder, count: int | None, screen: Screen, label: str) -> None:
    for message, payload in what_comes(daemon):
        if not isinstance(message, Taught):
            raise daemon.unexpected(message)
        pixels = recorder.take(message, payload)
        top = f"{message.top[0].label} {message.top[0].score:.0%}" if message.top else "nothing"
        same = f", {recorder.same} known before" if recorder.same else ""
        screen.show(f"{label}: {recorder.new} crops{same}; last: frame {message.frame}, {top}", pixels)
        if recorder.new == count:
            daemon.say(Stop())
            return


def _summary(store: Store, recorder: Recorder, label: str) -> None:
    there = sum(crop.label == label for crop in store.crops)
    print(
        f"{label}: {recorder.new} new crops, {recorder.same} were there before; {there} in all, in {store.folder}"
    )
    if recorder.elsewhere:
        warn(
            f"some of these crops lie under {', '.join(sorted(recorder.elsewhere))} too: --train will refuse "
            "them; `edged teach CONFIG --forget LABEL` removes one label's"
        )
