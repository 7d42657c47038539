"""What is noted down, and for how long."""

from edged.transport.spans import MOST, Notebook
from tests.eventually import eventually


def test_notes_are_handed_out_once() -> None:
    notebook = Notebook()
    assert notebook.open(1, 60)
    notebook.note("capture", 10, 20, frames=(("door", 3),), reason="…")

    (note,) = notebook.pop_spans()

    assert (note.name, note.begin_ns, note.end_ns, note.frames) == ("capture", 10, 20, (("door", 3),))
    assert notebook.pop_spans() == ()


def test_a_recording_ends_unless_it_is_extended() -> None:
    notebook = Notebook()
    notebook.open(1, 0.01)
    notebook.note("capture", 10, 20)

    def is_closed() -> bool:
        notebook.close_if_due()
        return not notebook.is_open

    eventually(is_closed)
    assert len(notebook) == 0


def test_a_new_recording_has_nothing_of_the_one_before() -> None:
    notebook = Notebook()
    notebook.open(1, 60)
    notebook.note("capture", 10, 20)

    assert not notebook.open(1, 60)
    assert len(notebook) == 1
    assert notebook.open(2, 60)
    assert len(notebook) == 0


def test_there_are_never_more_than_a_few_thousand() -> None:
    notebook = Notebook()
    notebook.open(1, 60)
    for at_ns in range(MOST + 10):
        notebook.note("frame", at_ns)

    assert len(notebook) == MOST
