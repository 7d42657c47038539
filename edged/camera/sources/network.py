"""Connect to a network camera: check that its address answers, and that it proves its identity by TLS.

FFmpeg takes seconds to fail without a reason. As packaged with OpenCV it verifies nothing by default, and with
`tls_verify` neither the host name nor a fingerprint. Python's ssl verifies instead, before any secret is sent.
"""

import hashlib
import os
import socket
import ssl
from http.client import HTTPException, HTTPSConnection
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from edged.config import CameraTls
from edged.errors import CameraError
from edged.transport.keys import located

PATIENCE_S = 1.0
PORTS = {"rtsp": 554, "rtsps": 322, "http": 80, "https": 443}
HANDSHAKE_S = 3.0
SCHEMES = ("https", "rtsps")


def reach(url: str, shown: str) -> None:
    """Connect to the host of `url`, then close. Raises CameraError; see `connected`."""
    if url.lower().startswith("http") and "http_proxy" in os.environ:
        return  # FFmpeg connects to the proxy, which may reach hosts that this one cannot
    connected(url, shown).close()


def connected(url: str, shown: str) -> socket.socket:
    """Return a connection to the host of `url`. Raises CameraError that names `shown` and what to check."""
    parts = urlsplit(url)
    place = (parts.hostname or "", parts.port or PORTS[parts.scheme.lower()])
    try:
        return socket.create_connection(place, PATIENCE_S)
    except socket.gaierror:
        raise CameraError(f"{shown} gives no video: the host name {place[0]} cannot be resolved") from None
    except ConnectionRefusedError:
        reason = f"the host refuses connections at port {place[1]}"
        raise CameraError(f"{shown} gives no video: {reason}") from None
    except TimeoutError:
        reason = f"no answer within {PATIENCE_S:g} s: check that the camera is on and in this network"
        raise CameraError(f"{shown} gives no video: {reason}") from None
    except OSError as error:
        raise CameraError(f"{shown} gives no video: {error.strerror or error}") from None


def without_secrets(url: str) -> str:
    """Return scheme and host of `url`, for messages: many cameras take a password in its path or query."""
    parts = urlsplit(url)
    hidden = "/…" if len(parts.path) > 1 or parts.query else ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{hidden}"


def is_verified(url: str, tls: CameraTls | None) -> bool:
    """Return whether the camera at `url` must show a certificate that is trusted."""
    return urlsplit(url).scheme.lower() in SCHEMES and not (tls and tls.insecure)


class CameraIdentity:
    """Checks the identity of one camera."""

    def __init__(self, url: str, shown: str, tls: CameraTls | None) -> None:
        """`shown`: the address without secrets."""
        parts = urlsplit(url)
        self._url = url
        self._shown = shown
        self._host = parts.hostname or ""
        self._port = parts.port or PORTS[parts.scheme.lower()]
        self._tls = tls or CameraTls()
        self._proxy = _proxy_for(self._host) if parts.scheme.lower() == "https" else None

    def connect(self) -> ssl.SSLSocket:
        """Return a connection to the verified camera.

        Raises CameraError that says what is wrong with its certificate.
        """
        if not self._proxy:
            reach(self._url, self._shown)
        connection = self._connection(self._context())
        try:
            connection.connect()
        except ssl.SSLCertVerificationError as error:
            raise self._untrusted(error.verify_message.rstrip(".")) from None
        except ssl.SSLError as error:
            raise CameraError(
                f"{self._shown} gives no video: it does not speak TLS as expected ({error.reason or error}): "
                "check the port, or use rtsp:// or http:// if the camera has no TLS"
            ) from None
        except (OSError, HTTPException) as error:
            raise CameraError(f"{self._shown} gives no video: its TLS handshake failed: {error}") from None
        found: ssl.SSLSocket = connection.sock
        if self._tls.fingerprint and fingerprint_of(found) != self._tls.fingerprint:
            other = fingerprint_of(found)
            found.close()
            raise CameraError(
                f"{self._shown} gives no video: its certificate has the fingerprint {other}, not "
                f"{self._tls.fingerprint} (tls.fingerprint): it is a new one, or another host answers"
            )
        return found

    def _connection(self, context: ssl.SSLContext) -> HTTPSConnection:
        if not self._proxy:
            return HTTPSConnection(self._host, self._port, timeout=HANDSHAKE_S, context=context)
        connection = HTTPSConnection(*self._proxy, timeout=HANDSHAKE_S, context=context)
        connection.set_tunnel(self._host, self._port)
        return connection

    def _context(self) -> ssl.SSLContext:
        """Make a TLS context. A pinned certificate is enough, even self-signed, expired, or for another name."""
        if self._tls.fingerprint and not self._tls.ca:
            return _without_verification()
        path = located(self._tls.ca) if self._tls.ca else None
        try:
            return ssl.create_default_context(cafile=path)
        except ssl.SSLError as error:
            raise CameraError(
                f"{path}: expected an authority's certificates in PEM ({error.reason or error}); see tls.ca"
            ) from None
        except OSError as error:
            raise CameraError(f"{path}: cannot read the certificates of tls.ca: {error.strerror}") from None

    def _untrusted(self, why: str) -> CameraError:
        """Make an error with the config line that would trust this certificate."""
        start = f"{self._shown} gives no video: its certificate is not trusted: {why}"
        try:
            connection = self._connection(_without_verification())
            connection.connect()
            found = fingerprint_of(connection.sock)
            connection.close()
        except (OSError, HTTPException):
            return CameraError(start)
        return CameraError(
            f"{start}; if it is that camera's own, write into its section of the config: "
            f'tls: {{fingerprint: "{found}"}}, or tls: {{ca: FILE}} with the certificate of its authority'
        )


def fingerprint_of(connection: ssl.SSLSocket) -> str:
    """Return the SHA-256 of the certificate that the peer presented, in the form of `tls.fingerprint`."""
    certificate = connection.getpeercert(binary_form=True) or b""
    return f"sha256:{hashlib.sha256(certificate).hexdigest()}"


def _without_verification() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _proxy_for(host: str) -> tuple[str, int] | None:
    """Return the HTTP proxy of the environment as FFmpeg reads it: the one for http, also for https."""
    proxy = os.environ.get("http_proxy") or getproxies().get("https")
    if not proxy or proxy_bypass(host):
        return None
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    return parts.hostname or "", parts.port or PORTS["http"]
