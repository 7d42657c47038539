"""The errors that a user sees: one message, one exit code, no traceback."""

from typing import ClassVar

OUT_OF_MEMORY = 5  # the exit code of a process without memory; each EdgedError has its own below


class EdgedError(Exception):
    """A problem outside edged.

    The message names the file or address, the place in it, what was expected and what to do. `__main__` prints it
    and exits with `exit_code`.
    """

    exit_code: ClassVar[int] = 1


class ConfigError(EdgedError):
    """A config, a command line or an address that cannot be used."""

    exit_code = 2


class NewerStateError(ConfigError):
    """A file of the state directory that a newer edged wrote: only that one can use it."""


class ModelError(EdgedError):
    """A model or labels file that cannot be read, or a network that is not supported."""

    exit_code = 2


class ImageError(EdgedError):
    """A picture that cannot be read."""

    exit_code = 2


class DataError(EdgedError):
    """Data to train with, or a checkpoint, that cannot be used."""

    exit_code = 2


class TrainingError(EdgedError):
    """Training failed: its numbers are no longer finite, or its results cannot be written."""

    exit_code = 6


class DeviceError(EdgedError):
    """A device that is absent, in use by another process, or that failed."""

    exit_code = 3


class DeviceMemoryError(DeviceError):
    """A device, or the host on its behalf, is out of memory: a new process may have more."""

    exit_code = OUT_OF_MEMORY


class CameraError(EdgedError):
    """A camera that cannot be opened, or that stopped."""

    exit_code = 4


class ServerError(EdgedError):
    """A server of others, such as NATS, that does not answer, rejects us, or cannot do what is required."""


class OutputError(EdgedError):
    """Standard output that cannot be written."""


class MessageError(EdgedError):
    """A message that does not fit the schema."""
