"""The table of peers: atoms know two spellings of one thing, every row of ours is as the README says, Node is asked."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks import peers
from benchmarks.atoms import atoms, found_in_text
from benchmarks.contenders import CONTENDERS, RawTools, by_tool
from benchmarks.node_peers import NODE_PEERS, NodePeer, run_node
from tests.conftest import ROOT
from tscg.tokenizers import is_exact, tokenizer_of

TOOLS: RawTools = [
    {
        "name": "find",
        "description": "Finds things.",
        "parameters": {
            "type": "object",
            "properties": {"kind": {"enum": ["a", "b"]}, "most": {"type": "integer", "maximum": 9}},
            "required": ["kind"],
        },
    },
    {"name": "ping", "description": "Says pong.", "parameters": {"type": "object", "properties": {}}},
]


def properties(schema: dict[str, Any], **beside: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": schema}, **beside}


SAME = {
    "a type or null": ({"type": ["string", "null"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
    "nullable": ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
    "const": ({"const": "a"}, {"enum": ["a"]}),
    "listed values imply the type": ({"type": "string", "enum": ["a"]}, {"enum": ["a"]}),
    "reference": ({"type": "integer", "minimum": 2}, {"$ref": "#/$defs/n"}),
    "allOf": ({"type": "integer", "minimum": 2}, {"allOf": [{"$ref": "#/$defs/n"}], "description": "n"}),
    "exclusive of an integer": ({"type": "integer", "minimum": 1}, {"type": "integer", "exclusiveMinimum": 0}),
    "draft 4": ({"type": "number", "exclusiveMaximum": 5}, {"type": "number", "maximum": 5, "exclusiveMaximum": True}),
    "a bound that binds nothing": ({"type": "string"}, {"type": "string", "minLength": 0, "default": None}),
    "tuple": (
        {"type": "array", "prefixItems": [{"type": "string"}]},
        {"type": "array", "items": [{"type": "string"}]},
    ),
    "prose": ({"type": "string"}, {"type": "string", "title": "X", "description": "x", "examples": ["y"]}),
    "prose of a rare keyword": ({"not": {"type": "null"}}, {"not": {"type": "null", "title": "N"}}),
}


@pytest.mark.parametrize(("left", "right"), SAME.values(), ids=SAME)
def test_spellings_of_one_thing(left: dict[str, Any], right: dict[str, Any]) -> None:
    defs = {"$defs": {"n": {"type": "integer", "minimum": 2}}}
    assert atoms(properties(left, **defs)) == atoms(properties(right, **defs))


DIFFERENT = {
    "type": ({"type": "string"}, {"type": "integer"}),
    "bound": ({"type": "integer", "minimum": 1}, {"type": "integer", "minimum": 2}),
    "value": ({"enum": ["a"]}, {"enum": ["a", "b"]}),
    "null": ({"type": "string"}, {"type": ["string", "null"]}),
    "default": ({"type": "string"}, {"type": "string", "default": "a"}),
    "pattern": ({"type": "string", "pattern": "^a$"}, {"type": "string"}),
    "closed": (properties({}), properties({}, additionalProperties=False)),
    "items": ({"type": "array", "items": {"type": "string"}}, {"type": "array"}),
    "required": (properties({}, required=["x"]), properties({})),
    "map": ({"type": "object", "additionalProperties": {"type": "string"}}, {"type": "object"}),
}


@pytest.mark.parametrize(("left", "right"), DIFFERENT.values(), ids=DIFFERENT)
def test_what_differs(left: dict[str, Any], right: dict[str, Any]) -> None:
    assert atoms(properties(left)) != atoms(properties(right))


def test_a_schema_that_holds_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    assert len(atoms(properties({"$ref": "#/$defs/node"}, **{"$defs": {"node": node}}))) > 2


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("find(kind: a|b, most: int <= 9) object", 1.0),
        ("find(kind)", 2 / 8),  # the name stands for the property and for "required"
        ("", 0.0),
    ],
)
def test_lenient_search(text: str, share: float) -> None:
    wanted = atoms(TOOLS[0]["parameters"])
    assert found_in_text(wanted, text) / len(wanted) == pytest.approx(share)


def test_a_word_within_a_word_is_not_found() -> None:
    wanted = atoms(properties({"enum": ["on"]}))
    assert found_in_text(wanted, "only an object x") == 2  # the type and the name, not the value


def test_lines_belong_to_the_tool_that_opens_them() -> None:
    assert by_tool("all tools:\n<tool>find(kind): x\nmore</tool>\nping", TOOLS) == {
        "find": "all tools:\n<tool>find(kind): x\nmore</tool>",
        "ping": "all tools:\nping",
    }


@pytest.fixture(scope="module")
def rows() -> dict[str, peers.Row]:
    """The rows of the demo's catalog whose packages are installed."""
    count = tokenizer_of("o200k_base").count
    catalogs = peers.load([])
    return {one.name: peers.row_of(one, catalogs, count) for one in CONTENDERS if one.present}


