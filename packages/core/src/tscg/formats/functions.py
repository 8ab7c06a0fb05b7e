"""Python callables as tools: type hints give the schema, the docstring the prose.

Arguments go by name, as a decoded call gives them (``f(**call.arguments)``). What the model has no part in is not
shown: parameters that :func:`functools.partial` has bound, and those whose name begins with ``_`` (they need a
default).
"""

from __future__ import annotations

import functools
import inspect  # noqa: TID253  # this module is loaded at the first tool that is no mapping
import types
import typing
import warnings
from collections.abc import Callable
from typing import Any

from tscg.errors import CompileError, Fragment
from tscg.formats.docstrings import read_docstring
from tscg.formats.forms import Form

__all__ = ["function_form"]


def function_form(raw: Callable[..., Any]) -> Form:
    """A function, bound method, partial, coroutine function or callable object as a tool.

    Raises CompileError for what no call by name can fill: ``*args``, positional-only parameters, a lambda, a hint that
    cannot be resolved or has no JSON Schema.
    """
    inner, bound = _unbound(raw)
    name = _name(raw, inner)
    try:
        signature = inspect.signature(inner)
    except (TypeError, ValueError) as error:
        raise _refused(
            name, f"its parameters are not known ({error})", "wrap it in a function with type hints"
        ) from None
    work = _Signature(name, inner)
    for i, parameter in enumerate(signature.parameters.values()):
        if parameter.name not in bound and not (i == 0 and _is_self(parameter, inner)):
            work.take(parameter)
        else:
            work.hidden.add(parameter.name)
    doc = read_docstring(_doc(raw, inner), work.shown, work.hidden)
    return Form(
        format="callable", name=name, description=doc.text, schema=work.schema(doc.params), closed=not work.open
    )


