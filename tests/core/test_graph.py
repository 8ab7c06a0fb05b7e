"""The dependency graph: what names and parameters say, who gives what to whom, and the order that follows."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tscg.ir import JSON, Catalog
from tscg.operators.graph import GIVERS, acyclic, edges, topological
from tscg.operators.mentions import mentions
from tscg.operators.naming import FINDING, MAKING, USING, Named, named, singular, suffixes, thing_of, words


def tool(name: str, *required: str, description: str = "", output: dict[str, JSON] | None = None) -> dict[str, Any]:
    """A tool in MCP form whose parameters are required texts."""
    schema = {"type": "object", "properties": {key: {"type": "string"} for key in required}, "required": [*required]}
    made: dict[str, Any] = {"name": name, "description": description, "inputSchema": schema}
    return made | ({"outputSchema": output} if output else {})


def by_name(catalog: Catalog) -> set[tuple[str, str]]:
    return {(catalog[before].name, catalog[after].name) for before, after, _ in edges(catalog)}


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "found"),
    [
        pytest.param("list_issues", Named("list", ("issue",), True), id="snake"),
        pytest.param("listIssues", Named("list", ("issue",), True), id="camel"),
        pytest.param("list-issues", Named("list", ("issue",), True), id="kebab"),
        pytest.param("issues.list", Named("list", ("issue",), True), id="namespaced"),
        pytest.param("issues/list-for-org", Named("list", ("issue",), True), id="namespaced, of an organization"),
        pytest.param("github__search_pull_requests", Named("search", ("pull", "request"), True), id="server"),
        pytest.param("listPRs", Named("list", ("pull", "request"), True), id="short form"),
        pytest.param("issue_read", Named("read", ("issue",), True), id="verb last"),
        pytest.param("get_issue_comments", Named("get", ("issue", "comment"), True), id="last word is the kind"),
        pytest.param("get_user_by_email", Named("get", ("user",), True), id="up to the preposition"),
        pytest.param("find_user_id_by_email", Named("find", ("user",), True), id="its id is the thing"),
        pytest.param("get_order_details", Named("get", ("order",), True), id="its details are the thing"),
        pytest.param("API-retrieve-a-page", Named("retrieve", ("page",), True), id="articles"),
        pytest.param("update_issue", Named("update", ("issue",), False), id="gives nothing"),
        pytest.param("comment_on_issue", Named("comment", ("issue",), False), id="behind the preposition"),
        pytest.param("think", Named("", ("think",), False), id="no verb that is known"),
        pytest.param("", Named("", (), False), id="empty"),
    ],
)
def test_named(name: str, found: Named) -> None:
    assert named(name) == found


@pytest.mark.parametrize(
    ("param", "thing"),
    [
        ("issue_id", ("issue",)),
        ("issueId", ("issue",)),
        ("issue-number", ("issue",)),
        ("issueIDs", ("issue",)),
        ("ISSUE_KEY", ("issue",)),
        ("cluster_name", ("cluster",)),
        ("pull_number", ("pull", "request")),
        ("repoId", ("repository",)),
        ("parent_page_id", ("parent", "page")),
        ("id", ()),
        ("title", ()),
        ("page_number", ()),
        ("phone_number", ()),
        ("", ()),
    ],
)
def test_thing_of(param: str, thing: tuple[str, ...]) -> None:
    assert thing_of(words(param)) == thing


@pytest.mark.parametrize(
    ("many", "one"),
    [
        ("issues", "issue"),
        ("repositories", "repository"),
        ("branches", "branch"),
        ("addresses", "address"),
        ("status", "status"),
        ("statuses", "status"),
        ("people", "person"),
        ("analysis", "analysis"),
        ("series", "series"),
        ("as", "as"),
        ("ties", "tie"),
    ],
)
def test_singular(many: str, one: str) -> None:
    assert singular(many) == one


def test_each_verb_is_of_one_kind() -> None:
    kinds = (FINDING, MAKING, USING)
    assert sum(map(len, kinds)) == len(frozenset().union(*kinds))


@given(st.text(max_size=60))
def test_any_name_can_be_read(name: str) -> None:
    found = named(name)
    assert not found.gives or found.thing
    assert all(found.thing[-len(key) :] == key for key in suffixes(found.thing))
    assert all(singular(word) == word or word == singular(singular(word)) or word.endswith("s") for word in words(name))


# --- who gives what ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        pytest.param(
            [tool("close_issue", "issue_id"), tool("list_issues")], {("list_issues", "close_issue")}, id="list"
        ),
        pytest.param(
            [tool("closeIssue", "issueNumber"), tool("issues.search")], {("issues.search", "closeIssue")}, id="styles"
        ),
        pytest.param(
            [tool("close-issue", "issue-key"), tool("createIssue")], {("createIssue", "close-issue")}, id="create"
        ),
        pytest.param(
            [tool("get_issue", "id"), tool("list_issues"), tool("close_issue", "issue_id")],
            {("list_issues", "get_issue"), ("list_issues", "close_issue"), ("get_issue", "close_issue")},
            id="list before get before use",
        ),
        pytest.param(
            [tool("get_a_user", "user_id"), tool("fetch_user", "user_id")], set(), id="two that need what they give"
        ),
        pytest.param(
            [tool("run_job", "workflow_id"), tool("list_team_workflows")],
            {("list_team_workflows", "run_job")},
            id="last word",
        ),
        pytest.param(
            [tool("pay", "parentInvoiceId"), tool("list_invoices")], {("list_invoices", "pay")}, id="qualified key"
        ),
        pytest.param(
            [tool("close_issue", "issue_id"), tool("list_issue_comments")], set(), id="comments are no issues"
        ),
        pytest.param(
            [tool("create_cluster", "cluster_name"), tool("list_clusters")], set(), id="the name of a new thing is free"
        ),
        pytest.param(
            [tool("add_issues_to_sprint", "issue_ids", "sprint_id"), tool("close_issue", "issue_id")],
            set(),
            id="add to",
        ),
        pytest.param(
            [tool("merge", "pullNumber"), tool("list_pull_requests")], {("list_pull_requests", "merge")}, id="pulls"
        ),
        pytest.param([tool("search", "query", "page"), tool("list_pages")], set(), id="no key"),
    ],
)
def test_required_keys(tools: list[dict[str, Any]], expected: set[tuple[str, str]]) -> None:
    assert by_name(Catalog.from_tools(tools)) == expected


def test_parameters_in_one_wrapping_object() -> None:
    inner = tool("x", "project_id")["inputSchema"]
    wrapped = {
        "name": "run",
        "inputSchema": {"type": "object", "properties": {"params": inner}, "required": ["params"]},
    }
    assert by_name(Catalog.from_tools([wrapped, tool("list_projects")])) == {("list_projects", "run")}


def test_givers_of_the_same_server_are_preferred() -> None:
    here = Catalog.from_tools([tool("close_issue", "issue_id"), tool("list_issues")], server="here")
    there = Catalog.from_tools([tool("find_issues"), tool("list_pages")], server="there")
    other = Catalog.from_tools([tool("open_page", "page_id")], server="other")
    catalog = Catalog.join(here, there, other)
    assert by_name(catalog) == {("list_issues", "close_issue"), ("list_pages", "open_page")}


OUTPUT: dict[str, JSON] = {
    "type": "object",
    "properties": {
        "hits": {"type": "array", "items": {"type": "object", "properties": {"assetId": {"type": "string"}}}}
    },
}


def test_fields_of_an_output_schema() -> None:
    catalog = Catalog.from_tools([tool("drop", "asset_id"), tool("scan_disk", output=OUTPUT)])
    assert edges(catalog) == ((1, 0, "has in its output asset_id"),)
    echo = Catalog.from_tools([tool("drop", "asset_id"), tool("touch", "asset_id", output=OUTPUT)])
    assert edges(echo) == (), "a tool that says its argument again gives nothing"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Call `get_rules` first.", [("get_rules", "edit")], id="first"),
        pytest.param("You must call get_rules before this tool.", [("get_rules", "edit")], id="before this"),
        pytest.param("Takes the id from list_rules.", [("list_rules", "edit")], id="from, end of sentence"),
        pytest.param("The ID returned by list_rules is needed.", [("list_rules", "edit")], id="returned by"),
        pytest.param("Requires get_rules (see there).", [("get_rules", "edit")], id="requires"),
        pytest.param("Use it before calling apply_rules.", [("edit", "apply_rules")], id="before the other"),
        pytest.param("Edit, then apply_rules.", [("edit", "apply_rules")], id="then"),
        pytest.param("Use get_rules instead of the id from list_rules.", [], id="instead"),
        pytest.param("Like get_rules, but faster.", [], id="no order"),
        pytest.param("Its answer is different from get_rules.", [], id="different from"),
        pytest.param("The word from think is no tool here.", [], id="one word is no name"),
        pytest.param("Takes what came from `think`.", [("think", "edit")], id="one word in backquotes"),
        pytest.param("Unknown names such as from get_nothing.", [], id="no such tool"),
    ],
)
def test_mentions(text: str, expected: list[tuple[str, str]]) -> None:
    names = ["edit", "get_rules", "list_rules", "apply_rules", "think"]
    catalog = Catalog.from_tools([tool(name, description=text if name == "edit" else "") for name in names])
    assert [(catalog[before].name, catalog[after].name) for before, after, _ in mentions(catalog)] == expected


def test_prose_of_parameters_counts() -> None:
    edit = tool("edit", "key")
    edit["inputSchema"]["properties"]["key"]["description"] = "Key from list_rules"
    assert by_name(Catalog.from_tools([edit, tool("list_rules")])) == {("list_rules", "edit")}


def test_schema_wins_over_prose() -> None:
    tools = [tool("list_issues", description="Call close_issue first."), tool("close_issue", "issue_id")]
    assert edges(Catalog.from_tools(tools)) == ((0, 1, "gives issue_id"),)


def test_the_graph_of_many_tools_for_one_thing_stays_small() -> None:
    tools = [tool(f"{verb}_item_{i}", "item_id") for i in range(300) for verb in ("get", "update")]
    tools += [tool(f"list_item_{i}") for i in range(300)]
    renamed = [
        one | {"name": one["name"].replace("_item_", f"_{'abc'[i % 3]}_items_for_")} for i, one in enumerate(tools)
    ]
    found = edges(Catalog.from_tools(renamed))
    assert 0 < len(found) <= GIVERS * len(renamed)


# --- order ------------------------------------------------------------------------------------------------------------

PAIRS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40)


def reachable(pairs: Iterable[tuple[int, int]], count: int) -> list[set[int]]:
    """By brute force: the places that each place leads to."""
    found = [{after for before, after in pairs if before == place} for place in range(count)]
    for _ in range(count):
        for each in found:
            each |= {after for before in tuple(each) for after in found[before]}
    return found


@given(PAIRS)
def test_acyclic_leaves_out_exactly_the_links_in_cycles(pairs: list[tuple[int, int]]) -> None:
    to = reachable(pairs, 12)
    expected = {(before, after) for before, after in pairs if before != after and before not in to[after]}
    assert set(acyclic(12, [(*pair, "") for pair in pairs])) == expected


def respects(order: Sequence[int], pairs: Iterable[tuple[int, int]]) -> bool:
    place = {each: i for i, each in enumerate(order)}
    return all(place[before] < place[after] for before, after in pairs)


@given(PAIRS)
def test_topological_is_a_permutation_that_respects_the_links(pairs: list[tuple[int, int]]) -> None:
    kept = acyclic(12, [(*pair, "") for pair in pairs])
    order = topological(12, kept)
    assert sorted(order) == list(range(12))
    assert respects(order, kept)
    assert topological(12, ()) == tuple(range(12))


def test_the_graph_does_not_depend_on_the_order_of_the_tools(shared_catalogs: dict[str, list[dict[str, Any]]]) -> None:
    tools = shared_catalogs["github-mcp-server"]
    straight = by_name(Catalog.from_tools(tools))
    assert ("list_issues", "issue_read") in straight
    for seed in range(3):
        mixed = random.Random(seed).sample(tools, len(tools))
        assert by_name(Catalog.from_tools(mixed)) == straight


def test_every_shared_catalog_has_a_graph(shared_catalogs: dict[str, list[dict[str, Any]]]) -> None:
    for name, tools in shared_catalogs.items():
        catalog = Catalog.from_tools(tools)
        found = edges(catalog)
        assert len({pair[:2] for pair in found}) == len(found), name
        assert all(before != after and reason for before, after, reason in found), name
