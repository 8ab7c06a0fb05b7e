"""Words of the language: the spelling of each slot, names, literals, and the escapes that keep a text in its place."""

from __future__ import annotations

import json
import re

from tscg.errors import ConfigError
from tscg.record import Record

__all__ = [
    "DEFAULT", "FORMATS", "RESERVED", "SPELLINGS", "Spelling", "is_plain", "listed", "literal", "name", "prose_line",
    "unescape",
]  # fmt: skip


class Spelling(Record):
    """One admissible spelling of each slot; every combination can be parsed.

    ``enum`` stands between listed values, as in ``(a b c)``; ``gap`` between the parameters of a signature;
    ``note`` before the number of a shared sentence; ``lines`` for "the parameters on the lines below"; ``flag`` is the
    word for true or false (``:boolean`` is one token of o200k_base, the shorter ``:bool`` two).
    """

    enum: str = " "
    gap: str = " "
    note: str = "^"
    lines: str = "*"
    flag: str = "boolean"

    def header(self, default: Spelling) -> str:
        """The words of the first line that tell this spelling from the default one."""
        mine = [slot for slot in self._fields if getattr(self, slot) != getattr(default, slot)]
        return " ".join(f"{slot}={json.dumps(getattr(self, slot), ensure_ascii=False)}" for slot in mine)


SLOTS: dict[str, tuple[str, ...]] = {
    "enum": (" ", "|"),
    "gap": (" ", ", "),
    "note": ("^", "§", "~"),
    "lines": ("*", "…"),
    "flag": ("boolean", "bool"),
}
"""Admissible spellings of each slot, the first one wins a tie."""

# The cheapest combination for each encoding, found by `python benchmarks/spelling.py` (counts the sample catalogs in
# context).
SPELLINGS: dict[str, Spelling] = {
    "o200k_base": Spelling(),
    "cl100k_base": Spelling(),
}
ADDED = "%added"
"""The line above what was added to a catalog later."""

DEFAULT = SPELLINGS["o200k_base"]

RESERVED = frozenset({"str", "num", "int", "bool", "boolean", "null", "any", "never", "obj", "true", "false"})
FORMATS = frozenset({
    "date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6", "uri",
    "uri-reference", "iri", "iri-reference", "uuid", "uri-template", "json-pointer", "relative-json-pointer", "regex",
})  # fmt: skip
"""Formats of JSON Schema: each is a type word of its own."""

# Characters that could end a line, turn it round, or hide in it: controls, separators, zero-width, bidi, tags,
# surrogates.
UNSAFE = (
    "\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff"
)
# Texts with a meaning of their own to a chat template or to the block around the catalog: their first character is
# escaped.
MARKERS = (
    r"<\||</?(?:tools?|tool_call|tool_response|function_calls?|s|bos|eos|start_of_turn|end_of_turn)>"
    r"|\[/?(?:INST|TOOL_CALLS|AVAILABLE_TOOLS)\]"
)
_any_trouble = re.compile(rf"[{UNSAFE}]|\\u\{{|{MARKERS}")
_plain_name = re.compile(r"[A-Za-z0-9_$][A-Za-z0-9_$./-]*\Z").match
_bare_word = re.compile(r"[A-Za-z0-9_$][A-Za-z0-9_$./:+-]*\Z").match
_numeric = re.compile(r"[0-9][0-9.eE+:/-]*\Z").match
_escape = re.compile(r"\\u\{([0-9a-f]{1,6})\}")


