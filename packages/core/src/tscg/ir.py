"""The intermediate representation: what a catalog says, in one canonical form.

A schema becomes a tree of type nodes. Equal meanings become equal trees: a list of types, ``anyOf`` with null and
``nullable`` are one union; ``const`` is an enum of one; a ``$ref`` is its target, unless the target holds itself.
Values (enum members, defaults, examples) are kept as minified JSON texts, so that ``1``, ``1.0``, ``true`` and ``"1"``
stay apart.

Nodes may be shared (a target that is referred to twice is one object), so a schema that doubles at each reference stays
small; walk with a memo by ``id``. Nodes compare by identity; :func:`same` compares by content.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from tscg.record import Record, replace

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from typing import Any, TypeAlias, overload

    from tscg.errors import Fragment

__all__ = [
    "JSON", "AllOf", "AnyType", "Array", "Boolean", "Catalog", "Enum", "Integer", "Island", "Never", "Node", "Note",
    "Null", "Number", "Object", "Param", "Ref", "String", "Tool", "Union", "children", "same",
]  # fmt: skip

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"


class Note(Record):
    """What a schema says beside its constraints.

    ``description`` is normalised prose: single blanks, and one line break where paragraphs and list items part.
    ``default`` and ``examples`` are minified JSON. ``title`` is kept only where it says more than the name.
    """

    description: str = ""
    default: str | None = None
    title: str = ""
    examples: tuple[str, ...] = ()
    deprecated: bool = False
    read_only: bool = False
    write_only: bool = False


class Node(Record):
    """A type. ``extra`` is the minified JSON object of keywords that no field holds, else empty."""

    note: Note | None = None
    extra: str = ""

    __eq__ = object.__eq__
    __hash__ = object.__hash__


class AnyType(Node):
    """Any value."""


class Never(Node):
    """No value (the schema ``false``)."""


class String(Node):
    """A text; lengths in characters. Not ``typed``: constrains texts, but takes other values too."""

    typed: bool = True
    min_length: int = 0
    max_length: int | None = None
    pattern: str | None = None
    format: str = ""


class Number(Node):
    """A number; ``low`` and ``high`` are inclusive unless ``low_open`` or ``high_open``."""

    typed: bool = True
    low: int | float | None = None
    high: int | float | None = None
    low_open: bool = False
    high_open: bool = False
    multiple_of: int | float | None = None
    format: str = ""


class Integer(Number):
    """A whole number, with the bounds of :class:`Number`."""


class Boolean(Node):
    """True or false."""


class Null(Node):
    """The value null."""


class Enum(Node):
    """Listed values as minified JSON, in the author's order."""

    values: tuple[str, ...] = ()


class Array(Node):
    """A list: ``prefix`` by position, ``items`` for the rest; ``closed`` forbids a rest."""

    typed: bool = True
    items: Node | None = None
    prefix: tuple[Node, ...] = ()
    closed: bool = False
    min_items: int = 0
    max_items: int | None = None
    unique: bool = False


class Param(Record):
    """A property: ``type`` is None when the name is only required and not declared."""

    name: str
    required: bool = False
    type: Node | None = None

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def description(self) -> str:
        """Prose of the property, empty when there is none."""
        return self.type.note.description if self.type is not None and self.type.note is not None else ""


class Object(Node):
    """An object: ``rest`` types the undeclared names, ``closed`` forbids them."""

    typed: bool = True
    params: tuple[Param, ...] = ()
    closed: bool = False
    rest: Node | None = None
    min_properties: int = 0
    max_properties: int | None = None


class Union(Node):
    """One of several types: at least one fits, or exactly one (``exclusive``)."""

    branches: tuple[Node, ...] = ()
    exclusive: bool = False


class AllOf(Node):
    """All of the parts hold; with one part it carries a note of its own around a type that has one."""

    parts: tuple[Node, ...] = ()


class Ref(Node):
    """A named type of the tool, which holds itself."""

    name: str = ""


