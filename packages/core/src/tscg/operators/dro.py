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
#: What names a type takes fewer characters.
LONG_TYPE = 40
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
#: What every phrase on a bound has, and what the first one of its words is, where it is no number.
BOUND_MARKS = ("min", "max", "least", "most", "up to", "-", "–", " to ", " and ", "..")
LEAST_WORDS = ("minimum", "min", "at least")
MOST_WORDS = ("maximum", "max", "at most", "up to")
BOUND_STARTS = (*LEAST_WORDS, *MOST_WORDS, "range", "between", "from")
_BOUND_NOUNS = ("value", "length", "of", "is")
_BOUND_ENDS = (*UNITS, "inclusive", " ", "*", "_")
ARRAY_LEADS = ("an array of ", "a list of ", "array of ", "list of ", "the list of ", "the array of ")
BOOLEAN_LEADS = tuple(
    f"{article}boolean{noun} {verb} "
    for article in ("", "a ")
    for noun in ("", " flag", " value")
    for verb in ("indicating", "specifying", "that indicates")
)

#: Facts that are bounds.
_DIGITS = frozenset("0123456789")
_LIMITS = frozenset("minimum maximum min_length max_length min_items max_items".split())
#: Nouns that may stand behind "optional" in a phrase, and marks that show behind a blank that a phrase goes on.
_NOUNS = (" parameter", " field", " argument")
_GO_ON = frozenset("'\"`(<[{")
#: What a text must begin with to have an opening that names its type or necessity.
_OPENINGS = ("optional", "required", "a ", "an ", "array of ", "list of ", "the ", "boolean")
_QUOTES = "`'\"“”‘’*"
#: Marks between members, and what may stand behind the last one.
_LISTING = frozenset("|,/`'\"")
_LIST_ENDS = "`'\"*.,|/; \t\n\r\v\f\x1c\x1d\x1e\x1f"
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
    while (rules := _rules(text, facts)) and (told := _restructure(text, facts, rules)) != text:
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
    """The rules for which the text has words and the facts something to go by; none where no phrase can be told."""
    rules: list[Rule] = []
    bracket = "(" in text
    required = facts.required
    if required is not None and ("equired" if required else "ptional") in text:
        rules.append(_necessity)
    if facts.types and (bracket or _names_a_kind(text, facts)):
        rules.append(_type)
    marked = bracket or rules != []
    bounded = not _LIMITS.isdisjoint(facts.__dict__) and _bounded(facts)
    if bounded and (bracket or not BOUND_WORDS.isdisjoint(words_of(text.lower()))):
        rules.append(_bounds)
    common = len(rules)
    if facts.format and not FORMAT_MARKS.isdisjoint(words_of(text.lower())):
        rules.append(_format)
    if "efault" in text and facts.default is not ABSENT:
        marked = True
        rules.append(_default)
    if facts.enum and _has_all(text, facts.enum):
        rules.append(_enum)
    if not rules or not (marked or applies(text)) or (len(rules) == common and not _may_tell(text, facts, bounded)):
        return ()
    return tuple(rules)


def _may_tell(text: str, facts: Facts, bounded: bool) -> bool:
    """Whether a phrase of ``text`` may say the necessity, the type or a bound, or a sentence may open with one.

    A test at a glance: a phrase ends where its last word does not go on with another one.
    """
    low = text.lower()
    if bounded and not (low.isascii() and _DIGITS.isdisjoint(low)):
        for mark in BOUND_MARKS:
            if mark in low:
                return True
    required = facts.required
    if required is not None:
        word = "required" if required else "optional"
        if word in low and ends_phrase(word, low):
            return True
    kinds = facts.types if "null" not in facts.types else tuple([each for each in facts.types if each != "null"])
    if len(kinds) == 1:
        kind = kinds[0]
        words = TYPE_WORDS.get(kind, frozenset())
        if kind == "array":
            if "[]" in low or _opens_list(low):
                return True
            words = words.union(*[TYPE_WORDS.get(each, ()) for each in facts.item_types])
        for word in words:
            if word in low and (kind == "boolean" or ends_phrase(word, low)):
                return True
    return "**" in text  # emphasis may stand inside words


