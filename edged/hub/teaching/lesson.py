"""A version that was taught, as the hub hands it out: what it is, and the weights, which it passes on unread."""

from dataclasses import dataclass
from pathlib import Path

from edged.messages import ModelInfo, TakeHead
from edged.taught import Version, load_head, load_version


@dataclass(frozen=True, eq=False)
class Lesson:
    """`head`: as `edged.model.head` writes it."""

    version: Version
    head: bytes

    @property
    def sha256(self) -> str:
        """Its name."""
        return self.version.sha256

    def message(self) -> TakeHead:
        """What a worker is told, beside the weights."""
        version = self.version
        return TakeHead(
            version=version.sha256,
            base=version.base.sha256,
            features=version.features,
            hidden=version.hidden,
            classes=len(version.labels),
        )

    def model(self, base: ModelInfo) -> ModelInfo:
        """What predictions say of who has answered."""
        version = self.version
        return base.model_copy(update={"name": version.name, "sha256": version.sha256, "labels": version.labels})

    def misfit(self, base: ModelInfo) -> str:
        """Why it cannot answer on top of this model; empty where it can."""
        if self.version.base.sha256 == base.sha256:
            return ""
        return (
            f"version {self.sha256[:12]} was taught to {self.version.base.name} "
            f"({self.version.base.sha256[:12]}), the config's model is {base.name} ({base.sha256[:12]})"
        )


def load_lesson(folder: Path, version: str) -> Lesson:
    """Raises ModelError for one that is absent or damaged."""
    found = load_version(folder, version)
    return Lesson(found, load_head(folder, found))
