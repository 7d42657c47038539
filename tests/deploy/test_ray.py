"""deploy/ray: what can be said of it without a cluster of boards."""

import json
import subprocess
from importlib.util import find_spec
from pathlib import Path

import jsonschema
import pytest
import yaml

from tests.conftest import ROOT

FOLDER = ROOT / "deploy/ray"


@pytest.mark.deep
def test_the_cluster_file_fits_the_schema_of_ray() -> None:
    ray = find_spec("ray")
    assert ray
    assert ray.origin
    schema = json.loads((Path(ray.origin).parent / "autoscaler/ray-schema.json").read_text())

    jsonschema.validate(yaml.safe_load((FOLDER / "cluster.yaml").read_text()), schema)


def test_a_board_has_the_resource_that_edged_batch_takes_by_default() -> None:
    [_, start] = yaml.safe_load((FOLDER / "cluster.yaml").read_text())["worker_start_ray_commands"]

    assert """--resources='{"opencl":1}'""" in start


def test_a_job_is_edged_batch_on_the_cluster_it_is_submitted_to(tmp_path: Path) -> None:
    ray = tmp_path / "ray"
    ray.write_text('#!/bin/sh\necho "$RAY_API_SERVER_ADDRESS" "$@"\n')
    ray.chmod(0o755)
    environment = {"PATH": "/usr/bin:/bin", "RAY": str(ray), "EDGED": "edged"}

    command = [str(FOLDER / "submit.sh"), "net.onnx", "--input", "a b"]
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    head = "http://127.0.0.1:8265"
    assert printed == f"{head} job submit --no-wait -- edged batch net.onnx --input a b --ray auto\n"
