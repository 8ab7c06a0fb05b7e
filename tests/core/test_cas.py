"""CAS: fragility, and an arrangement that puts it at both ends."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tscg.ir import Catalog
from tscg.operators import cas
from tscg.operators.graph import acyclic, edges

PLAIN: dict[str, Any] = {"type": "object", "properties": {}}


def plain(*names: str) -> Catalog:
    return Catalog.from_tools([{"name": name, "inputSchema": PLAIN} for name in names])


def with_schema(name: str, required: int = 0, **property_: Any) -> dict[str, Any]:
    keys = [f"k{i}" for i in range(required)]
    properties = {key: {"type": "string"} for key in keys} | ({"x": property_} if property_ else {})
    return {"name": name, "inputSchema": {"type": "object", "properties": properties, "required": keys}}


def names(catalog: Catalog) -> list[str]:
    return [tool.name for tool in catalog]


def test_constants() -> None:
    assert cas.CLASS == "S"
    assert sum(cas.WEIGHTS) == pytest.approx(1.0)
    assert 0.5 < cas.ALPHA < 1.0


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, []), (1, [1.0]), (2, [1.0, 1.0]), (3, [1.0, 0.0, 1.0]), (5, [1.0, 0.25, 0.0, 0.25, 1.0])],
)
def test_accessibility_is_a_u(count: int, expected: list[float]) -> None:
    assert [cas.accessibility(place, count) for place in range(count)] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("more", "less"),
    [
        pytest.param(with_schema("a", required=4), with_schema("b", required=1), id="required parameters"),
        pytest.param(
            with_schema("a", type="integer", minimum=1, maximum=9), with_schema("b", type="integer"), id="bounds"
        ),
        pytest.param(with_schema("a", enum=["x", "y"]), with_schema("b", type="string"), id="listed values"),
        pytest.param(
            with_schema("a", type="string", pattern="^a$", minLength=1), with_schema("b", type="string"), id="text"
        ),
        pytest.param(
            with_schema("a", type="array", items={"type": "string", "format": "date"}, maxItems=3),
            with_schema("b", type="array", items={"type": "string"}),
            id="nested",
        ),
        pytest.param(
            with_schema("a", type="object", additionalProperties=True, maxProperties=4),
            with_schema("b", type="object"),
            id="object",
        ),
    ],
)
def test_importance_without_counts(more: dict[str, Any], less: dict[str, Any]) -> None:
    found = cas.importance(Catalog.from_tools([more, less]))
    assert found["a"] > found["b"]


def test_names_that_differ_by_a_word_are_confusable() -> None:
    found = cas.importance(plain("list_open_issues", "list_closed_issues", "listIssues", "ping"))
    assert found["ping"] == 0.0
    assert found["list_open_issues"] == found["list_closed_issues"] > 0
    assert found["listIssues"] > 0


@pytest.mark.parametrize(
    ("uses", "expected"),
    [
        pytest.param({"a": 8, "b": 2}, {"a": 1.0, "b": 0.5, "c": 0.0}, id="logarithmic"),
        pytest.param({"a": 3, "z": 900}, {"a": 1.0, "b": 0.0, "c": 0.0}, id="unknown names say nothing"),
        pytest.param({"a": 0}, {"a": 0.0, "b": 0.0, "c": 0.0}, id="no use at all: by what the tools are"),
    ],
)
def test_importance_with_counts(uses: dict[str, int], expected: dict[str, float]) -> None:
    assert cas.importance(plain("a", "b", "c"), uses) == pytest.approx(expected)


def test_fragility_is_the_formula() -> None:
    found = cas.fragility(plain("a", "b", "c"), alpha=0.6, uses={"a": 1, "b": 1})
    assert found == pytest.approx({"a": 0.6, "b": 0.6 + 0.4, "c": 0.0})


@pytest.mark.parametrize(
    ("given_", "uses", "links", "expected"),
    [
        pytest.param("abcde", {"c": 9, "e": 5, "a": 2}, [], "cadbe", id="front, back, front"),
        pytest.param("ab", {"b": 5}, [(0, 1, "")], "ab", id="a link holds"),
        pytest.param("abc", {"c": 9}, [(0, 2, ""), (1, 2, "")], "bac", id="last by its links"),
        pytest.param("abc", {"a": 9, "b": 9}, [(0, 1, ""), (1, 0, "")], "bca", id="a circle holds nothing"),
        pytest.param("", {}, [], "", id="no tools"),
    ],
)
def test_arrange(given_: str, uses: dict[str, int], links: list[tuple[int, int, str]], expected: str) -> None:
    assert "".join(names(cas.arrange(plain(*given_), uses=uses, respect=links))) == expected


CATALOGS = st.lists(
    st.tuples(
        st.sampled_from(("list", "get", "create", "update", "close")),
        st.sampled_from(("issue", "page", "user")),
        st.integers(0, 3),
    ),
    max_size=12,
    unique_by=lambda one: one[:2],
)
USES = st.one_of(
    st.none(), st.dictionaries(st.sampled_from(["list_issue", "get_page", "close_user"]), st.integers(0, 50))
)


def catalog_of(drawn: list[tuple[str, str, int]]) -> Catalog:
    tools = []
    for verb, thing, keys in drawn:
        required = [f"{other}_id" for other in ("issue", "page", "user")[:keys]]
        properties = {key: {"type": "string"} for key in required}
        schema = {"type": "object", "properties": properties, "required": required}
        tools.append({"name": f"{verb}_{thing}", "inputSchema": schema})
    return Catalog.from_tools(tools)


@given(CATALOGS, USES, st.floats(0, 1), st.booleans(), st.randoms(use_true_random=False))
def test_laws(
    drawn: list[tuple[str, str, int]], uses: dict[str, int] | None, alpha: float, tied: bool, rng: Any
) -> None:
    def arranged(catalog: Catalog) -> Catalog:
        return cas.arrange(catalog, alpha=alpha, uses=uses, respect=edges(catalog) if tied else ())

    catalog = catalog_of(drawn)
    found = arranged(catalog)
    assert found == catalog, "the same tools"
    assert names(arranged(found)) == names(found), "idempotent"
    assert names(arranged(catalog_of(rng.sample(drawn, len(drawn))))) == names(found), "any order of the input"
    if tied:
        place = {name: i for i, name in enumerate(names(found))}
        for before, after in acyclic(len(catalog), edges(catalog)):
            assert place[catalog[before].name] < place[catalog[after].name]


@given(CATALOGS, USES)
def test_without_links_fragility_falls_from_the_ends(
    drawn: list[tuple[str, str, int]], uses: dict[str, int] | None
) -> None:
    catalog = catalog_of(drawn)
    value = cas.fragility(catalog, uses=uses)
    left = [value[name] for name in names(cas.arrange(catalog, uses=uses))]
    taken: list[float] = []
    while left:
        taken.append(left.pop(0 if len(taken) % 2 == 0 else -1))
    assert taken == sorted(taken, reverse=True)
    assert all(0 <= each <= 1 for each in taken)
