"""Logging to standard error, one line an event, with journald's priorities under systemd."""

import logging
import sys

from edged.line_writer import LineWriter
from edged.log_flood import Sparing
from edged.systemd import is_journal

HANDLER = "edged"
SYSLOG_PRIORITY = {"DEBUG": 7, "INFO": 6, "WARNING": 4, "ERROR": 3, "CRITICAL": 2}  # syslog(3), sd-daemon(3)


class _OneLine(logging.Formatter):
    """The event on one line, whatever the message holds; only a bug's traceback has more."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (the base class names it)
        line = super().formatMessage(record)
        return "".join(character if character.isprintable() else " " for character in line)


class _Terminal(_OneLine):
    """`12:34:56 warning: message`; an ordinary event without the word."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        level = "" if record.levelno == logging.INFO else f"{record.levelname.lower()}: "
        return f"{self.formatTime(record, '%H:%M:%S')} {level}{super().formatMessage(record)}"


class _Journal(_OneLine):
    """`<4>message`: journald adds time and process itself. Every line of a traceback bears the priority."""

    def format(self, record: logging.LogRecord) -> str:
        prefix = f"<{SYSLOG_PRIORITY.get(record.levelname, 6)}>"
        return "\n".join(prefix + line for line in super().format(record).splitlines())


class _Lines(logging.Handler):
    """Each event to a writer, for which no thread of ours waits."""

    def __init__(self, writer: LineWriter) -> None:
        super().__init__()
        self._writer = writer

    def emit(self, record: logging.LogRecord) -> None:
        """Have it written."""
        self._writer.write(self.format(record))


def configure(level: str = "info", writer: LineWriter | None = None) -> None:
    """Send edged's events from `level` up, and other packages' warnings, to standard error.

    `writer`: of standard error, for a process that must not wait for who reads there.
    """
    stream = _Lines(writer) if writer else logging.StreamHandler(sys.stderr)
    stream.setFormatter(_Journal() if is_journal(sys.stderr) else _Terminal())
    handler = Sparing(stream)
    handler.set_name(HANDLER)
    root = logging.getLogger()
    for earlier in [each for each in root.handlers if each.get_name() == HANDLER]:
        root.removeHandler(earlier)
    root.addHandler(handler)
    logging.getLogger("edged").setLevel(level.upper())
