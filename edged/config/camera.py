"""`cameras`: where frames come from."""

import re
import shlex
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from edged.config.paths import ConfigPath, absolute_source
from edged.config.sections import Name, Pixels, Positive, Section, Share, SnapshotConfig, Text
from edged.config.served import (
    ANSWER_S,
    REQUESTS_PREFIX,
    RequestsConfig,
    check_access,
    check_served,
    served_prefix,
)
from edged.messages.preparation import Resize

SYNTHETIC_PREFIX = "synthetic:"
PROGRAM_PREFIX = "exec:"
SYNTHETIC = ("digits", "shapes", "cross", "disc", "ring", "square", "triangle")
STREAMS_WITH_TLS = ("rtsps://", "https://")
STREAMS = ("rtsp://", "http://", *STREAMS_WITH_TLS)

_PASSWORD_IN_URL = re.compile(
    r"://[^/@:\[]*:(?!\d*([/?#]|$))[^@]*@"
)  # text after host: is a port, even before an @

USER, PASSWORD = "{user}", "{password}"  # in a URL: for cameras that take them nowhere else
_SECRET_IN_URL = re.compile(
    r"(?<=[/?&;_])((?:pass(?:word|wd)?|pwd|token|secret|auth|api_?key))=(?!\{)[^&/;_]", re.IGNORECASE
)


def secret_in_url(camera: "CameraConfig") -> str | None:
    """Return what to write instead, if what follows the host of a camera's URL seems to hold a secret itself."""
    source = str(camera.source)
    if source.lower().startswith(STREAMS) and (found := _SECRET_IN_URL.search(source)):
        return f"its URL holds a secret: write {found[1]}={PASSWORD} there, and password_file: FILE beside it"
    return None


def _fingerprint(text: str) -> str:
    """Normalise a fingerprint to Python's form: no colons, small letters. Raises ValueError."""
    digits = text.lower().removeprefix("sha256:").replace(":", "")
    if not text.lower().startswith("sha256:") or not re.fullmatch("[0-9a-f]{64}", digits):
        raise ValueError("expected sha256: and 64 hexadecimal digits, as `edged check` shows them")
    return f"sha256:{digits}"


Fingerprint = Annotated[str, AfterValidator(_fingerprint)]


def _host(url: str) -> str | None:
    """Return the host of a URL. Raises ValueError without quoting the URL, which may hold a password."""
    try:
        parts = urlsplit(url)
        return parts.hostname if parts.port is None or parts.port else None
    except ValueError:
        raise ValueError("a URL must have a host and port that can be") from None


def _command(source: str) -> str:
    """Return a source of exec: that names a program. Raises ValueError."""
    try:
        words = shlex.split(source.removeprefix(PROGRAM_PREFIX))
    except ValueError as error:
        raise ValueError(f"a command that cannot be read: {str(error).lower()}") from None
    if not words:
        raise ValueError("exec: requires a command: exec:rpicam-vid -t 0 --codec mjpeg -o -")
    return source


class CameraTls(Section):
    """The certificate that an https:// or rtsps:// camera must present.

    Without this section: one that is signed by an authority of this host, for the name or address in `source`.
    """

    ca: ConfigPath | None = Field(None, description="Certificates of the authorities to trust instead, in PEM")
    fingerprint: Fingerprint | None = Field(
        None,
        description="sha256: and the SHA-256 of the camera's own certificate, in hexadecimal; without `ca` it is "
        "enough: the certificate may be self-signed, expired, or for another name",
    )
    insecure: bool = Field(
        False, description="Verify nothing: any host that answers at the address gets the password"
    )

    @field_validator("insecure")
    @classmethod
    def _verify_or_not(cls, insecure: bool, info: ValidationInfo) -> bool:
        if insecure and (info.data.get("ca") or info.data.get("fingerprint")):
            raise ValueError("verifies nothing: leave out ca and fingerprint, or this")
        return insecure


PixelFormat = Literal["auto", "mjpeg", "yuyv"]


