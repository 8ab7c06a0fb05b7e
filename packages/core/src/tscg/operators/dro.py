"""DRO, delimiter-role: prose that only describes structure goes where the schema says exactly the same.

Class R: phrases only go, whole words at a time. What the facts of the schema do not say stays prose, word for word, and
never becomes a constraint. Policy sentences are not touched.
"""

from __future__ import annotations

import json

from tscg.prose.classify import begins_item, key_of
from tscg.prose.policy import known, words_of
from tscg.prose.sentences import split
from tscg.record import Record

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from collections.abc import Callable

    from tscg.ir import JSON

    Rule = Callable[[str, "Facts"], bool]
    Rules = tuple[Rule, ...]


class Absent:
    """Stands for a default that the schema does not give (``None`` is a default)."""

    def __repr__(self) -> str:
        """The name it is imported by."""
        return "ABSENT"


ABSENT = Absent()


class Facts(Record):
    """What the schema says of a value. Types are JSON Schema's names; a bound is inclusive; None says nothing."""

    types: tuple[str, ...] = ()
    item_types: tuple[str, ...] = ()
    enum: tuple[JSON, ...] | None = None
    default: JSON | Absent = ABSENT
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    required: bool | None = None
    format: str | None = None


#: Texts of more characters are no prose and pass untouched.
LONGEST = 10_000
#: A phrase of more characters says more than a type, a bound or a default; members of an enum may take more.
LONG_PHRASE = 80
#: A bracket that takes more characters is not looked at.
LONG_BRACKET = 202
#: Parts of words and digits, one of which stands in every phrase that a rule takes out.
MARKS = (
    "(", "efault", "ptional", "equired", "rray of", "ist of", "oolean", "ne of", "ither ", "alues", "ptions", "hoices",
    "llowed", "upported", "ISO", "iso", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9",
)  # fmt: skip
#: Words without which a rule does not apply.
NECESSITY_WORDS = frozenset(("optional", "required"))
DEFAULT_WORDS = frozenset(("default", "defaults"))
BOUND_WORDS = frozenset("min max minimum maximum between range least most up to from characters items".split())
KIND_WORDS = frozenset(
    "array list string strings str integer integers int number numbers float boolean booleans bool object objects "
    "json dict".split()
)
FORMAT_MARKS = frozenset("iso iso8601 8601 rfc date email uuid uri url".split())
TYPE_WORDS: dict[str, frozenset[str]] = {
    "string": frozenset(("string", "str", "strings")),
    "integer": frozenset(("integer", "int", "number", "whole number", "integers", "numbers")),
    "number": frozenset(("number", "float", "numeric", "numbers", "floats")),
    "boolean": frozenset(("boolean", "bool", "true/false", "booleans", "true or false")),
    "array": frozenset(("array", "list")),
    "object": frozenset(("object", "json object", "dict", "dictionary", "objects")),
}
FORMAT_WORDS: dict[str, frozenset[str]] = {
    "date-time": frozenset(("iso 8601", "iso8601", "iso 8601 format", "iso 8601 date-time", "iso 8601 datetime",
    "iso 8601 timestamp",
                            "date-time", "rfc 3339", "iso 8601 date time", "iso-8601")),
    "date": frozenset(("iso 8601 date", "iso date", "date")),
    "email": frozenset(("email", "email address")),
    "uuid": frozenset(("uuid",)),
    "uri": frozenset(("uri", "url")),
}  # fmt: skip

#: Words that introduce a list of members, and those that say that a list comes.
INTRO_WORDS = frozenset(
    "can may should be is accepts accept either any one of the a possible allowed valid supported available "
    "accepted values value options option choices choice are include includes following these".split()
)
LIST_WORDS = frozenset("either one values options choices allowed valid supported possible accepted".split())
UNITS = {"characters": "length", "character": "length", "chars": "length", "items": "items", "item": "items",
    "entries": "items",
         "elements": "items"}  # fmt: skip
_BOUND_ENDS = (*UNITS, "inclusive", " ", "*", "_")
ARRAY_LEADS = ("an array of ", "a list of ", "array of ", "list of ", "the list of ", "the array of ")
BOOLEAN_LEADS = tuple(
    f"{article}boolean{noun} {verb} "
    for article in ("", "a ")
    for noun in ("", " flag", " value")
    for verb in ("indicating", "specifying", "that indicates")
)

