"""Tokens of catalogs in each profile beside minified JSON: the table of the README.

    uv run python -m benchmarks.savings FILE_OR_FOLDER... [--tokenizer o200k_base]

The baseline is the minified OpenAI chat form of the whole list. Savings are weighted: all tokens saved over all tokens.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tscg
from tscg.tokenizers import is_exact, tokenizer_of

PROFILES = ("lossless", "conservative", "balanced", "brief", "signature")


def files(paths: list[Path]) -> Iterator[Path]:
    """Catalog files, those of folders by name."""
    for path in paths:
        yield from sorted(path.glob("*.json")) if path.is_dir() else [path]


def row(tools: Any, tokenizer: str) -> tuple[int, int, dict[str, int]]:
    """Tools of a catalog, tokens of its minified JSON, and tokens of its text by profile."""
    count = tokenizer_of(tokenizer).count
    texts = {profile: tscg.compile(tools, profile=profile, tokenizer=tokenizer) for profile in PROFILES}
    first = texts["lossless"]
    return len(first.catalog), first.stats.baseline_tokens, {name: count(one.text) for name, one in texts.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--tokenizer", default="o200k_base")
    options = parser.parse_args()
    print(f"| catalog | tools | minified JSON | {' | '.join(PROFILES)} |")
    print(f"|---|--:|--:|{'--:|' * len(PROFILES)}")
    tools_all = base_all = 0
    sums = dict.fromkeys(PROFILES, 0)
    for path in files(options.paths):
        tools, base, sizes = row(json.loads(path.read_text(encoding="utf-8")), options.tokenizer)
        tools_all, base_all = tools_all + tools, base_all + base
        for profile, size in sizes.items():
            sums[profile] += size
        print(f"| {path.stem} | {tools} | {base:,} | {' | '.join(f'{1 - s / base:.1%}' for s in sizes.values())} |")
    if base_all:
        print(f"| all | {tools_all} | {base_all:,} | {' | '.join(f'{1 - s / base_all:.1%}' for s in sums.values())} |")
    exact = is_exact(tokenizer_of(options.tokenizer))
    print(f"\nCounted with {options.tokenizer}{'' if exact else ' (estimated: no vocabulary was found)'}.")


if __name__ == "__main__":
    main()
