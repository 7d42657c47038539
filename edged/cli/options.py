"""Command-line options that several verbs share: one name and one meaning for each."""

import argparse
import math
import re
import textwrap
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from edged.config import MAX_BATCH, PublishConfig
from edged.config.overrides import Override, override_of
from edged.transport.address import HOST_AND_PORT, ZMQ_ADDRESS, host_and_port

DEMO = Path("configs/demo.yaml")
EXAMPLE_COLUMNS = 78  # of an example in a help text
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def packaged_demo() -> Path:
    """Return the demo's config, a file of the package; in a checkout `DEMO` is a link to it."""
    return Path(str(files("edged") / "demo.yaml"))


def config_or_demo(path: Path | None) -> Path:
    """Return the absolute path of the given config, or of the demo's."""
    return (path or (DEMO if DEMO.is_file() else packaged_demo())).absolute()


def add_example(parser: argparse.ArgumentParser, *commands: str) -> None:
    """End the help of `parser` with examples: complete command lines."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    lines = "\n".join(_continued(command) for command in commands)
    parser.epilog = f"{'examples' if len(commands) > 1 else 'example'}:\n{lines}"


def _continued(command: str) -> str:
    """Indent a command line, and continue it on the next line where 80 columns do not hold it."""
    if len(command) <= EXAMPLE_COLUMNS:
        return f"  {command}"
    lines = textwrap.wrap(
        command, EXAMPLE_COLUMNS - 2, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(f"  {line}" for line in " \\\n".join(lines).split("\n"))


def add_json(parser: argparse.ArgumentParser, what: str = "one JSON object") -> None:
    """Add --json. Standard output then holds JSON alone."""
    parser.add_argument("--json", action="store_true", help=f"print {what}")


def add_no_exif(parser: argparse.ArgumentParser) -> None:
    """Add --no-exif, for pictures in files."""
    what = "read pictures as they are stored, as torchvision and timm do; by default their EXIF turns them upright"
    parser.add_argument("--no-exif", action="store_true", help=what)


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add CONFIG, the file that `edged run` takes, and --set."""
    what = f"the config, a YAML file (default: {DEMO} if it exists)"
    parser.add_argument("config", type=Path, nargs="?", metavar="CONFIG", help=what)
    add_settings(parser)


def add_settings(parser: argparse.ArgumentParser) -> None:
    what = "use this value in place of the config's, such as metrics.address=127.0.0.1:9465; may be repeated"
    parser.add_argument(
        "--set", type=setting, action="append", default=[], dest="settings", metavar="KEY=VALUE", help=what
    )


