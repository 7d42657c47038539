"""Pictures of chunks, read ahead in threads or one at a time."""

from pathlib import Path

import numpy as np
import pytest

from edged.batch.archive import archive_entries
from edged.batch.chunks import chunks_of
from edged.batch.reading import ChunkReader, PreparedPicture, default_readers
from edged.model.package import Input
from tests.batch.archives import archive

WANTED = Input(width=8, height=8, color="rgb", scale=1.0, mean=(0.0,) * 3, std=(1.0,) * 3)


def read(root: Path, threads: int) -> list[PreparedPicture]:
    reader = ChunkReader(root, WANTED, threads)
    try:
        chunks = chunks_of(archive_entries(root, None), root, 3, 1)
        return [picture for chunk in chunks for picture in reader.pictures_of(chunk)]
    finally:
        reader.close()


@pytest.mark.parametrize("threads", [1, 3])
def test_pictures_are_the_same_in_the_same_order_with_and_without_threads(tmp_path: Path, threads: int) -> None:
    root = archive(tmp_path)

    alone, found = read(root, 0), read(root, threads)

    assert len(found) == 4 * 4 + 1 + 10
    for one, other in zip(alone, found, strict=True):
        assert (one.name, one.captured_at, one.frame) == (other.name, other.captured_at, other.frame)
        assert np.array_equal(one.prepared, other.prepared)
    assert [picture.name for picture in alone if isinstance(picture.prepared, str)] == ["gate/bad.jpg"]


def test_a_device_of_one_thread_has_no_reader_beside_it() -> None:
    assert default_readers(1) == 0
    assert default_readers(3) == 2
    assert default_readers(None) >= 1
