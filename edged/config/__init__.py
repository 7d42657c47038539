"""The YAML file as frozen types. Everything has a default but `cameras`.

Durations carry their unit in the key, secrets are names of files or environment variables.
Reading the file, with line and column in every error, is `config_file`'s work.
"""

from edged.config.access import Link, Metrics, Publish, Security, Tls
from edged.config.camera import STREAMS, SYNTHETIC, SYNTHETIC_PREFIX, Camera, CameraTls
from edged.config.pipeline import Config
from edged.config.sections import NAME, Energy, Freshness, Journal, Model, Recovery, Section, Snapshot
from edged.config.worker import MAX_BATCH, Precision, Segment, Worker
from edged.messages.preparation import Color

__all__ = [
    "MAX_BATCH",
    "NAME",
    "STREAMS",
    "SYNTHETIC",
    "SYNTHETIC_PREFIX",
    "Camera",
    "CameraTls",
    "Color",
    "Config",
    "Energy",
    "Freshness",
    "Journal",
    "Link",
    "Metrics",
    "Model",
    "Precision",
    "Publish",
    "Recovery",
    "Section",
    "Security",
    "Segment",
    "Snapshot",
    "Tls",
    "Worker",
]
