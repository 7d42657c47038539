"""What a network is for, and the layouts of outputs from which boxes are decoded."""

from typing import Literal

Task = Literal["classify", "detect"]
Decode = Literal["yolox", "yolo", "ssd", "nanodet", "picodet", "ultraface", "fastestdet", "boxes"]
DecodeWanted = Literal["auto", "yolox", "yolo", "ssd", "nanodet", "picodet", "ultraface", "fastestdet", "boxes"]
Across = Literal["label", "all"]
DecodeKnownBy = Literal["config", "file", "network"]
