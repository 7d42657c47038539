"""Keys that sign models."""

from pathlib import Path

import pytest

from edged.errors import ConfigError, ModelError
from edged.fleet.records import SignedModel
from edged.fleet.signing import check_signature, load_signer, load_signers, new_signer, sign

MODEL = SignedModel(name="doors", file="doors.onnx", sha256="0" * 64, size=7)


def test_what_a_listed_key_has_signed_is_accepted(tmp_path: Path) -> None:
    key, pub = new_signer(tmp_path, "alice")
    public, signature = sign(MODEL.signed, load_signer(key))
    for listed in (pub, tmp_path):
        assert check_signature(MODEL.signed, public, signature, load_signers((listed,))) == "alice"


@pytest.mark.parametrize(
    "changed", [{"sha256": "1" * 64}, {"name": "windows"}, {"size": 8}, {"file": "other.onnx"}]
)
def test_no_part_of_a_signed_model_can_be_exchanged(tmp_path: Path, changed: dict[str, object]) -> None:
    key, pub = new_signer(tmp_path, "alice")
    public, signature = sign(MODEL.signed, load_signer(key))
    with pytest.raises(ModelError, match="its signature is not of alice"):
        check_signature(MODEL.model_copy(update=changed).signed, public, signature, load_signers((pub,)))


def test_a_key_that_is_not_listed_is_refused(tmp_path: Path) -> None:
    _, pub = new_signer(tmp_path, "alice")
    other, _ = new_signer(tmp_path, "mallory")
    public, signature = sign(MODEL.signed, load_signer(other))
    with pytest.raises(ModelError, match=r"not in fleet\.signers of this board"):
        check_signature(MODEL.signed, public, signature, load_signers((pub,)))
    with pytest.raises(ModelError, match="it is not signed"):
        check_signature(MODEL.signed, "", "", load_signers((pub,)))


@pytest.mark.parametrize("signature", ["00", "00" * 64, "zz" * 64])
def test_a_damaged_signature_is_refused(tmp_path: Path, signature: str) -> None:
    key, pub = new_signer(tmp_path, "alice")
    public, _ = sign(MODEL.signed, load_signer(key))
    with pytest.raises(ModelError, match="its signature is not of alice"):
        check_signature(MODEL.signed, public, signature, load_signers((pub,)))


def test_a_secret_that_others_can_read_and_a_wrong_file_are_refused(tmp_path: Path) -> None:
    key, pub = new_signer(tmp_path, "alice")
    assert "secret" not in pub.read_text()
    with pytest.raises(ConfigError, match=r"expected a secret key as written by `edged fleet key NAME`"):
        load_signer(pub)
    key.chmod(0o644)
    with pytest.raises(ConfigError, match="others may read this secret"):
        load_signer(key)
    with pytest.raises(ConfigError, match="is there already"):
        new_signer(tmp_path, "alice")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=r"fleet\.signers: there is no \.signer\.pub file"):
        load_signers((tmp_path / "empty",))