class _Signature:
    """The parameters of a function, taken one by one."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name, self.function = name, function
        self.shown: dict[str, tuple[Any, Any]] = {}  # name -> hint, default
        self.hidden: set[str] = set()
        self.open = False
        self.rest: Any = Any

    def take(self, parameter: inspect.Parameter) -> None:
        kind, name = parameter.kind, parameter.name
        if kind is parameter.VAR_POSITIONAL:
            raise _refused(
                self.name, f"*{name} takes arguments that have no name", "take a list instead, or wrap the function"
            )
        if kind is parameter.VAR_KEYWORD:
            self.take_rest(parameter)
            return
        optional = parameter.default is not parameter.empty
        if kind is parameter.POSITIONAL_ONLY:
            if not optional:
                raise _refused(self.name, f"{name} is positional-only and arguments go by name", "wrap the function")
            self.hidden.add(name)
        elif name.startswith("_"):
            if not optional:
                raise _refused(
                    self.name, f"{name} is private and has no default", "give it one, or bind it with functools.partial"
                )
            self.hidden.add(name)
        else:
            self.shown[name] = (self.hint(name, parameter.annotation), parameter.default if optional else ...)

    def take_rest(self, parameter: inspect.Parameter) -> None:
        """``**kwargs``: names at will, or those of a TypedDict (``**kwargs: Unpack[Options]``)."""
        hint = self.hint(parameter.name, parameter.annotation)
        self.hidden.add(parameter.name)
        if not str(typing.get_origin(hint)).endswith(".Unpack"):  # of typing, or of typing_extensions
            self.open, self.rest = True, hint
            return
        options = typing.get_args(hint)[0]
        for name, one in typing.get_type_hints(options, include_extras=True).items():
            said = typing.get_origin(one)
            plain = typing.get_args(one)[0] if said in (typing.Required, typing.NotRequired) else one
            # Where hints are texts, the class itself does not see what they say.
            needed = said is not typing.NotRequired and (said is typing.Required or name in options.__required_keys__)
            self.shown[name] = (plain, ... if needed else _ABSENT)

    def hint(self, name: str, annotation: Any) -> Any:
        if annotation is inspect.Parameter.empty:
            return Any
        function = inspect.unwrap(self.function)
        function = getattr(function, "__func__", function)
        if not hasattr(function, "__globals__"):
            function = getattr(type(function).__call__, "__func__", type(function).__call__)
        holder = types.SimpleNamespace(__annotations__={name: annotation})
        try:
            return typing.get_type_hints(
                holder, getattr(function, "__globals__", {}), _locals(function), include_extras=True
            )[name]
        except (NameError, SyntaxError, TypeError, AttributeError) as error:
            raise _refused(self.name, f"the type hint of {name} cannot be resolved ({error})") from None

    def schema(self, said: dict[str, str]) -> dict[str, Any]:
        """The JSON Schema of the shown parameters, open; pydantic reads the hints."""
        from pydantic import create_model

        # Fields are numbered, since a parameter may be named like a member of BaseModel; the alias is what counts.
        fields: dict[str, Any] = {f"p{i}": _field(name, *shown) for i, (name, shown) in enumerate(self.shown.items())}
        rest = {"additionalProperties": self.described("**", self.rest)} if self.open and self.rest is not Any else {}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a default that is no JSON is not shown
                made: dict[str, Any] = create_model(self.name, **fields).model_json_schema(by_alias=True)
        except Exception as error:  # hints are foreign code: pydantic hands on whatever their hooks raise
            for name, (hint, _) in self.shown.items():
                self.described(name, hint)
            raise _refused(self.name, f"its hints have no JSON Schema ({_line(error)})") from error
        properties = made.get("properties", {})
        for name, (hint, _) in self.shown.items():
            text = _annotated(hint) or said.get(name, "")
            if text and name in properties and "description" not in properties[name]:
                properties[name]["description"] = text
        made.pop("title", None)
        return {**made, **rest}

    def described(self, name: str, hint: Any) -> dict[str, Any]:
        from pydantic import TypeAdapter

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return TypeAdapter(hint).json_schema()
        except Exception as error:  # noqa: BLE001  # see schema()
            hint_text = (
                "give it a leading underscore and a default, or bind it with functools.partial,"
                " if the model has no part in it"
            )
            raise _refused(self.name, f"the type of {name} has no JSON Schema ({_line(error)})", hint_text) from None


_ABSENT = object()  # the default of an optional member of a TypedDict: none


def _field(name: str, hint: Any, default: Any) -> tuple[Any, Any]:
    """A field of the model that stands for the function; ``...`` is no default."""
    from pydantic import Field
    from pydantic.fields import FieldInfo

    factory: Any = None
    if isinstance(default, FieldInfo):  # def f(n: int = Field(3, description="How many"))
        hint, factory = typing.Annotated[hint, default], default.default_factory
        default = ... if default.is_required() else default.default
    if default is _ABSENT:
        factory = dict
    if factory is not None:
        return hint, Field(default_factory=factory, alias=name, validation_alias=name)
    return hint, Field(default=default, alias=name, validation_alias=name)


def _unbound(raw: Callable[..., Any]) -> tuple[Callable[..., Any], set[str]]:
    """The function within partials, and the names of the parameters that they bind."""
    inner, bound = raw, set[str]()
    while isinstance(inner, functools.partial):
        bound |= inner.keywords.keys()
        if inner.args:
            try:
                free = [
                    p.name
                    for p in inspect.signature(inner.func).parameters.values()
                    if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
                ]
            except (TypeError, ValueError):
                free = []
            bound |= set(free[: len(inner.args)])
        inner = inner.func
    return inner, bound


def _name(raw: Any, inner: Any) -> str:
    for one in (raw, inner):
        for key in ("__name__", "name"):
            found = getattr(one, key, None)
            if isinstance(found, str) and found.strip():
                if found == "<lambda>":
                    raise _refused("<lambda>", "a lambda has no name", "define a function")
                return found
    return type(inner).__name__


def _doc(raw: Any, inner: Any) -> str | None:
    """The docstring of the callable itself, never that of its class in the library (partial's own, say)."""
    if isinstance(raw, functools.partial):
        own = vars(raw).get("__doc__")
        if isinstance(own, str):
            return own
    if inspect.isroutine(inner):
        return inspect.getdoc(inner)
    call = getattr(type(inner), "__call__", None)  # noqa: B004  # its docstring is asked for, not whether it is there
    return type(inner).__doc__ or getattr(call, "__doc__", None)


def _is_self(parameter: inspect.Parameter, function: Callable[..., Any]) -> bool:
    """An unbound method, given as it stands in its class."""
    inside = "." in getattr(function, "__qualname__", "").rsplit("<locals>.", 1)[-1]
    return inside and parameter.name in ("self", "cls") and parameter.annotation is parameter.empty


def _locals(function: Any) -> dict[str, Any]:
    """Names of the enclosing function that the function uses, and type parameters: hints may refer to them."""
    found: dict[str, Any] = {}
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    for name, cell in zip(names, getattr(function, "__closure__", None) or (), strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not yet assigned: a hint that needs it is refused with its name
            continue
    found.update({one.__name__: one for one in getattr(function, "__type_params__", ())})
    return found


def _annotated(hint: Any) -> str:
    """A description in the hint: ``Annotated[int, "How many"]``, or an object with a ``documentation``."""
    for one in getattr(hint, "__metadata__", ()):
        text = one if isinstance(one, str) else getattr(one, "documentation", None)
        if isinstance(text, str):
            return text
    return ""


def _line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:160]


def _refused(name: str, reason: str, hint: str = "") -> CompileError:
    return CompileError([Fragment(tool=name, pointer="", reason=f"{reason}; {hint}" if hint else reason)])
