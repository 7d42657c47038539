"""Connections to NATS servers with JetStream. The only module that imports nats-py, an optional dependency.

Sources: nats.io's description of the client protocol, and of NKeys; https://docs.nats.io.
"""

import asyncio
import logging
import os
import ssl
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from edged.errors import ConfigError, ServerError
from edged.system.python_packages import install_command
from edged.transport.keys import located, read_key_file, refuse_if_open
from edged.transport.tls import client_context

if TYPE_CHECKING:
    from nats.aio.client import Client

CONNECT_S = 5
AGAIN_S = 2  # between two attempts at the same server
CLOSE_S = 1
PING_S = 10  # a link that is cut without notice is noticed after two unanswered ones
TASKS = f"{os.sep}nats{os.sep}aio{os.sep}"  # in what asyncio logs of a task of nats-py: where its code is
ATTEMPTS = 1  # at each server, before `connect` fails

log = logging.getLogger("edged.nats")


class TlsFiles(Protocol):
    """Which certificates are trusted, and which one is shown."""

    @property
    def ca(self) -> Path | None: ...

    @property
    def own(self) -> tuple[Path, Path] | None: ...


class NatsAccess(Protocol):
    """Where the servers are, and who connects: `edged.config.NatsConfig`."""

    @property
    def servers(self) -> tuple[str, ...]: ...

    @property
    def credentials(self) -> Path | None: ...

    @property
    def nkey(self) -> Path | None: ...

    @property
    def user(self) -> str | None: ...

    @property
    def password_file(self) -> Path | None: ...

    @property
    def tls(self) -> TlsFiles | None: ...

    @property
    def domain(self) -> str | None: ...


async def connect(access: NatsAccess, name: str, *, reconnects: bool = True) -> "Client":
    """Connect to a server that has JetStream; `name` is shown in its list of connections.

    `reconnects`: once connected, the client reconnects for ever by itself; otherwise it closes when the connection
    is lost. Raises ConfigError for a missing package and for files that cannot be used, ServerError if no server
    answers, accepts us, is trusted and has JetStream: try again later.
    """
    try:
        import nats.errors
    except ImportError:
        raise ConfigError(f"NATS needs nats-py: {install_command('nats-py[nkeys]')}") from None
    logging.getLogger("asyncio").addFilter(_is_of_use)
    problems = _Problems()
    options = _identity(access) | _encryption(access) | _first_attempt(access.servers, name)
    client = _client(is_encrypted="tls" in options)
    try:
        await asyncio.wait_for(
            client.connect(error_cb=problems.add, **options), CONNECT_S * (1 + len(access.servers))
        )
        await client.jetstream(domain=access.domain).account_info()
    except (TimeoutError, OSError, ValueError, nats.errors.Error) as error:
        await close(client)
        cause = problems.last if isinstance(error, nats.errors.NoServersError | TimeoutError) else error
        raise ServerError(explained(access.servers, cause or error)) from None
    client.options.update(allow_reconnect=reconnects, max_reconnect_attempts=-1, reconnect_time_wait=AGAIN_S)
    problems.is_logged = reconnects
    return client


async def close(client: "Client") -> None:
    """Disconnect. nats-py would wait for ever for a server that no longer answers, or whose TLS has failed."""
    with suppress(TimeoutError, OSError):
        await asyncio.wait_for(client.close(), CLOSE_S)


def _is_of_use(record: logging.LogRecord) -> bool:
    """Return False for what asyncio logs where a server ends a connection of nats-py, which we report ourselves.

    That is a TLS connection that ends, and tasks of nats-py that it leaves behind when the connection is reset
    while it has something to send.
    """
    text = record.getMessage()
    if "returning true from eof_received" in text:
        return False
    error = record.exc_info[1] if record.exc_info else None
    return TASKS not in text or not (error is None or isinstance(error, OSError))


class _Problems:
    """Keeps the last problem of a connection; logs them once it has succeeded."""

    def __init__(self) -> None:
        self.last: Exception | None = None
        self.is_logged = False

    async def add(self, problem: Exception) -> None:
        """Take a problem from nats-py, which requires a coroutine."""
        self.last = problem
        if self.is_logged:
            log.warning("%s; trying again", problem)


