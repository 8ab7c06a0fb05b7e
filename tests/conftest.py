"""What all tests share: the data beside the repository, the Hypothesis profiles, a guard that closes the network."""

from __future__ import annotations

import importlib.util
import ipaddress
import json
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
collect_ignore = [] if importlib.util.find_spec("mcp") else ["core/proxy_client.py"]  # it is all about the extra `mcp`

# `ci` is the same at every run; `dev` looks for new examples and keeps what failed; `deep` takes its time.
settings.register_profile("dev", deadline=None)
settings.register_profile(
    "ci", deadline=None, derandomize=True, database=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "deep", deadline=None, max_examples=2_000, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))


def shared_dir() -> Path | None:
    """The folder of shared data (`TSCG_SHARED`, else `shared` beside the repository), or None when there is none."""
    given = os.environ.get("TSCG_SHARED")
    folder = Path(given) if given else ROOT.parent / "shared"
    return folder if (folder / "catalogs").is_dir() else None


def shared_catalog_paths() -> list[Path]:
    """The files of the shared catalogs by name; empty without shared data. Meant for `parametrize`."""
    folder = shared_dir()
    return sorted((folder / "catalogs").glob("*.json")) if folder else []


def read_tools(path: Path) -> list[dict[str, Any]]:
    """The raw tools of a catalog file: an array, or an object with `tools`."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    tools: list[dict[str, Any]] = raw["tools"] if isinstance(raw, dict) else raw
    return tools


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data; skips the test when it is absent."""
    folder = shared_dir()
    if folder is None:
        pytest.skip("no shared data: set TSCG_SHARED, or put the folder `shared` beside the repository")
    return folder


@pytest.fixture(scope="session")
def shared_catalogs(shared: Path) -> dict[str, list[dict[str, Any]]]:
    """Raw tools of each shared catalog under the name of its file. Read once: do not change them."""
    assert shared.is_dir()
    return {path.stem: read_tools(path) for path in shared_catalog_paths()}


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("mcp") and importlib.util.find_spec("mcp") is None:
        pytest.skip("the extra `mcp` is not installed")


class NetworkBlocked(RuntimeError):
    """A test tried to leave this machine."""


def _is_local(host: object) -> bool:
    """Whether a host of an address is this machine. Names are never looked up."""
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if not isinstance(host, str) or host in {"", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _check_address(address: object) -> None:
    # A tuple is an internet address; text and bytes are the path of a Unix socket.
    if isinstance(address, tuple) and address and not _is_local(address[0]):
        raise NetworkBlocked(f"tests may not reach {address[0]!r}: only loopback is open")


@pytest.fixture(scope="session", autouse=True)
def closed_network() -> Iterator[None]:
    """Close every socket but loopback and Unix ones, and refuse to resolve the names of other machines."""
    connect, connect_ex, sendto = socket.socket.connect, socket.socket.connect_ex, socket.socket.sendto
    resolve: Callable[..., Any] = socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        _check_address(address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        _check_address(address)
        return connect_ex(self, address)

    def guarded_sendto(self: socket.socket, data: Any, *rest: Any) -> int:
        _check_address(rest[-1])
        return sendto(self, data, *rest)

    def guarded_resolve(host: Any, *rest: Any, **options: Any) -> Any:
        if not _is_local(host):
            raise NetworkBlocked(f"tests may not look up {host!r}: only loopback is open")
        return resolve(host, *rest, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
        patch.setattr(socket.socket, "sendto", guarded_sendto)
        patch.setattr(socket, "getaddrinfo", guarded_resolve)
        yield
