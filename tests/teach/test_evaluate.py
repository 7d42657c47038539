"""What a verdict says."""

from edged.teach.fit import Verdict

VERDICT = Verdict(("open", "open", "closed", "open"), ("open", "closed", "7", "open"))


def test_an_answer_is_right_where_it_is_the_label() -> None:
    assert VERDICT.right == 2
    assert str(VERDICT) == "2 of 4 (50.0%)"


def test_the_table_shows_what_was_called_what_and_what_is_no_label() -> None:
    assert VERDICT.table(("closed", "open", "empty")).splitlines() == [
        "        closed  open  empty  other           right",
        "closed       ·     ·      ·      1              0%",
        "open         1     2      ·      ·             67%",
        "empty        ·     ·      ·      ·  none held back",
    ]


def test_of_no_crops_none_are_right() -> None:
    assert Verdict((), ()).accuracy == 0
