"""Print the lowest version that pyproject.toml allows of each package that edged needs, as constraints for pip."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def lowest_versions(pyproject: str) -> list[str]:
    """`name==version` of each of `project.dependencies`, whose form must be `name>=version`."""
    lines = []
    for requirement in tomllib.loads(pyproject)["project"]["dependencies"]:
        name, bound, version = requirement.partition(">=")
        if not bound or "," in version:
            raise ValueError(f"pyproject.toml: dependencies: {requirement!r}: expected name>=version")
        lines.append(f"{name}=={version}")
    return lines


if __name__ == "__main__":
    print("\n".join(lowest_versions((ROOT / "pyproject.toml").read_text())))
