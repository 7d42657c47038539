"""The JSON Schemas of published messages; `make docs` writes the committed files."""

import json
from pathlib import Path

from edged.messages import Event, Prediction, Published, SnapshotHeader, Status

FOLDER = Path(__file__).resolve().parents[1]
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
    """Return the schema of a published message: every field is required, and later versions may add fields."""
    schema = PUBLISHED[what].model_json_schema(by_alias=True, mode="serialization")
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2) + "\n"