def setting(text: str) -> Override:
    """Parse the argument of --set."""
    try:
        return override_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_verbosity(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-v", "--verbose", action="store_true", help="log debug messages too, on standard error")
    quiet = "print only warnings and errors on standard error"
    group.add_argument("-q", "--quiet", action="store_true", help=quiet)


def log_level(arguments: argparse.Namespace) -> str | None:
    """Return the level that --verbose or --quiet chooses; None: neither was given."""
    return "debug" if arguments.verbose else "warning" if arguments.quiet else None


def add_duration(parser: "argparse.ArgumentParser | argparse._ArgumentGroup", what: str, **options: Any) -> None:
    """Add --duration. `what`: the help; `options`: of `add_argument`."""
    options = {"type": duration(), **options}
    parser.add_argument("--duration", metavar="TIME", help=f"{what}: 30, 30s, 5m, 2h", **options)


def add_since(parser: argparse.ArgumentParser, default: str) -> None:
    """Add --since. `default`: the start without it."""
    what = f"start with predictions from this long ago: 30s, 5m, 2h, 1d (default: {default})"
    parser.add_argument("--since", type=duration(), metavar="TIME", help=what)


def add_host(parser: argparse.ArgumentParser, default: str) -> None:
    """Add --host. `default`: which host is meant without it."""
    parser.add_argument("--host", metavar="NAME", help=f"`host` of a camera or worker (default: {default})")


def add_every(parser: argparse.ArgumentParser, what: str, default: float | None = None) -> None:
    """Add --every. `what`: its help."""
    parser.add_argument("--every", type=duration(), default=default, metavar="TIME", help=what)


def add_process_options(parser: argparse.ArgumentParser) -> None:
    """Add --config and --hub of a camera or worker process."""
    parser.add_argument("--config", type=Path, required=True, metavar="FILE", help="the config of the pipeline")
    hub = "ZeroMQ address of the hub (default: link.address of the config)"
    parser.add_argument("--hub", metavar="ADDRESS", help=hub)


def add_sysfs(parser: argparse.ArgumentParser) -> None:
    where = "the host's /sys in a container, as energy.sysfs in the config (default: /sys)"
    parser.add_argument("--sysfs", type=Path, default=Path("/sys"), metavar="FOLDER", help=where)


def add_quick(parser: argparse.ArgumentParser) -> None:
    """Add --quick, of the findings of `edged check`."""
    quick = "do not try the devices: else kernels compile the first time, which may take a minute or more"
    parser.add_argument("--quick", action="store_true", help=quick)


def leaf_parsers(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """List the parsers of all sub-commands, each with its options; `parser` itself if it has no sub-commands."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return [leaf for group in groups for each in group.choices.values() for leaf in leaf_parsers(each)] or [parser]


def above_zero(of_what: str) -> Callable[[str], float]:
    """Make a parser of a number of seconds, watts …, above 0."""

    def number(text: str) -> float:
        value = _number(text)
        if 0 < value < math.inf:
            return value
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of {of_what} above 0")

    return number


def points(text: str) -> float:
    """Parse a number of percentage points, from 0 to 100."""
    value = _number(text)
    if 0 <= value <= 100:
        return value
    raise argparse.ArgumentTypeError(f"{text!r} is not a number of points from 0 to 100")


def _number(text: str) -> float:
    """Return NaN, which nothing is above or below, for a text that is no number."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def duration(most: float = math.inf) -> Callable[[str], float]:
    """Make a parser of a time in seconds, above 0 and at most `most`: `30`, `30s`, `5m`, `2h`, `1d`."""

    def seconds(text: str) -> float:
        match = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)([smhd]?)", text)
        value = float(match[1]) * UNITS[match[2] or "s"] if match else 0.0
        if 0 < value <= most and math.isfinite(value):
            return value
        end = f", up to {most:g} seconds" if math.isfinite(most) else ""
        raise argparse.ArgumentTypeError(f"{text!r} is not a time like 30, 30s, 5m, 2h or 1d{end}")

    return seconds


def positive(text: str) -> int:
    """Parse an integer of at least 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer of at least 1")
    return number


def frames(text: str) -> int:
    number = positive(text)
    if number > MAX_BATCH:
        raise argparse.ArgumentTypeError(f"expected 1 to {MAX_BATCH} frames, found {text}")
    return number


def add_hub_options(parser: argparse.ArgumentParser) -> None:
    """Add ADDRESS, --key and --server-key."""
    default = PublishConfig().address
    stream = f"publish.address of the hub's config (default: {default})"
    parser.add_argument("address", type=address, nargs="?", default=default, metavar="ADDRESS", help=stream)
    add_hub_keys(parser)


def add_hub_keys(parser: argparse.ArgumentParser) -> None:
    key = "client secret key (if the hub requires CURVE)"
    parser.add_argument("--key", type=Path, metavar="NAME.key", help=key)
    parser.add_argument("--server-key", type=Path, metavar="HUB.pub", help="public key of the hub, with --key")


def http_address(text: str) -> str:
    """Check the option of an address for HTTP. Raises argparse.ArgumentTypeError."""
    if not re.fullmatch(HOST_AND_PORT, text) or host_and_port(text)[1] > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not an address like 127.0.0.1:9465")
    return text


def address(text: str) -> str:
    if not re.fullmatch(ZMQ_ADDRESS, text):
        raise argparse.ArgumentTypeError(f"{text!r} is not an address like tcp://127.0.0.1:5570")
    return text
