"""From raw tools of any accepted form to a catalog, with what is known already taken from a cache by content."""

from __future__ import annotations

import marshal
import math
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, repeat
from operator import not_

from tscg.errors import CompileError, ConfigError, Fragment
from tscg.formats.forms import SCHEMA_KEYS, Form, form_of
from tscg.formats.names import distinct
from tscg.ir import Catalog, Node, Note, Object, Tool
from tscg.leaves import read_flat
from tscg.prose_form import normalise, normalised
from tscg.record import records, replace
from tscg.schema import PROSE_LIMIT, Known, Placed, SchemaTooLarge, Walker

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from typing import Any

__all__ = ["join_catalogs", "read_catalog"]

ON_ERROR = ("raise", "skip", "passthrough")
ON_DUPLICATE = ("prefix", "error")
TOOLS_KEPT = 20_000  # tools in the cache by content
CATALOGS_KEPT = 32
NESTED = 64  # levels of lists and pages within each other
VALUE_DEPTH = 200  # levels of a raw tool that is no plain JSON as it stands
CONTAINERS = frozenset(("tools", "result", "functionDeclarations", "function_declarations", "error"))
NO_MCP = frozenset(("type", "function"))  # without these, "inputSchema" alone says that a tool is of MCP's form
MCP = frozenset(("name", "description", "inputSchema"))
DICT, TEXT = frozenset({dict}), frozenset({str})
JSON = frozenset({dict, list, str, int, bool, type(None)})  # types whose values are all plain JSON
# In marshal's version 2: a tuple, set or bytes (a mark and a length in four bytes, of which at least two are zero,
# before what it holds), or a number that is not finite (a mark and eight bytes, of which six are zero). Text seldom
# looks like that; what does is looked at value by value, as is a tool so large that a length may have one zero. The
# pattern begins with zeros: such a literal is found many times faster than the mark before it.
NO_JSON = re.compile(rb"\x00\x00[^\x00](?:(?<=[(<>s].....)|[\x7f\xff](?<=g\x00\x00\x00\x00\x00\x00..))", re.DOTALL)
LARGE = 0x10000  # bytes: a part of this size has a length with fewer zeros


def _doubtful(content: bytes) -> bool:
    """Whether the marshalled content of a tool may be of other values than those of JSON."""
    return len(content) >= LARGE or NO_JSON.search(content) is not None


class Labelled:
    """A raw tool, the label of its server, and the format that what it stood in has."""

    __slots__ = ("form", "raw", "server")

    def __init__(self, raw: Any, server: str, form: str = "") -> None:
        self.raw, self.server, self.form = raw, server, form


Row = Labelled | Tool | Catalog


class _Cache:
    """A bounded, locked map from content to what was read; it never changes a result."""

    def __init__(self, size: int) -> None:
        self.size, self.lock = size, threading.Lock()
        self.kept: OrderedDict[Any, Any] = OrderedDict()

    def get(self, key: Any) -> Any:
        with self.lock:
            found = self.kept.get(key)
            if found is not None:
                self.kept.move_to_end(key)
            return found

    def get_all(self, keys: Sequence[Any]) -> list[Any]:
        """What is kept of each key, else None."""
        with self.lock:
            found = [*map(self.kept.get, keys)]
            for key, value in zip(keys, found, strict=True) if any(found) else ():
                if value is not None:
                    self.kept.move_to_end(key)
            return found

    def put(self, key: Any, value: Any) -> None:
        self.put_all([(key, value)])

    def put_all(self, found: Iterable[tuple[Any, Any]]) -> None:
        with self.lock:
            self.kept.update(found)
            while len(self.kept) > self.size:
                self.kept.popitem(last=False)


_tools = _Cache(TOOLS_KEPT)
_catalogs = _Cache(CATALOGS_KEPT)


