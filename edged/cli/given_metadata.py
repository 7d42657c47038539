"""What the options of a command line say of a model, as the metadata of a file: it then needs no options."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import ValidationError

from edged.errors import ConfigError
from edged.messages.preparation import RECIPES, Preprocess
from edged.model.metadata import PREFIX, Metadata, encode

if TYPE_CHECKING:
    from edged.model.from_onnx.file import OnnxFile  # loads onnx


def given_metadata(keys: Mapping[str, object], labels: Sequence[str], name: str | None = None) -> Metadata:
    """Return the metadata of these keys of `given_keys`; `labels`: what their file holds. Raises ConfigError."""
    given = {key: value for key, value in keys.items() if key in Metadata.model_fields}
    if "labels" in given:
        given["labels"] = labels
    try:
        return Metadata.model_validate({**given, "name": name})
    except ValidationError as error:
        raise ConfigError("; ".join(f"--{e['loc'][0]}: {e['msg']}" for e in error.errors())) from None


def replaced_by(preprocess: Preprocess | None) -> frozenset[str]:
    """List the properties of a file that a preprocessing recipe replaces."""
    if preprocess is None:
        return frozenset()
    keys = ["resize", "scale", "mean", "std", *(["color"] if RECIPES[preprocess].color else [])]
    return frozenset(PREFIX + key for key in keys)


def described(file: "OnnxFile", keys: Mapping[str, object], labels: Sequence[str]) -> "OnnxFile":
    """Return the file with the metadata of these keys, which are also put into its message. Raises ConfigError."""
    given = given_metadata(keys, labels)
    gone = replaced_by(given.preprocess)
    metadata = {key: text for key, text in file.metadata.items() if key not in gone} | encode(given)
    del file.model.metadata_props[:]
    for key, text in metadata.items():
        file.model.metadata_props.add(key=key, value=text)
    return replace(file, metadata=metadata)
