"""Grafana's dashboards as code, by its own foundation SDK; `make docs` writes deploy/grafana/dashboards."""

import json

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from tools.dashboards import camera, energy, engine, fleet, pipeline

MODULES = (pipeline, camera, energy, engine, fleet)


def dashboards() -> dict[str, Dashboard]:
    """Build all dashboards, by the names of their files without .json."""
    return {module.__name__.rpartition(".")[2]: module.build() for module in MODULES}


def written(dashboard: Dashboard) -> str:
    """Return a dashboard as the text of its file."""
    content = json.loads(json.dumps(dashboard, cls=JSONEncoder))
    for link in content["links"]:
        del link[
            "placement"
        ]  # the SDK puts links into a menu, whatever its settings; they belong beside the choices
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
