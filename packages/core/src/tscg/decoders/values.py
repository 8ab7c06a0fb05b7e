"""From the text of arguments to values: one strict reader, behind it the tolerant spellings, each listed.

What comes out holds JSON values only: no duplicate key was dropped, integers are exact, no number is infinite, every
string is Unicode text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from tscg.calls import Fault, Notice, Path, show_path
from tscg.decoders.lexer import Unreadable, lex

if TYPE_CHECKING:
    from tscg.decoding import Decoding

__all__ = ["Bad", "Reading", "deeper", "plain", "read_arguments", "read_value", "strict_value"]

REPAIR_LIMIT = 20_000  # characters that are given to the repair library
BAD_BYTE = re.compile("[\udc80-\udcff]")  # how a byte that is no UTF-8 arrives here
DRIVE = re.compile(r"(?<![A-Za-z])[A-Za-z]:\\[bfnrtu]")
HINTS = {
    "truncated": "Send less: split the content or the call. Close every bracket.",
    "duplicate_key": "Give each key once.",
    "too_deep": "Nest less deeply.",
    "number_out_of_range": "Give a smaller number.",
}


class Bad(Exception):
    """Internal: the text is no value that may be used; carries the fault."""

    def __init__(self, kind: str, path: Path = (), expected: str = "", found: str = "") -> None:
        super().__init__(kind)
        self.fault = Fault(kind=kind, path=path, expected=expected, found=found, hint=HINTS.get(kind, ""))


@dataclass(slots=True)
class Reading:
    """Values that were read, with what was changed on the way and what is worth a warning."""

    value: Any = None
    repairs: list[str] = field(default_factory=list)
    warnings: list[Notice] = field(default_factory=list)
    sources: dict[float, str] = field(default_factory=dict)  # float -> its only spelling in the text


def read_value(text: str, options: Decoding, room: int = 0) -> Reading:
    """Read one JSON value in a tolerated spelling; raises :class:`Bad`.

    ``room`` is how many levels may stand around the value that ``max_depth`` is about.
    """
    limit = options.max_depth + room
    if not text.isascii() and BAD_BYTE.search(text):
        raise Bad("invalid_utf8", expected="UTF-8", found="other bytes")
    reading = Reading()
    shallow = _shallow(text, limit)
    if shallow and not options.number_to_text and options.max_digits >= 15:
        try:
            reading.value = FAST.decode(text)
            return _checked(reading, text)
        except ValueError:
            pass
    reader = _Reader(options, reading)
    if shallow:
        try:
            reading.value = reader.decode(text)
            return _checked(reading, text)
        except ValueError:
            pass  # no strict JSON: the lexer says what is tolerated
    try:
        lexed = lex(text, limit)
    except Unreadable as error:
        return _mended(text, error, options)
    for kind, at in lexed.changes:
        if not options.allows(kind):
            raise Bad(
                "not_json", expected="strict JSON", found=f"{kind.replace('_', ' ')} at character {at + 1}"
            ) from None
    try:
        reading.value = reader.decode(lexed.text)
    except ValueError as error:
        raise Bad("not_json", expected="a JSON value", found=str(error)[:80]) from None
    counted: dict[str, list[int]] = {}
    for kind, at in lexed.changes:
        counted.setdefault(kind, []).append(at)
    for kind, places in counted.items():
        times = f", {len(places)} times" if len(places) > 1 else ""
        reading.repairs.append(f"{kind}: : at character {places[0] + 1}{times}")
    return _checked(reading, text)


def strict_value(text: str, options: Decoding) -> Any:
    """The value of a text in strict JSON that wants no closer look, in the quickest way.

    Raises ValueError for any other text: :func:`read_value` reads those too.

    >>> from tscg.decoding import Decoding
    >>> strict_value('{"a":[1]}', Decoding())
    {'a': [1]}
    """
    if text.count("{") + text.count("[") > options.max_depth or "\\u" in text or ":\\" in text:
        raise _Slow
    if not text.isascii():
        text.encode()  # a lone surrogate is a ValueError
    try:
        value, end = SCAN(text, 0)
    except StopIteration:
        raise _Slow from None
    if end != len(text):
        raise _Slow
    return value


def _shallow(text: str, limit: int) -> bool:
    """Can the text be no deeper than the limit? An upper bound, counted before anything recursive sees it."""
    return text.count("{") + text.count("[") <= limit or lex_depth(text, limit) <= limit


def lex_depth(text: str, limit: int) -> int:
    """The deepest nesting of brackets outside strings with double quotes; one more than the limit is far enough."""
    depth = deepest = 0
    quoted = False
    for match in re.finditer(r'\\.|["{}\[\]]', text, re.DOTALL):
        char = match.group()
        if char == '"':
            quoted = not quoted
        elif not quoted and char in "{[":
            depth += 1
            deepest = max(deepest, depth)
            if deepest > limit:
                break
        elif not quoted and char in "}]":
            depth -= 1
    return deepest


class _Slow(ValueError):
    """Internal: something that needs a closer look."""


def _fast_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise _Slow
    return out


def _fast_number(text: str) -> Any:
    if len(text) > 15 or text == "-0":
        raise _Slow
    value = float(text)
    if math.isinf(value) or value == 0:
        raise _Slow
    return value


def _fast_int(text: str) -> int:
    if len(text) > 15 or text == "-0":
        raise _Slow
    return int(text)


def _fast_constant(word: str) -> NoReturn:
    raise _Slow


# Most arguments need no more than this; made once.
FAST = json.JSONDecoder(
    object_pairs_hook=_fast_pairs, parse_float=_fast_number, parse_int=_fast_int, parse_constant=_fast_constant
)
SCAN: Callable[[str, int], tuple[Any, int]] = FAST.scan_once  # type: ignore[attr-defined]


class _Reader:
    """The standard decoder with hooks for what it takes too lightly."""

    def __init__(self, options: Decoding, reading: Reading) -> None:
        self.options, self.reading = options, reading
        self.spellings: dict[float, set[str]] = {}
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self.pairs, parse_float=self.float, parse_int=self.int, parse_constant=self.constant
        )

    def decode(self, text: str) -> Any:
        value = self.decoder.decode(text)
        self.reading.sources.update(
            {key: next(iter(texts)) for key, texts in self.spellings.items() if len(texts) == 1}
        )
        return value

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(pairs)
        if len(out) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    raise Bad("duplicate_key", (key,), "each key once", json.dumps(key[:76], ensure_ascii=False))
                seen.add(key)
        return out

    def constant(self, word: str) -> NoReturn:
        raise Bad("not_json", expected="a JSON value", found=word)

    def int(self, text: str) -> int | float:
        if len(text) > self.options.max_digits:
            raise Bad(
                "number_out_of_range", expected=f"a number of at most {self.options.max_digits} digits", found=text[:40]
            )
        return -0.0 if text == "-0" else int(text)

    def float(self, text: str) -> float:
        value = float(text)
        if len(text) > self.options.max_digits or math.isinf(value):
            raise Bad("number_out_of_range", expected="a number that a double can hold", found=text[:80])
        self.spellings.setdefault(value, set()).add(text)
        if len(text) > 16 or value == 0:
            from decimal import Decimal

            if Decimal(text) != Decimal(repr(value)):
                message = f"{text[:80]} is passed as {value!r}"
                self.reading.warnings.append(Notice(kind="number_rounded", message=message))
        return value


def _checked(reading: Reading, text: str) -> Reading:
    if "\\u" in text or not text.isascii():
        _unicode(reading.value, ())
    if ":\\" in text and DRIVE.search(text):
        message = "a path such as C:\\new may have lost its backslash: \\n is a line break in JSON"
        reading.warnings.append(Notice(kind="ambiguous_escape", message=message))
    return reading


def _unicode(value: Any, path: Path) -> None:
    """Refuse lone surrogates, keys included. Depth is bounded by the reader."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Bad("invalid_unicode", path, "Unicode text", "half of a surrogate pair") from None
    elif isinstance(value, dict):
        for key, inner in value.items():
            _unicode(key, path)
            _unicode(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _unicode(inner, (*path, index))


def _mended(text: str, error: Unreadable, options: Decoding) -> Reading:
    """The last resort: a repair library, and only if it invents, drops and moves nothing."""
    if error.reason == "too_deep":
        raise Bad("too_deep", expected=f"at most {options.max_depth} levels", found="more")
    if error.ended:
        raise Bad("truncated", expected="a whole JSON value", found=error.reason)
    tokens = scalars_of(text) if options.punctuation and len(text) <= REPAIR_LIMIT else None
    if tokens is not None:
        import json_repair

        value: Any = json_repair.loads(text, skip_json_loads=True)
        if isinstance(value, dict | list) and value and _flat(value) == tokens:
            reading = Reading()
            reading.value = plain(value, options, reading.repairs)
            reading.repairs.append(f"punctuation: : {error.reason} at character {error.at + 1}")
            return reading
    near = text[error.at : error.at + 24]
    raise Bad("not_json", expected="a JSON value", found=f"{error.reason} at character {error.at + 1}: {near}"[:80])


TOKEN = re.compile(
    r'"((?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*)"|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.+-])'
    r"|(true|false|null)(?!\w)|([{}\[\],:\s]+)"
)


def scalars_of(text: str) -> list[str] | None:
    """Keys and scalars of a text in order, as JSON; None if it holds anything else or leaves a bracket open."""
    out: list[str] = []
    opened = closed = at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            return None
        string, number, word, marks = match.groups()
        if marks:
            opened += marks.count("{") + marks.count("[")
            closed += marks.count("}") + marks.count("]")
        elif string is not None:
            out.append(json.dumps(json.loads(f'"{string}"')))
        elif number and len(number) > 400:
            return None
        else:
            out.append(json.dumps(json.loads(number)) if number else word)
        at = match.end()
    return out if opened <= closed and opened and opened <= 64 else None


def _flat(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [token for key, inner in value.items() for token in (json.dumps(key), *_flat(inner))]
    if isinstance(value, list):
        return [token for inner in value for token in _flat(inner)]
    return [json.dumps(value)]


# --- values that are already values ---------------------------------------------------------------------------------


def deeper(value: Any, limit: int) -> bool:
    """Whether a value that was read is nested deeper than that many levels.

    >>> deeper({"a": [1]}, 2), deeper({"a": [1]}, 1)
    (False, True)
    """
    level = [value]
    for _ in range(limit + 1):
        level = [one for one in level if isinstance(one, dict | list)]
        if not level:
            return False
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
    return True


def plain(value: Any, options: Decoding, repairs: list[str], path: Path = (), depth: int = 0) -> Any:
    """A copy that holds JSON values only; raises :class:`Bad` for what is none."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        text = str(value)
        if not text.isascii():
            _unicode(text, path)
        return text
    if isinstance(value, int):
        if value.bit_length() > options.max_digits * 3.33:
            raise Bad("number_out_of_range", path, f"a number of at most {options.max_digits} digits", "a longer one")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Bad("not_json", path, "a JSON value", "NaN" if math.isnan(value) else "Infinity")
        return float(value)
    if depth >= options.max_depth:
        raise Bad("too_deep", (), f"at most {options.max_depth} levels", "more")
    if isinstance(value, Mapping):
        out: dict[str, Any] = {}
        for key, inner in value.items():
            name = str(key)
            if not isinstance(key, str):
                if isinstance(key, bool) or not isinstance(key, int) or not options.int_key:
                    raise Bad("not_json", path, "text as key", type(key).__name__)
                repairs.append(f"int_key: {show_path(path)}: {name}")
            if name in out:
                raise Bad("duplicate_key", (*path, name), "each key once", json.dumps(name[:76], ensure_ascii=False))
            _unicode(name, path)
            out[name] = plain(inner, options, repairs, (*path, name), depth + 1)
        return out
    if isinstance(value, list | tuple):
        return [plain(inner, options, repairs, (*path, i), depth + 1) for i, inner in enumerate(value)]
    raise Bad("not_json", path, "a JSON value", type(value).__name__)


NOTHING = (None, "", "null")


def read_arguments(given: Any, options: Decoding, room: int = 0) -> Reading:
    """The object of arguments, from text, a mapping or nothing; raises :class:`Bad`.

    ``room`` is how many levels may stand around the arguments: those of a dispatcher hold another call's.

    >>> from tscg.decoding import Decoding
    >>> read_arguments('"{\\\\"a\\\\": 1}"', Decoding()).value
    {'a': 1}
    """
    if isinstance(given, Reading):
        return given
    reading = Reading()
    if isinstance(given, bytes | bytearray):
        try:
            given = bytes(given).decode()
        except UnicodeDecodeError:
            raise Bad("invalid_utf8", expected="UTF-8", found="other bytes") from None
    if isinstance(given, str):
        if not given.strip():
            reading.value = {}
            return reading
        if len(given) > options.max_output:
            raise Bad("too_large", expected=f"at most {options.max_output} bytes", found="more")
        reading = read_value(given, options, room)
    else:
        reading.value = plain(given, options, reading.repairs, depth=-room)
    return _object(reading, options, room)


def _object(reading: Reading, options: Decoding, room: int) -> Reading:
    value = reading.value
    for layer in range(options.max_layers):
        if not isinstance(value, str) or value.strip() in NOTHING:
            break
        text = value.strip()
        if not text.startswith(("{", "[", '"')):
            break
        if not options.double_encoded:
            break
        try:
            inner = read_value(text, options, room)
        except Bad as error:
            if text.startswith("{") or error.fault.kind in ("duplicate_key", "invalid_unicode", "number_out_of_range"):
                raise
            break
        value = inner.value
        reading.repairs += [*([] if layer else ["double_encoded: : JSON text in JSON text"]), *inner.repairs]
        reading.warnings += inner.warnings
        reading.sources.update(inner.sources)
    if value is None or (isinstance(value, str) and value.strip() in NOTHING):
        value = {}
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict) and options.list_unwrapped:
        value = value[0]
        reading.repairs.append("list_unwrapped: : the only object of a list")
    if not isinstance(value, dict):
        from tscg.shapes import found

        raise Bad("not_an_object", expected="an object of arguments", found=found(value))
    reading.value = value
    return reading