def read_catalog(tools: Any, *, server: str = "", on_error: str = "raise", on_duplicate: str = "prefix") -> Catalog:
    """See :meth:`tscg.Catalog.from_tools`."""
    _choice("on_error", on_error, ON_ERROR)
    _choice("on_duplicate", on_duplicate, ON_DUPLICATE)
    if isinstance(tools, Catalog):
        return tools
    listed = tools["tools"] if type(tools) is dict and [*tools] == ["tools"] else tools
    listed = listed if type(listed) is list else [tools]
    try:
        parts = tuple(map(marshal.dumps, listed, repeat(2)))
    except ValueError:  # not plain values, or too deep: read without the cache of catalogs
        return _read(list(_rows(tools, server)), on_error, on_duplicate)
    key = (parts, server, on_error, on_duplicate)
    found = _catalogs.get(key)
    if found is None:
        plain = _read_plain(listed, parts, server, on_error == "passthrough")
        if plain is not None:
            good, bad = plain
            found = _catalog(good, bad, on_error, on_duplicate)
        else:
            rows = list(_rows(tools, server))
            same = len(rows) == len(parts) and all(
                row.raw is tool for row, tool in zip(rows, listed, strict=True) if type(row) is Labelled
            )
            found = _read(rows, on_error, on_duplicate, parts if same else ())
        _catalogs.put(key, found)
    return found  # type: ignore[no-any-return]


def _read_plain(
    raws: list[Any], contents: Sequence[bytes], server: str, lenient: bool
) -> tuple[list[Tool], list[Fragment]] | None:
    """Tools that are plain JSON objects, in few steps, as most are, and what is wrong; None for a list of other things.

    What :func:`_read` asks of each tool is asked of all of them at once.
    """
    if not DICT.issuperset(map(type, raws)):
        return None
    members = set().union(*raws)
    if not CONTAINERS.isdisjoint(members):
        return None
    try:
        names, says, schemas, forms, beside = _taken_apart(raws, members)
    except (ConfigError, TypeError, ValueError):  # the last two: a provider's own entry that is no JSON
        return None
    if not TEXT.issuperset(map(type, names)) or not all(map(str.strip, names)):
        return None
    keys = [*zip(contents, repeat(server), repeat(""), repeat(lenient))]
    kept: list[Tool | None] = _tools.get_all(keys)
    fresh = [*map(not_, kept)]
    tools = _fresh(
        [[*compress(column, fresh)] for column in (names, says, schemas, forms, contents)], beside, server, lenient
    )
    if tools is None:
        return None
    read = iter(tools)
    made: dict[Any, Tool] = {}
    good: list[Tool] = []
    bad: list[Fragment] = []
    for key, found in zip(keys, kept, strict=True):
        tool = next(read) if found is None else found
        if isinstance(tool, tuple):
            bad += tool
            continue
        if found is None:
            made[key] = tool
        if tool.faults and not lenient:
            bad += tool.faults
        else:
            good.append(tool)
    _tools.put_all(made.items())
    return good, bad


def _fresh(
    columns: list[list[Any]], beside: list[Any] | None, server: str, lenient: bool
) -> list[Tool | tuple[Fragment, ...]] | None:
    """Each tool, or what is wrong with it; None where one is no JSON.

    Those with plain parameters only are made all at once. ``beside`` is what the tools hold beside names and schemas,
    where that is known: it takes fewer steps to look at than their contents.
    """
    names, says, schemas, forms, contents = columns
    placed: Placed = {}
    known: Known = {}
    roots = read_flat(schemas, placed)
    plain = beside is not None and _is_json(beside)
    if any(map(_doubtful, compress(contents, map(not_, roots)) if plain else contents)):
        return None
    says = [said if type(said) is str else "" for said in says]
    if max(map(len, says), default=0) > PROSE_LIMIT:
        roots = [root if len(said) <= PROSE_LIMIT else None for root, said in zip(roots, says, strict=True)]
    own = [*compress(names, roots)]
    made = iter(records(
        repeat(Tool, len(own)), name=own, local_name=own, server=repeat(server), root=filter(None, roots),
        description=normalised(compress(says, roots)), format=compress(forms, roots), _raw=compress(contents, roots),
    ))  # fmt: skip
    tools: list[Any] = [root and next(made) for root in roots]
    for row in [*compress(range(len(roots)), map(not_, roots))]:
        try:
            tools[row] = _made(
                names[row], says[row], schemas[row], server, form=forms[row], raw=contents[row], lenient=lenient,
                known=known, placed=placed,
            )  # fmt: skip
        except CompileError as error:
            tools[row] = error.fragments
    return tools


