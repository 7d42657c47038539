"""One name, one class: whoever searches for a class finds one."""

import re
from collections import defaultdict
from pathlib import Path

CLASS = re.compile(r"^class (\w+)", re.MULTILINE)


def test_no_two_classes_have_one_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted(Path("edged").rglob("*.py")):
        for name in CLASS.findall(path.read_text("utf-8")):
            places[name].append(str(path))

    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}