_QUOTES = "`'\"“”‘’*"
_LIST_MARKS = str.maketrans(dict.fromkeys("|/;", ","))


def restructure(text: str, facts: Facts) -> str:
    """``text`` without the phrases that say what ``facts`` say; ``""`` when nothing else was said.

    >>> restructure("Page size (default: 30, max: 100)", Facts(default=30, maximum=100))
    'Page size'
    >>> restructure("Page size (default: 30, max: 100)", Facts(default=20))
    'Page size (default: 30, max: 100)'
    >>> restructure("One of: open, closed.", Facts(enum=("open", "closed")))
    ''
    """
    if len(text) > LONGEST:
        return text
    while applies(text) and (rules := _rules(text, facts)) and (told := _restructure(text, facts, rules)) != text:
        text = told
    return text


def applies(text: str) -> bool:
    """Whether ``text`` has a mark that a rule could go by, whatever the facts: spares gathering them for most texts.

    >>> applies("Owner of it"), applies("Owner (optional)")
    (False, True)
    """
    for mark in MARKS:  # noqa: SIM110 - a generator costs more than the tests
        if mark in text:
            return True
    return False


def _rules(text: str, facts: Facts) -> Rules:
    """The rules for which the text has the words, and the facts something to go by."""
    rules: list[Rule] = []
    bracket = "(" in text
    if ("ptional" in text and facts.required is False) or ("equired" in text and facts.required is True):
        rules.append(_necessity)
    if facts.types and (bracket or _names_a_kind(text, facts)):
        rules.append(_type)
    if facts.format and not FORMAT_MARKS.isdisjoint(words_of(text.lower())):
        rules.append(_format)
    if "efault" in text and facts.default is not ABSENT:
        rules.append(_default)
    if _bounded(facts) and (bracket or not BOUND_WORDS.isdisjoint(words_of(text.lower()))):
        rules.append(_bounds)
    if facts.enum and all((each if isinstance(each, str) else json.dumps(each)) in text for each in facts.enum):
        rules.append(_enum)
    return tuple(rules)


def _names_a_kind(text: str, facts: Facts) -> bool:
    if "array" in facts.types:
        return "rray of" in text or "ist of" in text
    return "boolean" in facts.types and "oolean" in text


def _bounded(facts: Facts) -> bool:
    return (
        facts.minimum is not None
        or facts.maximum is not None
        or facts.min_length is not None
        or facts.max_length is not None
        or facts.min_items is not None
        or facts.max_items is not None
    )


def _restructure(text: str, facts: Facts, rules: Rules) -> str:
    pieces = split(text)
    if len(pieces) == 1:
        said = _sentence(text, facts, rules)
        return said if said is text else said.strip()
    kept = []
    changed = breaks = False
    for piece in pieces:
        # An item of a list, or a line "key: ...", speaks of a part of the value, not of the value.
        part = breaks and (begins_item(piece, letters=False) or key_of(piece) != "")
        said = piece if part else _sentence(piece, facts, rules)
        changed |= said is not piece
        kept.append(said)
        breaks = piece.endswith("\n")
    return "".join(kept).strip() if changed else text


def _sentence(piece: str, facts: Facts, rules: Rules) -> str:
    """One sentence without what the facts say; ``piece`` itself where nothing goes."""
    _, words, binds = known(piece)
    rules = tuple([rule for rule in rules if rule not in _WORDS or not _WORDS[rule].isdisjoint(words)])
    if binds or not rules:
        return piece
    body = piece.rstrip()
    gap = piece[len(body) :]
    if _told(body.rstrip("."), facts, rules):
        return ""
    said = _brackets(body, facts, rules) if "(" in body else body
    said = _leads(said, facts)
    said = _tails(said, facts, rules)
    if said == body:
        return piece
    said = said.lstrip(" ,;:-").rstrip()
    return said + gap if any(char.isalnum() for char in said) else ""


def _brackets(body: str, facts: Facts, rules: Rules) -> str:
    """``body`` with what stays of each bracket on one line that holds no other, and of the blank before it."""
    said = ""
    done = 0
    at = body.find("(")
    while at >= 0:
        close = body.find(")", at, at + LONG_BRACKET)
        inner = body[at + 1 : close] if close > 0 else ""
        if not inner or "(" in inner or "\n" in inner:
            at = body.find("(", at + 1)
            continue
        start = at - 1 if at > done and body[at - 1] == " " else at
        said += body[done:start] + _bracket(body[start:at], inner, facts, rules)
        done = close + 1
        at = body.find("(", done)
    return said + body[done:]