def _opens_list(low: str) -> bool:
    """Whether "list of" or "array of" may open a sentence: no other word than an article stands before it."""
    for mark in ("list of ", "array of "):
        at = low.find(mark)
        while at >= 0:
            before = low[:at].removesuffix("the ").removesuffix("an ").removesuffix("a ")
            if before[-1:] != " " or not before[-2:-1].isalnum():
                return True
            at = low.find(mark, at + 1)
    return False


def ends_phrase(word: str, low: str) -> bool:
    """Whether a phrase may end behind ``word``, or behind a noun that goes with it.

    >>> ends_phrase("optional", "owner (optional)"), ends_phrase("optional", "an optional filter")
    (True, False)
    """
    at = low.find(word)
    while at >= 0:
        at += len(word)
        mark = low[at : at + 1]
        if mark in " _":
            mark = low[at + 1 : at + 2]
            if not (mark.isalnum() or mark in _GO_ON) or low.startswith(_NOUNS, at):
                return True
        elif not mark.isalnum():
            return True
        at = low.find(word, at)
    return False


def _lists_all(piece: str, low: str, facts: Facts) -> bool:
    """Whether a sentence names all members, be it in lower case."""
    return "**" in piece or (facts.enum is not None and (_has_all(piece, facts.enum) or _has_all(low, facts.enum)))


def _has_all(text: str, members: tuple[JSON, ...]) -> bool:
    for each in members:  # noqa: SIM110 - a generator costs more than the tests
        if (each if isinstance(each, str) else json.dumps(each)) not in text:
            return False
    return True


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
    low, words, binds = known(piece)
    if binds:
        return piece
    applied = []
    for rule in rules:
        if rule in _WORDS:
            if _WORDS[rule].isdisjoint(words):
                continue
        elif rule is _enum and not (low.startswith(_OPENINGS) or _lists_all(piece, low, facts)):
            continue
        applied.append(rule)
    if not applied:
        return piece
    said = body = piece.rstrip()
    bracket = "(" in body
    # Of phrases only a default and a list of members have a bracket.
    if (not bracket or facts.enum or facts.default is not ABSENT) and _told(body.rstrip("."), facts, applied):
        return ""
    if bracket and (said := _brackets(body, facts, applied)) != body:
        low = said.lower()
    if low.startswith(_OPENINGS):
        said = _leads(said, facts)
    if (
        ", " in said or "; " in said or " - " in said or " as a" in low or " between " in low or " in iso" in low
    ):  # fmt: skip
        said = _tails(said, facts, applied)
    if said == body:
        return piece
    said = said.lstrip(" ,;:-").rstrip()
    return said + piece[len(body) :] if said[:1].isalnum() or any(map(str.isalnum, said)) else ""


def _brackets(body: str, facts: Facts, rules: list[Rule]) -> str:
    """``body`` without the brackets, and the parts of them between commas, that say what the facts say.

    A bracket stands on one line and holds no other; the blank before it goes with it.
    """
    said = ""
    done = 0
    at = body.find("(")
    while at >= 0:
        close = body.find(")", at, at + LONG_BRACKET)
        inner = body[at + 1 : close] if close > 0 else ""
        if not inner or "(" in inner or "\n" in inner:
            at = body.find("(", at + 1)
            continue
        left = [] if _told(inner, facts, rules) else _untold(inner, facts, rules)
        if left is not None:
            blank = " " if at > done and body[at - 1] == " " else ""
            said += body[done : at - len(blank)]
            if left:
                said += f"{blank}({', '.join(left)})"
            done = close + 1
        at = body.find("(", close)
    return said + body[done:] if done else body


def _untold(inner: str, facts: Facts, rules: list[Rule]) -> list[str] | None:
    """The parts of a bracket, between commas, that the facts do not say; None where all stay."""
    if "," not in inner or "'" in inner or '"' in inner or "`" in inner:
        return None
    parts = [part.strip() for part in inner.split(",")]
    left = [part for part in parts if not _told(part, facts, rules)]
    return left if len(left) < len(parts) else None


def _told(phrase: str, facts: Facts, rules: list[Rule]) -> bool:
    """Whether the whole of ``phrase`` says what the facts say."""
    if len(phrase) > LONG_PHRASE and not facts.enum:
        return False
    said = phrase.strip("*_ ").replace("**", "")
    for rule in rules:  # noqa: SIM110 - a generator costs more than the rules
        if rule(said, facts):
            return True
    return False


