"""deploy/compose.yaml: what can be said of it where there is no Docker."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from edged.config.load import load_config
from tests.conftest import ROOT

FOLDER = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
MOUNTS = [mount.split(":") for service in SERVICES.values() for mount in service.get("volumes", [])]


@pytest.mark.parametrize("mount", MOUNTS, ids=lambda mount: str(mount[1]))
def test_what_is_mounted_is_there(mount: list[str]) -> None:
    source = mount[0]
    if source.startswith("."):
        assert (FOLDER / source).exists()
        assert mount[2:] == ["ro"]
    else:
        assert source in COMPOSE["volumes"]


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_of_a_release_or_of_this_checkout(name: str) -> None:
    service = SERVICES[name]
    is_built = any("build" in other and other["image"] == service["image"] for other in SERVICES.values())
    assert is_built or re.fullmatch(r"[\w/-]+:v?\d+\.\d+\.\d+", service["image"])


def test_edged_is_built_from_the_file_that_is_there() -> None:
    build = SERVICES["edged"]["build"]
    context = (FOLDER / build["context"]).resolve()
    assert context == ROOT
    assert (context / build["dockerfile"]).is_file()


def test_nothing_listens_beyond_this_host() -> None:
    assert all(service["network_mode"] == "host" for service in SERVICES.values())
    assert "--web.listen-address=127.0.0.1:9090" in SERVICES["prometheus"]["command"]
    assert SERVICES["grafana"]["environment"]["GF_SERVER_HTTP_ADDR"] == "127.0.0.1"
    config = load_config(ROOT / "configs/demo.yaml")
    assert config.metrics.address == "127.0.0.1:9464"


def test_prometheus_finds_edged_and_grafana_finds_prometheus() -> None:
    prometheus = yaml.safe_load((FOLDER / "prometheus/prometheus.yml").read_text())
    [job] = prometheus["scrape_configs"]
    assert job["http_sd_configs"][0]["url"] == "http://127.0.0.1:9464/targets"
    [source] = _provisioned("datasources")["datasources"]
    assert source["url"] == "http://localhost:9090"
    [provider] = _provisioned("dashboards")["providers"]
    places = {mount[1] for mount in MOUNTS}
    assert provider["options"]["path"] in places


def test_the_image_holds_what_the_package_is_built_from() -> None:
    ignored = (FOLDER / "docker/Dockerfile.dockerignore").read_text().split()
    let_in = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    assert {"edged", "README.md", "LICENSE", "pyproject.toml", "tools/hatch_build.py"} <= let_in
    assert all((ROOT / name).exists() for name in let_in)


def test_each_service_waits_until_those_that_it_reads_are_healthy() -> None:
    waits = {name: set(service.get("depends_on", {})) for name, service in SERVICES.items()}
    assert waits == {"edged": set(), "view": {"edged"}, "prometheus": {"edged"}, "grafana": {"prometheus"}}
    for service in SERVICES.values():
        assert all(each == {"condition": "service_healthy"} for each in service.get("depends_on", {}).values())
    # the image of edged has a health check of its own
    assert all("healthcheck" in SERVICES[name] for name in ("view", "prometheus"))


def test_what_edged_runs_has_no_rights_and_a_root_that_it_cannot_write() -> None:
    for name in ("edged", "view"):
        service = SERVICES[name]
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
        assert service["security_opt"] == ["no-new-privileges:true"]


def test_docker_asks_the_hub_whether_it_is_alive() -> None:
    dockerfile = (FOLDER / "docker/Dockerfile").read_text()
    address = load_config(ROOT / "configs/demo.yaml").metrics.address
    assert f"http://{address}/healthz" in dockerfile


def _provisioned(what: str) -> dict[str, Any]:
    [path] = (FOLDER / "grafana/provisioning" / what).iterdir()
    found: dict[str, Any] = yaml.safe_load(Path(path).read_text())
    return found