class Island(Node):
    """A schema that is kept as it stands, as minified JSON."""

    schema: str = "{}"


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below one.

    >>> children(Array(items=String()))[0].__class__.__name__
    'String'
    """
    if isinstance(node, Object):
        below = tuple(param.type for param in node.params if param.type is not None)
        return (*below, node.rest) if node.rest is not None else below
    if isinstance(node, Array):
        return (*node.prefix, node.items) if node.items is not None else node.prefix
    if isinstance(node, Union):
        return node.branches
    return node.parts if isinstance(node, AllOf) else ()


def same(left: object, right: object, seen: set[tuple[int, int]] | None = None) -> bool:
    """Do two nodes, or tuples of them, say the same? Linear in the number of nodes, cycles and sharing included.

    >>> same(Array(items=String()), Array(items=String())), same(String(), String(format="uuid"))
    (True, False)
    """
    if left is right:
        return True
    seen = set() if seen is None else seen
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(same(a, b, seen) for a, b in zip(left, right, strict=True))
    if not isinstance(left, Node | Param):
        return (type(left) is type(right) and left == right) or _number(left, right)
    if type(left) is not type(right):
        return False
    if (id(left), id(right)) in seen:
        return True
    seen.add((id(left), id(right)))
    return all(same(getattr(left, name), getattr(right, name), seen) for name in left._fields)


def _number(left: object, right: object) -> bool:
    plain = (int, float)
    return isinstance(left, plain) and isinstance(right, plain) and not isinstance(left, bool) and left == right


class Tool(Record):
    """One tool: what it says in canonical form, and the original it came from.

    ``name`` is what the model sees (``server__local`` where two servers share a name); ``local_name`` the name at its
    server. ``root`` is the type of the arguments, ``types`` the named types that hold themselves. ``extra`` holds
    members of the source format that the IR does not model; ``format`` names that format. ``opaque`` is a tool of which
    a budget left the name alone; ``hides_policy`` one of which a profile hides a policy sentence. ``faults`` are the
    places that are no schema.
    """

    name: str
    local_name: str = ""
    server: str = ""
    description: str = ""
    root: Node
    types: tuple[tuple[str, Node], ...] = ()
    format: str = "plain"
    faults: tuple[Fragment, ...] = ()
    opaque: bool = False
    hides_policy: bool = False
    _raw: bytes = b""
    _schema: bytes = b""
    _extra: bytes = b""

    @property
    def schema(self) -> dict[str, JSON]:
        """The original schema of the arguments, untouched: a fresh copy at each access."""
        if self._schema:
            kept: dict[str, JSON] = marshal.loads(self._schema)
            return kept
        if not self._raw:
            return self.to_json_schema()
        from tscg.formats.forms import form_of

        found = form_of(marshal.loads(self._raw)).schema
        return found if isinstance(found, dict) else {"type": "object", "properties": {}}

    @property
    def original_description(self) -> str:
        """The prose as it came, white space and all."""
        if not self._raw:
            return self.description
        from tscg.formats.forms import form_of

        found = form_of(marshal.loads(self._raw)).description
        return found if isinstance(found, str) else ""

    @property
    def raw(self) -> dict[str, JSON] | None:
        """The tool as it came, every field of it, where it came as plain JSON: a fresh copy at each access."""
        return marshal.loads(self._raw) if self._raw else None

    @property
    def extra(self) -> dict[str, JSON]:
        """Members of the source format beside name, description and schema: a fresh copy at each access."""
        if self._raw:
            from tscg.formats.forms import form_of

            return form_of(marshal.loads(self._raw)).extra
        return marshal.loads(self._extra) if self._extra else {}

    @property
    def annotations(self) -> dict[str, JSON]:
        """Hints of the server (``readOnlyHint``, ``destructiveHint`` ...), empty when there are none."""
        found = self.extra.get("annotations")
        return found if isinstance(found, dict) else {}

    @property
    def title(self) -> str:
        """Title for people, empty when there is none."""
        found = self.extra.get("title")
        return found if isinstance(found, str) else ""

    @property
    def output_schema(self) -> dict[str, JSON] | None:
        """Schema of the result, where the source gives one."""
        found = self.extra.get("outputSchema")
        return found if isinstance(found, dict) else None

    @cached_property
    def params(self) -> tuple[Param, ...]:
        """Top-level parameters in the author's order; those of the first object where the root is composed."""
        node: Node | None = self.root
        named = dict(self.types)
        for _ in range(8):
            if isinstance(node, Object):
                return node.params
            if isinstance(node, AllOf):
                node = next(
                    (part for part in node.parts if isinstance(part, Object)), node.parts[0] if node.parts else None
                )
            elif isinstance(node, Ref):
                node = named.get(node.name)
            else:
                break
        return ()

    def to_json_schema(self) -> dict[str, JSON]:
        """The IR as JSON Schema 2020-12.

        >>> Tool(name="a", root=Object(params=(Param(name="x", required=True, type=Integer(low=1)),))).to_json_schema()
        {'type': 'object', 'properties': {'x': {'type': 'integer', 'minimum': 1}}, 'required': ['x']}
        """
        from tscg.render import json_schema

        return json_schema(self)

    def render(self, form: str) -> dict[str, JSON]:
        """The tool in a format (``openai``, ``openai_responses``, ``anthropic``, ``mcp``, ``gemini`` or ``plain``).

        Fresh JSON values; in the format that it came in all its fields are kept. Raises :class:`tscg.ConfigError` for
        an unknown format.

        >>> tool = Catalog.from_tools([{"name": "ping", "inputSchema": {"type": "object"}}])[0]
        >>> tool.render("anthropic")
        {'name': 'ping', 'description': '', 'input_schema': {'type': 'object'}}
        """
        from tscg.formats.write import render

        return render(self, form)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tool):
            return NotImplemented
        if self is other:
            return True
        if (self.name, self.description) != (other.name, other.description):
            return False
        mine, theirs = dict(self.types), dict(other.types)
        seen: set[tuple[int, int]] = set()
        return (
            mine.keys() == theirs.keys()
            and same(self.root, other.root, seen)
            and all(same(node, theirs[name], seen) for name, node in mine.items())
        )

    def __hash__(self) -> int:
        return hash((self.name, self.description))