def _necessity(said: str, facts: Facts) -> bool:
    low = said.lower()
    if not low.startswith(("optional", "required", "this is ")):
        return False
    word = low.removesuffix(" parameter").removesuffix(" field").removesuffix(" argument").removeprefix("this is ")
    return (word == "optional" and facts.required is False) or (word == "required" and facts.required is True)


def _type(said: str, facts: Facts) -> bool:
    if len(said) > LONG_TYPE:
        return False
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
    low = said.lower().replace("–", "-")
    bare = low[-1:].isdigit()
    if not (bare or low.endswith(_BOUND_ENDS)):
        return False
    if not (low.startswith(BOUND_STARTS) or low.strip().lstrip("-")[:1].isdigit()):
        return False
    unit = ""
    for word, kind in UNITS.items() if not bare or "m " in low else ():
        if low.endswith(f" {word}"):
            low, unit = low.removesuffix(f" {word}"), kind
        elif f"m {word}: " in low:
            low, unit = low.replace(f"m {word}: ", "m: "), kind
    least, most = _range(unit, facts)
    for word in LEAST_WORDS:
        if low.startswith(word):
            return least is not None and _number(_behind(low[len(word) :], _BOUND_NOUNS)) == least
    for word in MOST_WORDS:
        if low.startswith(word):
            return most is not None and _number(_behind(low[len(word) :], _BOUND_NOUNS)) == most
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
    enum = facts.enum
    if not enum or (isinstance(enum[0], str) and enum[0] not in said):
        return False
    if said.isascii():  # what does not end with a member is no list of them
        end = said.rstrip(_LIST_ENDS)
        for each in enum:
            if not isinstance(each, str) or end.endswith((each.rstrip(_LIST_ENDS), "or", "and")):
                break
        else:
            return False
    words = said.split(" ")
    start = 0
    lists = False
    for word in words:
        bare = word.lower().rstrip(":")
        if bare not in INTRO_WORDS:
            break
        start += 1
        lists = lists or bare in LIST_WORDS
        if word[-1:] == ":":
            break
    if not (lists if start else " or " in said or not _LISTING.isdisjoint(said)):
        return False
    listed = " ".join(words[start:]) if start else said
    parts = listed.rstrip(".").translate(_LIST_MARKS).replace(" or ", ",").replace(" and ", ",").split(",")
    members = {part.strip().removeprefix("or ").removeprefix("and ").strip(_QUOTES) for part in parts} - {""}
    return len(members) > 1 and members == {each if isinstance(each, str) else json.dumps(each) for each in enum}


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
    if low.startswith(("optional", "required")):
        word, needed = ("optional", False) if low[0] == "o" else ("required", True)
        mark = said[len(word) : len(word) + 2]
        if mark in (": ", ". ", ", ", "- ", " -") and facts.required is needed:
            return said[len(word) + 1 :].lstrip(" -")
        return said
    kinds = [each for each in facts.types if each != "null"]
    leads = ARRAY_LEADS if kinds == ["array"] else BOOLEAN_LEADS if kinds == ["boolean"] else ()
    for lead in leads if low.startswith(leads) else ():
        if low.startswith(lead) and said[len(lead) : len(lead) + 1].isalpha():
            return said[len(lead) :]
    return said


def _tails(said: str, facts: Facts, rules: list[Rule]) -> str:
    """``said`` without an ending that the facts say: ", default 10", " as an array of strings"."""
    stop = "." if said.endswith(".") else ""
    body = said.removesuffix(".")
    for mark in (", ", "; ", " - "):
        at = body.rfind(mark) if mark in body else 0
        if at > 0 and _told(tail := body[at + len(mark) :], facts, rules) and not _type(tail, facts):
            return body[:at] + stop
    low = ""
    for rule in rules:
        if rule not in TAIL_MARKS:
            continue
        low = low or body.lower()
        for mark in TAIL_MARKS[rule]:
            at = low.rfind(mark) if mark in low else 0
            if at > 0 and _told(low[at + 1 :].removeprefix("as "), facts, rules):
                return body[:at].rstrip(",") + stop
    return said
