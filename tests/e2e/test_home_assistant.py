"""Home Assistant finds a camera by what the bridge publishes, and shows what it sees."""

from pathlib import Path

import pytest

from tests.e2e.broker import bridge, has_broker, mosquitto
from tests.e2e.daemon import SYNTHETIC, config_in, run_edged
from tests.e2e.home_assistant import Home, has_home_assistant, home_assistant
from tests.eventually import eventually, free_port

DIGITS = [str(number) for number in range(10)]
SILENT = {"unknown", "unavailable"}
OF_CAMERA = {
    "binary_sensor.demo_test_up",
    "camera.demo_test_snapshot",
    "sensor.demo_test_dropped_frames",
    "sensor.demo_test_label",
    "sensor.demo_test_rate",
    "sensor.demo_test_score",
    "sensor.demo_test_state",
}
OF_NODE = {"binary_sensor.edged_test_running", "sensor.edged_test_inference_device"}


def are_known(home: Home, entities: set[str]) -> bool:
    states = home.states()
    return entities <= states.keys() and not SILENT & {states[name] for name in entities}


@pytest.mark.deep
def test_the_entities_of_a_camera_appear_show_what_it_sees_and_become_unavailable_with_it(tmp_path: Path) -> None:
    has_broker()
    has_home_assistant()
    port = free_port()
    config = config_in(
        tmp_path,
        cameras={"demo": SYNTHETIC | {"snapshot": {}}},
        states={"demo": {"labels": DIGITS, "after": 1, "unknown_below": 0.0}},
        mqtt={"address": f"mqtt://127.0.0.1:{port}"},
    )
    with (
        mosquitto(tmp_path, port, "allow_anonymous true"),
        home_assistant(tmp_path, port) as home,
        run_edged(tmp_path, config=config) as daemon,
        bridge(tmp_path / "edged.yaml", tmp_path),
    ):
        eventually(lambda: are_known(home, OF_CAMERA | OF_NODE))
        states = home.states()
        assert states["sensor.demo_test_state"] in DIGITS
        assert states["sensor.demo_test_label"] in DIGITS
        assert 0 <= float(states["sensor.demo_test_score"]) <= 100
        assert {states["binary_sensor.demo_test_up"], states["binary_sensor.edged_test_running"]} == {"on"}
        assert home.attributes("sensor.demo_test_rate")["unit_of_measurement"] == "fps"

        daemon.stop()
        eventually(lambda: home.states()["sensor.demo_test_label"] == "unavailable")
        assert home.states()["binary_sensor.edged_test_running"] == "off"
        assert "mqtt" not in home.log
        assert "Template" not in home.log
