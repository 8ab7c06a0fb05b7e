"""One entry of a registry: a compiled catalog as JSON, and back without compiling.

An entry keeps what was sent (text mode: the prompt in its parts) and what the choice of options came to. All that the
way back needs beside it is in the source, the tools as their server gave them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tscg.errors import RegistryError
from tscg.ir import JSON, Catalog
from tscg.modes.compiled import CompiledCatalog

if TYPE_CHECKING:
    from tscg.tokenizers import Tokenizer

__all__ = ["ENTRY_FORMAT", "Home", "StoredCatalog", "baseline_of", "content", "dump", "load", "prove", "source_catalog"]

ENTRY_FORMAT = 1


class StoredCatalog(CompiledCatalog):
    """A compiled catalog that was read and not compiled.

    It equals a fresh compilation field by field. What only figures and ``previous=`` need, the prose that the profile
    keeps, is worked out from the source when first asked for.
    """

    @cached_property  # type: ignore[misc]  # a field that is filled late
    def shown(self) -> Catalog:
        """The tools with the prose that the profile keeps."""
        from tscg.pipeline import led, rewritten

        return led(rewritten(self.catalog, self.profile_used), self.active)


def content(value: object) -> bytes:
    """The bytes of a JSON value in a registry: ASCII, minified, keys in the order given."""
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def source_catalog(source: Mapping[str, Any], on_error: str) -> Catalog:
    """The catalog of a source."""
    return Catalog.from_tools(source["raw"], server=source["server"], on_error=on_error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """Where entries come from: the label of the server, its source's digest, and what was done with bad tools.

    ``baseline`` holds the tokens of each tool, and of all (the empty name), as minified JSON.
    """

    server: str
    source: str
    on_error: str
    made_with: Mapping[str, str]
    baseline: Mapping[str, int]


def baseline_of(catalog: Catalog, tokenizer: Tokenizer) -> dict[str, int]:
    """Tokens of each tool, and of all of them under the empty name, as a minified tools field of OpenAI's chat form."""
    from tscg.stats import baseline_tokens, minified, openai_form

    tools = {tool.name: tokenizer.count(minified(openai_form(tool))) for tool in catalog}
    return {**tools, "": baseline_tokens(catalog, tokenizer)}


def dump(compiled: CompiledCatalog, home: Home) -> dict[str, JSON]:
    """A compilation of text mode as JSON. Figures are those of ``compiled.stats``, counted in fewer steps."""
    from tscg.tokenizers import is_exact

    text, emitted, count = compiled.text, compiled.emitted, compiled.tokenizer.count
    before, _, after = compiled.prompt.partition(text) if text else ("", "", compiled.prompt)
    rows: list[JSON] = [
        {"name": name, "text": entry, "tokens": count(entry), "baseline_tokens": home.baseline[name]}
        for name, entry in compiled.entries.items()
    ]
    return {
        "tscg_entry": ENTRY_FORMAT, "server": home.server, "source": home.source, "on_error": home.on_error,
        "mode": compiled.mode, "profile": compiled.profile, "tokenizer": compiled.tokenizer.name,
        "made_with": dict(home.made_with), "fingerprint": compiled.fingerprint, "encoding": compiled.encoding,
        "dialect": compiled.dialect, "active": [*sorted(compiled.active)], "wire_names": dict(compiled.wire_names),
        "lookup_tool": compiled.lookup_tool, "warnings": [*compiled.warnings], "reasons": [*compiled.reasons],
        "anchors": compiled.anchors, "closure": compiled.closure, "exact": is_exact(compiled.tokenizer),
        "tokens": count(compiled.prompt), "baseline_tokens": home.baseline[""],
        "fixed_tokens": count(before + after), "before": before, "head": emitted.head if emitted is not None else "",
        "tools": rows, "after": after,
    }  # fmt: skip


def load(entry: Mapping[str, Any], source: Mapping[str, Any]) -> CompiledCatalog:
    """The compiled catalog of an entry and its source."""
    from tscg.language.emit import Emitted
    from tscg.language.share import Shared
    from tscg.modes.options import mode_of
    from tscg.modes.sent import Sent
    from tscg.profiles import profile_of

    rows = entry["tools"]
    names = [row["name"] for row in rows]
    emitted = Emitted(head=entry["head"], entries=tuple(row["text"] for row in rows), shared=Shared())
    catalog = source_catalog(source, entry["on_error"])
    prompt = f"{entry['before']}{emitted.text}{entry['after']}"
    sent = Sent(prompt=prompt, emitted=emitted, lookup_tool=entry["lookup_tool"])
    return StoredCatalog(  # type: ignore[call-arg]  # `shown` is filled late
        catalog=catalog.replace([catalog.by_name[name] for name in names]), options=mode_of(entry["mode"]),
        profile_used=profile_of(entry["profile"]), encoding=entry["encoding"], counting=entry["tokenizer"], sent=sent,
        wire_names=entry["wire_names"], details=dict.fromkeys(names, entry["profile"]), dialect=entry["dialect"],
        active=frozenset(entry["active"]), warnings=tuple(entry["warnings"]), reasons=tuple(entry["reasons"]),
        anchors=entry["anchors"], closure=entry["closure"],
    )  # fmt: skip


def prove(compiled: CompiledCatalog, part: str) -> None:
    """Read the text back and compare it with the source; RegistryError where they do not say the same.

    In ``lossless`` the two catalogs are equal. In the other profiles they are equal but for prose: the text accepts
    exactly the calls that the source accepts.
    """
    from tscg.language.parse import decompile
    from tscg.operators.prose import without_prose

    read, source = decompile(compiled.text), compiled.catalog
    if compiled.profile != "lossless":
        read, source = (one.replace([without_prose(tool) for tool in one]) for one in (read, source))
    if read != source:
        wrong = next((tool.name for tool in source if read.by_name.get(tool.name) != tool), "another tool")
        raise RegistryError(part, f"is not equivalent to its source: {wrong} is not the same in both")
