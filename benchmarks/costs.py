"""Measures what a text costs, over catalogs given by path, with the true tokenizers: prints, changes nothing.

It gives the figures of `tscg.costs` (characters a token, in prose and in structure) and of `tscg.estimator` (mean
tokens of a piece by its kind and length), and how far the estimator is off on each catalog. Structure is measured in
both languages: as minified JSON, and as compiled text, each without prose.

    python benchmarks/costs.py FOLDER_OR_FILE...
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import tscg
from tscg.costs import COSTS
from tscg.estimator import PIECES, Estimator, kind_of
from tscg.ir import JSON
from tscg.tokenizers import Encoding

ENCODINGS = ("o200k_base", "cl100k_base")
LONGEST = 16  # characters: longer pieces are too few for a mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """One catalog as text: minified and pretty OpenAI JSON, compiled, its prose, and both languages without prose."""

    name: str
    minified: str
    pretty: str
    compiled: str
    prose: str
    bare_json: str
    bare_text: str


def read(path: Path) -> Texts:
    """The texts of a catalog file: a list of tools, or an object with `tools`, in OpenAI or MCP form."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    tools = [tool.get("function", tool) for tool in (raw["tools"] if isinstance(raw, dict) else raw)]
    forms: list[JSON] = [
        {
            "type": "function",
            "function": {
                "name": tool["name"],
                "description": tool.get("description") or "",
                "parameters": tool.get("inputSchema") or tool.get("parameters") or {"type": "object", "properties": {}},
            },
        }
        for tool in tools
    ]
    prose: list[str] = []
    bare = _without_prose(forms, prose)
    return Texts(
        name=path.stem,
        minified=_minified(forms),
        pretty=json.dumps(forms, ensure_ascii=False, indent=2),
        compiled=tscg.compile(forms).text,
        prose="\n".join(prose),
        bare_json=_minified(bare),
        bare_text=tscg.compile(bare, profile="lossless").text,
    )


def _minified(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _without_prose(value: JSON, prose: list[str]) -> JSON:
    """The value without its descriptions, which are put into `prose`. A property called description is an object."""
    if isinstance(value, list):
        return [_without_prose(item, prose) for item in value]
    if not isinstance(value, dict):
        return value
    kept: dict[str, JSON] = {}
    for key, item in value.items():
        if key == "description" and isinstance(item, str):
            prose.append(item)
        else:
            kept[key] = _without_prose(item, prose)
    return kept


def costs(catalogs: list[Texts], encoding: str) -> tuple[float, float, float]:
    """Characters a token over all catalogs: in prose, in JSON without prose, in compiled text without prose."""
    count = Encoding(name=encoding).count

    def rate(texts: list[str]) -> float:
        return sum(map(len, texts)) / max(1, sum(map(count, texts)))

    return (
        rate([texts.prose for texts in catalogs]),
        rate([texts.bare_json for texts in catalogs]),
        rate([texts.bare_text for texts in catalogs]),
    )


def pieces(catalogs: list[Texts], encoding: str) -> dict[str, dict[int, tuple[int, float]]]:
    """By kind and length of a piece: how many there are, and their mean tokens."""
    count = Encoding(name=encoding).count
    found: dict[str, dict[int, tuple[int, float]]] = {}
    everything = (text for texts in catalogs for text in (texts.minified, texts.pretty, texts.prose))
    for piece, times in Counter(p for text in everything for p in re.findall(PIECES, text)).items():
        kind, length = kind_of(piece)
        if kind != "wide" and length <= LONGEST:
            number, mean = found.setdefault(kind, {}).get(length, (0, 0.0))
            total = number + times
            found[kind][length] = (total, mean + (count(piece) - mean) * times / total)
    return found


KINDS = ("minified", "pretty", "compiled", "prose")


def errors(catalogs: list[Texts], encoding: str) -> dict[str, list[float]]:
    """How far the estimator is off on each catalog, as a share, for each of `KINDS`."""
    true, estimate = Encoding(name=encoding).count, Estimator(encoding).count
    return {
        texts.name: [estimate(text) / max(1, true(text)) - 1 for text in (getattr(texts, kind) for kind in KINDS)]
        for texts in catalogs
    }


def main(arguments: list[str]) -> int:
    """Print the figures for the catalogs; 2 when none is named or the vocabularies are absent."""
    paths = [
        file for path in map(Path, arguments) for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])
    ]
    if not paths or not all(Encoding(name=encoding).exact for encoding in ENCODINGS):
        print("usage: python benchmarks/costs.py FOLDER_OR_FILE... (with the vocabularies installed)", file=sys.stderr)
        return 2
    catalogs = [read(path) for path in paths]
    for encoding in ENCODINGS:
        prose, bare_json, bare_text = costs(catalogs, encoding)
        now = COSTS[encoding]
        print(f"\n{encoding}: characters a token over {len(catalogs)} catalogs")
        print(f"  prose {prose:.2f}  JSON without prose {bare_json:.2f}  compiled text without prose {bare_text:.2f}")
        print(f"  in tscg.costs: prose {now.prose_chars}, structure {now.structure_chars}")
        print("mean tokens of a piece by its length, for tscg.estimator")
        for kind, row in sorted(pieces(catalogs, encoding).items()):
            print(f"  {kind:10}", "  ".join(f"{length}: {mean:.2f}" for length, (_, mean) in sorted(row.items())))
        print("error of the estimator:", ", ".join(KINDS))
        rows = errors(catalogs, encoding)
        for name, off in rows.items():
            print(f"  {name:28}", "  ".join(f"{share:+7.1%}" for share in off))
        for end in (min, max):
            ends = (end(column) for column in zip(*rows.values(), strict=True))
            print(f"  {end.__name__:28}", "  ".join(f"{share:+7.1%}" for share in ends))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
