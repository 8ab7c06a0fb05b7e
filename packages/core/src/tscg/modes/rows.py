"""Providers as data: what each takes in its tools field, beyond the shape that its adapter writes."""

from __future__ import annotations

from tscg.record import Record

__all__ = ["ANTHROPIC", "GEMINI", "OPENAI", "ROWS", "ProviderRow", "StrictRow", "gemini_dialect"]


class StrictRow(Record):
    """What a provider's strict mode takes.

    ``said`` are keywords that it refuses and that only narrow a value: they are left out and said in words. ``refused``
    keep a tool non-strict. ``optional`` says that parameters may stay optional; else they become required and nullable.
    ``formats`` are the formats it knows. ``levels``, ``properties`` and ``members`` are its limits, ``recursion``
    whether a type may hold itself.
    """

    said: frozenset[str]
    refused: frozenset[str]
    formats: frozenset[str]
    optional: bool
    recursion: bool
    levels: int = 10
    properties: int = 5_000
    members: int = 1_000


class ProviderRow(Record):
    """Limits of a provider: most tools (None: no limit known), the pattern of a property name ("": any)."""

    name: str
    tools: int | None = None
    keys: str = ""
    strict: StrictRow | None = None
    source: str = ""


_NARROWING = frozenset({"default", "minLength", "maxLength", "uniqueItems", "minProperties", "maxProperties"})
_BOUNDS = frozenset({
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "pattern",
})  # fmt: skip
_STRUCTURAL = frozenset({
    "allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties", "propertyNames",
    "unevaluatedProperties", "unevaluatedItems", "contains", "minContains", "maxContains", "prefixItems",
})  # fmt: skip
_FORMATS = frozenset({"date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})

OPENAI = ProviderRow(
    name="openai",
    tools=128,
    strict=StrictRow(said=_NARROWING, refused=_STRUCTURAL, formats=_FORMATS, optional=False, recursion=True),
    source="platform.openai.com/docs, structured outputs: supported schemas; error array_above_max_length",
)
ANTHROPIC = ProviderRow(
    name="anthropic",
    keys=r"[a-zA-Z0-9_.-]{1,64}\Z",
    strict=StrictRow(
        said=_NARROWING
        | {
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minItems",
            "maxItems",
            "pattern",
        },
        refused=_STRUCTURAL,
        formats=_FORMATS | {"uri"},
        optional=True,
        recursion=False,
    ),
    source="platform.claude.com/docs, structured outputs: JSON Schema limitations; error on keys of input_schema",
)
GEMINI = ProviderRow(
    name="gemini",
    keys=r"[a-zA-Z_][a-zA-Z0-9_]{0,63}\Z",
    source="reference of FunctionDeclaration: names of parameters",
)
ROWS = {row.name: row for row in (OPENAI, ANTHROPIC, GEMINI)}


def gemini_dialect(model: str | None) -> str:
    """``json_schema`` for a model whose row says that it takes it, else ``openapi``, which every one takes.

    >>> gemini_dialect("gemini-2.5-pro"), gemini_dialect("gemini-1.5-flash"), gemini_dialect(None)
    ('json_schema', 'openapi', 'openapi')
    """
    if not model:
        return "openapi"
    from tscg.models import row_of

    row = row_of(model)
    return "json_schema" if row.family == "gemini" and row.schema == "json" else "openapi"
