"""The YAML file as frozen types. Everything has a default but `cameras`.

Durations carry their unit in the key, secrets are names of files or environment variables.
Reading the file, with line and column in every error, is `config_file`'s work.
"""

from edged.config.access import (
    LinkConfig,
    MetricsConfig,
    MqttConfig,
    PublishConfig,
    SecurityConfig,
    Tls,
    ViewConfig,
)
from edged.config.camera import (
    PROGRAM_PREFIX,
    STREAMS,
    SYNTHETIC,
    SYNTHETIC_PREFIX,
    CameraConfig,
    CameraTls,
    PixelFormat,
)
from edged.config.fleet import FleetConfig, NatsConfig, NatsTls, OperatorConfig
from edged.config.notify import NotifyConfig
from edged.config.pipeline import Config
from edged.config.sections import (
    NAME,
    EnergyConfig,
    FreshnessConfig,
    JournalConfig,
    LogConfig,
    ModelConfig,
    RecoveryConfig,
    Section,
    SnapshotConfig,
)
from edged.config.served import FRIGATE_PREFIX, REQUESTS_PREFIX, RequestsConfig
from edged.config.states import UNKNOWN, CountConfig, PresentConfig, StateConfig
from edged.config.worker import MAX_BATCH, Precision, Segment, WorkerConfig
from edged.messages.preparation import Color

__all__ = [
    "FRIGATE_PREFIX",
    "MAX_BATCH",
    "NAME",
    "PROGRAM_PREFIX",
    "REQUESTS_PREFIX",
    "STREAMS",
    "SYNTHETIC",
    "SYNTHETIC_PREFIX",
    "UNKNOWN",
    "CameraConfig",
    "CameraTls",
    "Color",
    "Config",
    "CountConfig",
    "EnergyConfig",
    "FleetConfig",
    "FreshnessConfig",
    "JournalConfig",
    "LinkConfig",
    "LogConfig",
    "MetricsConfig",
    "ModelConfig",
    "MqttConfig",
    "NatsConfig",
    "NatsTls",
    "NotifyConfig",
    "OperatorConfig",
    "PixelFormat",
    "Precision",
    "PresentConfig",
    "PublishConfig",
    "RecoveryConfig",
    "RequestsConfig",
    "Section",
    "SecurityConfig",
    "Segment",
    "SnapshotConfig",
    "StateConfig",
    "Tls",
    "ViewConfig",
    "WorkerConfig",
]