class Catalog(Record):
    """Tools, in the order given; provider built-ins (``builtins``, as minified JSON) are held aside.

    Two catalogs are equal when they hold equal tools, in any order.

    >>> catalog = Catalog.from_tools([{"name": "ping", "description": "Health check"}])
    >>> len(catalog), catalog[0].name, catalog == Catalog.from_tools(list(catalog))
    (1, 'ping', True)
    """

    tools: tuple[Tool, ...] = ()
    builtins: tuple[str, ...] = ()
    skipped: tuple[Fragment, ...] = ()

    @staticmethod
    def from_tools(tools: Any, *, server: str = "", on_error: str = "raise", on_duplicate: str = "prefix") -> Catalog:
        """Read tools of any mix of the accepted forms; the format is found per tool.

        ``server`` labels them all; a ``{"server": ..., "tools": [...]}`` object labels its own. Raises
        :class:`tscg.CompileError` for tools that cannot be read (one error names them all) unless ``on_error`` is
        ``"skip"`` or ``"passthrough"``, and :class:`tscg.ConfigError` for a form it does not know.
        """
        from tscg.formats import read_catalog

        return read_catalog(tools, server=server, on_error=on_error, on_duplicate=on_duplicate)

    @staticmethod
    def join(*catalogs: Catalog, on_duplicate: str = "prefix") -> Catalog:
        """One catalog of several; a name on two servers becomes ``server__name`` on both."""
        from tscg.formats import join_catalogs

        return join_catalogs(catalogs, on_duplicate=on_duplicate)

    @cached_property
    def by_name(self) -> Mapping[str, Tool]:
        """Tools by their name."""
        return {tool.name: tool for tool in self.tools}

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: int) -> Tool: ...
        @overload
        def __getitem__(self, index: slice) -> tuple[Tool, ...]: ...

    def __getitem__(self, index: int | slice) -> Tool | tuple[Tool, ...]:
        return self.tools[index]

    def __len__(self) -> int:
        return len(self.tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Catalog):
            return NotImplemented
        return self is other or (
            len(self) == len(other) and all(other.by_name.get(tool.name) == tool for tool in self.tools)
        )

    def __hash__(self) -> int:
        return hash(frozenset(tool.name for tool in self.tools))

    def replace(self, tools: Sequence[Tool]) -> Catalog:
        """The same catalog with other tools (what an operator gives back)."""
        return replace(self, tools=tuple(tools))


Sequence.register(Catalog)
