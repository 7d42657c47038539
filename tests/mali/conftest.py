"""The root with Mesa's compilers, which `make mali` makes."""

import pytest

from tools.mali.root import Root, default_folder


@pytest.fixture(scope="session")
def root() -> Root:
    """The root of Debian 13 with Mesa; skipped where it was not made."""
    found = Root(default_folder())
    if not found.is_there:
        pytest.skip(f"no root of trixie with Mesa in {found.folder}: `make mali` makes it")
    return found
