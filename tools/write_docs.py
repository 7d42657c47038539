"""Writes the pages of docs/ that repeat what the code says, and the JSON Schemas: `make docs`."""

import argparse
import importlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, get_args

from prometheus_client.metrics import MetricWrapperBase

from edged import __version__
from edged.cli import module_of
from edged.cli.options import leaf_parsers
from edged.cli.verbs import VERBS
from edged.config.load import json_schema
from edged.engine import tuning_records
from edged.errors import EdgedError
from edged.hub.events import GOOD, EventName
from edged.metrics import Metrics
from edged.metrics.catalog import DROPPED, LOST, REFUSED
from edged.metrics.fast import Family
from edged.train.config import Training
from tools import message_schemas, protocol, python_reference
from tools.package_levels import HUB, LEVELS

ROOT = Path(__file__).resolve().parents[1]
GENERATED = "<!-- Written by `make docs` from the code: change it there. -->"
SECTIONS = {  # where each type of edged/config stands in the file
    "CameraConfig": "cameras.NAME",
    "CameraTls": "cameras.NAME.tls",
    "RequestsConfig": "cameras.NAME.requests",
    "SnapshotConfig": "cameras.NAME.snapshot",
    "StateConfig": "states.CAMERA",
    "PresentConfig": "states.CAMERA.present.NAME",
    "CountConfig": "states.CAMERA.count.NAME",
    "ModelConfig": "model",
    "BoxesConfig": "model.boxes",
    "WorkerConfig": "workers[]",
    "Segment": "segments[]",
    "FreshnessConfig": "freshness",
    "RecoveryConfig": "recovery",
    "SecurityConfig": "security",
    "LinkConfig": "link",
    "PublishConfig": "publish",
    "JournalConfig": "journal",
    "MetricsConfig": "metrics",
    "Tls": "metrics.tls, cameras.NAME.requests.tls",
    "EnergyConfig": "energy",
    "LogConfig": "log",
    "NotifyConfig": "notify",
    "MqttConfig": "mqtt",
    "NatsConfig": "nats",
    "NatsTls": "nats.tls",
    "FleetConfig": "fleet",
    "ViewConfig": "view",
}
TRAINING_SECTIONS = {  # likewise, of a training
    "Data": "data",
    "NetworkInput": "input",
    "Layer": "layers[]",
    "ConvLayer": "layers[].conv",
    "DepthwiseLayer": "layers[].depthwise",
    "PoolLayer": "layers[].max_pool, average_pool",
    "DenseLayer": "layers[].dense",
    "DropoutLayer": "layers[].dropout",
    "Learning": "train",
    "Augment": "train.augment",
    "Output": "output",
}
PATTERNS = {
    "(tcp://": "tcp://host:port or ipc:///path",
    "mqtts?": "mqtts://host or mqtt://host:port",
    "(nats|": "tls://host or nats://host:port",
    "[A-Za-z0-9_-]{": "name",
    "[A-Za-z0-9_-]+(": "subject",
    "[^+#": "topic",
    r"(\[": "host:port",
    "[A-Za-z0-9]": "name",
    "[a-z_]": "class",
}

LEVELS_OF = {"edged": LEVELS, "edged.hub": HUB}  # of packages and folders, that imports go down

Schema = Mapping[str, Any]


def configuration() -> str:
    """Return the page of every key of the config file, by section."""
    file = json.loads(json_schema())
    top = {name: value for name, value in file["properties"].items() if name == "node"}
    parts = [_section("The file", "The whole pipeline; every host of it uses the same file.", top, set())]
    for name, place in SECTIONS.items():
        section = file["$defs"][name]
        required = set(section.get("required", ()))
        parts.append(_section(f"`{place}`", section["description"], section["properties"], required))
    return _page(
        "Configuration",
        "One YAML file, with [drop-ins and overrides](../how-to/service.md#values-of-one-board) "
        "(1.2: `no` and `12:30` are text). Only `cameras` is required. Relative paths "
        "are relative to the file. `edged check FILE` reports all errors at once, each with its line and column; "
        "`edged config schema` prints the JSON Schema for editors; [configs/](../../configs) has an example for "
        "each common case.",
        parts,
    )


