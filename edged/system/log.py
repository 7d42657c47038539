"""Log to standard error, one line per event, with journald's priorities under systemd.

A line that repeats is counted, and the count logged once a minute.
"""

import copy
import json
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from edged.system.own_command import as_typed
from edged.system.plain_text import counted, fitted, printable
from edged.system.standard_streams import ERASE_BELOW, LineWriter
from edged.system.systemd import is_journal

WINDOW_S = 60.0
SHOWN = 5  # times in a window: a reader sees that it continues
KNOWN = 256  # different messages at a time

NAMED_BY = (
    "camera",
    "worker",
    "peer",
    "status",
    "signal",
    "code",
    "line",
    "port",
)  # a number after it is no figure
FIGURE = (
    re.compile(  # "again in 0.5 s" and "again in 1 s" are the same message, "127.0.0.1" and "door-1" no figures
        r"(?<![\w.,:/'\"#-])"
        + "".join(f"(?<!{word} )" for word in NAMED_BY)
        + r"\d+(?:,\d{3})*(?:\.\d+)?(?=[\s%;)]|[,:.](?:\s|$)|$)"
    )
)

HANDLER = "edged"
LEVEL_VARIABLE = "EDGED_LOG_LEVEL"  # child processes inherit them
FORMAT_VARIABLE = "EDGED_LOG_FORMAT"
BELOW_VARIABLE = "EDGED_STATUS_BELOW"  # set: rows of status are below the lines of this terminal
SYSLOG_PRIORITY = {"DEBUG": 7, "INFO": 6, "WARNING": 4, "ERROR": 3, "CRITICAL": 2}  # syslog(3), sd-daemon(3)
TIME_COLUMNS = len("12:34:56 ")


@dataclass(slots=True)
class _Logged:
    record: logging.LogRecord
    since_s: float
    times: int = 1

    @property
    def pop_suppressed(self) -> int:
        return max(0, self.times - SHOWN)


class Sparing(logging.Handler):
    """Passes records to `target`; the same message, whatever figures it contains, `SHOWN` times in `WINDOW_S`.

    `clock`: seconds, monotonic; `now`: seconds since 1970. The count of suppressed records is logged, with the
    time of that moment, before the first record after the window, or by `close`.
    """

    def __init__(
        self,
        target: logging.Handler,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self._now = now
        self._target = target
        self._clock = clock
        self._logged: dict[tuple[str, int, str], _Logged] = {}  # oldest first

    def emit(self, record: logging.LogRecord) -> None:
        """Show the record, or count it if it repeats."""
        now = self._clock()
        while self._logged and (now - self._oldest().since_s >= WINDOW_S or len(self._logged) >= KNOWN):
            self._close_oldest()
        key = (record.name, record.levelno, FIGURE.sub("#", record.getMessage()))
        logged = self._logged.get(key)
        if logged is None:
            self._logged[key] = _Logged(record, now)
        else:
            logged.times += 1
        if logged is None or logged.times <= SHOWN:
            self._target.handle(record)

    def close(self) -> None:
        """Log the counts of suppressed records."""
        while self._logged:
            self._close_oldest()
        self._target.close()
        super().close()

    def _oldest(self) -> _Logged:
        return next(iter(self._logged.values()))

    def _close_oldest(self) -> None:
        logged = self._logged.pop(next(iter(self._logged)))
        if logged.pop_suppressed:
            record = copy.copy(logged.record)
            record.created = self._now()
            record.msecs = record.created % 1 * 1000
            seconds = self._clock() - logged.since_s
            again = f"repeated {counted(logged.pop_suppressed, 'time')} in the last {seconds:.0f} s"
            record.msg, record.args, record.exc_info, record.exc_text = (
                f"{record.getMessage()} … {again}",
                None,
                None,
                None,
            )
            self._target.handle(record)


class _OneLine(logging.Formatter):
    """Formats a record on one line, whatever the message contains; only a bug's traceback has more."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (the base class names it)
        return as_typed(printable(super().formatMessage(record), " "))


class _Terminal(_OneLine):
    """Formats as `12:34:56 warning: message`; at level info without the level. Fits a terminal.

    A line of a child process erases the rows of status that its hub keeps below; the hub draws them again.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        level = "" if record.levelno == logging.INFO else f"{record.levelname.lower()}: "
        line = f"{self.formatTime(record, '%H:%M:%S')} {level}{super().formatMessage(record)}"
        is_above = BELOW_VARIABLE in os.environ and sys.stderr.isatty()
        return (ERASE_BELOW if is_above else "") + fitted(line, sys.stderr, TIME_COLUMNS)


class _Journal(_OneLine):
    """Formats as `<4>message`: journald adds time and process. Every line of a traceback has the priority."""

    def format(self, record: logging.LogRecord) -> str:
        prefix = f"<{SYSLOG_PRIORITY.get(record.levelname, 6)}>"
        return "\n".join(prefix + line for line in super().format(record).splitlines())


class _Json(logging.Formatter):
    """Formats a record as one JSON object on one line, its time in UTC."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, str | int] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "pid": os.getpid(),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry)  # control characters are escaped, also where they are not ASCII


class _JsonInJournal(_Json):
    """The same with the priority, which journald removes."""

    def format(self, record: logging.LogRecord) -> str:
        return f"<{SYSLOG_PRIORITY.get(record.levelname, 6)}>{super().format(record)}"


FORMATTERS: Mapping[tuple[str, bool], type[logging.Formatter]] = {  # by format, and whether journald reads
    ("text", False): _Terminal,
    ("text", True): _Journal,
    ("json", False): _Json,
    ("json", True): _JsonInJournal,
}


class _Lines(logging.Handler):
    """Passes each record to a writer, so that no thread of ours waits."""

    def __init__(self, writer: LineWriter) -> None:
        super().__init__()
        self._writer = writer

    def emit(self, record: logging.LogRecord) -> None:
        """Pass the record's lines to the writer."""
        self._writer.write(self.format(record))


def configure(level: str | None = None, writer: LineWriter | None = None, usual: str = "info") -> None:
    """Send edged's log records from `level` up, and other packages' warnings, to standard error.

    `level`: debug, info, warning or error; None: as the environment variable EDGED_LOG_LEVEL says, else `usual`.
    Lines are text, or JSON objects where EDGED_LOG_FORMAT is json.
    `writer`: of standard error, for a process that must not wait for the reader.
    """
    stream = _Lines(writer) if writer else logging.StreamHandler(sys.stderr)
    named = "json" if os.environ.get(FORMAT_VARIABLE) == "json" else "text"
    stream.setFormatter(FORMATTERS[named, is_journal(sys.stderr)]())
    handler = Sparing(stream)
    handler.set_name(HANDLER)
    root = logging.getLogger()
    for earlier in [each for each in root.handlers if each.get_name() == HANDLER]:
        root.removeHandler(earlier)
    root.addHandler(handler)
    chosen = (level or os.environ.get(LEVEL_VARIABLE, "")).upper()
    logging.getLogger("edged").setLevel(chosen if chosen in SYSLOG_PRIORITY else usual.upper())
