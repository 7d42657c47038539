"""The section `notify`."""

from collections.abc import Callable
from pathlib import Path

import pytest

from edged.config.load import load_config
from edged.errors import ConfigError

CAMERA = "cameras: {door: {source: 'synthetic:digits'}}\nstates: {door: {labels: ['1', '7']}}\n"


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def written(text: str) -> Path:
        path = tmp_path / "edged.yaml"
        path.write_text(text)
        return path

    return written


def test_a_url_is_enough_and_its_secrets_are_files_beside_the_config(write: Callable[[str], Path]) -> None:
    text = "notify: {url: 'https://ntfy.sh/a-secret?x={token}', token_file: token, ca: ca.crt}\n"
    path = write(CAMERA + text)
    notify = load_config(path).notify
    assert notify
    assert (notify.when, notify.format, notify.shown) == (("state",), "json", "https://ntfy.sh/…")
    assert (notify.token_file, notify.ca) == (path.parent / "token", path.parent / "ca.crt")
    assert notify.url_with("a/b") == "https://ntfy.sh/a-secret?x=a%2Fb"


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("{url: 'http://10.0.0.7/secret'}", "notify.url: is unencrypted: use https://, or add insecure: true"),
        ("{url: 'ftp://x/secret'}", "notify.url: expected a URL such as https://ntfy.sh/TOPIC"),
        ("{url: 'https://[::1/secret'}", "notify.url: expected a URL such as https://ntfy.sh/TOPIC"),
        ("{url: 'https://me:secret@host/'}", "notify.url: must not hold a user or a password"),
        ("{url: 'https://h/{token}'}", "notify: has {token} in its url, but no token_file"),
        ("{url: 'https://h/', user: a, token_file: t}", "notify.token_file: contradicts user"),
        ("{url: 'https://h/', password_file: t}", "notify.password_file: requires user"),
        ("{url: 'https://h/', when: []}", "notify.when"),
        ("{url: 'https://h/', when: [doors]}", "notify.when"),
    ],
)
def test_a_mistake_names_its_place_and_no_secret(write: Callable[[str], Path], section: str, words: str) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(write(f"{CAMERA}notify: {section}\n"))
    assert words in str(error.value)
    assert "secret" not in str(error.value)


def test_without_states_there_are_no_changes_to_tell(write: Callable[[str], Path]) -> None:
    camera = CAMERA.partition("\n")[0]
    with pytest.raises(ConfigError, match="there are no `states`: add some, or set `when: \\[camera\\]`"):
        load_config(write(f"{camera}\nnotify: {{url: 'https://h/'}}\n"))
    assert load_config(write(f"{camera}\nnotify: {{url: 'https://h/', when: [camera]}}\n")).notify


def test_http_is_for_this_host(write: Callable[[str], Path]) -> None:
    for url in ("http://127.0.0.1:8080/x", "http://localhost/x", "http://[::1]/x"):
        assert load_config(write(f"{CAMERA}notify: {{url: '{url}'}}\n")).notify
    assert load_config(write(f"{CAMERA}notify: {{insecure: true, url: 'http://ntfy.lan/x'}}\n")).notify
