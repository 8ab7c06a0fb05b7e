"""Normalised prose: what of a description's white space says something.

Runs of blanks are one blank. Paragraphs, list items, headings and the lines of a fenced block part with one line break;
a line that merely wraps (the one before is long and not finished, and it is no item itself) joins the line before. The
form is stable: normalising it again changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, compress, count, repeat
from operator import contains, not_

__all__ = ["normalise", "normalised"]

WRAP = 40  # characters: a shorter line is no wrapped paragraph, where the next one starts in lower case
WRAP_ANY = 64  # characters: the same, where it starts in upper case or with a digit
ENDS = ".:;!?"
FENCE = "```"
TOGETHER = 64  # texts that are looked at together
ODD = ("  ", *"\n\t\r\v\f\x1c\x1d\x1e\x1f")  # white space in ASCII that is no single blank


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
    if "  " not in text and "".join(lines).isprintable():
        lines = [*map(str.strip, lines)]
    else:
        lines = [" ".join(line.split()) for line in lines]
    out: list[str] = []
    before = ""
    gap = fenced = False
    for line in lines:
        if not line:
            gap = before != ""
            continue
        wraps = len(before) >= WRAP and not fenced and _wraps(before, line)
        if wraps and not gap:
            out[-1] = before = f"{before} {line}"
        else:
            if wraps:
                out.append("")
            out.append(line)
            before = line
        if line.startswith(FENCE):
            fenced = not fenced
        gap = False
    return "\n".join(out)


def normalised(texts: Iterable[str]) -> list[str]:
    """All of them in normal form.

    >>> normalised([" City. ", "Open\\n\\nor  closed"])
    ['City.', 'Open\\nor closed']
    """
    found = [*map(str.strip, texts)]  # one line of single blanks, as most are, is normal as it stands
    for start in range(0, len(found), TOGETHER):
        some = found[start : start + TOGETHER]
        whole = "".join(some)
        odd = [map(contains, some, repeat(sign)) for sign in ODD if sign in whole]
        if not whole.isascii():
            odd.append(map(not_, map(str.isascii, some)))
        for i in {*chain.from_iterable(compress(count(start), one) for one in odd)}:
            found[i] = normalise(found[i])
    return found


def _wraps(before: str, line: str) -> bool:
    """Does a line go on with the one before, which is as long as one that wraps?"""
    if not line[0].isalnum() or before[-1] in ENDS or before.startswith(FENCE):
        return False
    first = line.split(" ", 1)[0]
    if first[-1] in ":." or (first[-1] == ")" and "(" not in first):  # "name: ...", "1. ...", "a) ..."
        return False
    return line[0].islower() or (len(before) >= WRAP_ANY and (before[-1].isalnum() or before[-1] == ","))
