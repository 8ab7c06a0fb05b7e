"""Build hook: byte-compile the sources of an editable install.

uv installs a workspace member in place and writes no bytecode for it. Where the environment forbids writing it later
(`PYTHONDONTWRITEBYTECODE`), every start of Python would compile the whole package again: 100 ms instead of 30.
"""

from __future__ import annotations

import compileall
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ByteCompile(BuildHookInterface):  # type: ignore[type-arg]
    """Runs when the package is installed in place; wheels leave it to the installer."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile what has changed."""
        if version == "editable":
            compileall.compile_dir(Path(self.root, "src"), quiet=1)
