"""A file of answers holds the table that pyarrow makes of them, without what pyarrow loads for that."""

import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from edged.batch.answers_file import SCHEMA, ArchiveAnswer, count_answers, write_answers
from edged.messages import Label

WORDS = st.text(st.characters(codec="utf-8"), max_size=5)
SECONDS = st.none() | st.floats(allow_nan=False)
LABELS = st.builds(Label, label=WORDS, index=st.integers(0, 2**31 - 1), score=st.floats(0, 1, width=32))
ANSWERS = st.builds(
    ArchiveAnswer,
    picture=WORDS,
    captured_at=SECONDS,
    frame=st.none() | st.integers(-(2**63), 2**63 - 1),
    at_s=SECONDS,
    top=st.lists(LABELS, max_size=3).map(tuple),
    problem=st.none() | WORDS,
)


def row(answer: ArchiveAnswer) -> dict[str, Any]:
    top = [{name: getattr(label, name) for name in ("label", "index", "score")} for label in answer.top]
    return {**asdict(answer), **(top[0] if top else {}), "top": top}


@pytest.mark.deep
@given(st.lists(ANSWERS))
def test_a_file_holds_the_table_that_pyarrow_makes(answers: list[ArchiveAnswer]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "part.parquet")
        counted = write_answers(path, answers, {})
        table = parquet.read_table(path)

        assert counted == count_answers(path)

    table.validate(full=True)
    assert table == pyarrow.Table.from_pylist([row(answer) for answer in answers], SCHEMA)


WRITE = """
from pathlib import Path
from edged.batch.answers_file import ArchiveAnswer, write_answers
from edged.messages import Label
import sys
top = (Label(label="cat", index=3, score=0.5),)
answers = [ArchiveAnswer("a.jpg", 1.5, None, None, top), ArchiveAnswer("b.jpg", None, 2, 0.1, problem="bad")]
write_answers(Path(sys.argv[1]), answers, {"model": "net"})
"""


def test_answers_are_written_without_loading_pandas(tmp_path: Path) -> None:
    (tmp_path / "pandas.py").write_text("raise SystemExit('pandas is loaded')")

    command = [sys.executable, "-c", WRITE, str(tmp_path / "part.parquet")]
    environment = {"PYTHONPATH": f"{tmp_path}:{Path.cwd()}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "part.parquet").exists()