def json_text(text: str) -> str:
    """Minified JSON with every unsafe character and marker in it escaped (they can only stand in its strings)."""
    if text.isascii() and "<" not in text and "[" not in text:
        return text
    return _any_trouble.sub(_json_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    found = match.group()
    if found == "\\u{":
        return found
    code = ord(found[0])
    units = [code] if code < 0x10000 else [0xD800 + (code - 0x10000 >> 10), 0xDC00 + (code - 0x10000 & 0x3FF)]
    return "".join(f"\\u{unit:04x}" for unit in units) + found[1:]


def quoted(text: str) -> str:
    """A JSON string that is safe in its place."""
    return json_text(json.dumps(text, ensure_ascii=False))


def name(text: str) -> str:
    """The spelling of a tool's or parameter's name: bare where nothing else could be read, else a JSON string.

    >>> name("filter_id"), name("filter[id]")
    ('filter_id', '"filter[id]"')
    """
    return text if (text.isascii() and text.isidentifier()) or _plain_name(text) else quoted(text)


def literal(text: str) -> str:
    """The spelling of a value that is given as minified JSON: a bare word where it can be read as nothing else.

    >>> literal('"open"'), literal('"true"'), literal('"two words"'), literal("14")
    ('open', '"true"', '"two words"', '14')
    """
    if text[0] == '"':
        word = text[1:-1]
        if _bare_word(word) and word not in RESERVED and not _numeric(word):
            return word
    return json_text(text)


def listed(values: tuple[str, ...], gap: str) -> str:
    """The spelling of listed values, each as ``literal`` spells it.

    >>> listed(('"open"', '"closed"', '"two words"', "1"), " ")
    'open closed "two words" 1'
    """
    bare = " ".join(values).replace('"', "")  # most often all are bare words, which one look at all of them tells
    words = bare.replace("-", "0").replace(".", "0").replace("/", "0").split(" ")  # as good as a digit inside a word
    if (
        len(words) == len(values)
        and bare.isascii()
        and all(map(str.isidentifier, words))
        and RESERVED.isdisjoint(words)
    ):
        return bare if gap == " " else bare.replace(" ", gap)
    return gap.join(map(literal, values))


_PRINTABLE = bytes(range(0x20, 0x7F))
# What is unsafe and yet "printable" in Unicode's words: fillers, joiners and selectors that show nothing.
_INVISIBLE = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"
# What makes a marker of an opening bracket.
_TAGS = ("tool>", "tools>", "tool_call>", "tool_response>", "function_call>", "function_calls>", "s>", "bos>", "eos>",
         "start_of_turn>", "end_of_turn>")  # fmt: skip
_ANGLED = ("|", *_TAGS, *[f"/{tag}" for tag in _TAGS])
_SQUARED = ("INST]", "/INST]", "TOOL_CALLS]", "/TOOL_CALLS]", "AVAILABLE_TOOLS]", "/AVAILABLE_TOOLS]")


def is_plain(text: str, note: str) -> bool:
    """Is there nothing to escape in a text without line breaks? It never says so wrongly.

    >>> is_plain("See [1]", "^"), is_plain("See ^1", "^")
    (True, False)
    """
    return (
        (not text.encode().translate(None, _PRINTABLE) if text.isascii() else text.isprintable())
        and note not in text
        and ("\\" not in text or "\\u{" not in text)
        and (text.isascii() or not any(map(text.__contains__, _INVISIBLE)))
        and not ("<" in text and any(rest.startswith(_ANGLED) for rest in text.split("<")[1:]))
        and not ("[" in text and any(rest.startswith(_SQUARED) for rest in text.split("[")[1:]))
    )  # fmt: skip


def prose_line(text: str, note: str) -> str:
    r"""One line of prose with everything escaped that could be read as something else.

    >>> prose_line("See ^1 and\u2028here", "^")
    'See \\u{5e}1 and\\u{2028}here'
    """
    if is_plain(text, note):
        return text  # the usual case, without a regular expression
    return _prose_trouble(note).sub(_prose_escape, text)


_troubles: dict[str, re.Pattern[str]] = {}


def _prose_trouble(note: str) -> re.Pattern[str]:
    found = _troubles.get(note)
    if found is None:
        found = _troubles[note] = re.compile(rf"[{UNSAFE}]|\\u\{{|{MARKERS}|{re.escape(note)}(?=[0-9])")
    return found


def _prose_escape(match: re.Match[str]) -> str:
    found = match.group()
    return f"\\u{{{ord(found[0]):x}}}{found[1:]}"


def unescape(text: str) -> str:
    """The inverse of the escapes of prose."""
    if "\\u{" not in text:
        return text
    return _escape.sub(lambda m: chr(int(m.group(1), 16)), text)


def spelling_of(encoding: str) -> Spelling:
    """The spelling for an encoding, that of o200k_base where it has no row."""
    return SPELLINGS.get(encoding, DEFAULT)


def read_slot(slot: str, value: str) -> tuple[str, str]:
    """A slot and its spelling from a header; ConfigError for one that is not admissible."""
    if slot not in SLOTS or value not in SLOTS[slot]:
        raise ConfigError(f"unknown spelling {slot}={value!r}", allowed=SLOTS.get(slot, tuple(SLOTS)))
    return slot, value
