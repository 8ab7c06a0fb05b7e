"""Commands of ``tscg`` in modules of their own; each has ``register(app)``, which :mod:`tscg.cli` calls."""

from __future__ import annotations
