"""What is recorded and trained on a node, as objects for JSON. Times are seconds since 1970."""

from pathlib import Path
from typing import Any

from edged.model.head_versions import load_promoted
from edged.teach.store import CropStore
from edged.teach.store_files import counts
from edged.teach.versions import versions_in


def store_as_object(store: CropStore) -> dict[str, Any]:
    """Summarise the crops by label."""
    labels = []
    for label, count in counts(store.crops).items():
        ours = [crop for crop in store.crops if crop.label == label]
        cameras = sorted({crop.camera for crop in ours if crop.camera})
        times = {"first_recorded_at": ours[0].recorded_at, "last_recorded_at": ours[-1].recorded_at}
        labels.append({"label": label, **count.model_dump(), "cameras": cameras, **times})
    return {"folder": str(store.folder), "limits": store.limits.model_dump(), "labels": labels}


def versions_as_object(folder: Path) -> dict[str, Any]:
    """List the versions in a teach folder, and which of them answers. Raises ModelError, NewerStateError."""
    promoted = load_promoted(folder).version
    answers = [
        {**each.model_dump(by_alias=True), "answers": each.sha256 == promoted} for each in versions_in(folder)
    ]
    return {"folder": str(folder), "promoted": promoted, "versions": answers}
