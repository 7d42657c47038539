"""Pack a tree of files: control data, checksums, and the archive, the same bytes each time."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tools.deb.release import Release
from tools.deb.tree import PARTS, Tree

SCRIPTS = ("postinst", "prerm", "postrm")
CONTROL = """\
Package: edged
Version: {version}
Architecture: {architecture}
Maintainer: {maintainer}
Installed-Size: {kilobytes}
Depends: python3 (>= {python}~), python3 (<< {next_python}~), libc6 (>= 2.{glibc}), libgcc-s1, libstdc++6,
 zlib1g, systemd | systemd-standalone-sysusers
Recommends: pocl-opencl-icd | opencl-icd
Section: video
Priority: optional
Description: image classification of camera frames, through OpenCL
 A daemon that turns a small board into an image classifier: it captures frames
 of cameras, runs a network on the GPU through its own OpenCL kernels, publishes
 predictions over ZeroMQ, and latency and energy through Prometheus.
 .
 All Python packages that it requires are inside, in /opt/edged.
"""


def pack(tree: Tree, release: Release, architecture: str, version: str, level: int, output: Path) -> Path:
    """Write the package to the folder `output`, compressed by `level` of xz, and return its path."""
    folder = tree.root / "DEBIAN"
    files = sorted(path for path in tree.root.rglob("*") if path.is_file() and not path.is_symlink())
    folder.mkdir(mode=0o755)
    (folder / "control").write_text(
        CONTROL.format(
            version=version,
            architecture=architecture,
            maintainer=_maintainer(),
            kilobytes=sum(_kilobytes(path) for path in files),
            python=release.python,
            next_python=release.next_python,
            glibc=release.glibc,
        )
    )
    (folder / "conffiles").write_text("/etc/edged/edged.yaml\n")
    (folder / "md5sums").write_text("".join(_checksums(tree.root, files)))
    for script in SCRIPTS:
        shutil.copy(PARTS / script, folder)
        (folder / script).chmod(0o755)
    return _archive(tree.root, level, output / f"edged_{version}_{architecture}.deb")


def _maintainer() -> str:
    """Return who packs this, by the variables that Debian's own tools read."""
    name = os.environ.get("DEBFULLNAME", "edged developers")
    address = os.environ.get("DEBEMAIL", "noreply@edged.invalid")  # a mailbox that nobody reads is none
    return f"{name} <{address}>"


def _kilobytes(file: Path) -> int:
    return -(-file.stat().st_size // 1024)


def _checksums(root: Path, files: list[Path]) -> Iterator[str]:
    """Yield the lines by which `dpkg --verify` finds damaged files. The format requires MD5."""
    for file in files:
        name = str(file.relative_to(root))
        if not name.startswith("etc/"):  # configuration may change
            yield f"{hashlib.md5(file.read_bytes(), usedforsecurity=False).hexdigest()}  {name}\n"


def _archive(root: Path, level: int, package: Path) -> Path:
    epoch = int(os.environ["SOURCE_DATE_EPOCH"])
    for path in (root, *root.rglob("*")):
        os.utime(path, (epoch, epoch), follow_symlinks=False)
    package.parent.mkdir(parents=True, exist_ok=True)
    # One thread: how many there are changes how the content is cut into blocks, and so the bytes.
    how = ("--root-owner-group", "-Zxz", f"-z{level}", "--threads-max=1")
    subprocess.run(["dpkg-deb", *how, "--build", root, package], check=True, stdout=subprocess.DEVNULL)
    return package
