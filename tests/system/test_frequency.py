"""Frequencies on trees as drivers show them, whole and damaged."""

from pathlib import Path

import pytest

from edged.messages import Frequency
from edged.system.host_watch import frequencies
from tests.system.sysfs import gpu, juno, policy, rk3588


def test_a_juno_whose_big_cluster_is_held_down(tmp_path: Path) -> None:
    juno(tmp_path)
    assert frequencies(tmp_path) == {
        "policy0": Frequency(now=450_000_000, limit=850_000_000, maximum=850_000_000),
        "policy1": Frequency(now=600_000_000, limit=600_000_000, maximum=1_100_000_000),
    }


def test_processors_gpu_and_memory_of_an_rk3588(tmp_path: Path) -> None:
    rk3588(tmp_path)
    found = frequencies(tmp_path)
    assert list(found) == ["policy0", "policy4", "dmc", "fb000000.gpu"]
    assert found["fb000000.gpu"] == Frequency(now=300_000_000, limit=850_000_000, maximum=1_000_000_000)


def test_a_gpu_that_does_not_tell_its_steps_could_do_what_it_may(tmp_path: Path) -> None:
    gpu(tmp_path, 100, 800, "")
    assert frequencies(tmp_path)["2d000000.gpu"].maximum == 800


def test_a_gpu_that_is_switched_off_stands_still(tmp_path: Path) -> None:
    gpu(tmp_path, 0, 800, "200 800")
    assert frequencies(tmp_path)["2d000000.gpu"].now == 0


@pytest.mark.parametrize("content", ["", "<unsupported>", "-1", "0x10", "9" * 30])
def test_a_policy_that_says_no_frequency_is_left_out(tmp_path: Path, content: str) -> None:
    policy(tmp_path, 0, 400, content, 800)
    policy(tmp_path, 4, 400, 800, 800)
    assert list(frequencies(tmp_path)) == ["policy4"]


def test_a_policy_whose_files_are_missing_is_left_out(tmp_path: Path) -> None:
    (policy(tmp_path, 0, 400, 800, 800) / "scaling_cur_freq").unlink()
    assert frequencies(tmp_path) == {}
