"""The guard of conftest.py: loopback is open, all else is closed."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

# Addresses set aside for documentation, and a name that can never be one: nothing answers there.
FAR = ("192.0.2.1", 80)
FAR_IPV6 = ("2001:db8::1", 80, 0, 0)
NO_NAME = "example.invalid"


@pytest.mark.parametrize(
    "reach",
    [
        pytest.param(lambda stream, _: stream.connect(FAR), id="connect"),
        pytest.param(lambda stream, _: stream.connect((NO_NAME, 80)), id="connect to a name"),
        pytest.param(lambda stream, _: stream.connect(FAR_IPV6), id="ipv6"),
        pytest.param(lambda stream, _: stream.connect_ex(FAR), id="connect_ex"),
        pytest.param(lambda _, datagram: datagram.sendto(b"x", FAR), id="sendto"),
        pytest.param(lambda *_: socket.create_connection(FAR, timeout=1), id="create_connection"),
        pytest.param(lambda *_: socket.getaddrinfo(NO_NAME, 80), id="look up"),
    ],
)
def test_other_machines_are_closed(reach: Callable[[socket.socket, socket.socket], object]) -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_STREAM) as stream,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagram,
        pytest.raises(RuntimeError, match="only loopback is open"),
    ):
        reach(stream, datagram)


def test_loopback_is_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("localhost", port), timeout=5) as client:
            accepted, _ = server.accept()
            with accepted:
                client.sendall(b"ping")
                assert accepted.recv(4) == b"ping"
