"""A Video4Linux camera without hardware: it gives Motion JPEG to the processes that are started meanwhile."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest

LIBRARY = Path(__file__).with_name("v4l2_camera.c")


@contextmanager
def v4l2_camera(folder: Path, pictures: Sequence[bytes], monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Give these JPEGs in turn; yields the path of the device. It is in /dev, as edged expects of a device."""
    compiler = shutil.which("gcc") or pytest.skip("no C compiler: apt-get install gcc libc6-dev")
    library = folder / "v4l2_camera.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(LIBRARY), "-ldl"], check=True)
    for number, picture in enumerate(pictures):
        (folder / f"{number}.jpg").write_bytes(picture)
    with NamedTemporaryFile(dir="/dev/shm", prefix="edged-camera-") as device:
        for name, value in (("V4L2_CAMERA", device.name), ("V4L2_PICTURES", folder), ("LD_PRELOAD", library)):
            monkeypatch.setenv(name, str(value))
        yield device.name
        monkeypatch.delenv("LD_PRELOAD")
