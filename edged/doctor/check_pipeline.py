"""Findings of `edged check` about cameras, the model, its workers, and a promoted head version."""

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from edged.config import CameraConfig, Config, WorkerConfig
from edged.config.camera import secret_in_url
from edged.config.load import key_of, password_of
from edged.config.valid_parts import ValidParts
from edged.doctor.check_hosts import elsewhere
from edged.doctor.finding import Finding, Kind
from edged.doctor.trial import TriedWorker, try_worker
from edged.errors import CameraError, ConfigError, DeviceError, ImageError, ModelError, NewerStateError
from edged.messages import Part
from edged.messages.preparation import IN_CONFIG, default_warning
from edged.model.cuts import cut_after, ends_of
from edged.model.head_versions import load_head, load_promoted, load_version, teach_folder
from edged.model.package import Model, load_model
from edged.model.scores import score_rule
from edged.runtime.drivers import why_drivers_may_not_be_loaded
from edged.runtime.select import device_name, is_numpy
from edged.system.plain_text import counted
from edged.system.python_packages import HTTP_PACKAGES, require
from edged.transport.tls import server_context

if TYPE_CHECKING:
    from edged.camera.sources.http_pictures import HttpCamera
    from edged.camera.sources.source import Picture
    from edged.camera.sources.stream import LiveStream

AT_ONCE = 8  # cameras
LOOK_S = 1.0  # at a network camera, after its first picture
INSTEAD = "the config's model would answer"


