"""The releases of Debian and Ubuntu that edged has packages for, and what their Python accepts."""

from dataclasses import dataclass

PROCESSORS = {"amd64": "x86_64", "arm64": "aarch64"}  # as Debian calls them, and as everybody else does


@dataclass(frozen=True)
class Release:
    """A release: its codename, its part of a package's version, its Python, and the 36 of its glibc 2.36."""

    codename: str
    version: str
    python: str
    glibc: int

    @property
    def next_python(self) -> str:
        """Return the first Python for which the packages inside are too old."""
        major, minor = self.python.split(".")
        return f"{major}.{int(minor) + 1}"

    def platform(self, architecture: str) -> str:
        """Return the platform whose wheels run here, as uv calls it."""
        return f"{PROCESSORS[architecture]}-manylinux_2_{self.glibc}"


RELEASES = (
    Release("bookworm", "deb12", "3.11", 36),
    Release("trixie", "deb13", "3.13", 40),  # glibc is 2.41 there; 2.40 is the newest that uv knows
    Release("noble", "ubuntu24.04", "3.12", 39),
)
