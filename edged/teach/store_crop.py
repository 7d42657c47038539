"""A crop: a frame as the network received it, under the label of the recording.

Its file is `crops/LABEL/SHA256.png`, by the hash of its pixels: folder and name contain all that training needs,
and the manifest can be rebuilt from the files.
"""

import re
import unicodedata
from hashlib import sha256
from typing import Annotated, Any
from zlib import crc32

import cv2
import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from edged.errors import ConfigError
from edged.model.head_versions import Sha256

Pixels = NDArray[np.uint8]

HELD_BACK = 5  # one crop in this many is held back for evaluation
MOST_PIXELS = 2**24
SIGNATURE = b"\x89PNG\r\n\x1a\n"
LABEL = re.compile(r"[^\W_](?:[\w .+-]{0,62}[\w+-])?")


def label_of(text: str) -> str:
    """Return the label in one Unicode form (NFC). Raises ConfigError for an impossible name of a folder."""
    label = unicodedata.normalize("NFC", text)
    if not LABEL.fullmatch(label) or len(label.encode()) > 200:
        raise ConfigError(
            f"{text!r} cannot be a label: expected up to 64 letters, digits, spaces and _ . + -, "
            "a letter or digit first"
        )
    return label


def _is_label(text: str) -> str:
    """Check that `text` may be a label. Raises ValueError."""
    if not LABEL.fullmatch(text):
        raise ValueError(f"{text!r} is not a label")
    return text


class Crop(BaseModel):
    """`sha256`: see `pixels_sha256`. `recorded_at`: seconds since 1970. `nbytes`: of its file."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)

    sha256: Sha256
    label: Annotated[str, AfterValidator(_is_label)]
    camera: str = ""
    recorded_at: Annotated[float, Field(ge=0)]
    width: Annotated[int, Field(ge=1)]
    height: Annotated[int, Field(ge=1)]
    nbytes: Annotated[int, Field(ge=1)]

    @property
    def file(self) -> str:
        """Return the path of its file, relative to the folder `crops`."""
        return f"{self.label}/{self.sha256}.png"

    @property
    def held_back(self) -> bool:
        """Return whether it is never trained on: the same in every run, and for every version."""
        return is_held_back(self.sha256)


def is_held_back(crop_sha256: str) -> bool:
    """Return whether the crop with this hash is held back."""
    return int(crop_sha256[:8], 16) % HELD_BACK == 0


def pixels_sha256(pixels: Pixels) -> str:
    """Hash width, height and pixels, uint8 [height, width, 3] RGB."""
    height, width, _ = pixels.shape
    return sha256(b"%dx%d " % (width, height) + np.ascontiguousarray(pixels).tobytes()).hexdigest()


def to_png(pixels: Pixels) -> bytes:
    """Return the content of a lossless file."""
    written, content = cv2.imencode(".png", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))
    if not written:
        raise ValueError(f"no picture: {pixels.dtype} {pixels.shape}")
    return bytes(content)


def from_png(content: bytes) -> Pixels | None:
    """Return the pixels, RGB; None for a damaged picture."""
    if not _is_whole(content):
        return None
    try:
        decoded: Any = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:
        return None
    return None if decoded is None else np.ascontiguousarray(decoded[..., ::-1])


def _is_whole(content: bytes) -> bool:
    """Return whether it is a PNG of an allowed size, complete to its last byte (clauses 5 and 11.2.2).

    The decoder would report errors itself, on standard error.
    """
    offset = len(SIGNATURE)
    if not content.startswith(SIGNATURE) or content[offset + 4 : offset + 8] != b"IHDR":
        return False
    width, height = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20))
    while offset + 12 <= len(content):
        end = offset + 8 + int.from_bytes(content[offset : offset + 4], "big")
        if crc32(content[offset + 4 : end]) != int.from_bytes(content[end : end + 4], "big"):
            return False
        if content[offset + 4 : offset + 8] == b"IEND":
            return end + 4 == len(content) and 0 < width * height <= MOST_PIXELS
        offset = end + 4
    return False
