"""Arrow arrays are those that pyarrow makes, without what it loads."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow
from hypothesis import given
from hypothesis import strategies as st

from edged.batch.arrow_columns import lists, numbers, structs, texts

WORDS = st.text(st.characters(codec="utf-8"), max_size=5)


def checked(array: Any) -> Any:
    array.validate(full=True)
    return array


@given(st.lists(st.none() | WORDS))
def test_texts(values: list[str | None]) -> None:
    assert checked(texts(values)).to_pylist() == values


@given(st.lists(st.none() | st.integers(-(2**31), 2**31 - 1)))
def test_integers(values: list[int | None]) -> None:
    assert checked(numbers(values, pyarrow.int32())) == pyarrow.array(values, pyarrow.int32())


@given(st.lists(st.none() | st.floats(width=32, allow_nan=False)))
def test_floats(values: list[float | None]) -> None:
    assert checked(numbers(values, pyarrow.float32())) == pyarrow.array(values, pyarrow.float32())


@given(st.lists(st.lists(st.tuples(WORDS, st.integers(0, 999)))))
def test_lists_of_structs(values: list[list[tuple[str, int]]]) -> None:
    item = pyarrow.struct([("label", pyarrow.string()), ("index", pyarrow.int64())])
    flat = [each for one in values for each in one]
    fields = [texts([label for label, _ in flat]), numbers([index for _, index in flat], pyarrow.int64())]

    made = lists(pyarrow.list_(item), values, structs(item, fields))

    expected = [[{"label": label, "index": index} for label, index in one] for one in values]
    assert checked(made) == pyarrow.array(expected, pyarrow.list_(item))


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
