"""What a network is for, the layouts of outputs from which boxes are decoded, and boxes that are found."""

from typing import Annotated, Literal

from msgspec import Meta

from edged.messages.message import Content, Count

Task = Literal["classify", "detect"]
Decode = Literal[
    "yolox", "yolo", "yolov5", "yolov7", "distances", "ssd", "nanodet", "picodet", "ultraface", "yunet", "scrfd",
    "fastestdet", "detr", "rtdetr", "centres", "boxes",
]  # fmt: skip
DecodeWanted = Literal[
    "auto", "yolox", "yolo", "yolov5", "yolov7", "distances", "ssd", "nanodet", "picodet", "ultraface", "yunet",
    "scrfd", "fastestdet", "detr", "rtdetr", "centres", "boxes",
]  # fmt: skip
Across = Literal["label", "all"]
DecodeKnownBy = Literal["config", "file", "network"]

Corners = Annotated[
    tuple[float, float, float, float],
    Meta(description="Left, top, right and bottom as shares of the picture's width and height"),
]
Side = Annotated[float, Meta(gt=0)]
InFrame = Annotated[
    tuple[float, float, Side, Side],
    Meta(description="Left, top, width and height of what a camera prepared, in its frame, which it may exceed"),
]


class FoundBox(Content, frozen=True):
    """An object that a detector found in a frame."""

    index: Annotated[Count, Meta(description="Class index")]
    score: Annotated[float, Meta(description="Score, 0 to 1")]
    box: Corners
