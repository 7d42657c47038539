"""The lines of a config that split its network as a plan says."""

import yaml

from edged.cli.split_ways import Way
from edged.config import Config, Worker


def lines_of(config: Config, way: Way) -> str:
    """`workers:`, those of the segments first and in their order, and `segments:`."""
    first = [(name, part.unit) for part in way.parts for name in part.workers]
    by_name = {config.worker_name(index): worker for index, worker in enumerate(config.workers)}
    others = [worker for name, worker in by_name.items() if name not in dict(first)]
    workers = [*(by_name[name].model_copy(update={"group": group}) for name, group in first), *others]
    segments = [{**({"until": part.end} if part.end else {}), "workers": part.unit} for part in way.parts]
    return "\n".join([
        "workers:",
        *(f"  - {_flow(_given(worker))}" for worker in workers),
        "segments:",
        *(f"  - {_flow(segment)}" for segment in segments),
    ])  # fmt: skip


def _given(worker: Worker) -> dict[str, object]:
    """What is not a default; the device always."""
    return {"device": worker.device, **worker.model_dump(mode="json", exclude_defaults=True)}


def _flow(values: object) -> str:
    text: str = yaml.safe_dump(values, default_flow_style=True, sort_keys=False, allow_unicode=True, width=1e9)
    return text.rstrip()
