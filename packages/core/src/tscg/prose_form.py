"""Normalised prose: what of a description's white space says something.

Runs of blanks are one blank. Paragraphs, list items, headings and the lines of a fenced block part with one line break;
a line that merely wraps (the one before is long and not finished, and it is no item itself) joins the line before. The
form is stable: normalising it again changes nothing.
"""

from __future__ import annotations

__all__ = ["normalise"]

WRAP = 40  # characters: a shorter line is no wrapped paragraph, where the next one starts in lower case
WRAP_ANY = 64  # characters: the same, where it starts in upper case or with a digit
ENDS = ".:;!?"
FENCE = "```"


def normalise(text: str) -> str:
    r"""Prose in normal form.

    >>> normalise("Lists  the issues of a repository that the user may read,\n  newest first.\n\n  - open\n  - closed ")
    'Lists the issues of a repository that the user may read, newest first.\n- open\n- closed'
    """
    if text.isprintable() and "  " not in text:  # one line of single blanks, as most are
        return text.strip(" ")
    lines = text.splitlines()
    if len(lines) <= 1:
        return " ".join(text.split())
    out: list[str] = []
    gap = fenced = False
    for raw in lines:
        line = " ".join(raw.split())
        if not line:
            gap = bool(out)
            continue
        before = out[-1] if out else ""
        wraps = not fenced and _wraps(before, line)
        if wraps and not gap:
            out[-1] = f"{before} {line}"
        else:
            if wraps:
                out.append("")
            out.append(line)
        if line.startswith(FENCE):
            fenced = not fenced
        gap = False
    return "\n".join(out)


def _wraps(before: str, line: str) -> bool:
    if not line[0].isalnum() or len(before) < WRAP or before[-1] in ENDS or before.startswith(FENCE):
        return False
    first = line.split(" ", 1)[0]
    if first[-1] in ":." or (first[-1] == ")" and "(" not in first):  # "name: ...", "1. ...", "a) ..."
        return False
    return line[0].islower() or (len(before) >= WRAP_ANY and (before[-1].isalnum() or before[-1] == ","))