def _is_json(values: list[Any]) -> bool:
    """Are these certainly plain JSON?"""
    while values:
        kinds = {*map(type, values)}
        if not kinds <= JSON:
            return False
        objects = [one for one in values if type(one) is dict] if dict in kinds else []
        if not TEXT.issuperset(map(type, set().union(*objects))):
            return False
        lists = [one for one in values if type(one) is list] if list in kinds else []
        values = [*chain.from_iterable(map(dict.values, objects)), *chain.from_iterable(lists)]
    return True


def _taken_apart(
    raws: list[Any], members: set[Any]
) -> tuple[list[Any], list[Any], list[Any], list[str], list[Any] | None]:
    """Names, descriptions, schemas, formats, and what :func:`_fresh` asks for; a provider's own entry has no name."""
    if NO_MCP.isdisjoint(members) and all(map(dict.__contains__, raws, repeat("inputSchema"))):
        columns = {key: [*map(dict.get, raws, repeat(key))] for key in members | MCP}
        names, schemas = columns.pop("name"), columns.pop("inputSchema")
        beside = [*chain([*members], *columns.values())]
        return names, columns["description"], schemas, ["mcp"] * len(raws), beside
    forms = [form_of(raw) for raw in raws]
    return (
        [None if form.builtin is not None else form.name for form in forms],
        [form.description for form in forms],
        [form.schema for form in forms],
        [form.format for form in forms],
        None,
    )


def _choice(option: str, given: str, allowed: Sequence[str]) -> None:
    if given not in allowed:
        raise ConfigError(f"unknown {option} {given!r}", allowed=allowed)


def _rows(given: Any, server: str, depth: int = 0) -> Iterator[Row]:
    """Each raw tool with its server.

    Of one tool, a list of any of these, a ``tools/list`` result or JSON-RPC answer, a Gemini tool of several
    declarations, a catalog, or an object that holds a list of tools.
    """
    if type(given) is dict or isinstance(given, Mapping):
        if not CONTAINERS.isdisjoint(given):
            yield from _held(given, server, depth)
        else:
            yield Labelled(given, server)
    elif isinstance(given, Tool):
        yield replace(given, server=server) if server and not given.server else given
    elif isinstance(given, Catalog):
        yield given
    elif isinstance(given, list | tuple | set | frozenset | Iterator) and not hasattr(given, "name"):
        if depth > NESTED:
            raise ConfigError(f"lists of tools nested deeper than {NESTED} levels")
        for one in given:
            yield from _rows(one, server, depth + 1)
    elif depth == 0 and (given is None or isinstance(given, str | bytes | int | float)):
        hint = (
            "read the text with json.loads"
            if isinstance(given, str | bytes)
            else "give a list, {'tools': [...]} or one tool"
        )
        raise ConfigError(f"expected a list of tools, found {type(given).__name__}", hint=hint)
    else:
        yield from _of_object(given, server, depth)


def _held(given: Mapping[str, Any], server: str, depth: int) -> Iterator[Row]:
    """The tools in a mapping that holds some, the mapping itself where it is a tool."""
    answer, listed = given.get("result"), given.get("tools")
    plain = not any(key in given for key, _ in SCHEMA_KEYS) and not isinstance(given.get("type"), str)
    if plain and isinstance(answer, Mapping) and isinstance(answer.get("tools"), list | tuple):
        listed = answer["tools"]
    if plain and isinstance(listed, list | tuple):
        label = given.get("server")
        yield from _rows(listed, label if isinstance(label, str) and label else server, depth + 1)
        return
    declared = given.get("functionDeclarations", given.get("function_declarations"))
    if plain and isinstance(declared, list | tuple) and "name" not in given:
        for one in declared:
            yield Labelled(one, server, "gemini")
        for key, value in given.items():  # Gemini's own tools may stand in the same entry
            if key not in ("functionDeclarations", "function_declarations") and value is not None:
                yield Labelled({key: value}, server)
        return
    if "jsonrpc" in given and given.get("error") is not None:
        error = given["error"]
        said = error.get("message") if isinstance(error, Mapping) else error
        raise CompileError(
            [Fragment(tool="tools/list", pointer="", reason=f"the server answered with an error: {str(said)[:200]}")]
        )
    yield Labelled(given, server)