class CameraConfig(Section):
    """A named source of frames."""

    source: Annotated[int, Field(ge=0, le=255)] | Text = Field(
        description="V4L2 index or path (/dev/v4l/by-id/…), rtsp:// or http:// URL (with {user} and {password} "
        "where a camera takes them in its path or query), exec: and a command whose output is video, "
        "video file, image folder, synthetic:digits, "
        "synthetic:shapes (or one of them: cross, disc, ring, square, triangle); or the address at which requests "
        "of other programs are answered: frigate: (ipc:///path or tcp://127.0.0.1:port), or requests: for HTTP "
        "(127.0.0.1:port)"
    )
    host: Name | None = Field(
        None, description="Host that runs this camera (`edged camera NAME`). Default: the hub's host"
    )
    user: Text | None = Field(None, validate_default=True, description="User name for an RTSP or HTTP camera")
    password_file: ConfigPath | None = Field(None, description="File that contains only the password")
    password_env: Text | None = Field(
        None, validate_default=True, description="Environment variable with the password"
    )
    tls: CameraTls | None = Field(None, description="https:// and rtsps:// cameras: the trusted certificate")
    timeout_s: Positive | None = Field(
        None,
        description="Network cameras: seconds without a picture after which the connection is made anew. "
        "Default: 2 (HLS playlist: 10); up to 10 for a camera that turns out to be slower",
    )
    size: tuple[Pixels, Pixels] | None = Field(
        None, description="Width and height requested from the camera; synthetic: 640×480"
    )
    format: PixelFormat = Field(
        "auto",
        description="Cameras on USB or the board: the format of pixels requested. auto: mjpeg if `size` is above "
        "640×480, else what the driver chooses",
    )
    fps: Positive | None = Field(
        None,
        description="Frames per second requested from the camera, or in an image folder; synthetic: 30",
    )
    poll_s: Positive = Field(
        1.0, description="A URL that gives one still picture for each request: seconds from one to the next"
    )
    max_fps: Positive | None = Field(None, description="Frames above this rate are dropped")
    roi: tuple[Share, Share, Share, Share] = Field(
        (0.0, 0.0, 1.0, 1.0), description="Left, top, right, bottom as shares of the picture"
    )
    fit: Resize | None = Field(
        None, description="How the region takes the shape of the model's input; default: `resize` of the model"
    )
    motion: Share = Field(0.0, description="Share of changed pixels below which a frame is dropped; 0: off")
    frozen_s: float = Field(
        10.0,
        ge=0,
        allow_inf_nan=False,
        description="Cameras and streams: seconds of identical pictures (byte for byte) after which the camera is "
        "reported as frozen; 0: off",
    )
    still_s: float = Field(
        0.0,
        ge=0,
        allow_inf_nan=False,
        description="Cameras and streams: seconds without a change of the scene within `roi` after which the "
        "camera is reported as frozen although its pictures differ, as an encoder makes them of a sensor that "
        "hangs. A living camera before a still scene in constant light is reported, too; 0: off",
    )
    answer_s: float | None = Field(
        None,
        gt=0,
        le=60,
        description="Requests: seconds in which each is answered, with nothing found (Frigate) or an error (HTTP) "
        "if there is no answer yet; less than Frigate's `request_timeout_ms`. Default: 0.18 (Frigate), 5 (HTTP)",
    )
    requests: RequestsConfig | None = Field(
        None, validate_default=True, description="Requests over HTTP: who may send them"
    )
    pace: Literal["auto", "realtime", "fast"] = Field(
        "auto",
        description="Files only. realtime: at the recorded rate, older frames are replaced; fast: as quickly as "
        "frames are answered, without replacement; auto: realtime for a video and for an image folder with `fps`, "
        "fast for a folder without",
    )
    at_end: Literal["stop", "loop"] = Field(
        "stop", description="What happens at the end of a video file or folder"
    )
    seed: int = Field(1, ge=0, description="Synthetic only: the same seed draws the same frames")
    snapshot: SnapshotConfig | None = Field(
        None,
        description="Publish small pictures of its frames, cut to `roi`; {} uses the defaults. Default: no "
        "picture is published",
    )

    @property
    def serves_at(self) -> str | None:
        """Return the address at which it answers requests of other programs; None: it is a camera."""
        prefix = served_prefix(self.source)
        return str(self.source).removeprefix(prefix) if prefix else None

    @property
    def serves_http(self) -> bool:
        """Return whether it answers requests over HTTP."""
        return served_prefix(self.source) == REQUESTS_PREFIX

    @property
    def answers_within_s(self) -> float:
        """Return the seconds in which each request is answered."""
        return self.answer_s or ANSWER_S[served_prefix(self.source) or REQUESTS_PREFIX]

    @field_validator("source")
    @classmethod
    def _no_password(cls, source: int | str) -> int | str:
        if isinstance(source, str) and _PASSWORD_IN_URL.search(source):
            raise ValueError("must not hold a password: use user and password_file (or password_env)")
        return source

    @field_validator("source")
    @classmethod
    def _known_kind(cls, source: int | str) -> int | str:
        if isinstance(source, str) and source.startswith(PROGRAM_PREFIX):
            return _command(source)
        if isinstance(source, str) and served_prefix(source):
            return check_served(source)
        if isinstance(source, str) and source.startswith(SYNTHETIC_PREFIX):
            _, _, subject = source.partition(":")
            if subject not in SYNTHETIC:
                raise ValueError(f"synthetic cameras are synthetic:{', synthetic:'.join(SYNTHETIC)}")
        if isinstance(source, str) and "://" in source and not source.lower().startswith(STREAMS):
            raise ValueError(f"a URL must start with one of: {', '.join(STREAMS)}")
        if isinstance(source, str) and "://" in source and not _host(source):
            raise ValueError("a URL must name a host")
        return source

    @field_validator("source")
    @classmethod
    def _absolute(cls, source: int | str, info: ValidationInfo) -> int | str:
        return absolute_source(source, info)

    @field_validator("password_env")
    @classmethod
    def _one_secret(cls, name: str | None, info: ValidationInfo) -> str | None:
        if name and info.data.get("password_file"):
            raise ValueError("give password_file or password_env, not both")
        if PASSWORD in str(info.data.get("source")) and not (name or info.data.get("password_file")):
            raise ValueError(f"{PASSWORD} in source requires password_file or password_env")
        return name

    @field_validator("user")
    @classmethod
    def _named_user(cls, user: str | None, info: ValidationInfo) -> str | None:
        if USER in str(info.data.get("source")) and not user:
            raise ValueError(f"{USER} in source requires a user")
        return user

    @field_validator("tls")
    @classmethod
    def _only_with_tls(cls, tls: CameraTls | None, info: ValidationInfo) -> CameraTls | None:
        source = info.data.get("source")
        if tls and isinstance(source, str) and not source.lower().startswith(STREAMS_WITH_TLS):
            raise ValueError("is for a source of https:// or rtsps:// alone")
        return tls

    @field_validator("max_fps", "roi", "fit", "motion")
    @classmethod
    def _is_no_request(cls, value: object, info: ValidationInfo) -> object:
        is_given = value != cls.model_fields[str(info.field_name)].default
        if is_given and served_prefix(info.data.get("source", "")):
            raise ValueError("has no effect on requests, which are answered as they come: leave it out")
        return value

    @field_validator("answer_s")
    @classmethod
    def _is_a_request(cls, seconds: float | None, info: ValidationInfo) -> float | None:
        if seconds and "source" in info.data and not served_prefix(info.data["source"]):
            raise ValueError("is for a source of frigate: or requests: alone")
        return seconds

    @field_validator("requests")
    @classmethod
    def _local_or_protected(cls, requests: RequestsConfig | None, info: ValidationInfo) -> RequestsConfig | None:
        if "source" in info.data:
            check_access(str(info.data["source"]), requests)
        return requests

    @field_validator("roi")
    @classmethod
    def _left_to_right(cls, roi: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
        left, top, right, bottom = roi
        if left >= right or top >= bottom:
            raise ValueError("must be [left, top, right, bottom] with left < right and top < bottom")
        return roi
