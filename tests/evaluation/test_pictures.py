"""Labelled pictures of folders, lists and IDX files."""

import os
from pathlib import Path

import numpy as np
import pytest

from edged.errors import DataError
from edged.evaluation.pictures import labelled_pictures
from edged.model.package import numbered
from tests.evaluation.pictures import idx_files, picture

LABELS = ("ant", "bee", "cat")


def found(path: Path, labels: tuple[str, ...] = LABELS) -> list[tuple[str, tuple[int, ...]]]:
    pictures = labelled_pictures(path, labels).pictures
    return [(Path(each.name).name, each.classes) for each in pictures]


def test_a_sub_folder_is_a_label_or_an_index(tmp_path: Path) -> None:
    for name in ("bee/b.png", "Ant/deep/a.png", "2/c.png"):
        picture(tmp_path / name)

    assert found(tmp_path) == [("c.png", (2,)), ("a.png", (0,)), ("b.png", (1,))]


def test_without_labels_as_many_folders_as_classes_are_in_their_order(tmp_path: Path) -> None:
    for name in ("n01/a.png", "n03/c.png", "n02/b.png"):
        picture(tmp_path / name)

    assert found(tmp_path, numbered(3)) == [("a.png", (0,)), ("b.png", (1,)), ("c.png", (2,))]
    with pytest.raises(DataError, match="3 folders have names, but the model has no labels for its 4 classes"):
        found(tmp_path, numbered(4))


def test_a_list_names_pictures_beside_it_with_labels_or_indices(tmp_path: Path) -> None:
    picture(tmp_path / "my photos" / "a.png")
    listed = tmp_path / "val.txt"
    listed.write_text("# three\nmy photos/a.png 2\n\nmy photos/a.png\tbee\nabsent.png ant|1\n")

    assert found(listed) == [("a.png", (2,)), ("a.png", (1,)), ("absent.png", (0, 1))]


def test_a_csv_file_may_have_a_head_and_further_columns(tmp_path: Path) -> None:
    listed = tmp_path / "expected.csv"
    listed.write_text('file,classes,what\n"a,b.png",0|2,"an ant, or a cat"\n')

    assert found(listed) == [("a,b.png", (0, 2))]


def test_idx_files_are_read_plain_gray_and_the_test_part_first(tmp_path: Path) -> None:
    images = np.arange(2 * 4 * 4, dtype=np.uint8).reshape(2, 4, 4)
    folder = idx_files(tmp_path / "mnist", images, [2, 0])
    idx_files(folder, images[:1], [1], "train")

    pictures = labelled_pictures(folder, LABELS).pictures

    assert [each.classes for each in pictures] == [(2,), (0,)]
    assert (pictures[1].pixels() == images[1][..., np.newaxis]).all()
    assert pictures[1].pixels().shape == (4, 4, 3)
    assert [each[1] for each in found(folder / "train-images-idx3-ubyte.gz")] == [(1,)]


def test_the_fingerprint_changes_with_pictures_and_classes(tmp_path: Path) -> None:
    listed = tmp_path / "val.txt"
    picture(tmp_path / "a.png")
    listed.write_text("a.png 1")
    before = labelled_pictures(listed, LABELS).fingerprint

    assert labelled_pictures(listed, LABELS).fingerprint == before
    picture(tmp_path / "a.png", seed=1, size=(20, 20))
    changed = labelled_pictures(listed, LABELS).fingerprint
    listed.write_text("a.png 2")

    assert len({before, changed, labelled_pictures(listed, LABELS).fingerprint}) == 3


def test_a_few_pictures_are_evenly_spaced(tmp_path: Path) -> None:
    images = np.zeros((10, 4, 4), np.uint8)
    whole = labelled_pictures(idx_files(tmp_path / "mnist", images, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]), LABELS)

    few = whole.evenly_spaced(4)

    assert [each.name.rpartition(":")[2] for each in few.pictures] == ["0", "2", "5", "7"]
    assert few.fingerprint != whole.fingerprint
    assert whole.evenly_spaced(10) is whole


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("val.txt", "a.png dog\n", r"val.txt:1: 'dog' is neither a label"),
        ("val.txt", "a.png 0\na.png\n", r"val.txt:2: expected a picture and its label"),
        ("val.txt", "", "lists no pictures"),
        ("val.csv", "a.png,3\n", "nor an index from 0 to 2"),
        ("folder/a.png", "", "lies in no sub-folder"),
        ("folder/dog/a.png", "", "folder 'dog' is neither a label"),
        ("folder/notes.txt", "", "holds no pictures"),
        ("folder/t10k-images-idx3-ubyte", "", "begins with the bytes"),
    ],
)
def test_data_that_cannot_be_used_names_the_place(tmp_path: Path, name: str, text: str, problem: str) -> None:
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)

    with pytest.raises(DataError, match=problem):
        labelled_pictures(tmp_path / "folder" if name.startswith("folder") else file, LABELS)


def test_idx_classes_beyond_the_models_are_refused(tmp_path: Path) -> None:
    folder = idx_files(tmp_path / "mnist", np.zeros((1, 4, 4), np.uint8), [3])

    with pytest.raises(DataError, match="has the label 3, but the model has 3 classes"):
        labelled_pictures(folder, LABELS)


def test_a_list_may_name_files_that_are_not_utf8(tmp_path: Path) -> None:
    made = picture(tmp_path / "a.png").rename(tmp_path / os.fsdecode(b"\xff.png"))
    (tmp_path / "list.txt").write_bytes(b"\xff.png 1\n")

    (found,) = labelled_pictures(tmp_path / "list.txt", LABELS).pictures

    assert (found.name, found.classes) == (str(made), (1,))


def test_an_absent_path_and_a_binary_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file or folder"):
        labelled_pictures(tmp_path / "nothing", LABELS)
    with pytest.raises(DataError, match="is not a text file"):
        labelled_pictures(picture(tmp_path / "a.png"), LABELS)