def training() -> str:
    """Return the page of every key of a training's file, by section."""
    file = Training.model_json_schema()
    own = _section(
        "The file", "A network, its data, and how to train it.", file["properties"], set(file["required"])
    )
    parts = [
        _section(f"`{place}`", each["description"], each["properties"], set(each.get("required", ())))
        for name, place in TRAINING_SECTIONS.items()
        for each in [file["$defs"][name]]
        if each["properties"]
    ]
    return _page(
        "Training files",
        "For `edged train FILE`: [how to train](../how-to/training.md). Errors are reported with line and column. "
        "The networks that edged includes: [configs/train/](../../configs/train).",
        [own, *parts],
    )


def commands() -> str:
    """Return the page of every verb with its arguments."""
    return _page(
        "Commands",
        "`edged VERB --help` prints the same. Every command also has `-v/--verbose` (log debug messages too) and "
        "`-q/--quiet` (only warnings and errors), both for standard error; `EDGED_LOG_LEVEL` (`debug`, `info`, "
        "`warning`, `error`) sets the level of log lines, and `EDGED_LOG_FORMAT=json` makes them JSON objects. "
        "With `--json` standard output holds JSON alone: one document, or one object a line. `NO_COLOR` is "
        "respected.",
        [*map(_command, VERBS), _exit_codes()],
    )


def messages() -> str:
    """Return the page of every published message with its fields, and of every event."""
    parts = [_message(what) for what in message_schemas.PUBLISHED]
    rows = [(f"`{name}`", "info" if name in GOOD else "warning") for name in get_args(EventName)]
    return _page(
        "Messages and events",
        "What a node publishes: multipart `[topic, JSON]`, for any program with ZeroMQ "
        "([how to subscribe](../how-to/subscribe.md)). Fields may be added in later versions; `schema` changes "
        "only if one is removed or gets another meaning.",
        [
            *parts,
            "## Events\n\nThe values of `event`, and the level at which each is logged.",
            _table(("event", "level"), rows),
        ],
    )


def python() -> str:
    """Return the page of what other programs may import."""
    return _page(
        "Python",
        "For programs that the Python of [edged's environment](../how-to/service.md#where-edged-is) runs: "
        "`.venv/bin/python`, or `/opt/edged/bin/python3`. `edged.Model` needs an OpenCL device or NumPy, "
        "`edged.client` neither. [Programs to begin with](../../examples/README.md).",
        python_reference.parts(),
    )


def architecture() -> str:
    """Return docs/architecture.md with the levels of packages, the highest first."""
    return re.sub(
        r"(<!-- levels of (\S+):[^>]*-->\n).*?(<!-- end of levels -->)",
        lambda found: f"{found[1]}\n{_levels(LEVELS_OF[found[2]])}\n\n{found[3]}",
        (ROOT / "docs/architecture.md").read_text(),
        flags=re.DOTALL,
    )


def _levels(levels: Iterable[Collection[str]]) -> str:
    return "\n".join(["```text", *(" | ".join(sorted(level)) for level in levels if level != {"__main__"}), "```"])


def _message(what: str) -> str:
    file = json.loads(message_schemas.json_schema(what))
    parts = [_fields(f"## {what.capitalize()}", file)]
    parts += [_fields(f"### {what.capitalize()}: `{name}`", each) for name, each in file.get("$defs", {}).items()]
    return "\n\n".join(parts)


def _fields(heading: str, message: Schema) -> str:
    required = set(message["required"]) if "required" in message else set()
    rows = [
        (f"`{key}`", _type(field), "" if key in required else _default(key, field, required), _meaning(field))
        for key, field in message["properties"].items()
    ]
    return (
        f"{heading}\n\n{message.get('description', '')}\n\n{_table(('field', 'type', 'default', 'meaning'), rows)}"
    )


