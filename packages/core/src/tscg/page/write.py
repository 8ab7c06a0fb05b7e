"""The page as one text: template, style and script from files of their own, the data as JSON that is never code.

Texts of tools are untrusted. They reach the page as JSON in elements that no browser runs, and the script writes them
as text alone. The policy in the page allows this one script and this one style, and no request to anywhere.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files

from tscg.page.data import PageData

__all__ = ["html"]

SCRIPTS = ("base.js", "overview.js", "list.js", "panes.js", "main.js")
CHUNK = 32
"""Tools whose texts are packed and unpacked together: enough to compress well, few enough to open at once."""

POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data:; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


def html(data: PageData) -> str:
    """The whole page."""
    style = _file("page.css")
    script = "".join(['"use strict";\n', *map(_file, SCRIPTS)])
    parts = {
        "policy": POLICY.format(script=_hash(script), style=_hash(style)),
        "style": style,
        "script": script,
        "figures": _json({**data.figures, "chunk": CHUNK}),
        "packed": "\n".join([
            *_packed("source", data.sources, CHUNK), *_packed("text", data.texts, CHUNK),
            *_packed("around", data.around, 1),
        ]),
    }  # fmt: skip
    # In one pass: a text of the data that looks like a slot is none.
    return re.sub(r"\{\{(\w+)\}\}", lambda slot: parts[slot[1]], _file("page.html"))


def _packed(kind: str, values: Sequence[object], size: int) -> list[str]:
    """Elements with the values in groups, compressed: most of their texts are much alike."""
    from zlib import compress

    return [
        f'<script type="application/octet-stream" id="{kind}-{at // size}">'
        f"{b64encode(compress(_json(values[at : at + size]).encode(), 9)).decode()}</script>"
        for at in range(0, len(values), size)
    ]


def _json(value: object) -> str:
    """Minified JSON in ASCII that may stand in an element: without ``<`` nothing can close it or open another.

    >>> _json("</script><!--")
    '"\\\\u003c/script>\\\\u003c!--"'
    """
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _file(name: str) -> str:
    return files("tscg.page").joinpath(name).read_text(encoding="utf-8")