def of_kind(*words: str) -> list[str]:
    return [one.name for one in CONTENDERS if one.name.startswith(words) and one.present]


@pytest.mark.parametrize("name", of_kind("JSON", "TOON", "tscg text", "tscg passthrough"))
def test_what_has_a_parser_keeps_every_atom(rows: dict[str, peers.Row], name: str) -> None:
    row = rows[name]
    assert (row.found, row.searched) == (row.atoms, False)
    assert row.atoms > 700


def test_what_is_shown_less_has_fewer_atoms(rows: dict[str, peers.Row]) -> None:
    shares = [rows[f"tscg {name}"].found for name in ("text, brief", "dispatch, signature", "dispatch, names")]
    assert shares == sorted(set(shares), reverse=True)


def test_table_of_the_readme(rows: dict[str, peers.Row]) -> None:
    if not is_exact(tokenizer_of("o200k_base")):
        pytest.skip("counts are estimates: no vocabulary of o200k_base is installed")
    _, begin, rest = (ROOT / "README.md").read_text(encoding="utf-8").partition(peers.BEGIN)
    block, end, _ = rest.partition(peers.END)
    assert begin, f"README.md has no {peers.BEGIN}"
    assert end, f"README.md has no {peers.END}"
    found = {}
    for line in block.strip().splitlines()[2:]:
        name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        found[name] = cells[: len(peers.FIXED)]
    baseline = next(iter(rows.values())).sent
    assert {name: found.get(name) for name in rows} == {name: row.cells(baseline) for name, row in rows.items()}
    assert found.keys() <= {*(one.name for one in CONTENDERS), *(one.name for one in NODE_PEERS)}


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document, catalog = tmp_path / "page.md", tmp_path / "tools.json"
    document.write_text(f"before\n{peers.BEGIN}\nold\n{peers.END}\nafter\n", encoding="utf-8")
    catalog.write_text(json.dumps(TOOLS), encoding="utf-8")
    peers.main([str(catalog), "--no-times", "--write", str(document)])
    text = document.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert text.count("\n| tscg ") == sum(one.ours for one in CONTENDERS)
    peers.main([str(catalog), "--time", "tscg text, brief"])
    assert json.loads(capsys.readouterr().out)["resolve"] > 0


def test_a_file_without_marks() -> None:
    with pytest.raises(SystemExit, match="peers"):
        peers.written_into("nothing here", "table")


# What a package of that name answers, in the words of its documentation; the packages themselves are not at hand here.
PACKAGES = {
    "@tscg/core": 'export const compress = (tools, { profile }) => ({ compressed: profile + " " + tools[0].function.name });',
    "toolgz": """
        export const compress = (tools, { level }) => ({
          tools: [{ name: "t", description: "calls", input_schema: { type: "object" } }],
          systemPreamble: level === 3 ? tools.map((tool, n) => `a${n} ${tool.name} kind`).join("\\n") : "",
          encodeCallForTest: (name, args) => ({ name, args }),
          resolve: (name, args) => ({ kind: "call", name, args }),
        });
    """,
}


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_node(tmp_path: Path) -> None:
    for name, source in PACKAGES.items():
        folder = tmp_path / "node_modules" / name
        folder.mkdir(parents=True)
        (folder / "package.json").write_text(json.dumps({"name": name, "type": "module", "exports": "./index.js"}))
        (folder / "index.js").write_text(source)
    core = run_node(NodePeer(name="core", package="@tscg/core", options={"profile": "balanced"}), tmp_path, [TOOLS])
    assert core is not None
    assert core.shown[0].catalog == "balanced find"
    assert core.times["resolve"] is None
    packed = run_node(NodePeer(name="toolgz", package="toolgz", options={"level": 3}), tmp_path, [TOOLS])
    assert packed is not None
    assert packed.shown[0].texts == {"find": "a0 find kind", "ping": "a1 ping kind"}
    assert len(packed.shown[0].sent) == 2
    assert packed.times["resolve"] is not None
    assert run_node(NodePeer(name="none", package="absent"), tmp_path, [TOOLS]) is None


@pytest.mark.skipif("TSCG_NODE" not in os.environ, reason="TSCG_NODE names no folder with node_modules")
def test_toon_of_node_and_of_python_agree(rows: dict[str, peers.Row]) -> None:
    catalogs = peers.load([])
    answer = run_node(NODE_PEERS[0], Path(os.environ["TSCG_NODE"]), catalogs)
    assert answer is not None
    made = peers.figures("TOON", answer.shown, catalogs, tokenizer_of("o200k_base").count)
    assert made == rows["TOON"]
