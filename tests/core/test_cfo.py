"""CFO: the causal order is a stable permutation that respects the graph."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tscg.ir import Catalog
from tscg.operators import cfo
from tscg.operators.graph import acyclic, edges


def tool(name: str, *required: str, description: str = "") -> dict[str, Any]:
    schema = {"type": "object", "properties": {key: {"type": "string"} for key in required}, "required": [*required]}
    return {"name": name, "description": description, "inputSchema": schema}


def names(catalog: Catalog) -> list[str]:
    return [each.name for each in catalog]


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        pytest.param([], [], id="no tools"),
        pytest.param([tool("b"), tool("a")], ["b", "a"], id="nothing is tied"),
        pytest.param(
            [tool("close_issue", "issue_id"), tool("list_issues"), tool("ping")],
            ["list_issues", "close_issue", "ping"],
            id="one link",
        ),
        pytest.param(
            [tool("close_issue", "issue_id"), tool("get_issue", "issue_id"), tool("ping"), tool("list_issues")],
            ["ping", "list_issues", "get_issue", "close_issue"],
            id="a chain",
        ),
        pytest.param(
            [tool("a_x", description="Call b_x first."), tool("b_x", description="Call a_x first."), tool("c_x")],
            ["a_x", "b_x", "c_x"],
            id="a circle keeps its order",
        ),
    ],
)
def test_order(tools: list[dict[str, Any]], expected: list[str]) -> None:
    assert names(cfo.order(Catalog.from_tools(tools))) == expected


def test_class_is_declared() -> None:
    assert cfo.CLASS == "S"


def test_the_input_is_not_changed() -> None:
    catalog = Catalog.from_tools([tool("close_issue", "issue_id"), tool("list_issues")])
    before = names(catalog)
    cfo.order(catalog)
    assert names(catalog) == before


def test_links_that_are_known_are_taken() -> None:
    catalog = Catalog.from_tools([tool("a"), tool("b")])
    assert names(cfo.order(catalog, [(1, 0, "given")])) == ["b", "a"]


THINGS = ("issue", "page", "user")
TOOLS = st.lists(
    st.tuples(
        st.sampled_from(("list", "get", "create", "update", "close")),
        st.sampled_from(THINGS),
        st.lists(st.sampled_from([f"{thing}_id" for thing in THINGS]), max_size=2, unique=True),
    ),
    max_size=12,
    unique_by=lambda one: one[:2],
)


@given(TOOLS)
def test_laws(drawn: list[tuple[str, str, list[str]]]) -> None:
    catalog = Catalog.from_tools([tool(f"{verb}_{thing}", *keys) for verb, thing, keys in drawn])
    ordered = cfo.order(catalog)
    place = {name: i for i, name in enumerate(names(ordered))}
    assert ordered == catalog, "the same tools"
    assert sorted(names(ordered)) == sorted(names(catalog))
    for before, after in acyclic(len(catalog), edges(catalog)):
        assert place[catalog[before].name] < place[catalog[after].name]
    assert names(cfo.order(ordered)) == names(ordered), "idempotent"


@given(TOOLS, st.randoms(use_true_random=False))
def test_the_same_sorted_catalog_gives_the_same_order(drawn: list[tuple[str, str, list[str]]], rng: Any) -> None:
    tools = [tool(f"{verb}_{thing}", *keys) for verb, thing, keys in drawn]
    mixed = rng.sample(tools, len(tools))
    first, second = (
        Catalog(tools=tuple(sorted(Catalog.from_tools(each), key=lambda one: (one.server, one.name))))
        for each in (tools, mixed)
    )
    assert names(cfo.order(first)) == names(cfo.order(second))
