"""The record of a device during tuning: no measurement is lost, however the tuner ends.

A driver that hangs cannot be interrupted from inside, so the process is ended after a time limit.
"""

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any, Self

from edged import __version__
from edged.engine.device import Device
from edged.engine.selection import Choice, source_digest
from edged.engine.shape import shape_of
from edged.engine.tuning_records import (
    RefusedVariant,
    TunedShape,
    TuningRecord,
    measured_on,
    read_record,
    write_json,
)
from edged.engine.variants.variant import Site
from edged.errors import ConfigError, DeviceError
from edged.system.exclusive_lock import try_lock
from edged.system.files import writing

PATIENCE_S = 180.0  # seconds; compiling takes long on a slow board, too

log = logging.getLogger(__name__)


@contextmanager
def watchdog(choice: Choice, patience_s: float = PATIENCE_S) -> Iterator[None]:
    """End the process if the block, which tries `choice`, takes longer than `patience_s`."""
    timer = Timer(patience_s, _give_up, [choice, patience_s])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _give_up(choice: Choice, patience_s: float) -> None:
    log.error("%s hangs: no answer in %.0f s. Start again: it will not be tried any more", choice, patience_s)
    logging.shutdown()
    os._exit(DeviceError.exit_code)


class AttemptLog:
    """The record in the file `path`, for one tuner at a time. Raises ConfigError for an unusable file.

    The variant that a killed tuner was trying is refused from then on.
    """

    def __init__(self, path: Path, device: Device) -> None:
        self.path = path
        self._lock = _lock(path)
        self._under_way = path.with_suffix(".trying")
        record = read_record(path)
        self._device = measured_on(device)
        self._tuned = {tuned.shape.key: tuned for tuned in (record.tuned if record else ())}
        if self._under_way.exists():
            tried = TunedShape.model_validate_json(self._under_way.read_bytes())  # it ended the process
            self.write(_with(self._tuned.get(tried.shape.key, TunedShape(shape=tried.shape)), *tried.refused))
            self._under_way.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)

    def attempts_for(self, site: Site[Any]) -> TunedShape:
        """Return what is known of a site's shape."""
        shape = shape_of(site)
        return self._tuned.get(shape.key, TunedShape(shape=shape))

    def write(self, tuned: TunedShape) -> None:
        """Replace the entry by `tuned`, and save all."""
        self._tuned[tuned.shape.key] = tuned
        record = TuningRecord(edged=__version__, device=self._device, tuned=tuple(self._tuned.values()))
        write_json(self.path, record)

    def forget(self, sites: Iterable[Site[Any]]) -> None:
        """Forget all attempts on these sites' shapes."""
        for site in sites:
            self._tuned.pop(shape_of(site).key, None)

    def refuse(self, site: Site[Any], refusal: RefusedVariant) -> None:
        """Record variants that must not be used."""
        self.write(_with(self.attempts_for(site), refusal))

    @contextmanager
    def trying(self, site: Site[Any], choice: Choice) -> Iterator[None]:
        """Record in a file, during the block, what would be the cause if the tuner were killed."""
        refusal = RefusedVariant(
            variant=choice.variant.name,
            parameters=choice.parameters,
            reason="unfinished",
            detail="the tuner was killed, or killed itself, while this ran",
            source=source_digest(site, choice),
        )
        write_json(self._under_way, TunedShape(shape=shape_of(site), refused=(refusal,)))
        try:
            with watchdog(choice):
                yield
        finally:
            self._under_way.unlink()


def _with(tuned: TunedShape, *refusals: RefusedVariant) -> TunedShape:
    return tuned.model_copy(update={"refused": (*tuned.refused, *refusals)})


def _lock(path: Path) -> int:
    """Return an exclusive lock that is held as long as this process lives."""
    with writing(f"tuning record {path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if not try_lock(lock):
        os.close(lock)
        raise ConfigError(f"tuning record {path} is in use by another `edged tune`: wait for it, or stop it")
    return lock
