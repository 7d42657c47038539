"""TLS contexts for servers and clients, from the PEM files that the config names."""

import ssl
from pathlib import Path

from edged.errors import ConfigError
from edged.transport.keys import located, refuse_if_open


def server_context(certificate: Path, key: Path, client_ca: Path | None) -> ssl.SSLContext:
    """Make a server's context, TLS 1.2 or newer; with `client_ca`, clients must have a certificate of it.

    Raises ConfigError, also if others could read the key.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _present(context, certificate, key)
    if client_ca:
        _trust(context, located(client_ca))
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def client_context(ca: Path | None, own: tuple[Path, Path] | None = None) -> ssl.SSLContext:
    """Make a client's context, TLS 1.2 or newer, that verifies the server's name and certificate.

    ca: the authorities to trust in place of the system's. own: certificate and private key of the client, for a
    server that requires them. Raises ConfigError.
    """
    context = ssl.create_default_context() if ca is None else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if ca:
        _trust(context, located(ca))
    if own:
        _present(context, *own)
    return context


def _present(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    """Show the peer a certificate. Raises ConfigError, also if others could read the key."""
    certificate, key = located(certificate), located(key)
    for path in (certificate, key):
        if not path.is_file():
            raise ConfigError(f"{path}: expected a PEM file, found {'a folder' if path.exists() else 'nothing'}")
    refuse_if_open(key)
    try:
        context.load_cert_chain(certificate, key, password="")  # otherwise OpenSSL would prompt at the terminal
    except ssl.SSLError as error:
        raise ConfigError(
            f"{certificate}, {key}: expected a certificate and its own private key, in PEM, without a passphrase "
            f"({error.reason or error})"
        ) from None
    except OSError as error:
        raise ConfigError(f"{certificate}, {key}: cannot read: {error.strerror}") from None


def _trust(context: ssl.SSLContext, path: Path) -> None:
    try:
        context.load_verify_locations(path)
    except ssl.SSLError as error:
        raise ConfigError(
            f"{path}: expected an authority's certificates in PEM ({error.reason or error})"
        ) from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot read the authority's certificates: {error.strerror}") from None
