import pytest

from tools.message_schemas import PUBLISHED, json_schema, schema_file


@pytest.mark.parametrize("what", PUBLISHED)
def test_the_committed_schema_is_fresh(what: str) -> None:
    assert schema_file(what).read_text() == json_schema(what), "run: make docs"


def test_the_schema_accepts_what_a_newer_edged_adds() -> None:
    assert '"additionalProperties": false' not in json_schema("prediction")
