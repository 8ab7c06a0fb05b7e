"""The tests of this folder need LangChain; where it is not installed there are none."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("langchain") and find_spec("langchain_tscg") else ["*.py"]
