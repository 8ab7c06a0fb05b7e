"""Counts which spelling of the delimiters takes the fewest tokens, and prints the table of `tscg.language.spelling`.

Tokens merge across a delimiter, so each spelling is counted in whole texts: first every spelling of each slot with the
others as they are by default, then every combination of the best few of each slot. The corpus is a generated sample and
the catalogs given by path.

    python -m benchmarks.spelling [FOLDER_OR_FILE...]         # the table
    python -m benchmarks.spelling --all [FOLDER_OR_FILE...]   # every combination
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from benchmarks import generate
from tscg.costs import costs_of
from tscg.ir import Catalog
from tscg.language import emit
from tscg.language.spelling import DEFAULT, SLOTS, SPELLINGS, Spelling
from tscg.record import replace
from tscg.tokenizers import Encoding

Count = Callable[[str], int]
KEEP = 2  # spellings of each slot that go into the full product
SAMPLE = 120  # generated tools
LINES = (
    "Use it when:\n- the {thing} is known\n- nothing else fits\nNotes:\n1. Names are unique.\n2. Dates are in UTC.",
    "The {thing} must exist.\nOnly members of the workspace may call it.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A spelling and the tokens that the corpus takes in it."""

    tokens: int
    spelling: Spelling


def sample(count: int = SAMPLE) -> Catalog:
    """Generated tools, every third one with prose of several lines, as real servers have it.

    >>> sum("\\n" in tool.description for tool in sample(9))
    3
    """
    tools = generate.catalog(count)
    for index, tool in enumerate(tools):
        if index % 3 == 0:
            text = LINES[index // 3 % len(LINES)].format(thing=tool["name"].rpartition("_")[2])
            tools[index] = tool | {"description": f"{tool['description']}\n\n{text}"}
    return Catalog.from_tools(tools)


def total(catalogs: Iterable[Catalog], spelling: Spelling, encoding: str, count: Count) -> int:
    """Tokens of the lossless texts of the catalogs, headers included."""
    return sum(count(emit(catalog, spelling, costs_of(encoding)).text) for catalog in catalogs)


def combinations(slots: Mapping[str, Sequence[str]]) -> Iterable[Spelling]:
    """Every combination of spellings, the default first.

    >>> len(list(combinations({"enum": (" ", "|"), "gap": (" ", ", ")})))
    4
    """
    for chosen in product(*slots.values()):
        yield replace(DEFAULT, **dict(zip(slots, chosen, strict=True)))


def best(catalogs: Sequence[Catalog], encoding: str, count: Count, keep: int | None = KEEP) -> list[Scored]:
    """Spellings by tokens, the fewest first; ``keep`` spellings of each slot are combined, all with None. The first
    wins a tie."""
    slots = {slot: list(spellings) for slot, spellings in SLOTS.items()}
    if keep is not None:
        for slot, spellings in slots.items():
            alone = {each: total(catalogs, replace(DEFAULT, **{slot: each}), encoding, count) for each in spellings}
            slots[slot] = sorted(spellings, key=alone.__getitem__)[:keep]
    scored = [Scored(tokens=total(catalogs, each, encoding, count), spelling=each) for each in combinations(slots)]
    return sorted(scored, key=lambda row: row.tokens)


def read(path: Path) -> Catalog:
    """A catalog file in any form that the core reads."""
    return Catalog.from_tools(json.loads(path.read_text(encoding="utf-8")))


def main(arguments: list[str]) -> int:
    """Print the best spelling of each encoding; 2 when a vocabulary is absent."""
    given = [Path(argument) for argument in arguments if argument != "--all"]
    paths = [file for path in given for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    catalogs = [sample(), *map(read, paths)]
    for encoding, shipped in SPELLINGS.items():
        tokenizer = Encoding(name=encoding)
        if not tokenizer.exact:
            print(
                f"the vocabulary of {encoding} is absent: install llama-index-core or tiktoken's cache", file=sys.stderr
            )
            return 2
        rows = best(catalogs, encoding, tokenizer.count, None if "--all" in arguments else KEEP)
        now = total(catalogs, shipped, encoding, tokenizer.count)
        print(f"\n{encoding}: {sum(map(len, catalogs))} tools, {len(rows)} combinations, {now} tokens as shipped")
        for row in rows[:5]:
            print(f"  {row.tokens:>9} {row.tokens / now - 1:+8.3%}  {row.spelling}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
