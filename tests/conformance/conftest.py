"""The adapters that are installed, each as a harness, and a provider that must not be angered."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator

import pytest

from tests.adapters.provider import Model, Provider
from tests.conformance.harness import Harness

HARNESSES = {
    "crewai": ("crewai", "tests.adapters.crewai.harness"),
    "langchain": ("langchain", "tests.adapters.langchain.harness"),
    "llamaindex": ("llama_index_tscg", "tests.adapters.llamaindex.harness"),
}


@pytest.fixture(params=sorted(HARNESSES), scope="session")
def harness(request: pytest.FixtureRequest) -> Harness:
    framework, module = HARNESSES[request.param]
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    made: Harness = importlib.import_module(module).HARNESS
    return made


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
