"""Read a Dockerfile, as far as ours goes, and write its steps as a script for image.sh."""

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Instruction:
    """An instruction with its arguments, on one line."""

    name: str
    arguments: str


def instructions(text: str) -> list[Instruction]:
    """Return all instructions, without comments."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    whole = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [Instruction(*line.split(maxsplit=1)) for line in whole.splitlines() if line.strip()]


def values(dockerfile: list[Instruction], name: str) -> list[str]:
    """Return the arguments of each instruction of this name."""
    return [each.arguments for each in dockerfile if each.name == name]


def script(dockerfile: list[Instruction]) -> str:
    """Return the steps as functions of image.sh, with the variables and volumes of the image."""
    steps = [step for number, each in enumerate(dockerfile) for step in _steps(each, number)]
    volumes = " ".join(json.loads(values(dockerfile, "VOLUME")[-1]))
    return "\n".join([*steps, f"environment={shlex.quote(values(dockerfile, 'ENV')[-1])} volumes={volumes!r}"])


def _steps(instruction: Instruction, number: int) -> list[str]:
    words = shlex.split(instruction.arguments) if instruction.name in {"FROM", "COPY"} else []
    match instruction.name:
        case "FROM":
            return [f"stage {words[2] if len(words) > 1 else f'stage-{number}'}"]
        case "RUN":
            return [f"run {shlex.quote(instruction.arguments)}"]
        case "COPY" if words[0].startswith("--from="):
            return [f"copy_from {words[0].removeprefix('--from=')} {words[1]} {words[2]}"]
        case "COPY":
            return [f"copy {words[0]} {words[1]}"]
    return []


def context(checkout: Path, ignored: str) -> list[Path]:
    """Return what a .dockerignore that ignores all but some names lets in."""
    return [checkout / line.removeprefix("!") for line in ignored.split() if line.startswith("!")]
