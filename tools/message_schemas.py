"""The JSON Schemas of published messages; `make docs` writes the committed files."""

import json
from inspect import cleandoc
from pathlib import Path
from typing import Any

import msgspec

from edged.messages import Event, Prediction, Published, SnapshotHeader, Status

FOLDER = Path(__file__).resolve().parents[1] / "edged"
PUBLISHED: dict[str, type[Published]] = {
    "prediction": Prediction,
    "event": Event,
    "status": Status,
    "snapshot": SnapshotHeader,
}


def schema_file(what: str) -> Path:
    """Return the file with the schema of a `prediction`, an `event`, a `status` or a `snapshot`'s header."""
    return FOLDER / f"{what}.schema.json"


def json_schema(what: str) -> str:
    """Return the schema of a published message: later versions may add fields."""
    [reference], types = msgspec.json.schema_components([PUBLISHED[what]], ref_template="#/$defs/{name}")
    message = types.pop(reference["$ref"].rpartition("/")[2])
    nested = {"$defs": dict(sorted(types.items()))} if types else {}
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **message, **nested}
    return json.dumps(_with_clean_descriptions(schema), indent=2) + "\n"


def _with_clean_descriptions(schema: Any) -> Any:
    """Take the indentation of docstrings out of the descriptions of types."""
    if isinstance(schema, list):
        return [_with_clean_descriptions(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    cleaned = {key: _with_clean_descriptions(value) for key, value in schema.items()}
    if isinstance(description := schema.get("description"), str):
        cleaned["description"] = cleandoc(description)
    return cleaned