def _of_object(given: Any, server: str, depth: int) -> Iterator[Row]:
    """The tools of an object that holds a list of them (a result of the MCP SDK, say), else the object as a tool."""
    for key in ("tools", "function_declarations"):
        listed = None if isinstance(given, type) else getattr(given, key, None)
        if isinstance(listed, list | tuple) and not hasattr(given, "name"):
            from tscg.formats.objects import dumped

            plain = dumped(given)
            yield from _rows(
                listed if plain is None or (key not in plain and "tools" not in plain) else plain, server, depth + 1
            )
            return
    if (
        depth == 0
        and isinstance(given, Iterable)
        and not (isinstance(given, type) or hasattr(given, "name") or hasattr(given, "model_dump"))
    ):
        yield from _rows(iter(given), server)
        return
    yield Labelled(given, server)


def _read(rows: Sequence[Row], on_error: str, on_duplicate: str, contents: Sequence[bytes] = ()) -> Catalog:
    found: list[Tool] = []
    builtins: list[str] = []
    bad: list[Fragment] = []
    skipped: list[Fragment] = []
    known: Known = {}
    for i, row in enumerate(rows):
        if isinstance(row, Tool):
            found.append(row)
        elif isinstance(row, Catalog):
            found += row.tools
            builtins += row.builtins
            skipped += row.skipped
        else:
            try:
                tool = _known(row, i, on_error == "passthrough", contents[i] if contents else b"", known)
            except CompileError as error:
                bad += error.fragments
                continue
            except ConfigError as error:
                if on_error == "raise":
                    raise ConfigError(f"tool {i}: {error.message}", allowed=error.allowed, hint=error.hint) from None
                bad.append(Fragment(tool=f"tool {i}", pointer="", reason=error.message))
                continue
            if isinstance(tool, str):
                builtins.append(tool)
            elif tool.faults and on_error != "passthrough":
                bad += tool.faults
            else:
                found.append(tool)
    return _catalog(found, bad, on_error, on_duplicate, builtins=tuple(builtins), skipped=skipped)


def _catalog(
    tools: Sequence[Tool], bad: Sequence[Fragment], on_error: str, on_duplicate: str, *,
    builtins: tuple[str, ...] = (), skipped: Sequence[Fragment] = (),
) -> Catalog:  # fmt: skip
    if bad and on_error == "raise":
        raise CompileError(bad, hint="on_error='skip' compiles the others")
    return Catalog(tools=distinct(tools, on_duplicate), builtins=builtins, skipped=(*skipped, *bad))


def _known(row: Labelled, index: int, lenient: bool, content: bytes, known: Known) -> Tool | str:
    """The tool of a row, or the provider's own entry as JSON; from the cache where its content was read before."""
    raw = row.raw
    form: Form | None = None
    label = _label(raw, index)
    try:
        content = content or marshal.dumps(raw, 2)
    except ValueError:
        if isinstance(raw, Mapping):
            raw = _plain(raw, label)
        else:
            form = form_of(raw)
            raw = None if form.raw is None else _plain(form.raw, label)
        content = b"" if raw is None else marshal.dumps(raw, 2)
    if (type(raw) is dict or isinstance(raw, Mapping)) and _doubtful(content):
        raw = _plain(raw, label)
        content = marshal.dumps(raw, 2)
    key = (content, row.server, row.form, lenient)
    found = _tools.get(key) if content else None
    if found is None:
        found = _tool(form_of(raw) if form is None else form, row, index, content, lenient=lenient, known=known)
        if content and isinstance(found, Tool):
            _tools.put(key, found)
    return found


def _tool(form: Form, row: Labelled, index: int, raw: bytes, *, lenient: bool, known: Known) -> Tool | str:
    if form.builtin is not None:
        return form.builtin
    name = _name(form.name, index)
    tool = _made(
        name, form.description, form.schema, row.server, form=row.form or form.format, raw=raw, lenient=lenient,
        known=known,
    )  # fmt: skip
    if raw:
        return tool
    given = _plain(form.schema, name) if form.schema else {"type": "object", "properties": {}}
    schema = marshal.dumps({**given, "additionalProperties": False} if form.closed else given, 2)
    return replace(tool, _schema=schema, _extra=marshal.dumps(_plain(form.extra, name), 2) if form.extra else b"")


