"""The tools that the demo server offers, as data: name, prose, schema and hints."""

from __future__ import annotations

from typing import Final

from tscg.demo.tools.calendar import CALENDAR
from tscg.demo.tools.files import FILES
from tscg.demo.tools.issues import ISSUES
from tscg.demo.tools.orders import ORDERS
from tscg.demo.tools.shapes import ToolSpec

TOOLS: Final[tuple[ToolSpec, ...]] = (*ISSUES, *CALENDAR, *FILES, *ORDERS)

__all__ = ["TOOLS", "ToolSpec"]
