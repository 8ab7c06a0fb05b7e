"""docs/operators.md: its examples run, and each constant in it is the one in the code."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
from pathlib import Path

import pytest

from tscg.pipeline import OPERATORS
from tscg.prose.filler import fillers

PAGE = Path(__file__).resolve().parents[2] / "docs" / "operators.md"
TEXT = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
ROWS = re.findall(r"^\| `((?:operators|models|profiles)\.[^`]+)` \| ([^|]+) \| ([^|]+) \|$", TEXT, re.MULTILINE)

pytestmark = pytest.mark.skipif(not TEXT, reason="the docs are not beside these tests")


def test_examples_run() -> None:
    found = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert found.attempted > 10
    assert found.failed == 0


@pytest.mark.parametrize(("constant", "value", "reason"), ROWS, ids=[row[0] for row in ROWS])
def test_constant(constant: str, value: str, reason: str) -> None:
    module, name, field = re.fullmatch(r"(.+?)\.([A-Z_]+)(.*)", constant).groups()  # type: ignore[union-attr]
    found = getattr(importlib.import_module(f"tscg.{module}"), name)
    for key, attribute in re.findall(r'\["(\w+)"\]|\.(\w+)', field):
        found = found[key] if key else getattr(found, attribute)
    assert found == ast.literal_eval(value.strip())
    assert len(reason.split()) > 1


def test_every_operator_has_its_class_in_the_table() -> None:
    listed = dict(re.findall(r"^\| \d+ \| ([\w-]+)[^|]*\| ([RSE]) \|", TEXT, re.MULTILINE))
    assert listed == {operator.name: operator.kind for operator in OPERATORS}
    assert len(ROWS) > 15


def test_the_number_of_patterns_is_true() -> None:
    said = re.search(r"more than (\d+) patterns", TEXT)
    assert said is not None
    assert len(fillers()) > int(said.group(1))
