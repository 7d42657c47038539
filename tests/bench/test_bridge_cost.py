"""What a bridge costs is measured while it carries, and while its server is away."""

import re
import sys

import pytest

from bench import bridge_cost
from tests.e2e.broker import has_broker


@pytest.mark.deep
def test_a_line_for_each_rate_and_one_without_the_server(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    has_broker()
    options = ["--bridges", "mqtt", "--rates", "20", "--windows", "3", "--seconds", "0.5"]
    monkeypatch.setattr(sys, "argv", ["bridge_cost", *options])

    bridge_cost.main()

    carrying, alone = capsys.readouterr().out.splitlines()
    assert re.match(r"mqtt, 20/s: \d.* ms a prediction, .* % of a core, \d+ MB, \d+ a second", carrying)
    assert alone.startswith("mqtt, 20/s, no server: ")
