"""Options of the modes: a name stands for the defaults of its options object."""

from __future__ import annotations

from collections.abc import Mapping

from tscg.errors import ConfigError
from tscg.record import Record, replace

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from typing import TypeAlias

__all__ = ["MAPS", "MODES", "Code", "Dispatch", "Mode", "Native", "Passthrough", "Text", "agent_mode", "mode_of"]

MAPS = ("names", "hybrid", "signature")
HANDLES = ("names", "codes")
ARGUMENTS = ("object", "json")
TRANSPORTS = ("native", "text")
STRICT = (None, False, True, "auto")


class _Options(Record):
    """Base of the options of a mode: an unknown one, or one of another mode, is a ConfigError."""

    if not TYPE_CHECKING:

        def __init__(self, **given):
            for option in given.keys() - self._names:
                owners = [name for name, kind in MODES.items() if option in kind._fields]
                hint = f"{option} is an option of {' and '.join(owners)} mode" if owners else ""
                raise ConfigError(f"{self.name} mode has no option {option!r}", allowed=self._fields, hint=hint)
            super().__init__(**given)


class Passthrough(_Options):
    """Tools as they are, one wire tool each; calls are decoded and validated."""

    name = "passthrough"


class Native(_Options):
    """One wire tool each: a signature line and prose in the description, a schema without prose.

    ``strict`` is what ``to_openai`` and ``to_openai_responses`` take when they are given none: ``"auto"`` decides per
    tool.
    """

    name = "native"

    strict: bool | str | None = None


class Text(_Options):
    """The catalog in the prompt and no wire tools; the model writes calls as text.

    ``dialect`` is a row of the taught syntaxes (None: the model's). ``constrained`` teaches the form of
    ``output_schema()`` instead, for servers that hold the model to it.
    """

    name = "text"

    dialect: str | None = None
    constrained: bool = False


class Dispatch(_Options):
    """Two wire tools for any number of tools, ``call`` and ``lookup``, and a map in the prompt.

    ``map`` is how much a line says (``names``, ``hybrid``, ``signature``; by default ``hybrid``, and in groups
    ``names``), ``typed`` adds all scalar types to the signatures. ``handles`` is what the map names tools by, their
    names or short codes. ``arguments="json"`` makes the dispatcher's arguments a text that holds JSON.
    ``group="namespace"`` sends one wire tool for each namespace instead of ``call``; a mapping of tool to namespace
    does so with those. ``require_notes`` refuses a tool without a note.
    """

    name = "dispatch"

    map: str | None = None
    typed: bool = False
    handles: str = "names"
    arguments: str = "object"
    group: str | Mapping[str, str] | None = None
    require_notes: bool = False

    @property
    def lines(self) -> str:
        """The map in use: the one given, else ``names`` in groups and ``hybrid`` elsewhere."""
        return self.map or ("hybrid" if self.group is None else "names")


class Code(_Options):
    """Typed Python stubs in the prompt; the model writes a program that calls them.

    ``transport`` sends one wire tool that takes the program (``native``) or teaches a fenced block (``text``). Limits
    of one program: ``max_calls``, ``seconds`` of execution (waiting for tools does not count), ``memory`` in bytes,
    ``recursion`` in frames, ``printed`` in characters, ``result`` in bytes. ``type_check`` checks it before it runs.
    The clock stands still at 2000-01-01 and ``random`` is seeded, unless ``clock`` and ``random`` open them.
    """

    name = "code"

    transport: str = "native"
    max_calls: int = 20
    seconds: float = 5.0
    memory: int = 64 * 1024 * 1024
    recursion: int = 200
    printed: int = 20_000
    result: int = 4 * 1024 * 1024
    type_check: bool = True
    clock: bool = False
    random: bool = False


Mode: TypeAlias = "Passthrough | Native | Text | Dispatch | Code"

MODES: dict[str, type[Mode]] = {
    "text": Text,
    "native": Native,
    "dispatch": Dispatch,
    "code": Code,
    "passthrough": Passthrough,
}
"""The modes by name."""

_CHOICES: dict[type[Record], dict[str, tuple[object, ...]]] = {
    Native: {"strict": STRICT},
    Dispatch: {"map": (None, *MAPS), "handles": HANDLES, "arguments": ARGUMENTS},
    Code: {"transport": TRANSPORTS},
}


#: Modes in which an agent runs calls.
AGENT_MODES = ("auto", "native", "text", "dispatch", "passthrough")


def mode_of(given: object) -> Mode:
    """The options of a mode given by name or as an options object; ConfigError naming the valid ones.

    >>> mode_of("text")
    Text()
    """
    found: Mode | None = None
    if isinstance(given, Passthrough | Native | Text | Dispatch | Code):
        found = given
    elif isinstance(given, str) and given in MODES:
        found = MODES[given]()
    if found is None:
        raise ConfigError(f"unknown mode {given!r}", allowed=("auto", *MODES))
    for option, allowed in _CHOICES.get(type(found), {}).items():
        value = getattr(found, option)
        if not any(value is one or value == one for one in allowed):
            raise ConfigError(f"{found.name}: {option} is {value!r}", allowed=tuple(map(str, allowed)))
    if isinstance(found, Dispatch) and isinstance(found.group, str) and found.group != "namespace":
        raise ConfigError(
            f"dispatch: group is {found.group!r}", allowed=("namespace", "a mapping of tool to namespace", "None")
        )
    if isinstance(found, Dispatch) and found.map is not None and found.map == replace(found, map=None).lines:
        return replace(found, map=None)  # the default by its name is the default
    return found


def agent_mode(given: object, bypassed: str) -> Mode:
    """The options of a mode in which an agent runs calls; ConfigError for any other.

    ``bypassed`` is what a program would bypass in an agent, where each call is run by the framework.

    >>> agent_mode("text", "hooks")
    Text()
    """
    named = isinstance(given, str) and given in MODES
    if not (named or isinstance(given, Passthrough | Native | Text | Dispatch | Code)):
        import difflib

        near = difflib.get_close_matches(str(given).lower(), AGENT_MODES, 1)
        hint = f"did you mean {near[0]!r}?" if near else ""
        raise ConfigError(f"unknown mode {given!r}", allowed=AGENT_MODES, hint=hint)
    found = mode_of(given)
    if isinstance(found, Code):
        raise ConfigError(
            f"code mode is not offered here: an agent runs calls, and a program would bypass its {bypassed}",
            allowed=AGENT_MODES,
        )
    return found
