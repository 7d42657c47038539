"""The lines that split a network, as the config takes them."""

from edged.cli.plan_split.command import lines_of
from edged.cli.plan_split.search import Cost, PlannedPart, Way
from edged.config import CameraConfig, Config, WorkerConfig

CONFIG = Config(
    cameras={"demo": CameraConfig(source="synthetic:digits")},
    workers=(
        WorkerConfig(device="cpu"),
        WorkerConfig(device="Mali", host="big", batch=4),
        WorkerConfig(device="numpy"),
    ),
)


def test_the_workers_of_the_segments_come_first_in_their_order_and_the_others_stay_behind() -> None:
    parts = (
        PlannedPart("big-1", ("big-1",), None, "stage2"),
        PlannedPart("local-0", ("local-0",), "stage2", None),
    )
    lines = lines_of(CONFIG, Way("split", parts, Cost(1, 2)))
    assert lines.splitlines() == [
        "workers:",
        "  - {device: Mali, host: big, group: big-1, batch: 4}",
        "  - {device: cpu, group: local-0}",
        "  - {device: numpy}",
        "segments:",
        "  - {until: stage2, workers: big-1}",
        "  - {workers: local-0}",
    ]
