"""Build the packages: `python -m tools.deb --help`."""

import argparse
import os
import subprocess
import sys
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from edged import __version__
from tools.deb.package import pack
from tools.deb.release import PROCESSORS, RELEASES, Release
from tools.deb.tree import ROOT, Tree


def main() -> None:
    """Build a package for each release and architecture that was requested."""
    options = _options()
    os.environ.setdefault("SOURCE_DATE_EPOCH", _last_commit())
    os.umask(0o022)
    with TemporaryDirectory(prefix="edged-deb-") as name:
        wheels = Path(name, "wheels")
        _build_wheel(wheels)
        for release, architecture in product(options.release, options.architecture):
            version = f"{__version__}-{options.revision}~{release.version}"
            tree = Tree(Path(name, f"{release.codename}-{architecture}"), release, architecture)
            tree.write(wheels)
            package = pack(tree, release, architecture, version, options.compression, options.output)
            print(f"edged: {package}: {package.stat().st_size / 1e6:.0f} MB", flush=True)


def _last_commit() -> str:
    """Return the time of the checkout's last commit, in seconds since 1970: two builds of it are the same."""
    command = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True).stdout.strip()


def _build_wheel(folder: Path) -> None:
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder)
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, "."], check=True, cwd=ROOT)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.deb", description=__doc__)
    by_name = {each.codename: each for each in RELEASES}

    def release(name: str) -> Release:
        if name not in by_name:
            raise argparse.ArgumentTypeError(f"{name}: must be one of {', '.join(by_name)}")
        return by_name[name]

    parser.add_argument("--release", type=release, nargs="+", default=RELEASES, help="codenames (default: all)")
    parser.add_argument("--architecture", choices=list(PROCESSORS), nargs="+", default=list(PROCESSORS))
    parser.add_argument(
        "--revision", type=int, default=1, help="of the package, for the same version (default: 1)"
    )
    parser.add_argument("--compression", type=int, default=6, help="level of xz, 0 to 9 (default: 6)")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="folder (default: dist)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
