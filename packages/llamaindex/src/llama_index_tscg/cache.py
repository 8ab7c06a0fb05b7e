"""A bounded cache whose keys name objects by their address."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Cache"]

Value = TypeVar("Value")


class Cache(Generic[Value]):
    """Keeps the ``size`` values used last. Thread-safe.

    >>> cache = Cache[str](size=1)
    >>> cache.get("k", None, lambda: "made"), cache.get("k", None, lambda: "made anew")
    ('made', 'made')
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._kept: OrderedDict[Hashable, tuple[Value, object]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, held: object, make: Callable[[], Value]) -> Value:
        """The value of a key, made where there is none. ``held`` is kept beside it: no other object can then have an
        address that the key names."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                return kept[0]
        made = make()
        with self._lock:
            kept = self._kept.setdefault(key, (made, held))  # what another thread made meanwhile is as good
            while len(self._kept) > self.size:
                self._kept.popitem(last=False)
        return kept[0]
