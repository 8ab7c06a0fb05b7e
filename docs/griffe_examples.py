"""For the API reference: the examples of docstrings, which stand there bare, become fenced code."""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|func|meth|mod|attr|data):`~?([^`]+)`")


def fenced(text: str) -> str:
    """The text of a docstring as Markdown.

    >>> print(fenced("Adds. See :func:`f`.\\n\\n>>> 1 + 1\\n2\\n\\nDone."))
    Adds. See `f`.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    <BLANKLINE>
    Done.
    """
    out: list[str] = []
    inside = False
    for line in ROLE.sub(r"`\1`", text).splitlines():
        if not inside and line.startswith(">>> "):
            out.append("```pycon")
            inside = True
        elif inside and not line.strip():
            out.append("```")
            inside = False
        out.append(line)
    return "\n".join([*out, "```"] if inside else out)


class Examples(griffe.Extension):
    """Rewrites each docstring that is loaded."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called by griffe for each object."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
