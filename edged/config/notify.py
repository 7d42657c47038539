"""`notify`: where the hub sends a notification, and of what."""

from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote, urlsplit

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from edged.config.paths import ConfigPath
from edged.config.sections import PasswordFile, Section, Text
from edged.transport.address import is_local

TOKEN = "{token}"  # noqa: S105 - a placeholder
Occasion = Literal["state", "camera", "worker"]


def _of_http(url: str) -> str:
    """Accept a URL of HTTP. Raises ValueError without quoting it: it may hold a secret."""
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        is_whole = None
    if not is_whole or not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError("expected a URL such as https://ntfy.sh/TOPIC")
    if "@" in parts.netloc:
        raise ValueError("must not hold a user or a password: write user and password_file beside it")
    return url


class NotifyConfig(Section):
    """Notifications by HTTP (a webhook, ntfy): the hub sends events to a URL."""

    insecure: bool = Field(False, description="Allow http:// to another host: unencrypted, the password included")
    url: Annotated[Text, AfterValidator(_of_http)] = Field(
        description="Where each event is sent by POST: https://host/path; http:// on this host. "
        "`{token}` in it stands for the token in `token_file`"
    )
    when: tuple[Occasion, ...] = Field(
        ("state",),
        min_length=1,
        description="Which events: state (a camera sees another of its `states`), camera (it is up, down, lost, "
        "ended, frozen), worker (it is up, lost, or replaced)",
    )
    format: Literal["json", "text"] = Field(
        "json", description="json: the event as it is published; text: its message alone, as ntfy shows it"
    )
    user: Text | None = Field(None, description="User name (Basic)")
    password_file: PasswordFile | None = Field(None, description="File that contains only the password of `user`")
    token_file: ConfigPath | None = Field(
        None,
        validate_default=True,
        description="File that contains only a token, sent as `Authorization: Bearer`, or in `url` for `{token}`",
    )
    ca: ConfigPath | None = Field(None, description="https: authorities to trust in place of the system's, in PEM")

    @field_validator("url")
    @classmethod
    def _encrypted_or_local(cls, url: str, info: ValidationInfo) -> str:
        parts = urlsplit(url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        if parts.scheme == "https" or is_local(f"{host}:{parts.port or 80}") or info.data.get("insecure"):
            return url
        raise ValueError("is unencrypted: use https://, or add insecure: true beside it")

    @field_validator("token_file")
    @classmethod
    def _is_used_once(cls, file: Path | None, info: ValidationInfo) -> Path | None:
        is_in_url = TOKEN in info.data.get("url", "")
        if is_in_url and file is None:
            raise ValueError(f"has {TOKEN} in its url, but no token_file")
        if file and info.data.get("user") and not is_in_url:
            raise ValueError("contradicts user: give one of both")
        return file

    @property
    def shown(self) -> str:
        """Return scheme and host of the URL, for messages: what follows is often a secret."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}{'/…' if len(parts.path) > 1 or parts.query else ''}"

    def url_with(self, token: str) -> str:
        """Return the URL with the token in the place of `{token}`."""
        return self.url.replace(TOKEN, quote(token, safe=""))