def _bracket(blank: str, inner: str, facts: Facts, rules: Rules) -> str:
    """What stays of a bracket: the parts, between commas, that the facts do not say."""
    if _told(inner, facts, rules):
        return ""
    if "," not in inner:
        return f"{blank}({inner})"
    parts = [part.strip() for part in inner.split(",")]
    left = [part for part in parts if not _told(part, facts, rules)]
    if len(left) == len(parts) or "'" in inner or '"' in inner or "`" in inner:
        return f"{blank}({inner})"
    return f"{blank}({', '.join(left)})" if left else ""


def _told(phrase: str, facts: Facts, rules: Rules) -> bool:
    """Whether the whole of ``phrase`` says what the facts say."""
    if len(phrase) > LONG_PHRASE and not facts.enum:
        return False
    said = phrase.strip("*_ ").replace("**", "")
    for rule in rules:  # noqa: SIM110 - a generator costs more than the rules
        if rule(said, facts):
            return True
    return False


def _necessity(said: str, facts: Facts) -> bool:
    word = (
        said.lower()
        .removesuffix(" parameter")
        .removesuffix(" field")
        .removesuffix(" argument")
        .removeprefix("this is ")
    )
    return (word == "optional" and facts.required is False) or (word == "required" and facts.required is True)


def _type(said: str, facts: Facts) -> bool:
    low = said.lower().removeprefix("a ").removeprefix("an ").removeprefix("type: ")
    kinds = [each for each in facts.types if each != "null"]
    if len(kinds) != 1:
        return False
    if low in TYPE_WORDS.get(kinds[0], ()):
        return True
    items = [each for each in facts.item_types if each != "null"]
    if kinds != ["array"] or len(items) != 1:
        return False
    head, found, of = low.removeprefix("json ").partition(" of ")
    if not found and low.endswith("[]"):
        head, of = "array", low[:-2]
    return head in ("array", "list") and of in TYPE_WORDS.get(items[0], ())


def _format(said: str, facts: Facts) -> bool:
    low = said.lower().removeprefix("in ").removesuffix(" format").removeprefix("format: ")
    return low in FORMAT_WORDS.get(facts.format or "", ())


def _default(said: str, facts: Facts) -> bool:
    low = said.lower()
    rest = said[4:] if low.startswith("the default") else said
    for word in ("defaults", "default"):
        if rest.lower().startswith(word):
            rest = rest[len(word) :]
            break
    else:
        return False
    value = _behind(rest, ("value", "to", "is", "of", "are"))
    return not isinstance(facts.default, Absent) and bool(value) and _same(value, facts.default)


def _behind(rest: str, words: tuple[str, ...]) -> str:
    """What stands behind any of ``words``, colons and equal signs at the start of ``rest``."""
    if rest[:1].isalnum():
        return ""
    rest = rest.lstrip(" :=")
    while (first := rest.split(" ", 1))[0].lower().rstrip(":=") in words and len(first) == 2:
        rest = first[1].lstrip(" :=")
    return rest


def _same(written: str, value: JSON) -> bool:
    """Whether the words ``written`` in prose spell the JSON ``value``."""
    inner = written.strip().rstrip(".").strip().strip(_QUOTES)
    if isinstance(value, str):
        return inner == value and bool(value)
    if value is None:
        return inner.lower() in ("null", "none")
    if isinstance(value, bool):
        return inner.lower() == ("true" if value else "false")
    try:
        read: JSON = json.loads(inner)
    except ValueError:
        return False
    if isinstance(read, bool) or isinstance(value, list | dict):
        return read == value and json.dumps(read) == json.dumps(value)
    return read == value


