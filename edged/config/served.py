"""Sources of cameras that are requests of other programs: Frigate's detector, and programs that use HTTP."""

import re

from pydantic import Field

from edged.config.access import Tls
from edged.config.paths import ConfigPath
from edged.config.sections import Section
from edged.transport.address import HOST_AND_PORT, ZMQ_ADDRESS, host_and_port, is_local

FRIGATE_PREFIX = "frigate:"
REQUESTS_PREFIX = "requests:"
SERVED = (FRIGATE_PREFIX, REQUESTS_PREFIX)
ANSWER_S = {FRIGATE_PREFIX: 0.18, REQUESTS_PREFIX: 5.0}


class RequestsConfig(Section):
    """Who may send requests over HTTP. Without this section: programs of this host."""

    tls: Tls | None = Field(None, description="TLS certificate and key, and the authorities of clients")
    key_file: ConfigPath | None = Field(
        None,
        description="File that contains only the key: clients send it as `Authorization: Bearer KEY`, or as the "
        "field `api_key` of a form",
    )
    insecure: bool = Field(
        False, description="Allow an address that other hosts can reach, unencrypted or open to all"
    )

    @property
    def is_protected(self) -> bool:
        """Return whether requests are encrypted, and only those who are known may send some."""
        return self.tls is not None and bool(self.key_file or self.tls.client_ca)


def served_prefix(source: int | str) -> str | None:
    """Return by which prefix a source is requests of other programs; None: it is a camera."""
    return next((prefix for prefix in SERVED if str(source).startswith(prefix)), None)


def check_served(source: str) -> str:
    """Return a source that is requests, if it has an address where edged can listen. Raises ValueError."""
    if source.startswith(FRIGATE_PREFIX):
        return _frigate(source)
    address = source.removeprefix(REQUESTS_PREFIX)
    if not re.fullmatch(HOST_AND_PORT, address) or not 1 <= host_and_port(address)[1] <= 65535:
        raise ValueError("requests: requires host:port, at which to listen: requests:127.0.0.1:32168")
    return source


def check_access(source: str, requests: RequestsConfig | None) -> None:
    """Check that only programs of this host, or those that are known, reach requests. Raises ValueError."""
    if not source.startswith(REQUESTS_PREFIX):
        if requests:
            raise ValueError("is for a source of requests: alone")
        return
    is_open = requests is None or not (requests.insecure or requests.is_protected)
    if is_open and not is_local(source.removeprefix(REQUESTS_PREFIX)):
        raise ValueError(
            f"{source} accepts any host: use 127.0.0.1, or add tls and key_file (or tls.client_ca), or "
            "insecure: true"
        )


def _frigate(source: str) -> str:
    address = source.removeprefix(FRIGATE_PREFIX)
    if not re.fullmatch(ZMQ_ADDRESS, address) or not is_local(address):
        raise ValueError(
            "frigate: requires an address that only this host reaches: frigate:ipc:///run/edged/frigate, or "
            "frigate:tcp://127.0.0.1:5555"
        )
    return source
