"""Ports that tests listen on: no other process that is tested meanwhile gives out the same."""

import subprocess
import sys
from contextlib import ExitStack

from tests.conftest import ROOT
from tests.eventually import BLOCK, free_port

PROGRAM = """
import sys
from tests.eventually import free_port
print(*[free_port() for _ in range(50)], flush=True)
sys.stdin.read()
"""


def test_processes_that_live_at_the_same_time_give_out_different_ports() -> None:
    with ExitStack() as running:
        others = [
            running.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", PROGRAM],
                    cwd=ROOT,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for _ in range(4)
        ]
        given = [set(other.stdout.readline().split()) for other in others if other.stdout]
        for other in others:
            other.communicate()
    ours = {str(free_port()) for _ in range(50)}
    assert [len(each) for each in given] == [50] * 4
    assert len(ours.union(*given)) == 5 * 50


def test_a_port_comes_again_after_all_others() -> None:
    ports = [free_port() for _ in range(BLOCK // 2)]
    assert len(set(ports)) == len(ports)
