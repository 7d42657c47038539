"""`edged fleet publish`: sign a model, and store it for the fleet."""

import argparse
import asyncio
import json

from pydantic import ValidationError

from edged import config
from edged.cli.fleet.connection import open_store
from edged.errors import ConfigError, ModelError
from edged.fleet.board import sha256_of
from edged.fleet.records import SignedModel
from edged.fleet.signing import load_signer, sign
from edged.model.model_file import model_stem
from edged.model.package import read_model


def run(arguments: argparse.Namespace) -> int:
    """Check that the file is a model of one file, sign it, and upload it."""
    manifest = asyncio.run(_publish(arguments, _signed(arguments)))
    if arguments.json:
        print(manifest.model_dump_json())
    else:
        print(f"published {manifest}, {manifest.size / 1e6:.1f} MB, signed by {manifest.signer[:12]}…")
    return 0


def _signed(arguments: argparse.Namespace) -> SignedModel:
    path, signer = arguments.model, load_signer(arguments.key)
    _, is_split = read_model(config.ModelConfig(path=path))
    if is_split:
        raise ModelError(f"{path}: its weights are in other files: save it as one file, which one hash covers")
    try:
        manifest = SignedModel(
            name=arguments.name or model_stem(path),
            file=path.name,
            sha256=sha256_of(path),
            size=path.stat().st_size,
        )
    except ValidationError as error:
        place = error.errors()[0]["loc"][0]
        given = json.dumps(error.errors()[0]["input"])
        raise ConfigError(
            f"{place} {given}: expected letters, digits, '.', '_' and '-', and a file *.onnx"
        ) from None
    public, signature = sign(manifest.signed, signer)
    return manifest.model_copy(update={"signer": public, "signature": signature})


async def _publish(arguments: argparse.Namespace, manifest: SignedModel) -> SignedModel:
    async with open_store(arguments.config, create=True) as store:
        await store.publish(manifest, arguments.model)
    return manifest
