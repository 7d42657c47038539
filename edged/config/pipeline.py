"""The whole config file, and checks across its sections."""

import platform
from hashlib import sha256
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from edged.config.access import LinkConfig, MetricsConfig, MqttConfig, PublishConfig, SecurityConfig, ViewConfig
from edged.config.camera import CameraConfig
from edged.config.fleet import FleetConfig, NatsConfig
from edged.config.notify import NotifyConfig
from edged.config.sections import (
    LIVE,
    EnergyConfig,
    FreshnessConfig,
    JournalConfig,
    LogConfig,
    ModelConfig,
    Name,
    RecoveryConfig,
    Section,
)
from edged.config.states import StateConfig
from edged.config.worker import Segment, WorkerConfig, problem_of_segments


class Config(Section):
    """A whole pipeline; the same file serves every host of it."""

    node: Name = Field(default_factory=lambda: platform.node() or "edged", description="Default: the host's name")
    cameras: Annotated[dict[Name, CameraConfig], LIVE] = Field(min_length=1, description="Cameras by name")
    model: Annotated[ModelConfig, LIVE] = ModelConfig(name="digits")
    workers: Annotated[tuple[WorkerConfig, ...], LIVE] = Field(
        (WorkerConfig(), WorkerConfig(device="numpy")), min_length=1
    )
    segments: Annotated[tuple[Segment, ...], LIVE] = Field(
        (), description="Segments of the network; default: every worker runs the whole network"
    )
    freshness: Annotated[FreshnessConfig, LIVE] = FreshnessConfig()
    recovery: Annotated[RecoveryConfig, LIVE] = RecoveryConfig()
    states: Annotated[dict[Name, StateConfig], LIVE] = Field(
        {}, description="By camera: the state of what it sees"
    )
    security: SecurityConfig | None = None
    link: LinkConfig = LinkConfig()
    publish: PublishConfig = PublishConfig()
    journal: JournalConfig = JournalConfig()
    metrics: MetricsConfig = MetricsConfig()
    notify: Annotated[NotifyConfig | None, LIVE] = None
    mqtt: Annotated[MqttConfig | None, LIVE] = None
    nats: Annotated[NatsConfig | None, LIVE] = None
    fleet: Annotated[FleetConfig | None, LIVE] = None
    view: Annotated[ViewConfig, LIVE] = ViewConfig()
    energy: Annotated[EnergyConfig, LIVE] = EnergyConfig()
    log: LogConfig = LogConfig()

    @field_validator("states")
    @classmethod
    def _are_of_cameras(cls, states: dict[str, StateConfig], info: ValidationInfo) -> dict[str, StateConfig]:
        cameras = info.data.get("cameras", states)  # without them, if they have errors of their own
        if unknown := [name for name in states if name not in cameras]:
            raise ValueError(f"there is no camera {unknown[0]}; there are: {', '.join(cameras)}")
        return states

    @field_validator("states")
    @classmethod
    def _fit_the_task(cls, states: dict[str, StateConfig], info: ValidationInfo) -> dict[str, StateConfig]:
        task = info.data["model"].known_task if "model" in info.data else None
        for name, state in states.items():
            if task and (problem := state.misfit(task)):
                raise ValueError(f"{name}: {problem}")
        return states

    @field_validator("notify")
    @classmethod
    def _has_states(cls, notify: NotifyConfig | None, info: ValidationInfo) -> NotifyConfig | None:
        if notify and "states" in info.data and "state" in notify.when and not info.data["states"]:
            raise ValueError(
                "is for changes of a state, but there are no `states`: add some, or set `when: [camera]`"
            )
        return notify

    @field_validator("mqtt")
    @classmethod
    def _has_distinct_names(cls, mqtt: MqttConfig | None, info: ValidationInfo) -> MqttConfig | None:
        """Home Assistant takes no dots in its topics: the bridge writes `_` for them."""
        seen: dict[str, str] = {}
        for name in info.data.get("cameras", ()) if mqtt and mqtt.discovery else ():
            other = seen.setdefault(name.replace(".", "_"), name)
            if other != name:
                raise ValueError(
                    f"the cameras {other} and {name} have one name in Home Assistant, which takes no dots: "
                    "rename one, or set discovery: null"
                )
        return mqtt

    @field_validator("segments")
    @classmethod
    def _fit_the_workers(cls, segments: tuple[Segment, ...], info: ValidationInfo) -> tuple[Segment, ...]:
        workers: tuple[WorkerConfig, ...] = info.data.get("workers", ())
        names = [segment.workers for segment in segments]
        untils = [segment.until for segment in segments]
        if workers and (problem := problem_of_segments(untils, names, [worker.group for worker in workers])):
            raise ValueError(problem)
        if len({worker.batch for worker in workers if worker.group in names}) > 1:
            raise ValueError("the workers of all segments must have the same batch")
        return segments

    @field_validator("journal")
    @classmethod
    def _is_quicker_than_frames_grow_old(cls, journal: JournalConfig, info: ValidationInfo) -> JournalConfig:
        freshness: FreshnessConfig = info.data.get("freshness", FreshnessConfig())
        is_chosen = "max_wait_s" in journal.model_fields_set
        if is_chosen and journal.max_wait_s >= freshness.max_age_s:
            raise ValueError(f"max_wait_s must be less than freshness.max_age_s, {freshness.max_age_s:g} s")
        return journal

    @field_validator("energy")
    @classmethod
    def _fits_the_workers(cls, energy: EnergyConfig, info: ValidationInfo) -> EnergyConfig:
        workers: tuple[WorkerConfig, ...] = info.data.get("workers", ())
        named = [rail for worker in workers for rail in worker.rails or ()]
        unread = named if energy.rails == "none" else [rail for rail in named if rail not in energy.rails]
        if unread and energy.rails != "auto":
            raise ValueError(f"must read {', '.join(dict.fromkeys(unread))} too, which rails of a worker names")
        recovery: RecoveryConfig = info.data.get("recovery", RecoveryConfig())
        if energy.idle_s >= recovery.start_s:
            raise ValueError(f"idle_s must be less than recovery.start_s, {recovery.start_s:g} s")
        return energy

    def ends_of(self, index: int) -> tuple[str | None, str | None]:
        """Return the cuts between which this worker runs; None: from the images, to the scores."""
        cuts = (None, *(segment.until for segment in self.segments))
        names = [segment.workers for segment in self.segments]
        group = self.workers[index].group
        segment = names.index(group) if group in names else None
        return (None, None) if segment is None else (cuts[segment], cuts[segment + 1])

    @property
    def ends(self) -> dict[str, tuple[str | None, str | None]]:
        """Return `ends_of` for every worker, by name."""
        return {self.worker_name(index): self.ends_of(index) for index in range(len(self.workers))}

    @property
    def sha256(self) -> str:
        """Return the hash of all values, defaults included, as `edged_config_info` shows it."""
        return sha256(self.model_dump_json().encode()).hexdigest()

    def worker_name(self, index: int) -> str:
        """Return the name of the worker at this index, for messages and metrics: `local-0`, `big-1`."""
        return f"{self.workers[index].host or 'local'}-{index}"
