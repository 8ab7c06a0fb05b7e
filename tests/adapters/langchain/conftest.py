"""The tests of this folder need LangChain; where it is not installed there are none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec

import pytest

from tests.adapters.provider import Model, Provider

collect_ignore_glob = [] if find_spec("langchain") and find_spec("langchain_tscg") else ["*.py"]


def pytest_configure(config: pytest.Config) -> None:
    """The standard tests carry the mark of a plugin that is turned off."""
    config.addinivalue_line("markers", "vcr: plays a recording")


@pytest.fixture
def serve() -> Iterator[Callable[[Model], Provider]]:
    """Starts providers; at the end none of them may have seen a broken rule."""
    started: list[Provider] = []

    def start(model: Model) -> Provider:
        started.append(Provider(model).start())
        return started[-1]

    yield start
    for provider in started:
        provider.close()
    assert [fault for provider in started for fault in provider.broken] == []
