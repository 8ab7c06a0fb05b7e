"""The functions behind the tools of the demo server, by the name of the tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tscg.demo.handlers.calendar import CALENDAR
from tscg.demo.handlers.files import FILES
from tscg.demo.handlers.issues import ISSUES
from tscg.demo.handlers.orders import ORDERS
from tscg.demo.handlers.queries import Arguments, Handler, ToolFailure

HANDLERS: Final[Mapping[str, Handler]] = {**ISSUES, **CALENDAR, **FILES, **ORDERS}

__all__ = ["HANDLERS", "Arguments", "Handler", "ToolFailure"]
