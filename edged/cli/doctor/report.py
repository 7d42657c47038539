"""What `edged doctor` writes: the judgement as a page of 80 columns, and a bundle to send in, without secrets."""

import io
import json
import re
import tarfile
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from edged.cli.doctor.facts import Judgement
from edged.config import Config
from edged.errors import ConfigError
from edged.system.files import write_result
from edged.system.plain_text import printable

SET = "(set, not shown)"
# keys whose values may be, or name, a secret: a password may have been pasted in place of a file's name
SECRET = frozenset(
    {"user", "password_file", "password_env", "key", "hub", "allow", "certificate", "client_ca", "ca"}
)
OF_PEERS = frozenset({"security"})  # sections of keys alone
URL = re.compile(r"\b((?:rtsps?|rtmps?|https?)://)([^/\s?#,]+)(\S*)", re.IGNORECASE)
WHOLE = re.compile(URL.pattern + ".*", re.IGNORECASE | re.DOTALL)  # with what is behind a space
WIDTH = 80
INDENT = " " * 8
COMMENT = "  # "  # begins what a remedy says besides its command
JOINED = " \\"
LEVELS = {"ok": "  ok", "note": "note", "fix": " FIX"}
FOLDER = "edged-doctor"


def without_secrets(config: Config) -> Mapping[str, Any]:
    """Return the values that differ from the defaults, as for JSON, without secrets."""
    values = config.model_dump(mode="json", exclude_defaults=True)
    redacted: Mapping[str, Any] = _redacted(values)
    return redacted


def _redacted(value: Any, key: str = "") -> Any:
    if key in SECRET and value is not None:
        return SET
    if isinstance(value, dict):
        return {name: SET if name in OF_PEERS else _redacted(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_redacted(inner, key) for inner in value]
    return WHOLE.sub(_host, value) if isinstance(value, str) else value


def without_paths(text: str, config: Config | None) -> str:
    """Shorten every URL in `text` to its host, as paths of cameras may hold passwords; first those of `config`."""
    for camera in config.cameras.values() if config else ():
        if WHOLE.match(str(camera.source)) and len(path := urlsplit(str(camera.source)).path) > 1:
            text = text.replace(path, "/…")
    return URL.sub(_host, text)


def _host(url: re.Match[str]) -> str:
    return f"{url[1]}{url[2].rpartition('@')[2]}{'/…' if url[3] else ''}"


def page(judgements: Sequence[Judgement]) -> str:
    """Return the page: a part for each section, then how much is to be fixed."""
    return "\n".join([*_lines(judgements), _end(judgements)])


def _lines(judgements: Sequence[Judgement]) -> Iterator[str]:
    for section, inside in groupby(judgements, key=lambda judgement: judgement.section):
        yield printable(section)[:WIDTH]
        for judgement in inside:
            yield from _judged(judgement)
        yield ""


def _judged(judgement: Judgement) -> Iterator[str]:
    text = f"{printable(judgement.what)}: {printable('; '.join(judgement.text.splitlines()))}"
    yield from textwrap.wrap(
        text, WIDTH, initial_indent=f"  {LEVELS[judgement.level]}  ", subsequent_indent=INDENT
    )
    for command in judgement.remedy:
        yield from _command(printable(command))


def _command(command: str) -> Iterator[str]:
    """Break a shell command where a backslash joins its lines again; its comment has lines of its own."""
    shell, _, comment = command.partition(COMMENT)
    width = WIDTH - len(INDENT) - 4
    lines = textwrap.wrap(shell, width, break_long_words=False, break_on_hyphens=False)
    for number, line in enumerate(lines, start=1):
        yield INDENT + ("$ " if number == 1 else "  ") + line + (JOINED if number < len(lines) else "")
    yield from (f"{INDENT}  # {line}" for line in textwrap.wrap(comment, width, break_long_words=False))


def _end(judgements: Sequence[Judgement]) -> str:
    count = sum(judgement.level == "fix" for judgement in judgements)
    return f"{count} problem{'s' * (count > 1)} to fix, marked FIX" if count else "nothing to fix"


def check_name(path: Path) -> None:
    """Raises ConfigError for a name that another program would not open as a bundle."""
    if not path.name.endswith((".tar.gz", ".tgz")):
        raise ConfigError(f"--bundle {path}: expected a name that ends in .tar.gz")


def write_bundle(path: Path, page: str, report: dict[str, Any]) -> None:
    """Write the page, the facts with the judgement, and the config without secrets. Raises ConfigError."""
    config = report["facts"]["config"]
    files = {"doctor.txt": page, "doctor.json": _json(report), "config.json": _json(config)}
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in files.items():
            data = text.encode()
            entry = tarfile.TarInfo(f"{FOLDER}/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    write_result(path, content.getvalue())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str) + "\n"
