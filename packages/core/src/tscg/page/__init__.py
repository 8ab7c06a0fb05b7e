"""The report as one page: everything that a reader can switch to is compiled and counted ahead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tscg.ir import Catalog
    from tscg.modes.compiled import CompiledCatalog

__all__ = ["html_of"]


def html_of(catalog: Catalog, compiled: CompiledCatalog, options: Mapping[str, Any]) -> str:
    """One self-contained page about a catalog; ``options`` are those of :func:`tscg.compile` that gave ``compiled``.

    The same catalog and options give the same page.

    >>> import tscg
    >>> catalog = tscg.Catalog.from_tools([{"name": "ping", "description": "Health check"}])
    >>> options = {"tokenizer": len}
    >>> html_of(catalog, tscg.compile(catalog, **options), options)[:15]
    '<!doctype html>'
    """
    from tscg.page.data import page_data
    from tscg.page.write import html

    return html(page_data(catalog, compiled, options))
