"""The tests of this folder need CrewAI; where it is not installed there are none."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.adapters.provider import Provider

INSTALLED = bool(find_spec("crewai") and find_spec("crewai_tscg"))
collect_ignore_glob = [] if INSTALLED else ["*.py"]

if INSTALLED:
    importlib.import_module("tests.adapters.crewai.environment")


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A provider whose rules no request may break, with a model that works from what it was sent."""
    from tests.adapters.crewai.crews import strict_faults, worker
    from tests.adapters.provider import Provider

    made = Provider(worker).start()
    yield made
    made.close()
    assert made.broken == []
    assert [fault for body in made.bodies for fault in strict_faults(body)] == []
