"""Errors that leave the core: whose turn it is (see docs/errors in the documentation).

``ConfigError`` is the developer's turn, ``CompileError`` the catalog's, ``ParseError`` the text's, ``DriftError`` the
server's that changed after approval, ``RegistryError`` the registry's. What a model did wrong is a value,
:class:`tscg.CallError`, and never an exception.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tscg.record import Record

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from tscg.lock import Drift

__all__ = [
    "CompileError", "ConfigError", "DriftError", "Fragment", "ParseError", "RegistryError", "TscgError", "TscgWarning",
    "leaves",
]  # fmt: skip


class TscgError(Exception):
    """Base of every exception that the core raises."""


class TscgWarning(UserWarning):
    """Something that the developer should know and that stops nothing; given once."""


class ConfigError(TscgError):
    """A wrong option: says what was given, what is allowed, and a hint.

    >>> str(ConfigError("unknown mode 'txt'", allowed=("text", "native"), hint="did you mean 'text'?"))
    "unknown mode 'txt'; allowed: text, native; did you mean 'text'?"
    """

    def __init__(self, message: str, *, allowed: Sequence[str] = (), hint: str = "") -> None:
        self.message, self.allowed, self.hint = message, tuple(allowed), hint
        super().__init__(message, self.allowed, hint)

    def __str__(self) -> str:
        parts = [self.message, f"allowed: {', '.join(self.allowed)}" if self.allowed else "", self.hint]
        return "; ".join(part for part in parts if part)


class Fragment(Record):
    """One place of a tool that cannot be read: tool name (or its index), JSON pointer into its schema, reason."""

    tool: str
    pointer: str
    reason: str

    def __str__(self) -> str:
        return f"{self.tool}{f' at {self.pointer}' if self.pointer else ''}: {self.reason}"


class CompileError(TscgError):
    """Tools that cannot be compiled; ``fragments`` names every bad place of every bad tool.

    >>> error = CompileError([Fragment(tool="a", pointer="/properties/x", reason="dangling $ref")])
    >>> str(error), error.tool, error.pointer
    ('a at /properties/x: dangling $ref', 'a', '/properties/x')
    """

    def __init__(self, fragments: Sequence[Fragment], *, hint: str = "") -> None:
        self.fragments, self.hint = tuple(fragments), hint
        super().__init__(self.fragments, hint)

    @property
    def tool(self) -> str:
        """Name of the first bad tool."""
        return self.fragments[0].tool if self.fragments else ""

    @property
    def pointer(self) -> str:
        """JSON pointer of the first bad place, empty for the tool as a whole."""
        return self.fragments[0].pointer if self.fragments else ""

    @property
    def reason(self) -> str:
        """Reason of the first bad place."""
        return self.fragments[0].reason if self.fragments else ""

    def __str__(self) -> str:
        shown = [str(fragment) for fragment in self.fragments[:20]]
        if len(self.fragments) > len(shown):
            shown.append(f"and {len(self.fragments) - len(shown)} more")
        return "; ".join([*shown, self.hint] if self.hint else shown)


class ParseError(TscgError):
    """A text that is not of the catalog language, with the place (line and column from 1).

    >>> str(ParseError("expected a name", line=3, column=7))
    'line 3, column 7: expected a name'
    """

    def __init__(self, message: str, *, line: int, column: int) -> None:
        self.message, self.line, self.column = message, line, column
        super().__init__(message, line, column)

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}"

    def __reduce__(self) -> tuple[object, ...]:
        return _parse_error, (self.message, self.line, self.column)


def _parse_error(message: str, line: int, column: int) -> ParseError:
    return ParseError(message, line=line, column=column)


class DriftError(TscgError):
    """Tools are not those that were approved; ``drifts`` says of each what changed (see :class:`tscg.Lock`)."""

    def __init__(self, drifts: Sequence[Drift]) -> None:
        self.drifts = tuple(drifts)
        super().__init__(self.drifts)

    def __str__(self) -> str:
        shown = [str(drift) for drift in self.drifts[:20]]
        if len(self.drifts) > len(shown):
            shown.append(f"and {len(self.drifts) - len(shown)} more")
        return "; ".join(["not as approved", *shown, "tscg lock approves the tools as they are now"])


class RegistryError(TscgError):
    """A part of a registry is missing, damaged, or not what the index says; names the part and the reason.

    >>> str(RegistryError("objects/ab.json", "is missing"))
    'objects/ab.json is missing'
    """

    def __init__(self, part: str, reason: str) -> None:
        self.part, self.reason = part, reason
        super().__init__(part, reason)

    def __str__(self) -> str:
        return f"{self.part} {self.reason}"


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The errors in a group, those of groups in it too; of an error that is no group itself.

    Tasks that run together raise their errors in a group, whose own words say nothing.

    >>> group = ExceptionGroup("unhandled errors", [ExceptionGroup("more", [KeyError("a")]), ValueError("b")])
    >>> [type(one).__name__ for one in leaves(group)]
    ['KeyError', 'ValueError']
    """
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for part in error.exceptions:
        yield from leaves(part)
