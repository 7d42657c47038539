"""The machine's disk: Debian, its kernel, and what edged depends on. Made once, kept by what it is made from.

Packages are unpacked and never configured, so that nothing of another architecture has to run here.
"""

import compileall
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trials.vm.initramfs import write_initramfs
from trials.vm.machines import Machine

PROJECT = Path(__file__).resolve().parents[2]
PACKAGES = (
    "systemd,systemd-sysv,dbus,udev,kmod,iproute2,procps,util-linux,e2fsprogs,busybox-static,python3,python3-venv,"
    "make,v4l-utils,pocl-opencl-icd"
)
TEST_PACKAGES = ("pytest", "psutil")
EXTRAS = ("completion", "mqtt", "nats", "view")  # of `make install`: tests/systemd/test_unit.py compares
# What `make install` finds there already, what it asks pip for in a machine without a network, and the tests'.
SITE_PACKAGES = "opt/edged/lib/python3.11/site-packages"
WHEELS = "usr/share/edged-wheels"
TEST_FOLDER = "usr/share/edged-tests"
GUEST = Path(__file__).parent / "guest"

# In place of what the packages' own scripts would have made, and what starts the tests.
FILES = {
    "etc/hostname": "edged-vm\n",
    "etc/hosts": "127.0.0.1 localhost edged-vm\n",
    "etc/machine-id": "",
    "etc/shadow": "root:*:19000:0:99999:7:::\n",
    "etc/fstab": (
        "/dev/vda / ext4 defaults 0 0\nLABEL=checkout /checkout ext4 defaults 0 0\n"
        "LABEL=state /var/lib/edged ext4 defaults 0 0\ntmpfs /var/cache/edged tmpfs size=48m,mode=0755 0 0\n"
    ),
    "etc/pip.conf": f"[global]\nno-index = true\nfind-links = /{WHEELS}\n",
}
LINKS = {
    "etc/systemd/system/multi-user.target.wants/edged-tests.service": "/etc/systemd/system/edged-tests.service",
}


@dataclass(frozen=True)
class Image:
    """What QEMU starts."""

    folder: Path

    @property
    def disk(self) -> Path:
        return self.folder / "root.img"

    @property
    def kernel(self) -> Path:
        return self.folder / "vmlinuz"

    @property
    def initramfs(self) -> Path:
        return self.folder / "initramfs.gz"


def image_of(machine: Machine) -> Image:
    """The image, from the cache or made now (some minutes, 600 MB of packages)."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "edged-vm"
    image = Image(cache / f"{machine.name}-{_key(machine)}")
    if image.folder.is_dir():
        return image
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=f"{machine.name}.new-") as folder:
        _make(machine, Image(Path(folder, "image")), Path(folder, "root"))
        for old in cache.glob(f"{machine.name}-*"):
            shutil.rmtree(old)
        Path(folder, "image").rename(image.folder)
    return image


def _make(machine: Machine, image: Image, root: Path) -> None:
    print(f"edged: making the {machine.name} machine's disk, once", file=sys.stderr)
    image.folder.mkdir()
    _unpack(machine, root)
    _add_python_packages(machine, root)
    _compile(root)
    _write_files(root)
    (kernel,) = root.glob("boot/vmlinuz-*")
    shutil.copy(kernel, image.kernel)
    write_initramfs(root, image.initramfs)
    make_disk(root, image.disk, "root", 3000)


def _unpack(machine: Machine, root: Path) -> None:
    command = ("mmdebstrap", "--quiet", "--variant=extract", f"--architectures={machine.debian}")
    packages = ("--include=?essential", f"--include={PACKAGES},linux-image-{machine.debian}")
    one_usr = "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr"
    subprocess.run([*command, *packages, one_usr, "bookworm", root], check=True)


def _add_python_packages(machine: Machine, root: Path) -> None:
    platforms = [f"--platform=manylinux{version}_{machine.python}" for version in ("_2_28", "_2_17", "2014")]
    foreign = ("--python-version=3.11", "--only-binary=:all:", *platforms)
    project = _project()
    _pip("install", *foreign, f"--target={root / SITE_PACKAGES}", *_needed())
    _pip("install", *foreign, f"--target={root / TEST_FOLDER}", *TEST_PACKAGES)
    _pip("download", *foreign, f"--dest={root / WHEELS}", *project["build-system"]["requires"])


def _pip(verb: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", verb, "--quiet", *arguments], check=True)


def _compile(root: Path) -> None:
    """Python's own library: nobody may write there in the machine, and emulated it takes a minute."""
    if sys.version_info[:2] == (3, 11):
        compileall.compile_dir(root / "usr/lib/python3.11", quiet=2, stripdir=str(root), prependdir="/")


def _write_files(root: Path) -> None:
    for name in ("passwd", "group"):
        shutil.copy(root / f"usr/share/base-passwd/{name}.master", root / "etc" / name)
    shutil.copy(root / "usr/share/libc-bin/nsswitch.conf", root / "etc/nsswitch.conf")
    for name, content in {**FILES, **_unit()}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    for name, target in LINKS.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)
    for name in ("checkout", "var/lib/edged", "var/cache/edged"):
        (root / name).mkdir(parents=True)


def _unit() -> dict[str, str]:
    return {"etc/systemd/system/edged-tests.service": (GUEST / "edged-tests.service").read_text()}


def make_disk(content: Path, disk: Path, label: str, megabytes: int) -> None:
    """An ext4 file system that holds `content`, of so many megabytes at most (the file is sparse)."""
    options = ("-q", "-F", "-L", label, "-O", "^has_journal" if label == "checkout" else "has_journal")
    command = ("/usr/sbin/mkfs.ext4", *options, "-d", str(content), str(disk), f"{megabytes}M")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # which says that it makes a file


def _project() -> dict[str, Any]:
    return tomllib.loads((PROJECT / "pyproject.toml").read_text())


def _needed() -> list[str]:
    """Return what `make install` installs besides edged."""
    project = _project()["project"]
    return [
        *project["dependencies"],
        *(need for extra in EXTRAS for need in project["optional-dependencies"][extra]),
    ]


def _key(machine: Machine) -> str:
    made_by = [Path(__file__).read_text(), (GUEST / "edged-tests.service").read_text()]
    made_by += [(Path(__file__).parent / "initramfs.py").read_text(), machine.debian]
    made_by += [*_needed(), *_project()["build-system"]["requires"]]
    return hashlib.sha256("\n".join(made_by).encode()).hexdigest()[:12]
