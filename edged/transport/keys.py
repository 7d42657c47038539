"""CURVE key files in ZeroMQ's own format (ZPL): NAME.key holds both halves, NAME.pub the public one alone.

zmq.auth reads them too, but is not used for writing: its files are readable by others for a moment.
"""

import os
import re
import stat
import struct
from dataclasses import dataclass, field
from pathlib import Path

import zmq
from zmq.utils import z85

from edged.errors import ConfigError

MAX_BYTES = 16384  # of a ZeroMQ key a few hundred; a NATS token lists permissions, too
CREDENTIAL = "credential:"  # systemd's LoadCredential=: a name in $CREDENTIALS_DIRECTORY
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_HALF = r'^\s*{}-key\s*=\s*"([^"\s]{{40}})"\s*$'
_WARNING = "# Secret: for the one program or host that it names. Never send it, never open it to others.\n"
_PUBLIC = "# Public key, for hosts that admit {name} or verify that they talk to {name}.\n"


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A public and a secret key, in Z85."""

    public: bytes
    secret: bytes = field(repr=False)


def new_pair(directory: Path, name: str) -> tuple[Path, Path]:
    """Make NAME.key, readable by its owner only from the start, and NAME.pub; neither replaces a file.

    Raises ConfigError.
    """
    name = key_name(name)
    public, secret = zmq.curve_keypair()
    halves = f'metadata\ncurve\n    public-key = "{public.decode()}"\n'
    key, pub = directory / f"{name}.key", directory / f"{name}.pub"
    create_key_file(key, 0o600, f'{_WARNING}{halves}    secret-key = "{secret.decode()}"\n')
    try:
        create_key_file(pub, 0o644, _PUBLIC.format(name=name) + halves)
    except ConfigError:
        key.unlink()
        raise
    return key, pub


def key_name(name: str) -> str:
    """Return a name for key files. Raises ConfigError for one that is no plain file name."""
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name!r}: expected a name of letters, digits, '.', '_' and '-', at most 64")
    return name


def load_pair(path: Path) -> KeyPair:
    """Return the key pair in a NAME.key. Raises ConfigError, also if others could read the file."""
    path = located(path)
    text = read_key_file(path)
    refuse_if_open(path)
    public, secret = _half("public", text), _half("secret", text)
    if public is None or secret is None:
        raise ConfigError(f"{path}: expected a secret key as written by `edged keys new NAME` (NAME.key)")
    if zmq.curve_public(secret) != public:
        raise ConfigError(f"{path}: its two halves do not belong together: make a new pair by `edged keys new`")
    return KeyPair(public, secret)


def load_public(path: Path) -> bytes:
    """Return the public key in a NAME.pub, in Z85. Raises ConfigError."""
    path = located(path)
    public = _half("public", read_key_file(path))
    if public is None:
        raise ConfigError(f"{path}: expected a public key as written by `edged keys new NAME` (NAME.pub)")
    return public


def load_allowed(paths: tuple[Path, ...]) -> dict[bytes, str]:
    """Return the name of every public key in these files, and in the .pub files of these folders.

    Raises ConfigError.
    """
    allowed: dict[bytes, str] = {}
    for path in map(located, paths):
        files = sorted(path.glob("*.pub")) if path.is_dir() else [path]
        allowed.update({load_public(file): file.name.removesuffix(".pub") for file in files})
    return allowed


def located(path: Path) -> Path:
    """Return the file of systemd for `credential:NAME`; any other path unchanged."""
    name = str(path)
    if not name.startswith(CREDENTIAL):
        return path
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    if not folder:
        raise ConfigError(f"{name}: there is no $CREDENTIALS_DIRECTORY: systemd gives it with LoadCredential=")
    return Path(folder) / name.removeprefix(CREDENTIAL)


def create_key_file(path: Path, mode: int, text: str) -> None:
    """Write a key file with this mode from the start; it replaces none. Raises ConfigError."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    except FileExistsError:
        raise ConfigError(f"{path} is there already: choose another name, or remove it first") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from None
    with os.fdopen(descriptor, "w") as file:
        os.fchmod(descriptor, mode)  # whatever the umask: a .pub may be read
        file.write(text)


def read_key_file(path: Path) -> str:
    """Return the text of a key file. Raises ConfigError."""
    try:
        if not path.is_file():
            raise ConfigError(f"{path}: expected a key file, found {'a folder' if path.exists() else 'nothing'}")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path}: cannot read this key file: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise ConfigError(f"{path}: expected a key file of at most {MAX_BYTES} bytes")
    return content.decode(errors="replace")


def refuse_if_open(path: Path) -> None:
    """Raise ConfigError unless a secret belongs to us, or to root as systemd's credentials do, and is private.

    systemd may give a credential to the service by its group (0440): the folder excludes all others.
    """
    status = path.stat()
    credentials = os.environ.get("CREDENTIALS_DIRECTORY")
    is_credential = bool(credentials) and path.parent.resolve() == Path(str(credentials)).resolve()
    if status.st_uid not in {0, os.geteuid()}:
        raise ConfigError(f"{path}: this secret belongs to another user: sudo chown {os.geteuid()} {path}")
    if stat.S_IMODE(status.st_mode) & (0o007 if is_credential else 0o077):
        raise ConfigError(f"{path}: others may read this secret: chmod 600 {path}")


def _half(which: str, text: str) -> bytes | None:
    match = re.search(_HALF.format(which), text, re.MULTILINE)
    if match is None:
        return None
    try:
        z85.decode(match[1])
    except (ValueError, KeyError, IndexError, struct.error):  # the last one: five digits for more than 32 bits
        return None
    return match[1].encode()
