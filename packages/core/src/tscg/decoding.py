"""Options of decoding: which repairs are allowed, what is done at contested points, and the bounds."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from tscg.errors import ConfigError

__all__ = ["REPAIR_KINDS", "Decoding", "decoding_of"]

# Each kind is a switch of `Decoding` under the same name.
REPAIR_KINDS = (
    "control_char",
    "bad_escape",
    "trailing_comma",
    "comment",
    "unquoted_key",
    "single_quotes",
    "python_word",
    "int_key",
    "punctuation",
    "marker_missing",
    "double_encoded",
    "list_unwrapped",
    "parallel_unpacked",
    "observation_dropped",
    "wrapper_removed",
    "dispatch_form",
    "name_prefix",
    "name_case",
    "json_text",
    "number_text",
    "bool_text",
    "null_text",
    "enum_case",
    "enum_type",
    "null_dropped",
    "empty_dropped",
    "integral_float",
    "key_alias",
    "unstrict",
)

CHOICES = {
    "weak": ("end", "anywhere", "never"),
    "extras": ("schema", "drop", "error"),
    "unchecked": ("warn", "error"),
    "reasoning": ("auto", "none", "tags", "prefilled"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """How answers are read.

    The first block switches repairs by kind. ``weak`` says where a call without a marker counts (``end``: with nothing
    but such calls behind it); ``extras`` what happens to undeclared arguments (``schema``: as the schema says);
    ``unchecked`` whether a keyword that no engine can check refuses the call; ``reasoning`` where the model thinks
    (``auto``: a lone closing tag means that the output began in reasoning). Bounds: ``max_output`` in bytes of UTF-8,
    ``max_depth`` in levels of a value, ``max_layers`` of JSON text in JSON text, ``max_wrappers`` of objects around a
    call.

    >>> Decoding().enum_case, Decoding(weak="never").weak
    (True, 'never')
    """

    control_char: bool = True
    bad_escape: bool = True
    trailing_comma: bool = True
    comment: bool = True
    unquoted_key: bool = True
    single_quotes: bool = True
    python_word: bool = True
    int_key: bool = True
    punctuation: bool = True
    marker_missing: bool = True
    double_encoded: bool = True
    list_unwrapped: bool = True
    parallel_unpacked: bool = True
    observation_dropped: bool = True
    wrapper_removed: bool = True
    dispatch_form: bool = True
    name_prefix: bool = True
    name_case: bool = True
    json_text: bool = True
    number_text: bool = True
    bool_text: bool = True
    null_text: bool = True
    enum_case: bool = True
    enum_type: bool = True
    null_dropped: bool = True
    empty_dropped: bool = True
    integral_float: bool = True
    key_alias: bool = True
    unstrict: bool = True

    calls_in_reasoning: bool = False
    weak: str = "end"
    extras: str = "schema"
    number_to_text: bool = False
    wrap_scalars: bool = False
    fill_defaults: bool = False
    formats: tuple[str, ...] = ()
    unchecked: str = "warn"
    reasoning: str = "auto"

    max_output: int = 4 * 1024 * 1024
    max_depth: int = 64
    max_calls: int = 128
    max_digits: int = 1_000
    max_layers: int = 2
    max_wrappers: int = 2
    max_name: int = 256
    max_repairs: int = 64
    max_rounds: int = 3

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ConfigError(f"decoding: {name} is {getattr(self, name)!r}", allowed=allowed)
        for option in fields(self):
            value = getattr(self, option.name)
            if option.type == "bool" and not isinstance(value, bool):
                raise ConfigError(f"decoding: {option.name} is {value!r}", allowed=("True", "False"))
            if option.type == "int" and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                raise ConfigError(f"decoding: {option.name} is {value!r}", hint="give a whole number, 0 or more")
        formats: object = self.formats
        if not isinstance(formats, tuple) or not all(isinstance(name, str) for name in formats):
            raise ConfigError(f"decoding: formats is {formats!r}", hint="give a tuple of format names")

    def allows(self, kind: str) -> bool:
        """Whether a kind of repair is switched on."""
        return bool(getattr(self, kind))


SAFE = Decoding()
_OFF: dict[str, Any] = dict.fromkeys(REPAIR_KINDS, False)
STRICT = replace(SAFE, **_OFF)
PRESETS = {"safe": SAFE, "strict": STRICT}


def decoding_of(value: object) -> Decoding:
    """A name of a preset or a :class:`Decoding` as a :class:`Decoding`; raises :class:`tscg.ConfigError` for all else.

    >>> decoding_of("strict").number_text
    False
    """
    if isinstance(value, Decoding):
        return value
    if value is None:
        return SAFE
    if isinstance(value, str) and value in PRESETS:
        return PRESETS[value]
    raise ConfigError(f"unknown decoding {value!r}", allowed=(*PRESETS, "a tscg.Decoding"))
