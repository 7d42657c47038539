"""`python -m tools.dashboards`."""

from pathlib import Path

from tools.dashboards import dashboards, written

FOLDER = Path(__file__).resolve().parents[2] / "deploy/grafana/dashboards"

if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, dashboard in dashboards().items():
        (FOLDER / f"{name}.json").write_text(written(dashboard))
        print(f"wrote deploy/grafana/dashboards/{name}.json")
