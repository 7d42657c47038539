"""The YAML file as frozen types. Everything has a default but `cameras`.

Durations carry their unit in the key, secrets are names of files or environment variables.
Reading the file, with line and column in every error, is `config_file`'s work.
"""

import platform
import re
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from edged.address import HOST_AND_PORT, ZMQ_ADDRESS, host_and_port, is_ipc, is_local
from edged.segments import problem_of

NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"

MAX_BATCH = 64  # frames of a job

STREAMS = ("rtsp://", "rtsps://", "http://", "https://")
_PASSWORD_IN_URL = re.compile(
    r"://[^/@:\[]*:(?!\d*([/?#]|$))[^@]*@"
)  # what follows host: is a port, even before an @


def _host(url: str) -> str | None:
    """Raises ValueError for an address or port that cannot be, without quoting what may be a password."""
    try:
        parts = urlsplit(url)
        return parts.hostname if parts.port is None or parts.port else None
    except ValueError:
        raise ValueError("a URL must have a host and port that can be") from None


def _with_port(address: str) -> str:
    """Raises ValueError for a port that cannot be."""
    if not is_ipc(address) and not 1 <= host_and_port(address)[1] <= 65535:
        raise ValueError("the port must be 1 to 65535")
    return address


Name = Annotated[str, Field(pattern=NAME)]
Text = Annotated[str, Field(min_length=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Pixels = Annotated[int, Field(ge=1, le=16384)]
Positive = Annotated[float, Field(gt=0)]
ZmqAddress = Annotated[str, Field(pattern=ZMQ_ADDRESS), AfterValidator(_with_port)]
HttpAddress = Annotated[str, Field(pattern=HOST_AND_PORT), AfterValidator(_with_port)]


Precision = Literal["fp32", "fp16-weights", "fp16"]


class Section(BaseModel):
    """A part of the file: unknown keys are refused, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, hide_input_in_errors=True)


class Camera(Section):
    """A named source of frames."""

    source: Annotated[int, Field(ge=0, le=255)] | Text = Field(
        description="V4L2 index or path (/dev/v4l/by-id/…), rtsp:// or http:// URL, video file, image folder, "
        "or synthetic:digits"
    )
    host: Name | None = Field(
        None, description="Where `edged camera` reads it; default: the hub starts it, on its own host"
    )
    user: Text | None = Field(None, description="User name for an RTSP or HTTP camera")
    password_file: Path | None = Field(None, description="File that holds the password, nothing else")
    password_env: Text | None = Field(None, description="Environment variable that holds the password")
    size: tuple[Pixels, Pixels] | None = Field(
        None, description="Width and height to ask of the camera; 640×480 for a synthetic one"
    )
    fps: Positive | None = Field(None, description="Frames per second to ask of the camera; synthetic: 30")
    max_fps: Positive | None = Field(None, description="Frames above this rate are let go")
    roi: tuple[Share, Share, Share, Share] = Field(
        (0.0, 0.0, 1.0, 1.0), description="Left, top, right, bottom as shares of the picture"
    )
    fit: Literal["stretch", "crop", "pad"] = Field(
        "stretch", description="How the region takes the shape of the model's input"
    )
    motion: Share = Field(
        0.0, description="Share of changed pixels below which a frame is let go; 0 switches it off"
    )
    frozen_s: float = Field(
        10.0,
        ge=0,
        allow_inf_nan=False,
        description="Cameras and streams: after so many seconds of pictures that are the same byte for byte, the "
        "camera is announced as frozen; 0 switches it off",
    )
    pace: Literal["auto", "realtime", "fast"] = Field(
        "auto",
        description="Files only. realtime: at the recorded rate, newest frame wins; fast: as quickly as they are "
        "answered, every frame waits for its turn; auto: realtime for a video, fast for an image folder",
    )
    at_end: Literal["stop", "loop"] = Field("stop", description="What a video file or folder does at its end")
    seed: int = Field(1, ge=0, description="Synthetic only: the same seed draws the same frames")

    @field_validator("source")
    @classmethod
    def _no_password(cls, source: int | str) -> int | str:
        if isinstance(source, str) and _PASSWORD_IN_URL.search(source):
            raise ValueError("must not hold a password: use user and password_file (or password_env)")
        return source

    @field_validator("source")
    @classmethod
    def _known_kind(cls, source: int | str) -> int | str:
        if isinstance(source, str) and source.startswith("synthetic:") and source != "synthetic:digits":
            raise ValueError("the one synthetic camera is synthetic:digits")
        if isinstance(source, str) and "://" in source and not source.lower().startswith(STREAMS):
            raise ValueError(f"a URL must start with one of: {', '.join(STREAMS)}")
        if isinstance(source, str) and "://" in source and not _host(source):
            raise ValueError("a URL must name a host")
        return source

    @field_validator("password_env")
    @classmethod
    def _one_secret(cls, name: str | None, info: ValidationInfo) -> str | None:
        if name and info.data.get("password_file"):
            raise ValueError("give password_file or password_env, not both")
        return name

    @field_validator("roi")
    @classmethod
    def _left_to_right(cls, roi: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
        left, top, right, bottom = roi
        if left >= right or top >= bottom:
            raise ValueError("must be [left, top, right, bottom] with left < right and top < bottom")
        return roi


class Model(Section):
    """The network, and what it wants as input where its file does not say (see `model.package`)."""

    name: str | None = Field(
        None, description="A bundled model (digits), or resnet18 … resnet152 with random weights, for timing only"
    )
    path: Path | None = Field(None, description="An ONNX file")
    labels: Path | None = Field(None, description="Text file, one label a line")
    size: Pixels | tuple[Pixels, Pixels] | None = Field(None, description="Input size, or width and height")
    color: Literal["rgb", "bgr"] | None = Field(None, description="Channel order that the model wants")
    scale: Positive | None = Field(None, description="Input = (pixel × scale − mean) ÷ std; pixel is 0 to 255")
    mean: tuple[float, float, float] | None = Field(None, description="By channel, in the model's order")
    std: tuple[Positive, Positive, Positive] | None = Field(None, description="By channel, in the model's order")

    @field_validator("path")
    @classmethod
    def _one_source(cls, path: Path | None, info: ValidationInfo) -> Path | None:
        if path and info.data.get("name"):
            raise ValueError("give name or path, not both")
        return path


class Worker(Section):
    """One entry of the list of devices, which is in order of preference."""

    host: Name | None = Field(
        None, description="Where `edged worker` serves with it; default: the hub starts it, on its own host"
    )
    group: Name | None = Field(
        None, description="Neighbours in the list with the same group serve together; default: one after the other"
    )
    device: Text = Field(
        "auto", description="Part of an OpenCL platform or device name, gpu, cpu, auto, or numpy (no OpenCL)"
    )
    precision: Precision = Field(
        "fp32",
        description="How numbers are stored; arithmetic is always fp32. fp16-weights: weights as fp16; "
        "fp16: tensors too. See `edged bench --precision` for the error",
    )
    threads: int | None = Field(
        None,
        ge=1,
        le=1024,
        description="Of a CPU (PoCL, numpy); workers with it share one. Default: all, for one worker alone",
    )
    batch: int = Field(1, ge=1, le=MAX_BATCH, description="Frames that one job may carry")
    max_wait_s: float = Field(
        0.0, ge=0, le=10, description="How long a frame may wait for others, where a job may carry more than one"
    )
    credit: int = Field(2, ge=1, le=16, description="Jobs in hand: 2 lets an upload overlap a forward pass")

    @field_validator("precision")
    @classmethod
    def _numpy_is_fp32(cls, precision: Precision, info: ValidationInfo) -> Precision:
        if precision != "fp32" and str(info.data.get("device")).lower() == "numpy":
            raise ValueError("must be fp32 for device numpy, which knows no other: leave it out")
        return precision


class Segment(Section):
    """A part of the network, where several devices run it one after another, each with a frame of its own.

    The groups of all segments serve together, as one: where a part has no worker, the next group takes
    over, with the whole network.
    """

    until: Text | None = Field(
        None,
        description="The operator after which the network is cut, or what its name begins with (stage2); a single "
        "tensor must cross there, `edged check` lists where. The last segment has none",
    )
    workers: Name = Field(description="The group of `workers` that runs it")


class Freshness(Section):
    """How long a frame may wait, and how many of each camera may."""

    keep: int = Field(1, ge=1, le=64, description="Frames of each camera that may wait; the newest stay")
    max_age_s: Positive = Field(0.5, description="A frame older than this is never predicted or published")
    deadline_s: Positive = Field(
        1.5,
        description="A worker that holds a job longer (at least five times its warm-up run) is killed and started "
        "again",
    )


class Recovery(Section):
    """When a worker is lost: how often it is started again, and when its device is given up."""

    losses: int = Field(
        3, ge=1, le=100, description="So many losses of a worker within_s, and the next one serves"
    )
    within_s: Positive = Field(60.0, description="The time in which losses are counted together")
    retry_device_s: Positive = Field(
        60.0, description="A device that was given up is tried again after this time, then after twice as long, …"
    )
    start_s: Positive = Field(
        300.0, description="A worker that is not ready by then is killed, its device given up"
    )


class Security(Section):
    """Who may subscribe from other hosts: ZeroMQ's CURVE. With it `publish` lets in nobody else, and encrypts."""

    key: Path = Field(
        description="This hub's secret: NAME.key of `edged keys new NAME`, for its owner alone (mode 0600); "
        "credential:NAME is systemd's (LoadCredential=NAME:/path/to/it)"
    )
    allow: tuple[Path, ...] = Field(
        description="Public keys (NAME.pub) of those who may subscribe, or folders of them; read again by "
        "`edged reload`, which also cuts off whose key has gone"
    )
    cameras: tuple[Path, ...] = Field((), description="The same for hosts whose cameras may send frames")
    workers: tuple[Path, ...] = Field((), description="The same for hosts whose workers may get them")
    hub: Path | None = Field(None, description="The hub's public key, for the cameras and workers of other hosts")


class Link(Section):
    """Where the hub meets cameras and workers of other hosts."""

    insecure: bool = Field(
        False, description="Allow an address beyond this host without `security`: unencrypted, for everybody"
    )
    address: ZmqAddress | None = Field(
        None, description="The hub's ZeroMQ address, as the other hosts reach it; default: no other hosts"
    )
    bind: ZmqAddress | None = Field(
        None, description="Where the hub listens, if that is not the same, as tcp://0.0.0.0:5572 is"
    )

    @field_validator("address", "bind")
    @classmethod
    def _local_unless_told(cls, address: str | None, info: ValidationInfo) -> str | None:
        return address if address is None else _local_or_protected(address, info)


class Publish(Section):
    """The prediction stream."""

    insecure: bool = Field(
        False, description="Allow addresses beyond this host without `security`: unencrypted, for everybody"
    )
    address: ZmqAddress = Field(
        "tcp://127.0.0.1:5570", description="ZeroMQ PUB address; ipc:// is for this user alone"
    )
    replay: ZmqAddress = Field("tcp://127.0.0.1:5571", description="Where a subscriber fetches what it missed")
    top: int = Field(5, ge=1, le=100, description="Labels in each prediction")

    @field_validator("insecure")
    @classmethod
    def _secure_or_not(cls, insecure: bool, info: ValidationInfo) -> bool:
        if insecure and _is_encrypted(info):
            raise ValueError("security: lets in nobody without a key: leave one of the two out")
        return insecure

    @field_validator("address", "replay")
    @classmethod
    def _local_unless_told(cls, address: str, info: ValidationInfo) -> str:
        return _local_or_protected(address, info)

    @field_validator("replay")
    @classmethod
    def _two_ports(cls, replay: str, info: ValidationInfo) -> str:
        if replay == info.data.get("address"):
            raise ValueError("must not be the same as address")
        return replay


def _local_or_protected(address: str, info: ValidationInfo) -> str:
    if is_local(address) or info.data.get("insecure") or _is_encrypted(info):
        return address
    raise ValueError(
        "is open to other hosts, unencrypted: use 127.0.0.1, or add security: with keys "
        "(`edged keys new`), or insecure: true beside it"
    )


def _is_encrypted(info: ValidationInfo) -> bool:
    """Whether the file has a section `security`, as the reader says, which has seen all of it."""
    return bool(info.context and info.context.get("security"))


class Journal(Section):
    """What was published, kept for subscribers that missed it."""

    path: Path | None = Field(None, description="SQLite file; default: the state directory, by node name")
    max_predictions: int = Field(100_000, ge=1_000, description="The oldest go first")
    max_megabytes: int = Field(256, ge=8, le=1_000_000, description="That its files may take; the oldest go first")
    max_age_days: Positive = Field(30.0, description="What was published longer ago goes")
    max_wait_s: float = Field(
        0.1,
        ge=0.001,
        le=10,
        description="How long a prediction may wait for the disk; then it is published with `journaled: false`",
    )
    sync_s: float = Field(
        5.0, ge=0.1, le=3600, description="What a power failure may lose of the journal, in seconds"
    )


class Tls(Section):
    """TLS for the Prometheus endpoint; all three are PEM files, and credential:NAME is systemd's."""

    certificate: Path = Field(description="This host's certificate, then those between it and its authority's")
    key: Path = Field(description="Its private key, without a passphrase, for its owner alone (mode 0600)")
    client_ca: Path | None = Field(
        None, description="Authorities: who shows no certificate that one of them has signed may not scrape"
    )


class Metrics(Section):
    """The Prometheus endpoint."""

    tls: Tls | None = Field(None, description="Its certificate and key, and whose clients may scrape")
    insecure: bool = Field(
        False, description="Allow an address beyond this host without `tls.client_ca`: for everybody"
    )
    address: HttpAddress = Field("127.0.0.1:9464", description="host:port for /metrics")

    @field_validator("address")
    @classmethod
    def _local_unless_told(cls, address: str, info: ValidationInfo) -> str:
        tls: Tls | None = info.data.get("tls")
        if is_local(address) or info.data.get("insecure") or (tls and tls.client_ca):
            return address
        raise ValueError(
            "is open to other hosts, for everybody: use 127.0.0.1, or add tls: with a client_ca, "
            "or insecure: true beside it"
        )


class Energy(Section):
    """Which power supplies to read."""

    rails: Literal["auto", "none"] | tuple[Text, ...] = Field(
        "auto", description="auto: all that are found; none; or names that `edged devices` lists"
    )


class Config(Section):
    """A whole pipeline; the same file serves every host of it."""

    node: Name = Field(default_factory=lambda: platform.node() or "edged", description="Default: the host's name")
    cameras: dict[Name, Camera] = Field(min_length=1, description="By name")
    model: Model = Model(name="digits")
    workers: tuple[Worker, ...] = Field((Worker(), Worker(device="numpy")), min_length=1)
    segments: tuple[Segment, ...] = Field((), description="Default: every worker runs the whole network")
    freshness: Freshness = Freshness()
    recovery: Recovery = Recovery()
    security: Security | None = None
    link: Link = Link()
    publish: Publish = Publish()
    journal: Journal = Journal()
    metrics: Metrics = Metrics()
    energy: Energy = Energy()

    @field_validator("segments")
    @classmethod
    def _fit_the_workers(cls, segments: tuple[Segment, ...], info: ValidationInfo) -> tuple[Segment, ...]:
        workers: tuple[Worker, ...] = info.data.get("workers", ())
        names = [segment.workers for segment in segments]
        untils = [segment.until for segment in segments]
        if workers and (problem := problem_of(untils, names, [worker.group for worker in workers])):
            raise ValueError(problem)
        if len({worker.batch for worker in workers if worker.group in names}) > 1:
            raise ValueError("the workers of all segments must have the same batch")
        return segments

    def ends_of(self, index: int) -> tuple[str | None, str | None]:
        """The cuts between which the worker of this place runs; None: from the images, to the scores."""
        cuts = (None, *(segment.until for segment in self.segments))
        names = [segment.workers for segment in self.segments]
        group = self.workers[index].group
        place = names.index(group) if group in names else None
        return (None, None) if place is None else (cuts[place], cuts[place + 1])

    @property
    def ends(self) -> dict[str, tuple[str | None, str | None]]:
        """`ends_of` every worker, by its name."""
        return {self.worker_name(index): self.ends_of(index) for index in range(len(self.workers))}

    def worker_name(self, index: int) -> str:
        """What the worker of this place in the list is called in messages and metrics: `local-0`, `big-1`."""
        return f"{self.workers[index].host or 'local'}-{index}"
