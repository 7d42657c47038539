"""How a Python package is installed beside edged, as a command to type.

A bare `pip` is often that of another Python, and Debian's and Ubuntu's own refuses (PEP 668: externally managed).
"""

import os
import shlex
import shutil
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

from edged.errors import ConfigError

MARKER = "EXTERNALLY-MANAGED"  # PEP 668
HTTP_PACKAGES = ("starlette", "uvicorn", "python-multipart")  # for requests over HTTP


def require(what: str, *packages: str) -> None:
    """Raise ConfigError, with the command that installs them, unless these packages are here."""
    if any(find_spec(name.replace("-", "_")) is None for name in packages):
        *others, last = packages
        raise ConfigError(f"{what} needs {', '.join(others)} and {last}: {install_command(*packages)}")


def install_command(*packages: str) -> str:
    """Return the command that installs packages where this process finds them."""
    wanted, python = shlex.join(packages), shlex.quote(sys.executable or "python3")
    root = "" if os.access(sys.prefix, os.W_OK) or not shutil.which("sudo") else "sudo "
    if sys.prefix == sys.base_prefix:
        is_managed = (Path(sysconfig.get_path("stdlib")) / MARKER).exists()  # by the system's package manager
        accepts = " --break-system-packages" if is_managed else ""
        return f"{root}{python} -m pip install{accepts} {wanted}"
    if find_spec("pip"):
        return f"{root}{python} -m pip install {wanted}"
    if _is_made_by_uv():
        return f"{root}uv pip install --python {python} {wanted}"
    # as in the Debian package, whose virtual environment has no pip: that of the system installs there
    return f"{root}python3 -m pip --python {python} install {wanted} (pip is in the package python3-pip)"


def _is_made_by_uv() -> bool:
    try:
        return "\nuv = " in (Path(sys.prefix) / "pyvenv.cfg").read_text()
    except OSError:
        return False
