"""Keys that sign models (Ed25519, RFC 8032). The only module that imports PyNaCl, an optional dependency.

A signature covers name, file name, size and SHA-256 of a model, so none of them can be exchanged.
"""

import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from edged.errors import ConfigError, ModelError
from edged.system.python_packages import install_command
from edged.transport.keys import create_key_file, key_name, located, read_key_file, refuse_if_open

if TYPE_CHECKING:
    from nacl.signing import SigningKey

SECRET, PUBLIC = ".signer.key", ".signer.pub"
_HEX = r'^\s*{}-key\s*=\s*"([0-9a-f]{{64}})"\s*$'


def new_signer(directory: Path, name: str) -> tuple[Path, Path]:
    """Make NAME.signer.key, readable by its owner only, and NAME.signer.pub. Raises ConfigError."""
    _check_installed()
    from nacl.signing import SigningKey

    secret = SigningKey.generate()
    public = f'signer\n    public-key = "{bytes(secret.verify_key).hex()}"\n'
    key, pub = directory / f"{key_name(name)}{SECRET}", directory / f"{name}{PUBLIC}"
    note = "# Secret: who has it can give models to every board that lists its public key.\n"
    create_key_file(key, 0o600, f'{note}{public}    secret-key = "{bytes(secret).hex()}"\n')
    try:
        create_key_file(
            pub, 0o644, f"# Public: for `fleet.signers` of boards that take models of {name}.\n{public}"
        )
    except ConfigError:
        key.unlink()
        raise
    return key, pub


def load_signer(path: Path) -> "SigningKey":
    """Return the secret key in a NAME.signer.key. Raises ConfigError, also if others could read the file."""
    _check_installed()
    from nacl.signing import SigningKey

    path = located(path)
    secret = _key("secret", read_key_file(path))
    if secret is None:
        raise ConfigError(f"{path}: expected a secret key as written by `edged fleet key NAME` (NAME{SECRET})")
    refuse_if_open(path)
    return SigningKey(secret)


def load_signers(paths: tuple[Path, ...]) -> dict[str, str]:
    """Return the name of every public key, as hexadecimal digits, in files and folders. Raises ConfigError."""
    signers: dict[str, str] = {}
    for path in map(located, paths):
        for file in sorted(path.glob(f"*{PUBLIC}")) if path.is_dir() else [path]:
            public = _key("public", read_key_file(file))
            if public is None:
                raise ConfigError(
                    f"{file}: expected a public key as written by `edged fleet key NAME` (NAME{PUBLIC})"
                )
            signers[public.hex()] = file.name.removesuffix(PUBLIC)
    if not signers:
        raise ConfigError(f"fleet.signers: there is no {PUBLIC} file in {', '.join(map(str, paths))}")
    return signers


def sign(content: bytes, signer: "SigningKey") -> tuple[str, str]:
    """Return the public key and the signature, in hexadecimal digits."""
    return bytes(signer.verify_key).hex(), signer.sign(content).signature.hex()


def check_signature(content: bytes, public: str, signature: str, signers: Mapping[str, str]) -> str:
    """Return the name of the signer. Raises ModelError unless one of `signers` has signed `content`."""
    if not public or not signature:
        raise ModelError("it is not signed")
    if public not in signers:
        raise ModelError(f"it is signed by {public[:12]}…, which is not in fleet.signers of this board")
    _check_installed()
    from nacl.exceptions import BadSignatureError
    from nacl.signing import VerifyKey

    try:
        VerifyKey(bytes.fromhex(public)).verify(content, bytes.fromhex(signature))
    except (BadSignatureError, ValueError):
        raise ModelError(
            f"its signature is not of {signers[public]}: it was changed after it was signed"
        ) from None
    return signers[public]


def _check_installed() -> None:
    if find_spec("nacl") is None:
        raise ConfigError(f"signatures of models need PyNaCl: {install_command('nats-py[nkeys]')}")


def _key(which: str, text: str) -> bytes | None:
    match = re.search(_HEX.format(which), text, re.MULTILINE)
    return bytes.fromhex(match[1]) if match else None
