"""What another config changes."""

from typing import Any

from edged.config import Config
from edged.hub.reload import changes

DOOR = {"source": "synthetic:digits"}
BEFORE: dict[str, Any] = {"node": "n", "cameras": {"door": DOOR, "gate": DOOR}}


def config(**sections: Any) -> Config:
    return Config.model_validate({**BEFORE, **sections})


def test_the_same_config_changes_nothing() -> None:
    assert str(changes(config(), config())) == "nothing has changed"


def test_cameras_come_go_and_change() -> None:
    found = changes(config(), config(cameras={"door": {**DOOR, "max_fps": 5}, "yard": DOOR}))
    assert (found.added, found.removed, found.changed) == (("yard",), ("gate",), ("door",))
    assert str(found) == "cameras added: yard; removed: gate; changed: door"


def test_a_camera_that_another_host_reads_from_now_on_goes_and_comes() -> None:
    found = changes(config(), config(cameras={"door": {**DOOR, "host": "gate-pi"}, "gate": DOOR}))
    assert (found.added, found.removed, found.changed) == (("door",), ("door",), ())


def test_a_camera_that_shall_send_snapshots_goes_on_as_it_is() -> None:
    found = changes(config(), config(cameras={"door": {**DOOR, "snapshot": {}}, "gate": DOOR}))
    assert (found.changed, found.snapshots) == ((), ("door",))
    assert str(found) == "snapshots: door"


def test_a_camera_of_which_more_has_changed_is_started_again() -> None:
    found = changes(config(), config(cameras={"door": {**DOOR, "snapshot": {}, "max_fps": 5}, "gate": DOOR}))
    assert (found.changed, found.snapshots) == (("door",), ())


def test_settings_that_take_effect_at_once_are_named() -> None:
    after = config(freshness={"max_age_s": 2}, publish={"top": 1})
    found = changes(config(), after)
    assert found.settings == ("freshness.max_age_s", "publish.top")
    assert found.restart == ()
    assert found.config == after


def test_what_needs_a_restart_is_named_and_stays_as_it_is() -> None:
    after = config(node="other", publish={"address": "tcp://127.0.0.1:1", "top": 1})
    found = changes(config(), after)
    assert found.restart == ("node", "publish.address")
    assert found.config == config(publish={"top": 1})
    assert str(found) == "settings: publish.top; only after a restart: node, publish.address"


def test_another_model_takes_effect_at_once_unless_a_worker_is_on_another_host() -> None:
    other = {"model": {"name": "resnet18"}}
    found = changes(config(), config(**other))
    assert (found.settings, found.changes_model) == (("model.name",), True)
    elsewhere = {"workers": [{"host": "gate-pi"}], "link": {"address": "tcp://127.0.0.1:1"}}
    found = changes(config(**elsewhere), config(**elsewhere, **other))
    assert (found.restart, found.changes_model) == (("model.name",), False)
