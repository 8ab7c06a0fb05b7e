"""Docstrings of functions taken apart: what the function does, and what is said of each parameter.

Three styles are read: sections with a heading and colons (Google), with an underlined heading (NumPy), and fields
(Sphinx: ``:param name: ...``). What is said of no known parameter stays in the prose, so that nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

__all__ = ["Docstring", "read_docstring"]

PARAMETERS = frozenset(
    {"args", "arguments", "parameters", "params", "other parameters", "keyword args", "keyword arguments"}
)
SECTIONS = PARAMETERS | {
    "attributes", "example", "examples", "note", "notes", "raises", "references", "return", "returns", "see also",
    "todo", "warning", "warnings", "warns", "yield", "yields",
}  # fmt: skip
# name, or *name; what stands in parentheses is the type, which the hint says already
GOOGLE = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:(?:\s+|$)(.*)")
NUMPY = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")
SPHINX = re.compile(r":(\w+)(?:\s+([^:]*?))?:(?:\s+|$)(.*)")
SPHINX_PARAMETERS = frozenset({"param", "parameter", "arg", "argument", "key", "keyword"})
SPHINX_TYPES = frozenset({"type", "rtype", "vartype"})
SPHINX_WORDS = {
    "return": "Returns",
    "returns": "Returns",
    "raise": "Raises",
    "raises": "Raises",
    "yield": "Yields",
    "yields": "Yields",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Docstring:
    """What a docstring says: ``text`` of the whole, ``params`` by name."""

    text: str = ""
    params: dict[str, str] = field(default_factory=dict)


def read_docstring(doc: str | None, names: Collection[str], hidden: Collection[str] = ()) -> Docstring:
    """Take a docstring apart.

    ``names`` are the parameters that are shown; what is said of ``hidden`` ones is left out with them.

    >>> doc = "Add numbers.\\n\\nArgs:\\n    a (int): The first.\\n    b: The other,\\n        or zero."
    >>> found = read_docstring(doc, {"a", "b"})
    >>> found.text, found.params
    ('Add numbers.', {'a': 'The first.', 'b': 'The other, or zero.'})
    """
    if not doc:
        return Docstring()
    from inspect import cleandoc

    reader = _Reader(names, hidden)
    reader.read(cleandoc(doc).splitlines())
    return Docstring(text="\n".join(reader.prose).strip(), params=reader.params)


class _Reader:
    def __init__(self, names: Collection[str], hidden: Collection[str]) -> None:
        self.names, self.hidden = names, hidden
        self.prose: list[str] = []
        self.params: dict[str, str] = {}

    def read(self, lines: list[str]) -> None:
        i = 0
        while i < len(lines):
            line = lines[i]
            numpy = i + 1 < len(lines) and _underlined(line, lines[i + 1])
            heading = line.strip().rstrip(":").lower()
            if heading in PARAMETERS and numpy:
                end = _numpy_end(lines, i + 2)
                self.entries(line, lines[i + 2 : end], _numpy_entry)
                i = end
            elif heading in PARAMETERS and line.rstrip().endswith(":"):
                end = _google_end(lines, i)
                self.entries(line, lines[i + 1 : end], _google_entry)
                i = end
            elif numpy:  # the heading of another section, its underline says nothing
                self.prose.append(f"{line.strip()}:")
                i += 2
            elif SPHINX.match(line):
                end = i + 1
                while end < len(lines) and lines[end].strip() and not SPHINX.match(lines[end]):
                    end += 1
                self.sphinx(lines[i:end])
                i = end
            else:
                self.prose.append(line)
                i += 1

    def entries(self, heading: str, block: list[str], entry: Callable[[str], tuple[list[str], str] | None]) -> None:
        """A section of parameters: entries at its own indent, their text further in."""
        margin = min((_indent(line) for line in block if line.strip()), default=0)
        kept: list[str] = []
        said: list[tuple[list[str], list[str]]] = []
        for line in block:
            found = entry(line.strip()) if line.strip() and _indent(line) == margin else None
            if found is not None:
                said.append((found[0], [found[1]]))
            elif said:
                said[-1][1].append(line)
            elif line.strip():
                kept.append(line)
        for names, lines in said:
            kept += self.said(names, _joined(lines))
        if kept:
            self.prose += [f"{heading.strip().rstrip(':')}:", *kept]

    def said(self, names: list[str], text: str) -> list[str]:
        """Keep what is said of parameters that are shown; give back what is said of no parameter."""
        for name in names:
            if name in self.names and text:
                self.params.setdefault(name, text)
        known = any(name in self.names or name in self.hidden for name in names)
        return [] if known or not text else [f"- {', '.join(names)}: {text}"]

    def sphinx(self, block: list[str]) -> None:
        match = SPHINX.match(block[0])
        if match is None:
            return
        kind, about, text = match[1].lower(), (match[2] or "").strip(), _joined([match[3], *block[1:]])
        if kind in SPHINX_TYPES:
            return
        if kind in SPHINX_PARAMETERS and about:
            self.prose += self.said([about.split()[-1].lstrip("*")], text)
        elif kind in SPHINX_WORDS:
            self.prose.append(f"{' '.join(filter(None, (SPHINX_WORDS[kind], about)))}: {text}")
        else:
            self.prose += block


def _google_entry(line: str) -> tuple[list[str], str] | None:
    match = GOOGLE.match(line)
    return ([match[1]], match[2]) if match else None


def _numpy_entry(line: str) -> tuple[list[str], str] | None:
    match = NUMPY.match(line)
    return ([name.strip().lstrip("*") for name in match[1].split(",")], "") if match else None


def _joined(lines: list[str]) -> str:
    """The lines of one entry as one text; list items and paragraphs stay apart."""
    from tscg.prose_form import normalise

    out: list[str] = []
    for line in (line.strip() for line in lines):
        starts = not line or line[0] in "-*+" or not out or not out[-1]
        if starts:
            out.append(line)
        else:
            out[-1] = f"{out[-1]} {line}"
    return normalise("\n".join(out))


def _underlined(line: str, below: str) -> bool:
    rule = below.strip()
    return bool(line.strip()) and len(rule) >= 3 and set(rule) <= {"-"} and line.strip().lower() in SECTIONS


def _numpy_end(lines: list[str], start: int) -> int:
    for i in range(start, len(lines)):
        if i + 1 < len(lines) and _underlined(lines[i], lines[i + 1]):
            return i
    return len(lines)


def _google_end(lines: list[str], at: int) -> int:
    """The section ends at the first line that stands no further in than its heading, or at the next heading.

    The first line of a docstring has lost its indent: below it nothing stands further in.
    """
    margin = _indent(lines[at]) if at else -1
    for i in range(at + 1, len(lines)):
        line = lines[i].strip()
        if line and (
            _indent(lines[i]) <= margin
            or (line.endswith(":") and line[:-1].lower() in SECTIONS and _indent(lines[i]) <= max(margin, 0))
        ):
            return i
    return len(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
