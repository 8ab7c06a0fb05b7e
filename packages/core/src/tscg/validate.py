"""Validation of arguments against the original schema of a tool.

One validator per tool is built at first use and shared by the whole process; it is never pickled. What the engine
cannot take (a pattern that no engine reads, a reference that leads nowhere) is left out and listed in ``unchecked``.
"""

from __future__ import annotations

import marshal
import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tscg.calls import Fault, Notice
from tscg.draft import copy_for_validator

if TYPE_CHECKING:
    from tscg.ir import JSON, Tool

__all__ = ["Validator", "validator_of"]

BACKTRACK_LIMIT = 10_000  # steps of the engine that knows look-around
CACHE_SIZE = 4_096  # validators kept in the process
DROPS_LIMIT = 1_000  # keywords that may be left out before the whole schema is given up
# With a pattern of names gone, these would refuse names that the pattern allowed.
NEED_PATTERNS = ("additionalProperties", "unevaluatedProperties")


class Validator:
    """Checks arguments of one tool.

    >>> from tscg.ir import Object, Param, Integer, Tool
    >>> tool = Tool(name="f", root=Object(params=(Param(name="n", required=True, type=Integer()),)))
    >>> Validator(tool).is_valid({"n": 1}), Validator(tool).faults({"n": "x"})[0].kind
    (True, 'wrong_type')
    """

    def __init__(self, tool: Tool, formats: tuple[str, ...] = ()) -> None:
        self._schema: dict[str, Any] = tool.schema
        self._formats = formats
        self._lock = threading.Lock()
        self._engine: Any = None
        self._copy: dict[str, Any] = {}
        self._unchecked: tuple[Notice, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """The original schema. It is kept, not copied: read it only."""
        return self._schema

    @property
    def copy(self) -> dict[str, Any]:
        """The schema as the engine reads it: paths of raw errors lead into it. Read it only."""
        self.engine()
        return self._copy

    @property
    def unchecked(self) -> tuple[Notice, ...]:
        """What is not checked, with the pointer into the schema."""
        self.engine()
        return self._unchecked

    def engine(self) -> Any:
        """The engine, built at the first call."""
        if self._engine is None:
            with self._lock:
                if self._engine is None:
                    self._build()
        return self._engine

    def is_valid(self, arguments: JSON) -> bool:
        """Whether arguments are valid. They hold JSON values only."""
        return bool((self._engine or self.engine()).is_valid(arguments))

    def errors(self, arguments: JSON) -> list[Any]:
        """The engine's own errors, in its order."""
        return list(self.engine().iter_errors(arguments))

    def faults(self, arguments: JSON) -> tuple[Fault, ...]:
        """Everything that is wrong, in the order of the schema; empty for valid arguments."""
        if self.is_valid(arguments):
            return ()
        from tscg.explain import explain

        return explain(self.errors(arguments), self.copy, arguments)

    def __getstate__(self) -> tuple[dict[str, Any], tuple[str, ...]]:
        return self._schema, self._formats

    def __setstate__(self, state: tuple[dict[str, Any], tuple[str, ...]]) -> None:
        self._schema, self._formats = state
        self._lock, self._engine, self._copy, self._unchecked = threading.Lock(), None, {}, ()

    def _build(self) -> None:
        import jsonschema_rs

        copied = copy_for_validator(self._schema, self._formats)
        unchecked = copied.unchecked
        schema = copied.schema
        options: dict[str, Any] = {
            "offline": True,
            "validate_formats": bool(self._formats),
            # Linear for all patterns but those with look-around or back-references.
            "pattern_options": jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT),
        }
        engine = None
        for _ in range(DROPS_LIMIT):
            try:
                engine = jsonschema_rs.Draft202012Validator(schema, **options)
                break
            except jsonschema_rs.ValidationError as error:
                place = list(error.instance_path)
                if not _drop(schema, place):
                    unchecked.append(Notice(kind="unchecked", message=f"/: {_line(error)}, anything is taken"))
                    break
                pointer = "".join(f"/{step}" for step in place)
                unchecked.append(Notice(kind="unchecked", message=f"{pointer}: no engine takes it"))
            except (ValueError, OverflowError) as error:  # a TypeError would be about our own options
                unchecked.append(Notice(kind="unchecked", message=f"/: {_line(error)}, anything is taken"))
                break
        if engine is None:
            schema = {}
            engine = jsonschema_rs.Draft202012Validator(schema)
        self._copy, self._unchecked = schema, tuple(unchecked)
        self._engine = engine  # last: other threads look at it without the lock


def _line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:120]


def _drop(schema: Any, place: Iterable[str | int]) -> bool:
    """Leave out the keyword at a place that the engine refused, and what rests on it."""
    steps = list(place)
    at, parents = schema, []
    for step in steps:
        parents.append(at)
        try:
            at = at[step]
        except (KeyError, IndexError, TypeError):
            return False
    if not steps:
        return False
    holder, last = parents[-1], steps[-1]
    if isinstance(holder, list):
        holder[int(last)] = True
        return True
    del holder[last]
    if len(steps) > 1 and steps[-2] == "patternProperties":
        for key in NEED_PATTERNS:
            parents[-2].pop(key, None)
    return True


_lock = threading.Lock()
_cache: OrderedDict[tuple[bytes, tuple[str, ...]], Validator] = OrderedDict()


def validator_of(tool: Tool, formats: tuple[str, ...] = ()) -> Validator:
    """The validator of a tool: one for all tools of the process with the same schema.

    >>> from tscg.ir import Object, Tool
    >>> validator_of(Tool(name="a", root=Object())) is validator_of(Tool(name="b", root=Object()))
    True
    """
    key = (tool._schema or marshal.dumps(tool.schema), formats)
    with _lock:
        found = _cache.get(key)
        if found is not None:
            _cache.move_to_end(key)
            return found
    made = Validator(tool, formats)
    with _lock:
        found = _cache.setdefault(key, made)
        while len(_cache) > CACHE_SIZE:
            _cache.popitem(last=False)
    return found