def _type(field: Schema) -> str:
    """Name the JSON type of a field."""
    if "prefixItems" in field:
        return f"list of {len(field['prefixItems'])} {_type(field['prefixItems'][0])}s"
    if "$ref" in field:
        return f"`{field['$ref'].rpartition('/')[2]}`"
    if "anyOf" in field:
        return " or ".join(_type(each) for each in field["anyOf"])
    if "items" in field:
        return f"list of {_type(field['items'])}"
    if isinstance(values := field.get("additionalProperties"), dict):
        return f"object: name to {_type(values)}"
    choices = field.get("enum") or ([field["const"]] if "const" in field else None)
    return ", ".join(f"`{choice}`" for choice in choices) if choices else str(field.get("type", "any"))


def _meaning(field: Schema) -> str:
    return str(field.get("description", ""))


def _exit_codes() -> str:
    """Return the table of exit codes, by error."""
    kinds = sorted(_kinds_of(EdgedError), key=lambda kind: kind.exit_code)
    rows = [("0", "success"), ("1", "any other error"), *_codes(kinds)]
    return (
        "## Exit codes\n\nUnder systemd an error in the config is 78 (`EX_CONFIG`). 130: ended by Ctrl-C.\n\n"
        + _table(("code", "meaning"), rows)
    )


def _codes(kinds: Iterable[type[EdgedError]]) -> Iterator[tuple[str, str]]:
    for kind in kinds:
        if kind.exit_code > 1:
            yield str(kind.exit_code), str(kind.__doc__).splitlines()[0]


def _kinds_of(kind: type[EdgedError]) -> Iterator[type[EdgedError]]:
    for each in kind.__subclasses__():
        if each.__module__ == kind.__module__:
            yield each
            yield from _kinds_of(each)


def metrics() -> str:
    """Return the page of every metric with its labels."""
    rows = []
    for wrapper in vars(Metrics(__version__)).values():
        if isinstance(wrapper, MetricWrapperBase | Family):
            [metric] = wrapper.collect()
            name = metric.name + {"counter": "_total", "info": "_info"}.get(metric.type, "")
            labels = ", ".join(wrapper.labelnames if isinstance(wrapper, Family) else wrapper._labelnames)
            rows.append((f"`{name}`", metric.type, labels, metric.documentation))
    return _page(
        "Metrics",
        "`curl -s localhost:9464/metrics`. Base units; rates are computed by Prometheus: "
        "`rate(edged_predictions_total[1m])` is predictions per second, `rate(edged_energy_joules_total[1m])` is "
        "watts. Metrics of the process itself (`process_…`, `python_info`) are exported, too.",
        [
            _table(("metric", "type", "labels", "meaning"), rows),
            "## Why a frame is dropped\n\nThe label `reason`: which process dropped it, and why. Captured = "
            "predicted + pending + dropped, exactly.",
            _table(("reason", "meaning"), [(f"`{reason}`", meaning) for reason, meaning in DROPPED.items()]),
            "## Why a request is refused\n\nThe label `reason` of `edged_serve_refused_total`.",
            _table(("reason", "meaning"), [(f"`{reason}`", meaning) for reason, meaning in REFUSED.items()]),
            "## Why a worker is lost\n\nThe label `reason` of `edged_worker_restarts_total`.",
            _table(("reason", "meaning"), [(f"`{reason}`", meaning) for reason, meaning in LOST.items()]),
        ],
    )


def _command(verb: str) -> str:
    parser = argparse.ArgumentParser(prog=f"edged {verb}", add_help=False)
    importlib.import_module(module_of(verb)).add_arguments(parser)
    parser.description = VERBS[verb]
    leaves = leaf_parsers(parser)
    heading = [] if leaves == [parser] else [f"## edged {verb}\n\n{_sentence(VERBS[verb])}"]
    return "\n\n".join([*heading, *(_leaf(leaf, "###" if heading else "##") for leaf in leaves)])


