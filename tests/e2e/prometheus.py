"""A real Prometheus, on a free port and in a folder of its own, and its HTTP API."""

import json
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
import yaml

from tests.eventually import LIMIT_S, eventually, free_port

Labels = Mapping[str, str]


@dataclass(frozen=True)
class Prometheus:
    """Where it listens."""

    address: str

    def asked(self, expression: str) -> list[Labels]:
        """Which series it has now, as a table or a number of Grafana asks for them."""
        return self._series("query", query=expression)

    def asked_over(self, expression: str, seconds: float, step_s: float) -> list[Labels]:
        """Which it had in the last seconds, as a graph asks for them."""
        now = time.time()
        return self._series("query_range", query=expression, start=now - seconds, end=now, step=step_s)

    def values(self, expression: str) -> list[float]:
        return [float(each["value"][1]) for each in self._get("query", query=expression)["result"]]

    def firing(self) -> set[str]:
        """Names of alerts."""
        return {each["labels"]["alertname"] for each in self._get("alerts")["alerts"] if each["state"] == "firing"}

    def rules(self) -> list[dict[str, Any]]:
        """As it evaluates them: name, type, query, health."""
        return [rule for group in self._get("rules")["groups"] for rule in group["rules"]]

    def _series(self, path: str, **parameters: object) -> list[Labels]:
        return [each["metric"] for each in self._get(path, **parameters)["result"]]

    def _get(self, path: str, **parameters: object) -> dict[str, Any]:
        try:
            with urlopen(
                f"http://{self.address}/api/v1/{path}?{urlencode(parameters)}", timeout=LIMIT_S
            ) as answer:
                data: dict[str, Any] = json.load(answer)["data"]
        except HTTPError as error:
            raise AssertionError(f"{parameters}: {error.read().decode()}") from None
        return data


@contextmanager
def scraping(folder: Path, config: dict[str, Any]) -> Iterator[Prometheus]:
    """With this config, whose relative paths are below `folder`."""
    if not (program := shutil.which("prometheus")):
        pytest.skip("prometheus is not installed")
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    server = Prometheus(f"127.0.0.1:{free_port()}")
    command = [program, "--config.file=prometheus.yml", "--storage.tsdb.path=data"]
    with (folder / "prometheus.log").open("w") as log:
        process = subprocess.Popen([*command, f"--web.listen-address={server.address}"], cwd=folder, stderr=log)
    try:
        eventually(lambda: _is_ready(server) or process.poll() is not None)
        assert process.poll() is None, (folder / "prometheus.log").read_text()
        yield server
    finally:
        process.kill()
        process.wait()


def _is_ready(server: Prometheus) -> bool:
    try:
        with urlopen(f"http://{server.address}/-/ready", timeout=LIMIT_S) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
