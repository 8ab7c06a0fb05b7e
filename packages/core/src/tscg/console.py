"""How the command talks: results on standard output, notes, warnings and progress on standard error."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TextIO

from tscg.errors import TscgWarning

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["note", "notes_for_warnings", "show", "working", "write", "write_json"]


def write(text: str) -> None:
    """Print a text as it is, with a line break at its end."""
    _safe(sys.stdout)
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def write_json(value: object) -> None:
    """Print a value as JSON, indented, UTF-8 as it is."""
    write(json.dumps(value, ensure_ascii=False, indent=2))


def show(*parts: RenderableType) -> None:
    """Print tables and texts of rich."""
    from rich.console import Console

    _safe(sys.stdout)
    console = Console(file=sys.stdout)
    if not console.is_terminal:
        # A pipe has no width: what rich would assume cuts names off.
        console = Console(file=sys.stdout, width=160)
    for part in parts:
        console.print(part)


def note(message: str, label: str = "") -> None:
    """Print one line on standard error."""
    _safe(sys.stderr)
    line = " ".join(message.split())
    sys.stderr.write(f"{label}: {line}\n" if label else f"{line}\n")


def working(what: str) -> AbstractContextManager[object]:
    """A spinner on standard error while something runs, where somebody looks at it."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(what)


@contextmanager
def notes_for_warnings() -> Iterator[None]:
    """Show our warnings as one line each, without the place in the code."""
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def show_warning(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, TscgWarning):
                note(str(message), "warning")
            else:
                shown(message, category, *place, **more)

        warnings.showwarning = show_warning
        warnings.simplefilter("always", TscgWarning)
        yield


def _safe(stream: TextIO) -> None:
    """Texts of tools hold anything: a terminal's encoding must not stop them, and half a surrogate pair neither."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", errors="backslashreplace")
