"""Write requirements/*.lock: versions and hashes of all packages, for Python 3.11 to 3.14 on any processor.

Each file has what the ones before it have not: run, build (what installs edged), board (the extras inside a Debian
package), test, docs. Versions that still fit are kept; with `--upgrade`, as in `make lock`, the newest are taken.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "requirements"
BOARD = ("compress", "http", "mqtt", "nats", "otlp", "view")
SETS = {
    "run": ("pyproject.toml",),
    "build": ("--group", "build"),
    "board": ("pyproject.toml", *(f"--extra={extra}" for extra in BOARD)),
    "test": ("pyproject.toml", "--group", "test"),
    "docs": ("pyproject.toml", "--group", "test", "--group", "docs"),
}
UV = Path(sys.executable).with_name("uv")
COMPILE = (
    *(str(UV), "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--generate-hashes"),
    *("--no-emit-index-url", "--no-header", "--no-annotate"),
)
NAME = re.compile(r"^([a-z0-9.-]+)==", re.MULTILINE)


def main(options: list[str]) -> None:
    """Write all files, each with the versions of the ones before."""
    before: list[Path] = []
    for name, sources in SETS.items():
        file = FOLDER / f"{name}.lock"
        fixed = [argument for path in before for argument in ("--constraint", str(path))]
        known = [package for path in before for package in NAME.findall(path.read_text())]
        left_out = [argument for package in known for argument in ("--no-emit-package", package)]
        command = [*COMPILE, *options, *fixed, *left_out, "--output-file", str(file), *sources]
        subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        before.append(file)


if __name__ == "__main__":
    main(sys.argv[1:])
