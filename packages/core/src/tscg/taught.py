"""Call syntaxes that a prompt teaches, one row each, and what the prompt says about calling."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from operator import attrgetter

from tscg.record import Record

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from typing import Any

    from tscg.ir import Catalog, Tool
    from tscg.resolve import Surface

_NAME = attrgetter("name")
__all__ = ["LOOKUPS", "TAUGHT", "Taught", "hides", "how_to_call", "lookup_name", "written"]


class Taught(Record):
    """How a dialect is taught: only dialects whose whole call is JSON, since only there its end is decidable.

    A call is ``opener``, an object with the keys ``name`` and ``arguments``, ``closer``. ``answer`` stands around a
    result; ``escaped`` is how a literal ``closer`` is to be written inside a string, where the prompt says so (the
    server's own parser or a stop string would end the call there; tokens of a chat template do not come about by
    accident). ``families`` are models that were trained on it.
    """

    opener: str
    closer: str
    answer: tuple[str, str]
    name: str = "name"
    arguments: str = "arguments"
    escaped: str = ""
    families: tuple[str, ...] = ()


RESPONSE = ("<tool_response>", "</tool_response>")

TAUGHT: dict[str, Taught] = {
    "tool_call": Taught(
        opener="<tool_call>",
        closer="</tool_call>",
        answer=RESPONSE,
        escaped="\\u003c/tool_call>",
        families=("qwen", "hermes", "glm"),
    ),
    "mistral": Taught(
        opener="[TOOL_CALLS][", closer="]", answer=("[TOOL_RESULTS]", "[/TOOL_RESULTS]"), families=("mistral",)
    ),
    "llama": Taught(opener="<|python_tag|>", closer="", answer=RESPONSE, arguments="parameters", families=("llama",)),
    "nemotron": Taught(
        opener="<TOOLCALL>[",
        closer="]</TOOLCALL>",
        answer=("<TOOL_RESPONSE>", "</TOOL_RESPONSE>"),
        families=("nemotron",),
    ),
    "granite": Taught(opener="<|tool_call|>[", closer="]", answer=RESPONSE, families=("granite",)),
    "phi": Taught(
        opener="<|tool_call|>[",
        closer="]<|/tool_call|>",
        answer=("<|tool_response|>", "<|/tool_response|>"),
        families=("phi",),
    ),
    "cohere": Taught(
        opener="<|START_ACTION|>[",
        closer="]<|END_ACTION|>",
        answer=("<|START_TOOL_RESULT|>", "<|END_TOOL_RESULT|>"),
        name="tool_name",
        arguments="parameters",
        families=("command",),
    ),
    "internlm": Taught(
        opener="<|action_start|><|plugin|>",
        closer="<|action_end|>",
        answer=RESPONSE,
        arguments="parameters",
        families=("internlm",),
    ),
}
"""The taught rows by name. The name of a row that is a dialect of the decoder is that dialect's."""

LOOKUPS = ("lookup", "lookup_tool", "tscg_lookup")
"""Names of the lookup, of which the first that no tool has is taken."""


def how_to_call(
    dialect: str,
    *,
    must_call: bool = False,
    parallel: bool = True,
    short: bool = False,
    lookup: str = "",
    constrained: bool = False,
) -> str:
    """What the prompt says about calling: at most 70 tokens. ``short`` is the syntax alone, for an error.

    ``lookup`` is the name of the lookup, empty where there is none; a required call offers none. ``constrained``
    teaches the form of :func:`tscg.constrain.output_schema` in place of the row's.

    >>> how_to_call("tool_call", short=True)
    'Write calls as they were shown: a name and an object of arguments, as JSON.'
    >>> print(how_to_call("tool_call", lookup="lookup"))
    To call a tool, write <tool_call>{"name":"NAME","arguments":{...}}</tool_call>
    Inside strings the closer is \\u003c/tool_call>. Several in a row run in parallel. Results come in <tool_response>.
    Tool lookup {"tools":["NAME"]} or {"query":"TEXT"} tells more.
    """
    row = TAUGHT.get(dialect)
    if short or row is None:
        return "Write calls as they were shown: a name and an object of arguments, as JSON."
    if constrained:
        calls = 'Answer in JSON: {"tool_calls":[{"name":"NAME","arguments":{...}}]}'
        lines = [calls if must_call else f'{calls} or {{"answer":"TEXT"}}']
        lines.append("Several calls in one list run in parallel." if parallel else "Make one call at a time.")
    else:
        lines = [
            f'To call a tool, write {row.opener}{{"{row.name}":"NAME","{row.arguments}":{{...}}}}{row.closer}',
            *([f"Inside strings the closer is {row.escaped}."] if row.escaped else []),
            "Several in a row run in parallel." if parallel else "Make one call at a time.",
        ]
    lines.append(f"Results come in {row.answer[0]}.")
    if must_call:
        lines.append("You must call a tool.")
    said = [lines[0], " ".join(lines[1:])]
    if lookup and not must_call:
        said.append(f'Tool {lookup} {{"tools":["NAME"]}} or {{"query":"TEXT"}} tells more.')
    return "\n".join(said)


# --- lookups of hidden prose ------------------------------------------------------------------------------------------


def hides(catalog: Catalog, shown: Catalog) -> bool:
    """Whether the tools as they are shown say less than the catalog; the order of the tools does not matter.

    >>> from tscg.ir import Catalog, Object, Tool
    >>> full = Catalog(tools=(Tool(name="ping", description="Health check. Slow.", root=Object()),))
    >>> brief = Catalog(tools=(Tool(name="ping", description="Health check.", root=Object()),))
    >>> hides(full, brief), hides(full, full)
    (True, False)
    """
    if shown is catalog or shown.tools is catalog.tools:
        return False
    for tool, other in zip(catalog.tools, shown.tools, strict=False):  # often in the same order: the first may tell
        if other.description != tool.description and other.name == tool.name:
            return True
    kept = set(map(id, shown.tools))
    said: dict[str, Tool] = {}
    for tool in catalog.tools:
        if id(tool) not in kept:
            said = said or dict(zip(map(_NAME, shown.tools), shown.tools, strict=True))
            if said.get(tool.name) != tool:
                return True
    return False


def lookup_name(taken: Collection[str]) -> str:
    """The first name of the fixed list that no tool has; empty if all are taken.

    >>> lookup_name({"lookup", "ping"})
    'lookup_tool'
    """
    return next((name for name in LOOKUPS if name not in taken), "")


# --- calls as text ----------------------------------------------------------------------------------------------------


def written(surface: Surface, calls: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """Calls (name, arguments) as the model would write them in the taught form: in a row, or in one list.

    Raises :class:`tscg.ConfigError` for a dialect that is only read.

    >>> from tscg.ir import Catalog
    >>> from tscg.resolve import Surface
    >>> written(Surface(catalog=Catalog(), constrained=True), [("ping", {}), ("ping", {})])
    '{"tool_calls":[{"name":"ping","arguments":{}},{"name":"ping","arguments":{}}]}'
    """
    from tscg.decoders.marks import neutralise
    from tscg.encode import minified, taught

    if surface.run_tool:
        from tscg.code.writing import fenced

        return "\n".join(fenced(arguments) for _, arguments in calls)
    if surface.constrained:
        listed = [{"name": name, "arguments": arguments} for name, arguments in calls]
        return neutralise(minified({"tool_calls": listed}))
    row = taught(surface)
    bodies = [neutralise(minified({row.name: name, row.arguments: arguments})) for name, arguments in calls]
    return "\n".join(f"{row.opener}{body}{row.closer}" for body in bodies)
