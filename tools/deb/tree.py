"""The files of a package, in a folder: a virtual environment that is put together without running it.

Its Python is the system's, for another processor or version than this machine's perhaps; so uv unpacks the wheels,
and the rest of a virtual environment (a link, a file of three lines, a script) is written here.
"""

import gzip
import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

from edged import __version__
from tools.deb.release import Release

ROOT = Path(__file__).resolve().parents[2]
PARTS = ROOT / "deploy/debian"
PREFIX = "opt/edged"
LOCKS = ("run", "board")
# tests of other projects, which nothing imports: a quarter of all files
NOT_WANTED = ("numpy/**/tests", "onnx/backend/test", "onnx/test")


class Tree:
    """What `dpkg` unpacks at /, in the folder `root`."""

    def __init__(self, root: Path, release: Release, architecture: str) -> None:
        self.root = root
        self._release = release
        self._platform = release.platform(architecture)
        self._prefix = root / PREFIX
        self._site = self._prefix / f"lib/python{release.python}/site-packages"

    def write(self, wheels: Path) -> None:
        """Write all files. `wheels`: the folder that has edged's own wheel."""
        self._install_packages(wheels)
        self._write_environment()
        environment = {**os.environ, "PYTHON": sys.executable}
        command = ["tools/install_files.sh", str(self.root), f"/{PREFIX}", "/usr/lib"]
        subprocess.run(command, check=True, cwd=ROOT, env=environment)
        self._link_command()
        self._write_documents()
        self._set_modes()

    def _install_packages(self, wheels: Path) -> None:
        locks = [part for name in LOCKS for part in ("--requirements", f"requirements/{name}.lock")]
        self._install_locked(*locks)
        # by pip: uv would keep the time of the wheel
        own = (
            "--no-deps",
            "--no-compile",
            "--no-index",
            "--find-links",
            wheels,
            "--target",
            self._site,
            "--upgrade",
        )
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *own, "edged"], check=True)
        shutil.rmtree(self._site / "bin")  # scripts with this machine's Python in their first line
        (self._site / ".lock").unlink(missing_ok=True)
        for pattern in NOT_WANTED:
            for folder in list(self._site.glob(pattern)):
                shutil.rmtree(folder)

    def _install_locked(self, *locks: str) -> None:
        """Unpack the packages of the locks. uv builds those that have no wheel: nkeys alone, which is Python."""
        uv, release = Path(sys.executable).with_name("uv"), self._release
        where = (
            "--target",
            str(self._site),
            "--python-platform",
            self._platform,
            "--python-version",
            release.python,
        )
        how = ("--no-deps", "--require-hashes", "--link-mode", "copy", "--no-compile-bytecode", "--no-config")
        subprocess.run([str(uv), "pip", "install", "--quiet", *where, *how, *locks], check=True, cwd=ROOT)

    def _write_environment(self) -> None:
        folder = self._prefix / "bin"
        folder.mkdir()
        (folder / "python3").symlink_to(f"/usr/bin/python{self._release.python}")
        (folder / "python").symlink_to("python3")
        shutil.copy(PARTS / "edged", folder)
        (self._prefix / "pyvenv.cfg").write_text(
            f"home = /usr/bin\ninclude-system-site-packages = false\nversion = {self._release.python}\n"
        )

    def _link_command(self) -> None:
        folder = self.root / "usr/bin"
        folder.mkdir(parents=True)
        (folder / "edged").symlink_to(f"/{PREFIX}/bin/edged")

    def _write_documents(self) -> None:
        documents = self.root / "usr/share/doc/edged"
        documents.mkdir(parents=True)
        shutil.copy(ROOT / "LICENSE", documents / "copyright")
        for folder in ("docs", "configs"):  # pages refer to both
            shutil.copytree(ROOT / folder, documents / folder)
        _write_compressed(documents / "changelog.gz", (ROOT / "CHANGELOG.md").read_bytes())
        (documents / "edged.cdx.json").write_bytes(_bill_of_materials(self._site))
        _write_compressed(self.root / "usr/share/man/man1/edged.1.gz", _manual())

    def _set_modes(self) -> None:
        """Let only root write, and all others read, whatever the umask is here."""
        for path in self.root.rglob("*"):
            if not path.is_symlink():
                is_program = path.is_dir() or path.parent == self._prefix / "bin"
                path.chmod(0o755 if is_program else 0o644)


def _write_compressed(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(content, 9, mtime=0))


def _bill_of_materials(site: Path) -> bytes:
    """Return what is in the folder of packages, but edged itself, as CycloneDX."""
    inside = sorted(f"{each.name}=={each.version}" for each in distributions(path=[str(site)]))
    listed = "\n".join(pin for pin in inside if not pin.startswith("edged=="))
    how = ("--pyproject", "pyproject.toml", "--mc-type", "application", "--output-reproducible")
    command = [str(Path(sys.executable).with_name("cyclonedx-py")), "requirements", "-", *how]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}  # that the list does not say what requires what
    done = subprocess.run(
        command, check=True, cwd=ROOT, env=environment, input=listed.encode(), stdout=subprocess.PIPE
    )
    bill = json.loads(done.stdout)
    bill["metadata"]["component"]["version"] = __version__  # which pyproject.toml does not name
    return json.dumps(bill, indent=1).encode() + b"\n"


def _manual() -> bytes:
    """Return the page edged(1), from the parser of the command line."""
    page = (
        *("--module", "edged.cli", "--function", "command_parser", "--prog", "edged", "--project-name", "edged"),
        *("--description", "classify the pictures of cameras", "--manual-title", "edged"),
        *("--format", "single-commands-section"),
    )
    command = [str(Path(sys.executable).with_name("argparse-manpage")), *page]
    environment = {**os.environ, "COLUMNS": "80"}
    return subprocess.run(command, check=True, cwd=ROOT, env=environment, stdout=subprocess.PIPE).stdout
