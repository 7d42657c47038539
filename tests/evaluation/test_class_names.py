"""Names of folders and lists become classes."""

import pytest

from edged.errors import DataError
from edged.evaluation.pictures import ClassNames

LABELS = ("tench, Tinca tinca", "crane", "n02123045 tabby cat", "crane", "hot dog", "7")


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("tench, Tinca tinca", 0),
        ("Tinca tinca", 0),
        ("TENCH", 0),
        ("n02123045", 2),
        ("hot_dog", 4),
        ("3", 3),
        ("7", 5),  # a label before an index
    ],
)
def test_a_label_a_part_of_it_a_synset_or_an_index_names_a_class(name: str, place: int) -> None:
    assert ClassNames(LABELS).class_of(name) == place


def test_several_classes_may_be_right() -> None:
    assert ClassNames(LABELS).classes_of("1|3|tench|1") == (1, 3, 0)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("crane", "classes 1 and 3: give the index"),
        ("6", "nor an index from 0 to 5"),
        ("hot dogs", "the closest label is 'hot dog'"),
        ("", "is neither a label"),
    ],
)
def test_a_name_that_means_no_class_or_two_is_refused(name: str, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        ClassNames(LABELS).classes_of(name)
