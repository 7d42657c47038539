"""`edged fleet key`: make the key that signs models."""

import argparse
import json

from edged.fleet.signing import new_signer


def run(arguments: argparse.Namespace) -> int:
    """Write both files; the secret is never printed."""
    key, pub = new_signer(arguments.output, arguments.name)
    if arguments.json:
        print(json.dumps({"key": str(key), "pub": str(pub)}))
        return 0
    print(f"{key}  secret: signs models; keep it where models are published, never on a board (mode 0600)")
    print(f"{pub}  public: add it to `fleet.signers` of every board that takes models of {arguments.name}")
    return 0