def _made(
    name: str, said: Any, schema: Any, server: str, *, form: str, raw: bytes, lenient: bool, known: Known,
    placed: Placed | None = None,
) -> Tool:  # fmt: skip
    """The tool of what its form says."""
    root, types, faults = _walked(Walker(schema, name, known, placed), lenient)
    if not isinstance(said, str):
        said = ""
    if len(said) > PROSE_LIMIT:
        reason = f"a description of {len(said):,} characters, at most {PROSE_LIMIT:,}"
        if not lenient:
            raise CompileError([Fragment(tool=name, pointer="/description", reason=reason)])
        faults, said = (*faults, Fragment(tool=name, pointer="/description", reason=reason)), said[:PROSE_LIMIT]
    description = normalise(said)
    note = root.note
    if note is not None and note.description == description and description:
        rest = replace(note, description="")
        root = replace(root, note=None if rest == Note() else rest)
    return Tool(
        name=name, local_name=name, server=server, description=description, root=root, types=types, faults=faults,
        format=form, _raw=raw,
    )  # fmt: skip


def _walked(walker: Walker, lenient: bool) -> tuple[Node, tuple[tuple[str, Node], ...], tuple[Fragment, ...]]:
    try:
        root = walker.arguments()
    except SchemaTooLarge as error:
        faults = (Fragment(tool=walker.tool, pointer=error.pointer, reason=error.reason),)
        if not lenient:
            raise CompileError(faults) from None
        return Object(), (), faults
    return root, tuple(walker.types.items()), tuple(walker.faults)


def _label(raw: Any, index: int) -> str:
    name = raw.get("name") if isinstance(raw, Mapping) else None
    return name if isinstance(name, str) and name.strip() else f"tool {index}"


def _name(given: Any, index: int) -> str:
    if isinstance(given, str) and given.strip():
        return given
    if given is None or given == "":
        reason = "a tool without a name"
    elif isinstance(given, str):
        reason = "the name is blank"
    else:
        reason = f"the name is no text ({type(given).__name__})"
    raise CompileError([Fragment(tool=f"tool {index}", pointer="", reason=reason)])


def _plain(value: Any, label: str, depth: int = 0) -> Any:
    """The same in plain JSON types: mappings, tuples and subclasses become dicts, lists, texts and numbers."""
    if value is None or type(value) in (str, int, bool):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        raise CompileError([Fragment(tool=label, pointer="", reason=f"a value is no JSON ({value})")])
    if depth <= VALUE_DEPTH:
        if isinstance(value, Mapping):
            return {
                key if type(key) is str else str(_plain(key, label)): _plain(one, label, depth + 1)
                for key, one in value.items()
            }
        if isinstance(value, list | tuple):
            return [_plain(one, label, depth + 1) for one in value]
        if isinstance(value, str):
            return str.__str__(value)  # the text of an enum's member, not its name
        if isinstance(value, int | float):
            return int(value) if isinstance(value, int) else float(value)
        reason = f"a value is no JSON ({type(value).__name__})"
    else:
        reason = f"nested deeper than {VALUE_DEPTH} levels"
    raise CompileError([Fragment(tool=label, pointer="", reason=reason)])


def join_catalogs(catalogs: Iterable[Catalog], *, on_duplicate: str = "prefix") -> Catalog:
    """See :meth:`tscg.Catalog.join`."""
    _choice("on_duplicate", on_duplicate, ON_DUPLICATE)
    parts = list(catalogs)
    tools = [_local(tool) for part in parts for tool in part]
    return Catalog(
        tools=distinct(tools, on_duplicate),
        builtins=tuple(builtin for part in parts for builtin in part.builtins),
        skipped=tuple(fragment for part in parts for fragment in part.skipped),
    )


def _local(tool: Tool) -> Tool:
    """The tool under its name at its server: in other company it may need no prefix, or another one."""
    return replace(tool, name=tool.local_name) if tool.local_name and tool.name != tool.local_name else tool
