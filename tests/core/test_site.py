"""The documentation site: every page is reached, from the menu and from llms.txt, and every link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")

pytestmark = pytest.mark.skipif(not PAGES, reason="the docs are not beside these tests")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as the site makes them."""
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", each).strip().lower()) for each in found}


@pytest.mark.parametrize("index", ["mkdocs.yml", "docs/llms.txt"])
def test_every_page_is_listed(index: str) -> None:
    said = (ROOT / index).read_text(encoding="utf-8")
    listed = set(re.findall(r"([\w-]+\.md)\b", said))
    assert listed >= {page.name for page in PAGES} - ({"index.md"} if index.endswith("txt") else set())
    assert {name for name in listed if not (DOCS / name).is_file()} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in LINK.findall(text):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        there = DOCS / name if name else page
        assert there.is_file(), target
        assert not anchor or anchor in anchors(there), target
