"""A version for the small network, with random weights."""

from hashlib import sha256
from pathlib import Path

import numpy as np

from edged.model.head import Head
from edged.model.head_versions import Base, Version, version_path

FEATURES, HIDDEN = 8, 4  # of the small network; of the head
LABELS = ("open", "closed")


def keep_version(folder: Path, base: Base) -> str:
    """In the teach folder `folder`, for that model; its name."""
    random = np.random.default_rng(1)
    shapes = ((HIDDEN, FEATURES), (HIDDEN,), (len(LABELS), HIDDEN), (len(LABELS),))
    content = Head(*(random.standard_normal(shape).astype(np.float32) for shape in shapes)).to_bytes()
    name = sha256(content).hexdigest()
    version = Version(
        sha256=name, name="door", labels=LABELS, base=base, features=FEATURES, hidden=HIDDEN, head_sha256=name
    )
    version_path(folder, name, "json").parent.mkdir(parents=True, exist_ok=True)
    version_path(folder, name, "json").write_text(version.model_dump_json(by_alias=True))
    version_path(folder, name, "head").write_bytes(content)
    return name