def _leaf(parser: argparse.ArgumentParser, hashes: str) -> str:
    """Document a command without sub-commands: its summary, its arguments and its examples."""
    actions = [action for action in parser._actions if "--help" not in action.option_strings]
    rows = [(_argument(action), (action.help or "") % vars(action)) for action in actions]
    example = "".join(f"{line.strip()}\n" for line in (parser.epilog or "").splitlines()[1:])
    return "\n\n".join([
        f"{hashes} {parser.prog}",
        _sentence(parser.description or ""),
        *([_table(("argument", "meaning"), rows)] if rows else []),
        *([f"```\n{example}```"] if example else []),
    ])  # fmt: skip


def _sentence(summary: str) -> str:
    return f"{summary[0].upper()}{summary[1:]}."


def _argument(action: argparse.Action) -> str:
    choices = f"{{{','.join(map(str, action.choices))}}}" if action.choices else None
    value = action.metavar or choices or action.dest.upper()
    names = ", ".join(action.option_strings) or str(value)
    takes_value = action.option_strings and action.nargs != 0
    return f"`{names} {value}`" if takes_value else f"`{names}`"


def _section(title: str, summary: str, properties: Mapping[str, Schema], required: set[str]) -> str:
    rows = [
        (f"`{key}`", _kind(schema), _default(key, schema, required), schema.get("description", ""))
        for key, schema in properties.items()
    ]
    return f"## {title}\n\n{summary}\n\n{_table(('key', 'value', 'default', 'meaning'), rows)}"


def _kind(schema: Schema) -> str:
    """Name the kind of a value by its JSON Schema."""
    if "$ref" in schema:
        return "section"
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"] if each.get("type") != "null")
    if choices := schema.get("enum") or ([schema["const"]] if "const" in schema else None):
        return ", ".join(f"`{choice}`" for choice in choices)
    if schema["type"] in {"array", "object"}:
        return _several(schema)
    return _text(schema) if schema["type"] == "string" else _number(schema)


def _several(schema: Schema) -> str:
    if "prefixItems" in schema:
        return f"list of {len(schema['prefixItems'])} ({_kind(schema['prefixItems'][0])})"
    if schema["type"] == "array":
        return f"list ({_kind(schema['items'])})"
    (values,) = schema.get("patternProperties", {}).values() or [schema["additionalProperties"]]
    return f"section: name to {_kind(values)}"


def _text(schema: Schema) -> str:
    if pattern := schema.get("pattern"):
        return next(words for start, words in PATTERNS.items() if pattern.lstrip("^").startswith(start))
    return "path" if schema.get("format") == "path" else "string"


def _number(schema: Schema) -> str:
    words = {"integer": "integer", "number": "number", "boolean": "true or false"}[schema["type"]]
    low, high = schema.get("minimum"), schema.get("maximum")
    if "exclusiveMinimum" in schema:
        return f"{words} above {schema['exclusiveMinimum']:g}"
    if low is not None and high is not None:
        return f"{words}, {low:g} to {high:g}"
    return words if low is None else f"{words}, {low:g} or more"


def _default(key: str, schema: Schema, required: set[str]) -> str:
    if key in required:
        return "required"
    default = schema.get("default")
    return "" if default is None else f"`{json.dumps(default)}`"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [tuple(head)]
    lines += [("---",) * len(lines[0])]
    lines += [tuple(cell.replace("|", "\\|").replace("\n", " ") for cell in row) for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _page(title: str, summary: str, parts: Iterable[str]) -> str:
    return "\n\n".join([f"# {title}\n\n{GENERATED}", summary, *parts]) + "\n"


PAGES: Mapping[str, Callable[[], str]] = {
    "docs/architecture.md": architecture,
    "docs/reference/configuration.md": configuration,
    "docs/reference/commands.md": commands,
    "docs/reference/training-file.md": training,
    "docs/reference/metrics.md": metrics,
    "docs/reference/messages.md": messages,
    "docs/reference/python.md": python,
    "edged/edged.schema.json": json_schema,
    "edged/messages/protocol.py": protocol.module,
    "edged/tuning.schema.json": tuning_records.json_schema,
    **{
        f"edged/{what}.schema.json": partial(message_schemas.json_schema, what)
        for what in message_schemas.PUBLISHED
    },
}


if __name__ == "__main__":
    for name, page in PAGES.items():
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(page())
        print(f"wrote {name}")