def camera_findings(cameras: Mapping[str, CameraConfig], *, is_offline: bool = False) -> dict[str, Finding]:
    """Check cameras beside each other, since one that does not answer takes seconds."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = {
            name: pool.submit(camera_finding, name, each, is_offline=is_offline) for name, each in cameras.items()
        }
    return {name: future.result() for name, future in found.items()}


def camera_finding(name: str, camera: CameraConfig, *, is_offline: bool = False) -> Finding:
    """Check a camera. One that is absent is a warning: `edged run` would keep trying.

    is_offline: contact no network camera, except that those of https:// and rtsps:// are verified.
    """
    from edged.camera.sources import open_source
    from edged.camera.sources.http_pictures import HttpCamera
    from edged.camera.sources.network import without_secrets
    from edged.camera.sources.stream import LiveStream

    what = f"camera {name}"
    if camera.serves_at:
        return _served_finding(what, camera)
    shown = str(camera.source)
    try:
        source = open_source(camera)
        if isinstance(source, LiveStream | HttpCamera):
            password_of(camera)
            how = (
                "whose certificate is trusted; no video was read" if source.verify() else "which was not contacted"
            )
            shown = f"{without_secrets(shown)}, {how if is_offline else _seen(source)}"
        else:
            source.open()
            source.close()
    except CameraError as error:
        return Finding("warning", what, f"{error} (`edged run` would keep trying)")
    except ConfigError as error:
        return Finding("error", what, str(error))
    if secret := secret_in_url(camera):
        return Finding("warning", what, secret)
    return Finding("ok", what, shown)


def _served_finding(what: str, camera: CameraConfig) -> Finding:
    """Check a camera whose frames are requests of other programs."""
    if not camera.serves_http:
        return Finding("ok", what, f"answers Frigate at {camera.serves_at}")
    try:
        require(what, *HTTP_PACKAGES)
        key_of(camera)
        if camera.requests and (tls := camera.requests.tls):
            server_context(tls.certificate, tls.key, tls.client_ca)
    except ConfigError as error:
        return Finding("error", what, str(error))
    return Finding("ok", what, f"answers programs over HTTP at {camera.serves_at}")


def _seen(source: "LiveStream | HttpCamera") -> str:
    """Watch a network camera for a second; return size and rate of its pictures. Raises CameraError."""
    source.open()
    try:
        height, width, _ = _picture(source).pixels.shape
        start_s, count = time.monotonic(), 0
        while time.monotonic() - start_s < LOOK_S:
            _picture(source)
            count += 1
        return f"{width}×{height}, {count / (time.monotonic() - start_s):.3g} pictures/s"
    finally:
        source.close()


def _picture(source: "LiveStream | HttpCamera") -> "Picture":
    """Return the next picture that can be read."""
    while True:
        with suppress(ImageError):
            picture = source.read()
            if picture and picture.pixels.size:
                return picture


def model_findings(config: Config) -> Iterator[Finding]:
    """Describe the model: name, input, classes and cuts, and how pictures are prepared for it."""
    try:
        model = load_model(config.model)
        cuts = [_cut(model, segment.until) for segment in config.segments[:-1]]
        for index in range(len(config.workers)):
            ends_of(model.graph, *config.ends_of(index))
    except ModelError as error:
        yield Finding("error", "model", str(error))
        return
    size = f"{model.input.width}×{model.input.height}"
    classes = counted(len(model.labels), "class")
    text = f"{model.name}, {size}, {classes}, sha256 {model.sha256[:12]}…{''.join(cuts)}"
    if model.random_weights:
        yield Finding("warning", "model", f"{text}; random weights, for timing only: its labels mean nothing")
        return
    yield Finding("ok", "model", text)
    if model.doubt:
        yield Finding("warning", "shapes", model.doubt)
    yield _preparation(model)
    yield _scores(model)
    yield from _states(config, model)


def _states(config: Config, model: Model) -> Iterator[Finding]:
    """Check the labels of `states`; a taught version may have labels that the model does not have."""
    for camera, wanted in config.states.items():
        what = f"states {camera}"
        if problem := wanted.misfit("detect" if model.detector else "classify"):
            yield Finding("error", what, problem)
        elif missing := [label for label in wanted.all_labels if label not in model.labels]:
            taught = "" if wanted.detects else "; right for labels that you teach"
            yield Finding("warning", what, f"the model has no label {', '.join(missing)}{taught}")
        else:
            yield Finding("ok", what, wanted.described)


def _preparation(model: Model) -> Finding:
    described = model.input.described
    if model.prepared_by == "default":
        return Finding("warning", "preprocess", default_warning(described, IN_CONFIG))
    source = {"config": "from this file", "file": "from the model's file", "layout": "as usual for its outputs"}[
        model.prepared_by
    ]
    return Finding("ok", "preprocess", f"{described} ({source})")


def _scores(model: Model) -> Finding:
    if model.detector:
        return Finding("ok", "boxes", model.detector.described)
    try:
        rule = score_rule(model)
    except ModelError as error:
        return Finding("error", "scores", str(error))
    return Finding("warning" if rule.known_by == "answers" else "ok", "scores", rule.described)


def _cut(model: Model, until: str | None) -> str:
    cut = cut_after(model.graph, str(until))
    return f"; cut after {cut.after}, where {4 * prod(cut.shape) / 1000:.0f} kB a frame cross"


def worker_findings(parts: ValidParts, host: str | None = None, *, is_quick: bool = False) -> Iterator[Finding]:
    """Check the devices in order of preference: the first that works runs the model, the others wait.

    `host`: None for the hub's, which needs at least one worker, there or elsewhere. `is_quick`: devices are looked
    up alone; else each is compared with the reference, as by the worker itself.
    """
    if not parts.has("workers"):
        return
    config = parts.config
    running = False
    on_opencl = any(worker.host == host and not is_numpy(worker) for worker in config.workers)
    crash = why_drivers_may_not_be_loaded() if on_opencl else ""
    left_out = _why_not_tried(parts, is_quick=is_quick)
    for index, worker in enumerate(config.workers):
        what = f"worker {index}"
        if worker.host != host:
            if host is None and worker.host:
                yield elsewhere(what, worker.host, str(index))
            running = True
            continue
        if not parts.has(what):
            continue
        try:
            if crash and not is_numpy(worker):
                raise DeviceError(f"device {worker.device}: {crash}")
            name = device_name(worker)
            tried = None if left_out else try_worker(config, index)
        except (DeviceError, ModelError, MemoryError) as error:
            last = index == len(config.workers) - 1 and not running
            yield Finding("error" if last or host else "warning", what, str(error) or "out of memory")
            continue
        kind, role = _role(config, index, running=running)
        promise = f"{worker.device}: {name}; {role}{_precision(worker)}"
        found = _works(worker, what, promise, tried) if tried else Finding("ok", what, f"{promise} ({left_out})")
        yield replace(found, kind=kind, device=name)
        running = True


def _why_not_tried(parts: ValidParts, *, is_quick: bool) -> str:
    """Return why no device is tried; empty: all are."""
    if is_quick:
        return "not tried: --quick"
    if wrong := next((section for section in ("model", "segments") if not parts.has(section)), ""):
        return f"not tried: a mistake in {wrong}"
    try:
        load_model(parts.config.model, lazily=True)
    except ModelError:
        return "not tried without a model"
    return ""


def _works(worker: WorkerConfig, what: str, promise: str, tried: TriedWorker) -> Finding:
    """Say what a worker that was tried would do, and with which limitation."""
    if tried.excluded_variants:
        wrong = "; ".join(tried.excluded_variants)
        return Finding("warning", what, f"{promise}; agrees with the reference without {wrong}")
    if not tried.is_compared:
        return Finding("warning", what, f"{promise}; too little memory to compare it with the reference")
    return Finding("ok", what, promise if is_numpy(worker) else f"{promise}; agrees with the reference")


def _role(config: Config, index: int, *, running: bool) -> tuple[Kind, str]:
    begin, end = config.ends_of(index)
    if begin or end:
        return Kind.SERVES, f"runs its part, {Part(begin=begin, end=end)}"
    if running:
        return Kind.WAITS, "takes over if those before it fail"
    return Kind.SERVES, "runs the model"


def _precision(worker: WorkerConfig) -> str:
    """Describe a precision below fp32, and how to see its error."""
    if worker.precision == "fp32":
        return ""
    how = f"edged verify … --device {worker.device} --precision {worker.precision} --images FOLDER"
    return f" in {worker.precision}, whose error `{how}` shows"


def taught_findings(config: Config) -> Iterator[Finding]:
    """Check the promoted head version; no finding if there is none."""
    folder = teach_folder(config.node)
    try:
        promoted = load_promoted(folder).version
        if promoted is None:
            return
        version = load_version(folder, promoted)
        load_head(folder, version)
    except (ModelError, NewerStateError) as error:
        yield Finding("warning", "taught", f"{error}; {INSTEAD}")
        return
    try:
        model = load_model(config.model, lazily=True)
    except ModelError:
        return  # reported in a line of its own
    if version.base.sha256 == model.sha256:
        yield Finding("ok", "taught", f"version {version} answers, on top of {model.name}")
        return
    text = f"version {version} was taught to {version.base.name} ({version.base.sha256[:12]}), another model"
    yield Finding(
        "warning", "taught", f"{text}; {INSTEAD} (`edged teach train CONFIG`, or `edged teach rollback CONFIG`)"
    )


def state_findings(config: Config) -> Iterator[Finding]:
    """Report files of the state that a newer edged wrote, besides the journal and the promoted version."""
    from edged.fleet.board import BoardFiles
    from edged.teach.store_files import read_manifest

    files: dict[str, Callable[[], object]] = {
        "crops": lambda: read_manifest(teach_folder(config.node)),
        "fleet": lambda: BoardFiles(Path(), config.node).progress(),
    }
    for what, read in files.items():
        try:
            read()
        except NewerStateError as error:
            yield Finding("warning", what, str(error))
        except ModelError:
            continue  # a damaged manifest is written again from the crops
