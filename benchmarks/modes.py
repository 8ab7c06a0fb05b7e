"""Tokens of everything that each mode sends of one catalog, beside minified JSON.

uv run python -m benchmarks.modes FILE
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import tscg
from tscg.stats import baseline_tokens
from tscg.tokenizers import tokenizer_of

FORMS: dict[str, tuple[str | tscg.Dispatch | tscg.Code, str]] = {
    "dispatch, names": (tscg.Dispatch(map="names"), "balanced"),
    "dispatch, hybrid (default)": (tscg.Dispatch(), "balanced"),
    "dispatch, signature": (tscg.Dispatch(map="signature"), "balanced"),
    "dispatch, grouped": (tscg.Dispatch(group="namespace"), "balanced"),
    "text, signature": ("text", "signature"),
    "text, brief": ("text", "brief"),
    "text, balanced (default)": ("text", "balanced"),
    "text, lossless": ("text", "lossless"),
    "code, brief": (tscg.Code(), "brief"),
    "native, brief": ("native", "brief"),
    "native, balanced": ("native", "balanced"),
    "passthrough": ("passthrough", "balanced"),
}


def main(path: str) -> None:
    """Print one line a form, and the mean of a lookup's reply."""
    tools = json.loads(Path(path).read_text(encoding="utf-8"))
    catalog = tscg.Catalog.from_tools(tools)
    counter = tokenizer_of(None)
    baseline = baseline_tokens(catalog, counter)
    print(f"{len(catalog)} tools, {baseline:,} tokens as minified JSON ({counter.name})")
    for name, (mode, profile) in FORMS.items():
        compiled = tscg.compile(catalog, mode=mode, profile=profile)
        print(f"{name:28} {compiled.stats.tokens:7,} {compiled.stats.saved:7.1%}  fixed {compiled.stats.fixed_tokens}")
    compiled = tscg.compile(catalog, mode="dispatch")
    replies = [compiled.resolve(compiled.lookup_tool, {"tools": [tool.name]}) for tool in catalog]
    counts = [counter.count(reply.reply) for reply in replies if isinstance(reply, tscg.Lookup)]
    print(f"{'a lookup replies with':28} {sum(counts) / max(len(counts), 1):7,.0f} on average")


if __name__ == "__main__":
    main(sys.argv[1])
