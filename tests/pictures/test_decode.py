"""Pictures from files that may be damaged, cut short, enormous or no file at all."""

import os
import struct
import threading
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest

from edged.errors import ImageError
from edged.pictures.decode import MOST_PIXELS, decode_picture, read_picture, size_of
from tests.camera.pictures import turned_picture, write_picture
from tests.eventually import LIMIT_S

ENCODINGS = {
    "baseline JPEG": (".jpg", []),
    "progressive JPEG": (".jpg", [cv2.IMWRITE_JPEG_PROGRESSIVE, 1]),
    "JPEG with restarts": (".jpg", [cv2.IMWRITE_JPEG_RST_INTERVAL, 4]),
    "PNG": (".png", []),
    "BMP": (".bmp", []),
    "WebP": (".webp", [cv2.IMWRITE_WEBP_QUALITY, 50]),
    "lossless WebP": (".webp", [cv2.IMWRITE_WEBP_QUALITY, 101]),
    "TIFF": (".tiff", []),
    "PPM": (".ppm", []),
    "PPM in digits": (".ppm", [cv2.IMWRITE_PXM_BINARY, 0]),
}


def encoded(name: str, width: int = 163, height: int = 121) -> bytes:
    """A picture of colours that change slowly."""
    suffix, options = ENCODINGS[name]
    pixels = np.random.default_rng(0).integers(0, 256, (height, width, 3)).astype(np.uint8)
    return cv2.imencode(suffix, cv2.GaussianBlur(pixels, (0, 0), 2), options)[1].tobytes()


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_whole_picture_is_read_and_its_header_says_its_size(name: str) -> None:
    content = encoded(name)

    assert size_of(content) == (163, 121)
    assert decode_picture(content, "a").shape == (121, 163, 3)


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_picture_that_is_cut_short_anywhere_is_refused(name: str) -> None:
    content = encoded(name)

    for length in range(0, len(content), max(1, len(content) // 200)):
        with pytest.raises(ImageError, match=r"^a is (not a picture|damaged|cut short)"):
            decode_picture(content[:length], "a")


def test_a_jpeg_that_is_cut_in_half_says_so(tmp_path: Path) -> None:
    path = tmp_path / "half.jpg"
    content = encoded("baseline JPEG")
    path.write_bytes(content[: len(content) // 2])

    with pytest.raises(ImageError, match=r"half\.jpg is cut short: a JPEG without its end"):
        read_picture(path)


def test_the_end_of_a_preview_within_a_jpeg_is_not_its_end() -> None:
    preview = encoded("baseline JPEG", 16, 16)
    content = encoded("baseline JPEG")
    segment = b"\xff\xe1" + struct.pack(">H", len(preview) + 2) + preview
    with_preview = content[:2] + segment + content[2:]

    assert decode_picture(with_preview, "a").shape == (121, 163, 3)
    assert size_of(with_preview) == (163, 121)
    with pytest.raises(ImageError, match="cut short"):
        decode_picture(with_preview[:-2], "a")


def test_a_picture_is_turned_upright_by_its_exif_or_read_as_it_is_stored(tmp_path: Path) -> None:
    path = turned_picture(tmp_path / "turned.jpg")
    stored = read_picture(path, upright=False)

    assert stored.shape == (16, 24, 3)
    assert np.array_equal(read_picture(path), np.rot90(stored, k=-1))


def test_pictures_are_rgb(tmp_path: Path) -> None:
    pixels = np.zeros((8, 8, 3), np.uint8)
    pixels[..., 0] = 200

    assert np.array_equal(read_picture(write_picture(tmp_path / "red.png", pixels)), pixels)


def png_header(width: int, height: int) -> bytes:
    chunk = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))


ENORMOUS = {
    "PNG": png_header(20_000, 20_000),
    "JPEG": b"\xff\xd8\xff\xc0\x00\x11\x08" + struct.pack(">HH", 20_000, 20_000) + bytes(10) + b"\xff\xd9",
    "BMP": b"BM" + bytes(12) + struct.pack("<Iii", 40, 20_000, -20_000) + bytes(40),
    "WebP": b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + 2 * (19_999).to_bytes(3, "little"),
    "TIFF": b"II*\0\x08\0\0\0\x02\0" + struct.pack("<HHIIHHII", 256, 4, 1, 20_000, 257, 4, 1, 20_000),
    "PPM": b"P6 # large\n20000 20000 255\n",
}


@pytest.mark.parametrize("name", ENORMOUS)
def test_a_picture_of_too_many_pixels_is_refused_by_its_header(name: str) -> None:
    assert MOST_PIXELS < 20_000**2

    with pytest.raises(ImageError, match="a has 20000×20000 pixels; up to 67 million are supported"):
        decode_picture(ENORMOUS[name], "a")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not a picture that can be read: expected JPEG, PNG"),
        (b"not a picture", "is not a picture that can be read: expected JPEG, PNG"),
        (b"RIFF\0\0\0\0WAVEfmt ", "is not a picture that can be read"),
        (b"P5 a b", "is not a picture that can be read"),
        (b"\xff\xd8\xff\xd9", "is a JPEG without a picture"),
        (b"\xff\xd8\xff" + b"\xe0\x00\x02\xff" * 20_000, "is damaged: a JPEG of more than 10000 segments"),
        (b"\xff\xd8" + b"\xff" * 1_000_000, "is cut short: a JPEG without its end"),
        (b"\x89PNG\r\n\x1a\n", "is cut short within its header"),
        (b"MM\0*\xff\xff\xff\xff", "is cut short within its header"),
        (b"II*\0\x08\0\0\0\0\0", "is a TIFF without a size"),
        (png_header(4, 4) + bytes(99), "is damaged or cut short"),
    ],
)
def test_what_is_no_picture_is_said_to_be_none(content: bytes, message: str) -> None:
    with pytest.raises(ImageError, match=f"^a {message}"):
        decode_picture(content, "a")


def test_a_pipe_a_device_or_a_folder_is_no_picture_and_nothing_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "folder.png").mkdir()
    read: list[str] = []

    def read_all() -> None:
        for path in (tmp_path / "pipe.png", tmp_path / "folder.png", Path("/dev/zero"), tmp_path / "a\0b.png"):
            with pytest.raises(ImageError) as error:
                read_picture(path)
            read.append(str(error.value))

    thread = threading.Thread(target=read_all, daemon=True)
    thread.start()
    thread.join(LIMIT_S)
    assert not thread.is_alive()
    assert [text.partition("cannot be read: ")[2] for text in read] == [
        "it is a named pipe, expected a file",
        "it is a folder, expected a file",
        "it is a device, expected a file",
        "embedded null byte",
    ]