def _client(*, is_encrypted: bool) -> "Client":
    """Return a client that, where the connection must be encrypted, refuses to send a password in the clear.

    nats-py itself would go on without TLS if the server, or an attacker in between, does not offer it.
    """
    from nats.aio.client import Client
    from nats.errors import SecureConnWantedError

    class Encrypted(Client):
        async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:
            if initial_connection and not info.get("tls_required"):
                raise SecureConnWantedError
            await super()._process_info(info, initial_connection)

    return Encrypted() if is_encrypted else Client()


def _first_attempt(servers: Sequence[str], name: str) -> dict[str, Any]:
    """Return how to connect for the first time: each server is tried, and the first that rejects us ends it."""
    return {
        "servers": list(servers),
        "name": name,
        "allow_reconnect": False,
        "max_reconnect_attempts": ATTEMPTS,
        "reconnect_time_wait": 0,
        "connect_timeout": CONNECT_S,
        "ping_interval": PING_S,
    }


def _identity(access: NatsAccess) -> dict[str, Any]:
    """Return our credentials as nats-py's options. Raises ConfigError for files that cannot be used."""
    if access.credentials:
        return {"user_credentials": _secret(access.credentials, "BEGIN NATS USER JWT", "a .creds file of NATS")}
    if access.nkey:
        path = _secret(access.nkey, "SU", "the seed of a user's NKey (SU…)")
        return {"nkeys_seed": path}
    if access.user is None:
        return {}
    password = read_key_file(located(access.password_file)).strip("\r\n") if access.password_file else ""
    if access.password_file:
        refuse_if_open(located(access.password_file))
    return {"user": access.user, "password": password}


def _secret(path: Path, mark: str, what: str) -> str:
    """Return the file of a secret. Raises ConfigError unless it holds `mark` and others cannot read it."""
    path = located(path)
    if mark not in read_key_file(path):
        raise ConfigError(f"{path}: expected {what}")
    refuse_if_open(path)
    return str(path)


def _encryption(access: NatsAccess) -> dict[str, ssl.SSLContext]:
    if not access.servers[0].startswith("tls://"):
        return {}
    tls = access.tls
    return {"tls": client_context(tls.ca, tls.own) if tls else client_context(None)}


def explained(servers: Sequence[str], error: BaseException) -> str:
    """Return what is wrong, and what to do."""
    from nats.errors import NoRespondersError, SecureConnWantedError
    from nats.js.errors import APIError, NoStreamResponseError

    said = str(error).lower()
    match error:
        case ssl.SSLCertVerificationError():
            problem = f": its certificate is not trusted ({error.verify_message}): check nats.tls.ca"
        case ssl.SSLError():
            problem = f": TLS fails ({error.reason or error}): check nats.tls"
        case SecureConnWantedError():
            problem = " does not offer TLS: set it up there, or use nats://"
        case NoStreamResponseError():
            problem = ": no stream has this subject: check the subjects of the stream nats.stream"
        case NoRespondersError() | APIError():
            problem = _of_jetstream(getattr(error, "err_code", None), getattr(error, "description", None))
        case _ if "permissions violation" in said:
            problem = f": this user may not do what is required ({error}): extend its permissions"
        case _ if "authorization" in said or "authentication" in said:
            problem = " rejects this user: check credentials, nkey, or user and password_file of section nats"
        case _:
            known = error.errno if isinstance(error, OSError) else None
            problem = f" does not answer: {os.strerror(known) if known else str(error) or 'timed out'}"
    return f"{', '.join(servers)}{problem}"


def _of_jetstream(code: int | None, description: str | None) -> str:
    """Return what JetStream reports, in the words of the config where it is the cause."""
    match code:
        case 10065:
            return ": its subjects are those of another stream: choose another nats.subject, or nats.stream"
        case 10060:
            return ": another stream has this subject: choose another nats.subject, or nats.stream"
        case 10077 | 10054:
            return f": the stream does not take this message ({description}): raise its limits, or make room"
        case None | 10039 | 10076:
            return " has no JetStream for this user: enable it there, for this account, too"
        case 10023 | 10028 | 10047 | 10122:
            return (
                f": the account may not store so much ({description}): set nats.max_megabytes to less, "
                "or make room for it on the server"
            )
    return f": JetStream reports: {description}"


def denied(client: "Client") -> str:
    """Return what the server has denied this user last; empty: nothing. A denied message gets no other answer."""
    said = str(client.last_error or "").removeprefix("nats: ")
    return said if said.lower().startswith("permissions violation") else ""
