"""Formats of tools: reading any mix of them into a catalog, and writing one back in each."""

from __future__ import annotations

from tscg.formats.read import join_catalogs, read_catalog

__all__ = ["join_catalogs", "read_catalog"]