def _bounds(said: str, facts: Facts) -> bool:
    low = said.lower()
    if not (low[-1:].isdigit() or low.endswith(_BOUND_ENDS)):
        return False
    low = low.replace("–", "-")
    unit = ""
    for word, kind in UNITS.items() if "m " in low or low.endswith(_BOUND_ENDS) else ():
        if low.endswith(f" {word}"):
            low, unit = low.removesuffix(f" {word}"), kind
        elif f"m {word}: " in low:
            low, unit = low.replace(f"m {word}: ", "m: "), kind
    least, most = _range(unit, facts)
    for word, bound in (("minimum", least), ("min", least), ("at least", least), ("maximum", most), ("max", most),
                        ("at most", most), ("up to", most)):  # fmt: skip
        if low.startswith(word):
            return bound is not None and _number(_behind(low[len(word) :], ("value", "length", "of", "is"))) == bound
    for word in ("range", "between", "from"):
        low = _behind(low[len(word) :], ("of", "is")) if low.startswith(word) else low
    for mark in (" and ", " to ", "..", " - ", "-"):
        lower, found, upper = low.removesuffix(" inclusive").partition(mark)
        if found and lower:
            return None not in (least, most) and _number(lower) == least and _number(upper) == most
    return False


def _number(written: str) -> float | None:
    try:
        return float(written) if written.strip().lstrip("-")[:1].isdigit() else None
    except ValueError:
        return None


def _range(unit: str, facts: Facts) -> tuple[float | None, float | None]:
    if unit == "length":
        return facts.min_length, facts.max_length
    if unit == "items":
        return facts.min_items, facts.max_items
    return facts.minimum, facts.maximum


def _enum(said: str, facts: Facts) -> bool:
    if not facts.enum or (isinstance(facts.enum[0], str) and facts.enum[0] not in said):
        return False
    words = said.split(" ")
    start = next((at for at, word in enumerate(words) if word.lower().rstrip(":") not in INTRO_WORDS), len(words))
    start = next((at + 1 for at, word in enumerate(words[:start]) if word.endswith(":")), start)
    listed = " ".join(words[start:])
    if start:
        lists = any(word.lower().rstrip(":") in LIST_WORDS for word in words[:start])
    else:
        lists = " or " in said or any(mark in said for mark in "|,/`'\"")
    if not lists:
        return False
    parts = listed.rstrip(".").translate(_LIST_MARKS).replace(" or ", ",").replace(" and ", ",").split(",")
    members = {part.strip().removeprefix("or ").removeprefix("and ").strip(_QUOTES) for part in parts} - {""}
    return len(members) > 1 and members == {each if isinstance(each, str) else json.dumps(each) for each in facts.enum}


#: Words without which a sentence has nothing for a rule; the other rules go by digits and members.
_WORDS: dict[Rule, frozenset[str]] = {
    _necessity: NECESSITY_WORDS,
    _type: KIND_WORDS,
    _format: FORMAT_MARKS,
    _default: DEFAULT_WORDS,
}
#: What an ending that a rule may take out begins with.
TAIL_MARKS: dict[Rule, tuple[str, ...]] = {
    _format: (" in iso",),
    _type: (" as an array of ", " as array of ", " as a list of "),
    _bounds: (" between ",),
}


def _leads(said: str, facts: Facts) -> str:
    """``said`` without an opening that names its type or necessity: "Optional. ", "Array of "."""
    low = said.lower()
    kinds = [each for each in facts.types if each != "null"]
    leads = ARRAY_LEADS if kinds == ["array"] else BOOLEAN_LEADS if kinds == ["boolean"] else ()
    if leads and low.startswith(leads):
        for lead in leads:
            if low.startswith(lead) and said[len(lead) : len(lead) + 1].isalpha():
                return said[len(lead) :]
    for word, needed in (("optional", False), ("required", True)) if low.startswith(("optional", "required")) else ():
        mark = said[len(word) : len(word) + 2]
        if low.startswith(word) and mark in (": ", ". ", ", ", "- ", " -") and facts.required is needed:
            return said[len(word) + 1 :].lstrip(" -")
    return said


def _tails(said: str, facts: Facts, rules: Rules) -> str:
    """``said`` without an ending that the facts say: ", default 10", " as an array of strings"."""
    stop = "." if said.endswith(".") else ""
    body = said.removesuffix(".")
    for mark in (", ", "; ", " - "):
        head, found, tail = body.rpartition(mark)
        if found and head and _told(tail, facts, rules) and not _type(tail, facts):
            return head + stop
    low = body.lower()
    for mark in [mark for rule in rules for mark in TAIL_MARKS.get(rule, ())]:
        at = low.rfind(mark)
        if at > 0 and _told(low[at + 1 :].removeprefix("as "), facts, rules):
            return body[:at].rstrip(",") + stop
    return said
