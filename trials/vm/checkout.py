"""The checkout on a small disk of its own, so that a change of edged needs no new image."""

import compileall
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.cli.models import small_network
from trials.vm.image import PROJECT, make_disk

MEGABYTES = 64


def write_checkout(disk: Path, arguments: str) -> None:
    """All files of the working tree that git does not ignore. `arguments`: pytest's, in the machine."""
    listing = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    names = subprocess.run(listing, cwd=PROJECT, check=True, capture_output=True, text=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        for name in filter(None, names.split("\0")):
            if (PROJECT / name).is_file():
                copy = Path(folder, name)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(PROJECT / name, copy)
        Path(folder, ".arguments").write_text(arguments)
        small_network(Path(folder, ".small.onnx"))
        Path(folder).chmod(0o755)
        # Compiled here, in a second. Where this Python is another than the machine's, it does that itself.
        compileall.compile_dir(folder, quiet=2, stripdir=folder, prependdir="/checkout")
        make_disk(Path(folder), disk, "checkout", MEGABYTES)


def write_state(disk: Path) -> None:
    """An empty small disk, where the service keeps its state."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        make_disk(Path(folder), disk, "state", MEGABYTES)
